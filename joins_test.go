package gpusql_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

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

// Joins of more relations than are ordered exactly give what they do as written.
func TestJoinsOfManyRelations(t *testing.T) {
	c := session(t, open(t))
	run(t, c, "CREATE TABLE r AS SELECT i AS id, (i * 7 + 3) % 20 AS next, i % 4 AS few FROM range(20) x(i)")
	shapes := map[string]func(i int) string{
		"chain": func(i int) string { return fmt.Sprintf("r%d.next = r%d.id", i-1, i) },
		"star":  func(i int) string { return fmt.Sprintf("r0.next = r%d.id", i) },
		"clique": func(i int) string {
			all := fmt.Sprintf("r0.id = r%d.id", i)
			for k := 1; k < i; k++ {
				all += fmt.Sprintf(" AND r%d.id = r%d.id", k, i)
			}
			return all
		},
	}
	for name, on := range shapes {
		for _, n := range []int{12, 13, 20, 40} {
			if name == "clique" && n > 20 {
				continue // a condition for each of 780 pairs
			}
			for _, join := range []string{"JOIN", "LEFT JOIN"} {
				from, sum := "r AS r0", "r0.id"
				for i := 1; i < n; i++ {
					from += fmt.Sprintf(" %s r AS r%d ON %s", join, i, on(i))
					sum += fmt.Sprintf(" + %d * r%d.next", i, i)
				}
				sql := fmt.Sprintf("SELECT r0.id, %s FROM %s WHERE r%d.few = 1 ORDER BY 1", sum, from, n-1)
				run(t, c, "SET optimizer = on")
				got := all(t, c, sql)
				run(t, c, "SET optimizer = off")
				require.Equal(t, all(t, c, sql), got, "%s of %d", name, n)
				require.NotEmpty(t, got)
			}
		}
	}
}

// What an UPDATE left behind is not what estimates are made of.
func TestEstimatesForgetTheDead(t *testing.T) {
	c := session(t, open(t))
	run(t, c, "CREATE TABLE u AS SELECT i % 1000 AS a, i::VARCHAR AS s, i AS n FROM range(4000) x(i)")
	groups := func(column string) string {
		return strings.Join(all(t, c, "EXPLAIN SELECT "+column+", count(*) FROM u GROUP BY "+column), "\n")
	}
	few := regexp.MustCompile(`aggregate.*\(rows=[1-9] `)
	require.NotRegexp(t, few, groups("a"))
	run(t, c, "UPDATE u SET a = 7, s = 'x', n = NULL")
	for _, column := range []string{"a", "s", "n"} {
		require.Eventually(t, func() bool { // the dead are swept behind the statement
			return few.MatchString(groups(column))
		}, 20*time.Second, 10*time.Millisecond, column)
	}
	run(t, c, "INSERT INTO u SELECT i, i::VARCHAR, i FROM range(10000) x(i)")
	require.NotRegexp(t, few, groups("a"))
}
