package gpusql_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

// What joins give does not depend on how many workers build their tables.
func TestJoinsOfManyWorkers(t *testing.T) {
	var answers [2]map[string][]string
	for i, threads := range []int{1, 5} {
		db, err := gpusql.Open("", gpusql.WithThreads(threads))
		require.NoError(t, err)
		c := session(t, db)
		run(t, c, "SET morsel = 64",
			`CREATE TABLE a AS SELECT i, i % 97 AS few, i * 7919 % 100003 AS wide, CASE WHEN i % 5 > 0 THEN i % 1000 END AS some, 'a text ' || i % 500 AS t FROM range(6000) r(i)`,
			`CREATE TABLE b AS SELECT i, i % 89 AS few, i * 104729 % 100003 AS wide, CASE WHEN i % 7 > 0 THEN i % 1200 END AS some, 'a text ' || i % 700 AS t FROM range(4000) r(i)`)
		answers[i] = map[string][]string{}
		for _, on := range []string{"a.i = b.i", "a.few = b.few AND a.some = b.some", "a.wide = b.wide", "a.some = b.some", "a.t = b.t", "a.t = b.t AND a.i > b.i",
			"a.some IS NOT DISTINCT FROM b.some AND a.few = b.few"} {
			for _, join := range []string{"JOIN", "LEFT JOIN", "FULL JOIN"} {
				sql := fmt.Sprintf("SELECT count(*), sum(a.i), sum(b.i), sum(a.i * b.i), max(a.t), min(b.t) FROM a %s b ON %s", join, on)
				answers[i][sql] = all(t, c, sql)
			}
			sql := "SELECT count(*) FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE " + on + ")"
			answers[i][sql] = all(t, c, sql)
		}
		require.NoError(t, c.Close())
		require.NoError(t, db.Close())
	}
	require.Equal(t, answers[0], answers[1])
}
