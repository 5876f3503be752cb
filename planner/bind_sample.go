package planner

import (
	"math"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// codeSample is SQLSTATE invalid_tablesample_argument, codeRepeat that of its seed.
const (
	codeSample = "2202H"
	codeRepeat = "2202G"
)

// sampled binds TABLESAMPLE: each row is kept by chance, or a number of rows are.
// With REPEATABLE chance is a hash of the row's id and the seed.
func (b *binder) sampled(s *scope, t *parser.Sampled) *fromItem {
	item := b.tableExpr(s, t.Table)
	size := b.constant(t.Size, sqltype.Float64)
	switch {
	case size.Null:
		fail(codeSample, t.Size.Start(), "TABLESAMPLE parameter cannot be null")
	case t.Rows && (size.F < 0 || size.F != math.Trunc(size.F)):
		fail(codeSample, t.Size.Start(), "sample size must be a whole number and not negative")
	case !t.Rows && !(size.F >= 0 && size.F <= 100):
		fail(codeSample, t.Size.Start(), "sample percentage must be between 0 and 100")
	}
	chance, node := b.chance(item.node, t)
	cols := item.node.Cols()
	if t.Rows {
		item.node = &Limit{Input: &Sort{Input: node, Keys: []SortKey{{Expr: chance}}}, Limit: &Const{sqltype.NewInt64(int64(size.F))}}
	} else {
		item.node = &Filter{Input: node, Pred: &Cmp{Op: Lt, L: chance, R: &Const{sqltype.NewFloat64(size.F / 100)}}}
	}
	item.node = keepCols(item.node, cols)
	return item
}

// chance is a number between 0 and 1 for each row, as a column of the node.
func (b *binder) chance(n Node, t *parser.Sampled) (Expr, Node) {
	number := func(name string, args ...Expr) Expr { return b.function(name, args, t.Pos) }
	var e Expr
	if t.Seed == nil {
		e = number("random")
	} else {
		seed := b.constant(t.Seed, sqltype.Float64)
		scan, ok := n.(*Scan)
		switch {
		case seed.Null:
			fail(codeRepeat, t.Seed.Start(), "TABLESAMPLE REPEATABLE parameter cannot be null")
		case !ok:
			fail(sqltype.CodeNotSupported, t.Seed.Start(), "TABLESAMPLE REPEATABLE can only be applied to tables")
		}
		row := b.column("rowid", sqltype.Int64, neverNull)
		with := *scan
		with.Columns = append(with.Columns[:len(with.Columns):len(with.Columns)], row)
		with.Source = append(with.Source[:len(with.Source):len(with.Source)], RowIDColumn)
		n = &with
		text := number("||", b.cast(colRef(row), sqltype.Varchar, t.Pos), &Const{sqltype.NewString(" " + seed.String())})
		hash := b.cast(number("hash", text), sqltype.Float64, t.Pos)
		e = number("abs", number("/", hash, &Const{sqltype.NewFloat64(1 << 64)}))
	}
	col := b.column("chance", sqltype.Float64, neverNull)
	return colRef(col), &Project{Input: n, Exprs: append(passed(n.Cols()), NamedExpr{Col: col, Expr: e})}
}

// withOrdinality is a function of FROM whose last column counts its rows.
func (b *binder) withOrdinality(s *scope, t *parser.FuncTable) *fromItem {
	plain := *t
	plain.Ordinality, plain.Columns = false, nil
	item := b.funcTable(s, &plain)
	if u, ok := item.node.(*Unnest); ok {
		col := b.column("ordinality", sqltype.Int64, neverNull)
		u.Number = &col
		item.rels[0].cols = append(item.rels[0].cols, col)
		item.star = starOf(item.rels[0].cols)
		return renamed(item, nil, t.Columns)
	}
	r, err := catalog.ResolveWindow("row_number", nil)
	if err != nil {
		failWith(err, t.Pos)
	}
	col := b.column("ordinality", r.Result, neverNull)
	frame := Frame{Unit: "RANGE", StartKind: "UNBOUNDED PRECEDING", EndKind: "CURRENT ROW"}
	item.node = &Window{Input: item.node, Funcs: []WindowFunc{{Col: col, Func: r.Func, Frame: frame}}}
	item.rels[0].cols = append(item.rels[0].cols, col)
	item.star = starOf(item.rels[0].cols)
	return renamed(item, nil, t.Columns)
}
