package gpusql_test

import (
	"database/sql"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

// What a column's ScanType says is what its values are.
func TestScanTypes(t *testing.T) {
	connector, err := gpusql.NewConnector("")
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	defer db.Close()
	rows, err := db.Query(`SELECT true, 1::TINYINT, 2, 3::BIGINT, 4::UBIGINT, 1.5::REAL, 1.5::DOUBLE, 1.25::DECIMAL(6,2), 'x', 'x'::BLOB,
		DATE '2024-02-29', TIME '01:02:03', TIMESTAMP '2024-02-29 01:02:03', TIMESTAMPTZ '2024-02-29 01:02:03+00', INTERVAL '1 day',
		uuid(), [1, NULL], {'a': 1}`)
	require.NoError(t, err)
	defer rows.Close()
	types, err := rows.ColumnTypes()
	require.NoError(t, err)
	values, into := make([]any, len(types)), make([]any, len(types))
	for i := range values {
		into[i] = &values[i]
	}
	require.True(t, rows.Next())
	require.NoError(t, rows.Scan(into...))
	for i, v := range values {
		require.Equal(t, types[i].ScanType(), reflect.TypeOf(v), types[i].DatabaseTypeName())
	}
}
