package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// groupBySuite is the group-by queries of db-benchmark: six keys of few, some
// and many values.
func groupBySuite() *suite {
	t := tableOf("x", [2]string{"id1", "VARCHAR"}, [2]string{"id2", "VARCHAR"}, [2]string{"id3", "VARCHAR"},
		[2]string{"id4", "INTEGER"}, [2]string{"id5", "INTEGER"}, [2]string{"id6", "INTEGER"},
		[2]string{"v1", "INTEGER"}, [2]string{"v2", "INTEGER"}, [2]string{"v3", "DOUBLE"})
	const few = 100
	return &suite{queries: "h2o/groupby.sql", data: "groupby", ask: create, tables: []table{t}, parts: 1, generate: func(rows float64, _, _ int, to func(string, arrow.RecordBatch) error) error {
		n := int64(rows)
		many := max(n/few, 1)
		return fill(t, 0, n, to, func(i int64, b *array.RecordBuilder) {
			d := draws{uint64(i)}
			for j, v := range []any{fmt.Sprintf("id%03d", 1+d.below(few)), fmt.Sprintf("id%03d", 1+d.below(few)),
				fmt.Sprintf("id%010d", 1+d.below(many)), 1 + d.below(few), 1 + d.below(few), 1 + d.below(many),
				1 + d.below(5), 1 + d.below(15), float64(d.below(1e8)) / 1e6} {
				put(b.Field(j), v)
			}
		})
	}}
}

// joinQueries are those of db-benchmark: with a table of a millionth, a
// thousandth and all of the rows.
const joinQueries = `
SELECT x.*, small.id4 AS small_id4, v2 FROM x JOIN small USING (id1);
SELECT x.*, medium.id1 AS medium_id1, medium.id4 AS medium_id4, medium.id5 AS medium_id5, v2 FROM x JOIN medium USING (id2);
SELECT x.*, medium.id1 AS medium_id1, medium.id4 AS medium_id4, medium.id5 AS medium_id5, v2 FROM x LEFT JOIN medium USING (id2);
SELECT x.*, medium.id1 AS medium_id1, medium.id2 AS medium_id2, medium.id4 AS medium_id4, v2 FROM x JOIN medium USING (id5);
SELECT x.*, big.id1 AS big_id1, big.id2 AS big_id2, big.id4 AS big_id4, big.id5 AS big_id5, big.id6 AS big_id6, v2 FROM x JOIN big USING (id3);
`

// joinSuite makes tables whose keys are in no order, and of which nine in ten
// are in both tables of a join.
func joinSuite() *suite {
	integers := [][2]string{{"id1", "INTEGER"}, {"id2", "INTEGER"}, {"id3", "INTEGER"}}
	texts := [][2]string{{"id4", "VARCHAR"}, {"id5", "VARCHAR"}, {"id6", "VARCHAR"}}
	side := func(name, value string, levels int) table {
		columns := append(append([][2]string{}, integers[:levels]...), texts[:levels]...)
		return tableOf(name, append(columns, [2]string{value, "DOUBLE"})...)
	}
	tables := []table{side("x", "v1", 3), side("small", "v2", 1), side("medium", "v2", 2), side("big", "v2", 3)}
	return &suite{texts: joinQueries, data: "join", ask: create, tables: tables, parts: 1, generate: func(rows float64, _, _ int, to func(string, arrow.RecordBatch) error) error {
		n := int64(rows)
		sizes := [3]int64{max(n/1e6, 1), max(n/1e3, 1), n}
		for at, t := range tables {
			levels, count := 3, n
			if at > 0 {
				levels, count = at, sizes[at-1]
			}
			if err := fill(t, 0, count, to, func(i int64, b *array.RecordBuilder) {
				d := draws{uint64(i) | uint64(at)<<40}
				for l := range levels {
					key := d.below(sizes[l])
					if l == at-1 { // a key of its own a row
						key = i
					}
					key = shuffled(key, sizes[l])
					if at > 0 && key%10 == 0 { // not in x
						key += sizes[l]
					}
					put(b.Field(l), key)
					put(b.Field(levels+l), fmt.Sprintf("id%d", key))
				}
				put(b.Field(2*levels), float64(d.below(1e8))/1e6)
			}); err != nil {
				return err
			}
		}
		return nil
	}}
}

// shuffled is a permutation of the numbers from 0 to n-1, each plus 1.
func shuffled(i, n int64) int64 { return i*7919%n + 1 }

// create times a query by the table that it makes, and answers with sums of
// what is in it.
func create(ctx context.Context, db *sql.DB, q string) (*answer, error) {
	start, used := time.Now(), processorTime()
	if _, err := db.ExecContext(ctx, "CREATE TABLE answer AS "+strings.TrimSuffix(q, ";")); err != nil {
		return nil, err
	}
	took, used := time.Since(start), processorTime()-used
	defer db.ExecContext(ctx, "DROP TABLE answer") //nolint:errcheck // the next CREATE says so
	rows, err := db.QueryContext(ctx, "SELECT * FROM answer LIMIT 1")
	if err != nil {
		return nil, err
	}
	types, err := rows.ColumnTypes()
	rows.Close()
	if err != nil {
		return nil, err
	}
	sums := []string{"count(*)"}
	for _, t := range types {
		if t.DatabaseTypeName() == "VARCHAR" {
			sums = append(sums, fmt.Sprintf("min(%[1]s), max(%[1]s), sum(length(%[1]s))", t.Name()))
		} else {
			sums = append(sums, fmt.Sprintf("count(%[1]s), sum(%[1]s), min(%[1]s), max(%[1]s)", t.Name()))
		}
	}
	got, err := query(ctx, db, "SELECT "+strings.Join(sums, ", ")+" FROM answer")
	if err != nil {
		return nil, err
	}
	return &answer{got.rows, took, used}, nil
}
