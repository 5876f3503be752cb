package gpusql_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

// Temporary objects are a connection's own, and go with it.
func TestTemporaryObjects(t *testing.T) {
	ctx := context.Background()
	db, err := gpusql.Open("")
	require.NoError(t, err)
	defer db.Close()
	one, err := db.Conn(ctx)
	require.NoError(t, err)
	two, err := db.Conn(ctx)
	require.NoError(t, err)
	for i, c := range []*gpusql.Conn{one, two} {
		_, err := c.Exec(ctx, fmt.Sprintf("CREATE TEMP TABLE mine AS SELECT %d AS n", i))
		require.NoError(t, err, "both may have one of the same name")
	}
	require.Equal(t, int64(1), intOf(t, two, "SELECT n FROM mine"))
	require.Equal(t, int64(0), intOf(t, one, "SELECT n FROM mine"))
	require.Equal(t, int64(1), intOf(t, one, "SELECT count(*) FROM information_schema.tables"))
	require.NoError(t, one.Close())
	require.Equal(t, int64(1), intOf(t, two, "SELECT n FROM temp.mine"))
	_, err = two.Exec(ctx, "CREATE SEQUENCE s; SELECT nextval('s')")
	require.NoError(t, err)
	three, err := db.Conn(ctx)
	require.NoError(t, err)
	defer three.Close()
	_, err = three.Exec(ctx, "SELECT currval('s')")
	require.ErrorContains(t, err, "not yet defined in this session")
	require.Equal(t, int64(2), intOf(t, three, "SELECT nextval('s')"))
	require.Equal(t, int64(1), intOf(t, two, "SELECT currval('s')"))
	_, err = db.Exec(ctx, "CREATE TEMP TABLE gone (a INTEGER)")
	require.NoError(t, err)
	_, err = db.Exec(ctx, "SELECT * FROM gone")
	require.ErrorContains(t, err, "does not exist", "a call without a connection leaves nothing")
	require.NoError(t, two.Close())
}

func intOf(t *testing.T, c *gpusql.Conn, sql string) int64 {
	rows, err := c.Query(context.Background(), sql)
	require.NoError(t, err)
	defer rows.Close()
	require.True(t, rows.Next(), sql)
	return rows.Value(0).I
}
