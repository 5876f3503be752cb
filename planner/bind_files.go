package planner

import (
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// filesOptions are what read_parquet and its like are told about several files.
type filesOptions struct {
	filename bool // a column with the file's name
	hive     bool // columns of key=value in the file's path
	byName   bool // the columns of all files, NULL where a file has none
}

// take takes these out of the options of a call, which may be nil.
func (o *filesOptions) take(options map[string]sqltype.Datum) {
	for name, to := range map[string]*bool{"filename": &o.filename, "hive_partitioning": &o.hive, "union_by_name": &o.byName} {
		if v, ok := options[name]; ok {
			*to = v.Type.Kind == sqltype.KindBool && v.Bool() || strings.EqualFold(v.S, "true")
			delete(options, name)
		}
	}
}

// fileNames are those of an argument: a name, or a list of names.
func (b *binder) fileNames(e parser.Expr) []string {
	list, ok := e.(*parser.Array)
	if !ok {
		return []string{b.constant(e, sqltype.Varchar).S}
	}
	if len(list.Exprs) == 0 {
		fail(sqltype.CodeSyntax, list.Pos, "the list of files is empty")
	}
	var names []string
	for _, x := range list.Exprs {
		names = append(names, b.constant(x, sqltype.Varchar).S)
	}
	return names
}

// files is files as one table: all rows of one, and then of the next. A name may
// be a pattern, and a file may have further columns by its path:
//
//	'sales/*/*.parquet'  ─▶  union_all
//	                           project *, year := 2023    scan sales/year=2023/a.parquet
//	                           project *, year := 2024    scan sales/year=2024/a.parquet
//
// so that a condition on year leaves files out, as it does any branch of a union.
func (b *binder) files(names []string, format string, options map[string]sqltype.Datum, at parser.Pos) *fromItem {
	o := filesOptions{hive: true}
	o.take(options)
	var all []*Project
	for _, name := range names {
		for _, file := range b.matching(name, at) {
			all = append(all, b.fileColumns(file, b.file(file, format, options, at), &o))
		}
	}
	if len(all) == 1 {
		cols := all[0].Cols()
		if scan := all[0].Input; len(cols) == len(scan.Cols()) {
			return &fromItem{node: scan, star: starOf(cols)}
		}
		return &fromItem{node: all[0], star: starOf(cols)}
	}
	columns := b.commonColumns(all, &o, at)
	var out Node
	for i, p := range all {
		branch := b.branchOf(p, columns, names[0], &o, at)
		if out == nil {
			out = branch
			continue
		}
		u := &SetOp{Op: Union, All: true, Left: out, Right: branch, Columns: columns}
		if i < len(all)-1 {
			u.Columns = make([]ColDef, len(columns))
			for k, c := range columns {
				u.Columns[k] = b.column(c.Name, c.Type, mayBeNull)
			}
		}
		out = u
	}
	return &fromItem{node: out, star: starOf(columns)}
}

// matching are the files that a name stands for.
func (b *binder) matching(name string, at parser.Pos) []string {
	if b.opts.Files == nil || !strings.ContainsAny(name, "*?[") {
		return []string{name}
	}
	files, err := b.opts.Files(name)
	if err != nil {
		failWith(err, at)
	}
	if len(files) == 0 {
		fail("58P01", at, "no file matches %q", name)
	}
	b.once = true
	return files
}

// fileColumns is a file with what its name tells besides.
func (b *binder) fileColumns(name string, scan *FileScan, o *filesOptions) *Project {
	p := &Project{Input: scan, Exprs: passed(scan.Columns)}
	add := func(name string, value sqltype.Datum) {
		p.Exprs = append(p.Exprs, NamedExpr{Col: b.column(name, value.Type, nullsOf(!value.Null)), Expr: &Const{value}})
	}
	if o.filename {
		add("filename", sqltype.NewString(name))
	}
	if !o.hive {
		return p
	}
	for _, part := range strings.Split(path.Dir(name), "/") {
		key, text, ok := strings.Cut(part, "=")
		if ok && key != "" && placeNamed(scan.Columns, key) < 0 {
			add(key, hiveValue(text))
		}
	}
	return p
}

// hiveValue is a value that a path has: a BIGINT, a DATE, or else a text.
func hiveValue(text string) sqltype.Datum {
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	if text == "__HIVE_DEFAULT_PARTITION__" {
		return sqltype.NullOf(sqltype.Varchar)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return sqltype.NewInt64(n)
	}
	if d, err := sqltype.ParseDatum(text, sqltype.Date); err == nil {
		return d
	}
	return sqltype.NewString(text)
}

// commonColumns are the columns of all files together: those of the first one, or
// by name those of any, of a type for all.
func (b *binder) commonColumns(all []*Project, o *filesOptions, at parser.Pos) []ColDef {
	var columns []ColDef
	for i, p := range all {
		for _, c := range p.Cols() {
			k := placeNamed(columns, c.Name)
			switch {
			case k < 0 && (i == 0 || o.byName):
				columns = append(columns, b.column(c.Name, c.Type, mayBeNull))
			case k >= 0:
				t, ok := sqltype.CommonType(columns[k].Type, c.Type)
				if !ok {
					t = sqltype.Varchar
				}
				columns[k].Type = t
			}
		}
	}
	return columns
}

func placeNamed(cols []ColDef, name string) int {
	for i := range cols {
		if sameName(cols[i].Name, name) {
			return i
		}
	}
	return -1
}

// branchOf is a file's rows in the columns of all.
func (b *binder) branchOf(p *Project, columns []ColDef, name string, o *filesOptions, at parser.Pos) Node {
	own := p.Cols()
	out := &Project{Input: p}
	for _, c := range columns {
		var e Expr
		k := placeNamed(own, c.Name)
		switch {
		case k >= 0:
			e = b.cast(colRef(own[k]), c.Type, at)
		case o.byName:
			e = &Const{sqltype.NullOf(c.Type)}
		default:
			scan := p.Input.(*FileScan)
			failHint("union_by_name = true makes it NULL there", sqltype.CodeUndefinedColumn, at, "%s has no column %q, which %s has", scan.Path, c.Name, name)
		}
		out.Exprs = append(out.Exprs, NamedExpr{Col: b.column(c.Name, c.Type, mayBeNull), Expr: e})
	}
	return out
}

// file is one file as a table.
func (b *binder) file(name, format string, options map[string]sqltype.Datum, at parser.Pos) *FileScan {
	if format == "" {
		format = fileFormat(name)
	}
	if format == "" {
		fail(sqltype.CodeUndefinedTable, at, "%q is not the name of a Parquet, CSV, JSON or Arrow file", name)
	}
	if b.opts.FileSchema == nil {
		fail(sqltype.CodeNotSupported, at, "files cannot be read here")
	}
	info, err := b.opts.FileSchema(name, format, options)
	if err != nil {
		failWith(err, at)
	}
	n := &FileScan{Path: name, Format: format, Options: options, Rows: info.Rows, Stats: info.Stats}
	for i, c := range info.Schema {
		n.Columns = append(n.Columns, b.column(c.Name, c.Type, nullsOf(c.NotNull)))
		n.Source = append(n.Source, i)
	}
	return n
}

// fileFormat is the format that a file's name tells, or "".
func fileFormat(name string) string {
	name = strings.ToLower(strings.TrimSuffix(strings.ToLower(name), ".gz"))
	switch path.Ext(name) {
	case ".parquet", ".parq", ".pq":
		return "parquet"
	case ".csv", ".tsv", ".tbl", ".txt":
		return "csv"
	case ".json":
		return "json"
	case ".ndjson", ".jsonl":
		return "ndjson"
	case ".arrow", ".arrows", ".ipc", ".feather":
		return "arrow"
	}
	return ""
}
