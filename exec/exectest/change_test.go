package exectest_test

import (
	"context"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/exec/exectest"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

var pair = []sqltype.Type{sqltype.Int64, sqltype.Varchar}

func primary() *catalog.Index {
	return &catalog.Index{Unique: true, Primary: true, Keys: []catalog.IndexKey{{Column: 0}}}
}

func two(k int64, s string) exectest.Row {
	return exectest.Row{sqltype.NewInt64(k), sqltype.NewString(s)}
}

// pairs is rows of (BIGINT, VARCHAR) as a node.
func pairs(db *exectest.DB, rows ...exectest.Row) *planner.Values {
	v := &planner.Values{Columns: []planner.ColDef{db.Col(pair[0]), db.Col(pair[1])}}
	for _, r := range rows {
		v.Rows = append(v.Rows, []planner.Expr{constant(r[0]), constant(r[1])})
	}
	return v
}

func insert(db *exectest.DB, t *exectest.Table, in planner.Node) *planner.Insert {
	n := &planner.Insert{Table: t.Table, Input: in}
	for i := range t.Columns {
		n.Target = append(n.Target, i)
		n.Columns = append(n.Columns, db.Col(t.Columns[i].Type))
	}
	return n
}

// content is what a table has.
func content(t *testing.T, db *exectest.DB, tab *exectest.Table) []string {
	rows, err := db.Run(exectest.Config{Batch: 3, Workers: 1}, db.Scan(tab))
	require.NoError(t, err)
	out := exectest.Keys(rows)
	sort.Strings(out)
	return out
}

func keys(rows ...exectest.Row) []string {
	out := exectest.Keys(rows)
	sort.Strings(out)
	return out
}

func count(t *testing.T, rows []exectest.Row) int64 {
	require.Len(t, rows, 1)
	return rows[0][0].I
}

func each(t *testing.T, f func(t *testing.T, db *exectest.DB, tab *exectest.Table, c exectest.Config)) {
	for _, c := range exectest.Configs {
		db := exectest.Open(t)
		tab := db.Create("t", pair, primary())
		var rows []exectest.Row
		for i := range 200 {
			rows = append(rows, two(int64(i), "a string that is long"))
		}
		db.Fill(tab, rows)
		f(t, db, tab, c)
	}
}

func TestInsert(t *testing.T) {
	each(t, func(t *testing.T, db *exectest.DB, tab *exectest.Table, c exectest.Config) {
		// From itself, which must not see what it inserts.
		in := db.Scan(tab)
		more := &planner.Project{Input: in, Exprs: []planner.NamedExpr{
			{Col: db.Col(pair[0]), Expr: plus(exectest.Ref(in, 0), exectest.Int(200))}, {Col: db.Col(pair[1]), Expr: exectest.Ref(in, 1)}}}
		rows, err := db.Run(c, insert(db, tab, more))
		require.NoError(t, err)
		require.EqualValues(t, 200, count(t, rows))
		require.Len(t, content(t, db, tab), 400)

		// The last row is a duplicate: nothing stays.
		before := content(t, db, tab)
		_, err = db.Run(c, insert(db, tab, pairs(db, two(500, "x"), two(501, "x"), two(502, "x"), two(503, "x"), two(7, "x"))))
		var e *sqltype.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, sqltype.CodeUnique, e.Code)
		require.Equal(t, before, content(t, db, tab))

		// A check that is NULL holds; RETURNING names the new row.
		n := insert(db, tab, pairs(db, two(600, "x"), exectest.Row{sqltype.NewInt64(601), sqltype.NullOf(pair[1])}))
		n.Checks = []planner.Check{{Name: "c", Pred: cmp(planner.Ne, &planner.Col{ID: n.Columns[1].ID, T: pair[1]}, constant(sqltype.NewString("bad")))}}
		n.Returning = []planner.NamedExpr{{Col: db.Col(pair[0]), Expr: plus(&planner.Col{ID: n.Columns[0].ID, T: pair[0]}, exectest.Int(1))}}
		rows, err = db.Run(c, n)
		require.NoError(t, err)
		require.Equal(t, []string{`"601"|`, `"602"|`}, exectest.Keys(rows))
		before = content(t, db, tab)
		n.Input = pairs(db, two(700, "good"), two(701, "bad"))
		_, err = db.Run(c, n)
		require.ErrorAs(t, err, &e)
		require.Equal(t, sqltype.CodeCheck, e.Code)
		require.Equal(t, before, content(t, db, tab))
	})
}

