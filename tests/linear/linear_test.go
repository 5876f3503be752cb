package linear

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

var histories = flag.Int("histories", 100, "how many histories of each kind of index are checked")

var kinds = []string{"btree", "lsm", "mvcc"}

// padding is rows beside those of the histories, so that the planner has a reason
// to use indexes.
const padding = 3000

// width is the keys of a history.
const width = 6

// cells are the values of a history's keys; 0: no row.
type cells [width]int

// statement is one statement of a client, on keys lo to hi. Of one that changes
// the rows that it finds (delete and add) the history has two operations: a scan,
// of what it found, and the statement itself with that as values.
type statement struct {
	what   string
	lo, hi int
	values cells // of a put, and that a delete or an add found
	v      int   // that is looked for
}

// conflict is the answer of a statement that met another one and did nothing.
const conflict = "conflict"

// model is a table as it would be if one statement came after the other.
var model = porcupine.Model{
	Init: func() any { return cells{} },
	Step: func(state, input, output any) (bool, any) {
		if output.(string) == conflict {
			return true, state
		}
		s := input.(statement)
		if (s.what == "delete" || s.what == "add") && !state.(cells).has(s.values) {
			return false, state
		}
		want, next := state.(cells).after(s)
		return output.(string) == want, next
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v gives %q", in, out) },
}

// has says that the rows of found are there, with their values.
func (c cells) has(found cells) bool {
	for k, v := range found {
		if v != 0 && c[k] != v {
			return false
		}
	}
	return true
}

// after is what a statement answers, and the state that it leaves.
func (c cells) after(s statement) (string, cells) {
	var out []string
	for k := s.lo; k <= s.hi; k++ {
		switch {
		case s.what == "put":
			c[k] = s.values[k]
		case c[k] == 0:
		case s.what == "delete" || s.what == "add":
			if s.values[k] == 0 {
				continue
			}
			if s.what == "add" {
				c[k]++
			} else {
				c[k] = 0
			}
			out = append(out, "x")
		case s.what != "find" || c[k] == s.v:
			out = append(out, fmt.Sprintf("%d:%d", k, c[k]))
		}
	}
	switch s.what {
	case "put":
		return fmt.Sprint(s.hi - s.lo + 1), c
	case "count", "delete", "add":
		return fmt.Sprint(len(out)), c
	case "last":
		out = out[max(len(out)-1, 0):]
	}
	return strings.Join(out, " "), c
}

// text is the statement as SQL, for keys from base on.
func (s *statement) text(base int) string {
	between := fmt.Sprintf("k BETWEEN %d AND %d", base+s.lo, base+s.hi)
	switch s.what {
	case "put":
		var rows []string
		for k := s.lo; k <= s.hi; k++ {
			rows = append(rows, fmt.Sprintf("(%d, %d)", base+k, base*1000+s.values[k]))
		}
		return "INSERT INTO t VALUES " + strings.Join(rows, ", ") + " ON CONFLICT (k) DO UPDATE SET v = excluded.v"
	case "delete":
		return "DELETE FROM t WHERE " + between + " RETURNING k, v"
	case "add":
		return "UPDATE t SET v = v + 1 WHERE " + between + " RETURNING k, v - 1"
	case "scan":
		return "SELECT k, v FROM t WHERE " + between + " ORDER BY k"
	case "count":
		return "SELECT count(*) FROM t WHERE " + between
	case "last":
		return "SELECT k, v FROM t WHERE " + between + " ORDER BY k DESC LIMIT 1"
	case "find":
		return fmt.Sprintf("SELECT k, v FROM t WHERE v = %d ORDER BY k", base*1000+s.v)
	default:
		panic("linear: no statement " + s.what)
	}
}

// TestLinearizable: a statement on its own that reads, through all uses of
// indexes, or that writes takes place at one moment between its begin and its
// end. One that changes what it finds does so at two moments, its snapshot and
// its commit, between which nobody else changed the rows that it found: rows that
// others add meanwhile it does not see, which snapshot isolation allows.
func TestLinearizable(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			db := open(t, kind)
			exec(t, db, "CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)", "CREATE INDEX t_v ON t (v)",
				fmt.Sprintf("INSERT INTO t SELECT i, i FROM generate_series(-%d, -1) AS s(i)", padding))
			done := 0
			for seed := range *histories {
				h := statementHistory(t, db, seed)
				require.True(t, porcupine.CheckOperations(model, h), "seed %d: %+v", seed, h)
				for _, op := range h {
					if op.Output.(string) != conflict {
						done++
					}
				}
			}
			require.Greater(t, done, *histories)
		})
	}
}

