package planner

import (
	"path"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// fromItem is an entry of FROM, or the join of several.
type fromItem struct {
	node Node
	rels []*relation
	star []starColumn
}

// from binds FROM into the scope and gives its plan.
func (b *binder) from(s *scope, list []parser.TableExpr) Node {
	s.lo = b.nextColumn
	defer func() { s.hi = b.nextColumn }()
	if len(list) == 0 {
		return &Values{Rows: [][]Expr{{}}}
	}
	whole := &fromItem{}
	for _, t := range list {
		item := b.tableExpr(s.within(whole), t)
		if whole.node == nil {
			whole = item
			continue
		}
		star := append(whole.star[:len(whole.star):len(whole.star)], item.star...)
		whole = b.pair(whole, item, &Join{Kind: Inner, Left: whole.node, Right: item.node}, t.Start())
		whole.star = star
	}
	s.rels, s.star = whole.rels, whole.star
	return whole.node
}

// pair is the join of two items; the caller says what * is.
func (b *binder) pair(l, r *fromItem, j *Join, at parser.Pos) *fromItem {
	rels := l.rels[:len(l.rels):len(l.rels)]
	for _, rel := range r.rels {
		for _, other := range l.rels {
			if rel.name != "" && sameName(rel.name, other.name) && (rel.table == nil || other.table == nil || rel.schema == other.schema) {
				fail("42712", at, "table name %q specified more than once", rel.name)
			}
		}
		rels = append(rels, rel)
	}
	j.Dependent = j.Dependent || b.dependsOn(r.node, l.node)
	if j.Dependent && (j.Kind == Right || j.Kind == Full) {
		fail(sqltype.CodeWrongObject, at, "the right side of a %s join cannot refer to its left side", j.Kind)
	}
	return &fromItem{node: j, rels: rels}
}

// dependsOn reports that a plan names columns of another. Base tables do not,
// and are not searched.
func (b *binder) dependsOn(n, left Node) bool {
	if _, ok := n.(*Scan); ok {
		return false
	}
	free := freeCols(n)
	return !free.empty() && free.meets(colsOf(left))
}

// tableExpr binds one entry; s shows what stands before it.
func (b *binder) tableExpr(s *scope, t parser.TableExpr) *fromItem {
	switch t := t.(type) {
	case *parser.TableRef:
		if t.File != "" {
			name := strings.TrimSuffix(path.Base(t.File), path.Ext(t.File))
			return b.named(b.files([]string{t.File}, "", nil, t.Pos), name, t.Alias, t.Columns)
		}
		return b.tableRef(s, t)
	case *parser.DerivedTable:
		outer := s.beyondFrom()
		if t.Lateral {
			outer = s
		}
		q := b.query(outer, s.ctes, t.Query)
		return b.named(&fromItem{node: q.node, star: starOf(q.cols)}, "", t.Alias, t.Columns)
	case *parser.FuncTable:
		if t.Ordinality {
			return b.withOrdinality(s, t)
		}
		return b.funcTable(s, t)
	case *parser.Sampled:
		return b.sampled(s, t)
	case *parser.Join:
		return b.join(s, t)
	case *parser.Pivot:
		return b.pivot(s, t)
	case *parser.Unpivot:
		return b.unpivot(s, t)
	}
	fail(sqltype.CodeNotSupported, t.Start(), "FROM with %T is not supported", t)
	return nil
}

// beyondFrom is the scope that a subquery in FROM without LATERAL sees: that
// of the query around.
func (s *scope) beyondFrom() *scope {
	for s.partial {
		s = s.parent
	}
	return s.parent
}

func starOf(cols []ColDef) []starColumn {
	star := make([]starColumn, len(cols))
	for i := range cols {
		star[i].col = cols[i]
	}
	return star
}

// named makes one relation of an item's columns, under the alias or else name.
func (b *binder) named(item *fromItem, name string, alias *parser.Ident, columns []parser.Ident) *fromItem {
	rel := &relation{name: name, cols: make([]ColDef, len(item.star))}
	for i := range item.star {
		rel.cols[i] = item.star[i].col
	}
	item.rels = []*relation{rel}
	return renamed(item, alias, columns)
}

// renamed gives the one relation of an item its alias and column aliases.
func renamed(item *fromItem, alias *parser.Ident, columns []parser.Ident) *fromItem {
	rel := item.rels[0]
	if alias != nil {
		rel.name, rel.schema = alias.Name, ""
	}
	if len(columns) > len(rel.cols) {
		fail(codeInvalidReference, columns[0].Pos, "table %q has %d columns available but %d columns specified",
			rel.name, len(rel.cols), len(columns))
	}
	for i, c := range columns {
		rel.cols[i].Name = c.Name
	}
	item.star = starOf(rel.cols)
	for i := range item.star {
		item.star[i].rel = rel
	}
	return item
}

// ---- tables ----

func (b *binder) tableRef(s *scope, t *parser.TableRef) *fromItem {
	schema, name := b.qualified(t.Name)
	if t.AsOf != nil {
		if _, ok := b.reader.Table(schema, name.Name); !ok || schema == "" && s.ctes.find(name.Name) != nil {
			fail(sqltype.CodeWrongObject, t.AsOf.Pos, "AS OF needs a table, and %q is none", name.Name)
		}
	}
	if schema == "" {
		if c := s.ctes.find(name.Name); c != nil {
			node, cols := b.cteRef(c)
			return b.named(&fromItem{node: node, star: starOf(cols)}, name.Name, t.Alias, t.Columns)
		}
	}
	if table, ok := b.reader.Table(schema, name.Name); ok {
		scan := b.scan(table)
		scan.AsOf = b.asOf(t.AsOf)
		rel := &relation{schema: table.Schema, name: table.Name, table: table, cols: scan.Columns}
		if len(t.Columns) > 0 {
			rel.cols = append([]ColDef(nil), scan.Columns...)
		}
		return renamed(&fromItem{node: scan, rels: []*relation{rel}}, t.Alias, t.Columns)
	}
	if view, ok := b.reader.View(schema, name.Name); ok {
		q := b.view(view, name.Pos)
		return b.named(&fromItem{node: q.node, star: starOf(q.cols)}, view.Name, t.Alias, t.Columns)
	}
	if item := b.system(schema, name.Name); item != nil {
		return b.named(item, name.Name, t.Alias, t.Columns)
	}
	b.failTable(schema, name, s.ctes)
	return nil
}

// asOf binds a moment; what it says cannot name columns.
func (b *binder) asOf(a *parser.AsOf) *AsOf {
	if a == nil {
		return nil
	}
	t := sqltype.Int64
	if a.Time {
		t = sqltype.TimestampTZ
	}
	return &AsOf{Time: a.Time, At: b.coerce(b.expr(&scope{clause: inValues}, a.At), t, a.At.Start())}
}

// system is a table of information_schema or pg_catalog, nil when there is none
// of that name. What it says is of the version of the catalogue that the plan is
// for.
func (b *binder) system(schema, name string) *fromItem {
	if schema == "" && (len(name) < 3 || !sameName(name[:3], "pg_")) {
		return nil
	}
	contents := b.reader.Contents()
	columns, rows, ok := catalog.System(&contents, schema, name)
	if !ok {
		return nil
	}
	return b.given(columns, rows)
}

// given is rows that are known.
func (b *binder) given(columns sqltype.Schema, rows [][]sqltype.Datum) *fromItem {
	n := &Values{Rows: make([][]Expr, len(rows))}
	for _, c := range columns {
		n.Columns = append(n.Columns, b.column(c.Name, c.Type, mayBeNull))
	}
	for i, row := range rows {
		n.Rows[i] = make([]Expr, len(row))
		for k := range row {
			n.Rows[i][k] = &Const{row[k]}
		}
	}
	return &fromItem{node: n, star: starOf(n.Columns)}
}

// qualified splits a table's name.
func (b *binder) qualified(n parser.Name) (schema string, name parser.Ident) {
	switch len(n.Parts) {
	case 1:
		return "", n.Parts[0]
	case 2:
		return n.Parts[0].Name, n.Parts[1]
	}
	fail(sqltype.CodeNotSupported, n.Parts[0].Pos, "names of other databases are not supported")
	return "", parser.Ident{}
}

func (b *binder) failTable(schema string, name parser.Ident, ctes *cte) {
	names := b.reader.Names()
	for ; ctes != nil; ctes = ctes.outer {
		names = append(names[:len(names):len(names)], ctes.name)
	}
	full := name.Name
	if schema != "" {
		full = schema + "." + full
	}
	failHint(didYouMean(name.Name, names), sqltype.CodeUndefinedTable, name.Pos, "table %q does not exist", full)
}

// scan reads all columns of a table, under new numbers.
func (b *binder) scan(t *catalog.Table) *Scan {
	n := &Scan{Table: t, Columns: b.tableColumns(t), Source: make([]int, len(t.Columns))}
	for i := range n.Source {
		n.Source[i] = i
	}
	return n
}

// tableColumns defines a column for each of a table's.
func (b *binder) tableColumns(t *catalog.Table) []ColDef {
	cols := make([]ColDef, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		cols[i] = b.column(c.Name, c.Type, nullsOf(c.NotNull))
	}
	return cols
}

// maxViewReads bounds views that read views: each level of ones that read the one
// before twice doubles the plan.
const maxViewReads = 1000

// view binds a view's text as if it stood alone: nothing around it is seen.
func (b *binder) view(v *catalog.View, at parser.Pos) bound {
	for _, name := range b.views {
		if sameName(name, v.Schema+"."+v.Name) {
			fail(sqltype.CodeWrongObject, at, "view %q refers to itself", v.Name)
		}
	}
	if b.viewReads++; b.viewReads > maxViewReads {
		fail(sqltype.CodeTooComplex, at, "views are read more than %d times, those in views included", maxViewReads)
	}
	list, err := parser.Parse(v.Text)
	if err != nil {
		failWith(err, noPos)
	}
	query, ok := list[0].Statement.(*parser.Query)
	if !ok || len(list) != 1 {
		fail(sqltype.CodeInternal, at, "the text of view %q is not a query", v.Name)
	}
	b.views = append(b.views, v.Schema+"."+v.Name)
	defer func() { b.views = b.views[:len(b.views)-1] }()
	defer inView(v.Name, at)
	q := b.query(nil, nil, query)
	q.cols = append([]ColDef(nil), q.cols...)
	for i, name := range v.Columns {
		if i < len(q.cols) {
			q.cols[i].Name = name
		}
	}
	return q
}

// inView puts the place of the reference into an error inside a view: the
// position in the view's own text would mislead.
func inView(name string, at parser.Pos) {
	r := recover()
	if r == nil {
		return
	}
	e, ok := r.(bindError)
	if !ok {
		panic(r)
	}
	c := *e.err
	c.Pos, c.Msg = int(at)+1, "view \""+name+"\": "+c.Msg
	panic(bindError{&c})
}

// ---- functions ----

// fileFunctions are the table functions that read a file, with their formats;
// "" goes by the name's end.
var fileFunctions = map[string]string{
	"read_parquet": "parquet", "parquet_scan": "parquet",
	"read_csv": "csv", "read_csv_auto": "csv",
	"read_json": "json", "read_json_auto": "json", "read_ndjson": "ndjson", "read_ndjson_auto": "ndjson",
	"read_text": "text", "read_blob": "blob",
	"parquet_schema": "parquet_schema", "parquet_metadata": "parquet_metadata", "parquet_file_metadata": "parquet_file_metadata",
	"read_arrow": "arrow", "read_ipc": "arrow", "scan_arrow_ipc": "arrow",
}

func (b *binder) funcTable(s *scope, t *parser.FuncTable) *fromItem {
	name := t.Call.Name.Parts[len(t.Call.Name.Parts)-1].Name
	if list := b.functions(t.Call.Name); list != nil {
		if item, ok := b.rowsFunction(s, t, list); ok {
			return item
		}
	}
	if format, ok := fileFunctions[name]; ok {
		args, options := fileArgs(t.Call)
		if len(args) != 1 {
			fail(sqltype.CodeUndefinedFunc, t.Pos, "%s takes the name of a file, a pattern, or a list of these", name)
		}
		return b.named(b.files(b.fileNames(args[0]), format, b.namedOptions(options), t.Pos), name, t.Alias, t.Columns)
	}
	if strings.HasPrefix(name, "duckdb_") && len(t.Call.Args) == 0 {
		if item := b.system("duckdb", name); item != nil {
			return b.named(item, name, t.Alias, t.Columns)
		}
	}
	if name == "glob" && len(t.Call.Args) == 1 {
		return b.named(b.fileList(b.constant(t.Call.Args[0], sqltype.Varchar).S, t.Pos), name, t.Alias, t.Columns)
	}
	if name == "repeat" && len(t.Call.Args) == 2 {
		return b.repeated(s, t)
	}
	if name == "pragma_table_info" && len(t.Call.Args) == 1 {
		text := b.constant(t.Call.Args[0], sqltype.Varchar).S
		var parts []parser.Ident
		for _, p := range strings.Split(text, ".") {
			parts = append(parts, parser.Ident{Name: p, Pos: t.Pos})
		}
		return b.named(b.given(catalog.TableInfo(b.target(parser.Name{Parts: parts}))), name, t.Alias, t.Columns)
	}
	if rows, ok := rowFunctions[name]; ok {
		return b.unnestTable(s, t, name, rows)
	}
	if columns, ok := jsonTables[name]; ok {
		return b.jsonTable(s, t, columns)
	}
	if name != "generate_series" && name != "range" {
		names := []string{"generate_series", "range", "unnest"}
		for f := range fileFunctions {
			names = append(names, f)
		}
		failHint(didYouMean(name, names), sqltype.CodeUndefinedFunc, t.Pos, "table function %q does not exist", name)
	}
	args, typ := b.seriesArgs(s, name, t.Call)
	column := b.column(name, typ, neverNull)
	var node Node = &TableFunc{Name: name, Args: args, Columns: []ColDef{column}}
	if !freeCols(node).empty() { // of each row of what stands before it
		node = &Unnest{Input: &Values{Rows: [][]Expr{{}}}, Lists: []Expr{b.function(name, args, t.Pos)}, Columns: []ColDef{column}}
	}
	item := b.named(&fromItem{
		node: node,
		star: starOf([]ColDef{column}),
	}, name, t.Alias, t.Columns)
	// The alias of a function of one column is the column's name too.
	if t.Alias != nil && len(t.Columns) == 0 {
		item.rels[0].cols[0].Name, item.star[0].col.Name = t.Alias.Name, t.Alias.Name
	}
	return item
}

// fileList is the names of the files that match a pattern.
func (b *binder) fileList(pattern string, at parser.Pos) *fromItem {
	if b.opts.Files == nil {
		fail(sqltype.CodeNotSupported, at, "files cannot be listed here")
	}
	b.once = true
	var rows [][]sqltype.Datum
	if strings.ContainsAny(pattern, "*?[") {
		names, err := b.opts.Files(pattern)
		if err != nil {
			failWith(err, at)
		}
		for _, name := range names {
			rows = append(rows, []sqltype.Datum{sqltype.NewString(name)})
		}
	}
	return b.given(sqltype.Schema{{Name: "file", Type: sqltype.Varchar}}, rows)
}

// repeated is repeat(x, n) in FROM: SELECT x AS repeat FROM range(n).
func (b *binder) repeated(s *scope, t *parser.FuncTable) *fromItem {
	item := parser.SelectItem{Expr: t.Call.Args[0], Alias: &parser.Ident{Name: "repeat", Pos: t.Pos}}
	rows := &parser.FuncTable{Call: callOf("range", t.Pos, t.Call.Args[1]), Alias: &parser.Ident{Name: "n"}, Pos: t.Pos}
	q := b.query(s, s.ctes, &parser.Query{Body: &parser.Select{Items: []parser.SelectItem{item}, From: []parser.TableExpr{rows}, Pos: t.Pos}, Pos: t.Pos})
	return b.named(&fromItem{node: q.node, star: starOf(q.cols)}, "repeat", t.Alias, t.Columns)
}

// seriesArgs are start, stop and step of a series, of the type that it gives;
// the step of a series of times is an INTERVAL.
func (b *binder) seriesArgs(s *scope, name string, call *parser.Call) ([]Expr, sqltype.Type) {
	args := b.exprs(s, call.Args)
	if len(args) < 1 || len(args) > 3 {
		fail(sqltype.CodeUndefinedFunc, call.Pos, "%s takes from 1 to 3 arguments", name)
	}
	typ := sqltype.Int64
	for i, a := range args {
		if i == 2 {
			break
		}
		if k := b.settle(a).Type().Kind; k.IsTemporal() && k != sqltype.KindTime {
			typ = sqltype.Timestamp
			if k == sqltype.KindTimestampTZ {
				typ = sqltype.TimestampTZ
			}
		}
	}
	if len(args) == 1 {
		args = append([]Expr{&Const{sqltype.NewInt64(0)}}, args...)
	}
	if len(args) == 2 {
		args = append(args, &Const{sqltype.NewInt64(1)})
	}
	for i := range args {
		want := typ
		if i == 2 && typ != sqltype.Int64 {
			want = sqltype.Interval
		}
		at := call.Pos
		if i < len(call.Args) {
			at = call.Args[i].Start()
		}
		if got := args[i].Type(); want == sqltype.Int64 && got.Kind != sqltype.KindNull && !got.Kind.IsNumeric() || want == sqltype.Interval && got.Kind.IsNumeric() {
			fail(sqltype.CodeTypeMismatch, at, "argument %d of %s is %s, not %s", i+1, name, got, want)
		}
		args[i] = b.coerce(args[i], want, at)
	}
	return args, typ
}

// ---- files ----

// fileArgs tells arguments and options apart: header = true is one too, as a
// file's name has no columns to compare.
func fileArgs(call *parser.Call) (args []parser.Expr, options []parser.NamedArg) {
	options = call.Named
	for _, a := range call.Args {
		if e, ok := a.(*parser.Binary); ok && e.Op == "=" {
			if ref, ok := e.L.(*parser.ColumnRef); ok && len(ref.Name.Parts) == 1 {
				options = append(options[:len(options):len(options)], parser.NamedArg{Name: ref.Name.Parts[0], Value: e.R})
				continue
			}
		}
		args = append(args, a)
	}
	return args, options
}

func (b *binder) namedOptions(args []parser.NamedArg) map[string]sqltype.Datum {
	if len(args) == 0 {
		return nil
	}
	options := make(map[string]sqltype.Datum, len(args))
	for _, a := range args {
		options[strings.ToLower(a.Name.Name)] = b.constant(a.Value, sqltype.Null)
	}
	return options
}

// foldable reports an expression that can be computed while binding.
func (b *binder) foldable(e Expr) bool {
	known := !isVolatile(e)
	walkExpr(e, func(e Expr) bool {
		switch e.(type) {
		case *Col, *Param, *Subquery:
			known = false
		}
		return known
	})
	return known
}

// constant is the value of a literal, of type t unless that is Null.
func (b *binder) constant(e parser.Expr, t sqltype.Type) sqltype.Datum {
	if ref, ok := e.(*parser.ColumnRef); ok && t.Kind == sqltype.KindNull && len(ref.Name.Parts) == 1 {
		return sqltype.NewString(ref.Name.Parts[0].Name) // FORMAT csv
	}
	x := b.expr(&scope{clause: inValues}, e)
	if t.Kind != sqltype.KindNull {
		x = b.coerce(x, t, e.Start())
	}
	x = b.settle(x)
	if c, ok := x.(*Const); ok {
		return c.Value
	}
	if b.opts.Fold != nil && b.foldable(x) {
		d, err := b.opts.Fold(x)
		if err != nil {
			failWith(err, e.Start())
		}
		return d
	}
	fail(sqltype.CodeSyntax, e.Start(), "this must be a constant")
	return sqltype.Datum{}
}