func TestUpdateAndDelete(t *testing.T) {
	each(t, func(t *testing.T, db *exectest.DB, tab *exectest.Table, c exectest.Config) {
		// Every key becomes another row's old one: that is no duplicate at the end.
		in := withID(db, tab)
		moved := func(by int64) *planner.Update {
			return &planner.Update{Table: tab.Table, Set: []int{0}, Columns: []planner.ColDef{db.Col(pair[0]), db.Col(pair[1])},
				Input: &planner.Project{Input: in, Exprs: []planner.NamedExpr{
					{Col: db.Col(sqltype.Int64), Expr: exectest.Ref(in, 0)},
					{Col: db.Col(pair[0]), Expr: plus(exectest.Ref(in, 1), exectest.Int(by))}, {Col: db.Col(pair[1]), Expr: exectest.Ref(in, 2)}}}}
		}
		rows, err := db.Run(c, moved(1))
		require.NoError(t, err)
		require.EqualValues(t, 200, count(t, rows))
		require.Contains(t, content(t, db, tab), exectest.Key(two(200, "a string that is long")))

		before := content(t, db, tab)
		same := moved(1)
		p := same.Input.(*planner.Project)
		p.Exprs[1].Expr = exectest.Int(5)
		_, err = db.Run(c, same)
		var e *sqltype.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, sqltype.CodeUnique, e.Code)
		require.Equal(t, before, content(t, db, tab))

		from := withID(db, tab)
		from.Filter = cmp(planner.Gt, exectest.Ref(from, 1), exectest.Int(50))
		del := &planner.Delete{Table: tab.Table, Input: from, Columns: []planner.ColDef{db.Col(pair[0]), db.Col(pair[1])}}
		del.Returning = []planner.NamedExpr{{Col: db.Col(pair[0]), Expr: &planner.Col{ID: del.Columns[0].ID, T: pair[0]}}}
		rows, err = db.Run(c, del)
		require.NoError(t, err)
		require.Len(t, rows, 150)
		require.Len(t, content(t, db, tab), 50)
		del.Returning = nil
		rows, err = db.Run(c, del)
		require.NoError(t, err)
		require.Zero(t, count(t, rows))
	})
}

// withID reads the row id and then all columns.
func withID(db *exectest.DB, tab *exectest.Table) *planner.Scan {
	n := db.Scan(tab)
	n.Columns = slices.Insert(n.Columns, 0, db.Col(sqltype.Int64))
	n.Source = slices.Insert(n.Source, 0, planner.RowIDColumn)
	return n
}