// TestIndexesAreUsed: what the histories ask is answered by indexes.
func TestIndexesAreUsed(t *testing.T) {
	db := open(t, "lsm")
	exec(t, db, "CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)", "CREATE INDEX t_v ON t (v)",
		fmt.Sprintf("INSERT INTO t SELECT i, i FROM generate_series(-%d, -1) AS s(i)", padding))
	for _, what := range []string{"delete", "add", "scan", "count", "last", "find"} {
		s := statement{what: what, hi: 3, v: 1}
		rows, err := db.Query(context.Background(), "EXPLAIN "+s.text(10))
		require.NoError(t, err)
		var plan []string
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			plan = append(plan, line)
		}
		require.NoError(t, rows.Err())
		require.Contains(t, strings.Join(plan, " "), "(lsm)", what)
	}
}

// TestModel: the checker does see what is wrong.
func TestModel(t *testing.T) {
	put := statement{what: "put", lo: 0, hi: 1, values: cells{5, 6}}
	scan := statement{what: "scan", lo: 0, hi: width - 1}
	op := func(s statement, out string, from, to int64) porcupine.Operation {
		return porcupine.Operation{ClientId: int(from), Input: s, Output: out, Call: from, Return: to}
	}
	ok := func(ops ...porcupine.Operation) bool { return porcupine.CheckOperations(model, ops) }
	require.True(t, ok(op(put, "2", 1, 10), op(scan, "", 2, 5), op(scan, "0:5 1:6", 6, 7)))
	require.False(t, ok(op(put, "2", 1, 10), op(scan, "0:5", 2, 5)), "half a statement")
	require.False(t, ok(op(put, "2", 1, 2), op(scan, "", 3, 4)), "a stale read")
	require.False(t, ok(op(put, "2", 1, 10), op(scan, "0:5 1:6", 2, 3), op(scan, "", 4, 5)), "time runs back")
	require.False(t, ok(op(put, conflict, 1, 2), op(scan, "0:5 1:6", 3, 4)), "a conflict that did something")
	require.False(t, ok(op(put, "2", 1, 2), op(statement{what: "count", hi: width - 1}, "1", 3, 4)), "a wrong count")

	remove := statement{what: "delete", lo: 0, hi: width - 1, values: cells{5}}
	first := statement{what: "put", values: cells{5}}
	second := statement{what: "put", lo: 1, hi: 1, values: cells{0, 6}}
	require.True(t, ok(op(first, "1", 1, 2), op(scan, "0:5", 3, 9), op(remove, "1", 3, 9), op(second, "1", 4, 5),
		op(scan, "0:5 1:6", 6, 7), op(scan, "1:6", 10, 11)), "a deletion that does not see a new row")
	require.False(t, ok(op(first, "1", 1, 2), op(second, "1", 3, 4), op(scan, "0:5", 5, 9), op(remove, "1", 5, 9)),
		"a deletion that does not see an old row")
	require.False(t, ok(op(first, "1", 1, 2), op(scan, "0:5", 3, 9), op(remove, "1", 3, 9), op(scan, "0:5", 10, 11)),
		"a deletion that did nothing")
	again := statement{what: "put", values: cells{4}}
	require.False(t, ok(op(first, "1", 1, 2), op(scan, "0:5", 3, 9), op(remove, "1", 3, 9), op(again, "1", 4, 5),
		op(scan, "0:4", 6, 7), op(scan, "", 10, 11)), "a deletion of a row that changed meanwhile")
}

func open(t *testing.T, kind string) *gpusql.DB {
	db, err := gpusql.Open(":memory:?index=" + kind)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func exec(t *testing.T, db *gpusql.DB, statements ...string) {
	for _, s := range statements {
		_, err := db.Exec(context.Background(), s)
		require.NoError(t, err, s)
	}
}

// statementHistory has clients run statements on keys of their own.
func statementHistory(t *testing.T, db *gpusql.DB, seed int) []porcupine.Operation {
	const clients, steps = 3, 6
	base := (seed + 1) * 10
	parts := make([][]porcupine.Operation, clients)
	start := time.Now()
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(seed), uint64(c)))
			for range steps {
				s := randomStatement(r)
				from := time.Since(start).Nanoseconds()
				ops := run(t, db, base, s)
				to := time.Since(start).Nanoseconds()
				for _, op := range ops {
					op.ClientId, op.Call, op.Return = c, from, to
					parts[c] = append(parts[c], op)
				}
			}
		})
	}
	wg.Wait()
	var all []porcupine.Operation
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func randomStatement(r *rand.Rand) statement {
	s := statement{lo: r.IntN(width), v: 1 + r.IntN(4)}
	s.what = []string{"put", "put", "put", "delete", "add", "scan", "count", "last", "find"}[r.IntN(9)]
	s.hi = s.lo + r.IntN(width-s.lo)
	switch s.what {
	case "put":
		for k := range s.values {
			s.values[k] = 1 + r.IntN(4)
		}
	case "find":
		s.lo, s.hi = 0, width-1
	}
	return s
}

// run runs a statement and gives it as operations, answers as the model writes them.
func run(t *testing.T, db *gpusql.DB, base int, s statement) []porcupine.Operation {
	ctx := context.Background()
	answer := func(s statement, out string) porcupine.Operation { return porcupine.Operation{Input: s, Output: out} }
	failed := func(err error) []porcupine.Operation {
		assert.Contains(t, []string{codeSerialization, "23505"}, stateOf(err), "%v", err)
		return []porcupine.Operation{answer(s, conflict)}
	}
	if s.what == "put" {
		r, err := db.Exec(ctx, s.text(base))
		if err != nil {
			return failed(err)
		}
		return []porcupine.Operation{answer(s, fmt.Sprint(r.RowsAffected))}
	}
	found, err := query(ctx, db, s.text(base))
	if err != nil {
		return failed(err)
	}
	if s.what == "count" {
		return []porcupine.Operation{answer(s, fmt.Sprint(found[0][0]))}
	}
	if s.what == "delete" || s.what == "add" { // no order was asked for
		slices.SortFunc(found, func(a, b [2]int) int { return a[0] - b[0] })
	}
	var out []string
	for _, row := range found {
		k, v := row[0]-base, row[1]-base*1000
		out = append(out, fmt.Sprintf("%d:%d", k, v))
		s.values[k] = v
	}
	text := strings.Join(out, " ")
	if s.what == "delete" || s.what == "add" {
		scan := statement{what: "scan", lo: s.lo, hi: s.hi}
		return []porcupine.Operation{answer(scan, text), answer(s, fmt.Sprint(len(found)))}
	}
	return []porcupine.Operation{answer(s, text)}
}

// query gives the rows of a query of one or two columns.
func query(ctx context.Context, db *gpusql.DB, text string) ([][2]int, error) {
	rows, err := db.Query(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // the error is asked for
	var out [][2]int
	for rows.Next() {
		var row [2]int
		into := []any{&row[0], &row[1]}
		if err := rows.Scan(into[:len(rows.Columns())]...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}