func TestUpsert(t *testing.T) {
	for _, c := range exectest.Configs {
		db := exectest.Open(t)
		tab := db.Create("t", pair, primary(), &catalog.Index{Name: "second", Unique: true, Keys: []catalog.IndexKey{{Column: 1}}})
		db.Fill(tab, []exectest.Row{two(1, "one"), two(2, "two"), two(3, "three")})
		run := func(conflict planner.Conflict, rows ...exectest.Row) (int64, error) {
			n := insert(db, tab, pairs(db, rows...))
			n.Conflict = &conflict
			for _, ty := range pair {
				n.Conflict.Columns = append(n.Conflict.Columns, db.Col(ty))
				n.Conflict.Excluded = append(n.Conflict.Excluded, db.Col(ty))
			}
			for i := range conflict.Set {
				n.Conflict.Set[i].Expr = &planner.Col{ID: n.Conflict.Excluded[1].ID, T: pair[1]}
			}
			out, err := db.Run(c, n)
			if err != nil {
				return 0, err
			}
			return count(t, out), nil
		}
		// (1, x) meets an old row, so that it does not keep (4, x) out.
		n, err := run(planner.Conflict{Nothing: true}, two(1, "x"), two(4, "x"), two(4, "y"), two(5, "two"))
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		require.Equal(t, keys(two(1, "one"), two(2, "two"), two(3, "three"), two(4, "x")), content(t, db, tab))

		// One new row for two old ones; of two new ones the later stays.
		_, err = run(planner.Conflict{Replace: true}, two(2, "three"), two(7, "seven"), two(7, "again"))
		require.NoError(t, err)
		require.Equal(t, keys(two(1, "one"), two(2, "three"), two(4, "x"), two(7, "again")), content(t, db, tab))

		set := planner.Conflict{Index: tab.Indexes[0], Set: []planner.SetColumn{{Column: 1}}}
		n, err = run(set, two(1, "uno"), two(8, "eight"))
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		before := keys(two(1, "uno"), two(2, "three"), two(4, "x"), two(7, "again"), two(8, "eight"))
		require.Equal(t, before, content(t, db, tab))
		var e *sqltype.Error
		_, err = run(set, two(1, "a"), two(1, "b"))
		require.ErrorAs(t, err, &e)
		require.Equal(t, sqltype.CodeCardinality, e.Code)
		_, err = run(set, two(1, "x"), two(9, "nine"))
		require.ErrorAs(t, err, &e, "of the other index")
		require.Equal(t, sqltype.CodeUnique, e.Code)
		require.Equal(t, before, content(t, db, tab))
	}
}

// TestAddedColumns reads columns that were added with a default, in all widths.
func TestAddedColumns(t *testing.T) {
	db := exectest.Open(t)
	tab := db.Create("t", pair)
	var rows []exectest.Row
	for i := range 200 {
		rows = append(rows, two(int64(i), "s"))
	}
	db.Fill(tab, rows)
	x := db.Store.Begin()
	added := exectest.Row{sqltype.NewBool(true), {Type: sqltype.Int16, I: 7}, sqltype.NewInt32(8), sqltype.NewFloat64(1.5),
		sqltype.NewDecimal(sqltype.Int128Of(12), sqltype.Decimal(30, 2)), sqltype.NewString("a default that is long"), sqltype.NullOf(sqltype.Date)}
	for i, d := range added {
		var err error
		tab.Table, err = x.AddColumn(context.Background(), tab.Table, catalog.Column{Name: string(rune('a' + i)), Type: d.Type}, d)
		require.NoError(t, err)
	}
	require.NoError(t, x.Commit())
	for i := range tab.Rows {
		tab.Rows[i] = slices.Concat(tab.Rows[i], added)
	}
	b := &bench{DB: db, model: exectest.NewModel(tab)}
	b.check(t, db.Scan(tab), false)
	for c := 2; c < len(tab.Columns); c++ {
		in := db.Scan(tab)
		some := &planner.Filter{Input: in, Pred: cmp(planner.Lt, exectest.Ref(in, 0), exectest.Int(150))}
		b.check(t, some, false)
		one := b.project(some, []int{c})
		b.check(t, &planner.SetOp{Op: planner.Union, Left: one, Right: b.project(db.Scan(tab), []int{c}), Columns: one.Cols()}, false)
		first := &planner.Sort{Input: some, Keys: []planner.SortKey{{Expr: exectest.Ref(in, 0)}}}
		b.check(t, &planner.DistinctOn{Input: first, On: []planner.Expr{exectest.Ref(in, c)}}, false)
		a := &planner.Aggregate{Input: some, Groups: []planner.NamedExpr{{Col: db.Col(tab.Columns[c].Type), Expr: exectest.Ref(in, c)}}}
		b.check(t, a, false)
		r := db.Scan(tab)
		j := &planner.Join{Kind: planner.Semi, Left: some, Right: r, Keys: []planner.JoinKey{{Left: exectest.Ref(in, c), Right: exectest.Ref(r, c)}}}
		b.check(t, j, false)
	}
	in := db.Scan(tab)
	in.Filter = exectest.Ref(in, 2)
	b.check(t, in, false)
}
