package gpusql

import (
	"context"
	"math"
	"strings"

	goarrow "github.com/apache/arrow-go/v18/arrow"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
	"github.com/gpusql/gpusql/storage/arrow"
)

// data is an exec.Data: the statement's tables, and files beside them.
type data struct {
	*storage.Statement
	files files
}

// AsOf implements exec.Data.
func (d *data) AsOf(at int64, by exec.Moment) (exec.Data, error) {
	past, err := d.at(at, by)
	if err != nil {
		return nil, err
	}
	return &data{past, d.files}, nil
}

func (d *data) at(at int64, by exec.Moment) (*storage.Statement, error) {
	if by == exec.ByTime {
		return d.Statement.AtTime(at)
	}
	return d.Statement.At(uint64(at))
}

// File implements exec.Data.
func (d *data) File(_ context.Context, f *planner.FileScan, batchRows int) (exec.FileReader, error) {
	return d.files.open(f, batchRows)
}

// files opens the files that a statement names.
type files struct {
	resolve func(string) string
	// schema is what the file of a COPY is read as; nil goes by the file.
	schema sqltype.Schema
	// records stand for the file of an Appender; they have the schema.
	records []goarrow.RecordBatch
}

// describe says what a file is like; it is what the binder asks for.
func (f files) describe(path, format string, options map[string]sqltype.Datum) (planner.FileInfo, error) {
	if f.records != nil {
		return planner.FileInfo{Schema: f.schema}, nil
	}
	file, err := f.file(path, format, options)
	if err != nil {
		return planner.FileInfo{}, err
	}
	defer file.Close()
	rows := max(0, float64(file.Rows()))
	return planner.FileInfo{Schema: file.Schema(), Rows: rows, Stats: func(c int) catalog.ColumnStats {
		s := file.Stats(c)
		return catalog.ColumnStats{Distinct: s.Distinct, NullFrac: float64(s.Nulls) / max(1, rows), Min: s.Min, Max: s.Max}
	}}, nil
}

func (f files) file(path, format string, options map[string]sqltype.Datum) (arrow.File, error) {
	o, err := fileOptions(format, options)
	if err != nil {
		return nil, err
	}
	if f.schema != nil {
		o.Schema = f.schema
	}
	return arrow.OpenFile(f.resolve(path), o)
}

func (f files) open(scan *planner.FileScan, batchRows int) (exec.FileReader, error) {
	columns := append(scan.Source[:len(scan.Source):len(scan.Source)], scan.FetchSource...)
	if f.records != nil {
		return &recordSource{records: f.records, columns: columns, rows: batchRows}, nil
	}
	file, err := f.file(scan.Path, scan.Format, scan.Options)
	if err != nil {
		return nil, err
	}
	return fileReader{arrow.NewFileScan(file, columns, batchRows, skipParts(file, scan))}, nil
}

// fileReader is an arrow.FileScan as an exec.FileReader.
type fileReader struct{ *arrow.FileScan }

// Cursor implements exec.FileReader.
func (r fileReader) Cursor(m device.Allocator, s device.Stream) (exec.FileCursor, error) {
	return r.FileScan.Cursor(m, s), nil
}

// fileOptions reads the options of COPY and read_csv.
func fileOptions(format string, options map[string]sqltype.Datum) (arrow.FileOptions, error) {
	o := arrow.FileOptions{Format: strings.ToLower(format)}
	for name, v := range options {
		var err error
		switch strings.ToLower(name) {
		case "format":
			if form, ok := jsonForms[strings.ToLower(v.S)]; ok {
				o.JSON.Form = form
			} else {
				if o.Format = strings.ToLower(v.S); o.Format == "text" {
					o.Format = "csv"
				}
			}
		case "array":
			var array bool
			if array, err = yes(name, v); array {
				o.JSON.Form = arrow.JSONArray
			}
		case "delimiter", "delim", "sep":
			o.CSV.Delimiter, err = oneByte(name, v)
		case "quote":
			o.CSV.Quote, err = oneByte(name, v)
		case "escape":
			o.CSV.Escape, err = oneByte(name, v)
		case "null", "nullstr":
			o.CSV.Null = v.S
		case "header":
			o.CSV.Header, err = headerMode(v)
		case "skip":
			o.CSV.Skip, err = count(name, v)
		case "sample_size":
			o.CSV.Sample, err = count(name, v)
			o.JSON.Sample = o.CSV.Sample
		case "all_varchar":
			o.CSV.AllText, err = yes(name, v)
		case "ignore_errors":
			o.CSV.IgnoreBad, err = yes(name, v)
			o.JSON.IgnoreBad = o.CSV.IgnoreBad
		case "null_padding":
			o.CSV.PadMissing, err = yes(name, v)
		case "columns":
			err = describedColumns(&o, name, v)
		case "names", "column_names":
			o.CSV.Names, err = words(name, v)
		case "types", "dtypes", "column_types":
			err = columnTypes(&o, name, v)
		case "auto_detect": // what is not said is found out, and what is said holds
			_, err = yes(name, v)
		case "compression", "codec":
			o.Compression = strings.ToLower(v.S)
		default:
			err = sqltype.Errorf(sqltype.CodeInvalidParameter,
				"there is no file option %q; there are format, compression, delim, quote, escape, nullstr, header, skip, columns, names, types, "+
					"all_varchar, ignore_errors, null_padding, sample_size, array and auto_detect", name)
		}
		if err != nil {
			return o, err
		}
	}
	switch o.Format {
	case "parq":
		o.Format = "parquet"
	case "ipc", "feather":
		o.Format = "arrow"
	case "ndjson":
		o.Format, o.JSON.Form = "json", arrow.JSONLines
	}
	return o, nil
}

// describedColumns reads columns = {'name': 'TYPE', ...}: all that a file has.
func describedColumns(o *arrow.FileOptions, name string, v sqltype.Datum) error {
	types, err := namedTypes(name, v)
	if err != nil {
		return err
	}
	if o.Format == "json" || o.Format == "ndjson" {
		o.Schema = types
		return nil
	}
	for _, t := range types {
		o.CSV.Names, o.CSV.Types = append(o.CSV.Names, t.Name), append(o.CSV.Types, t.Type)
	}
	return nil
}

// columnTypes reads types = {'name': 'TYPE', ...} of some columns, or a list of the
// first ones' types.
func columnTypes(o *arrow.FileOptions, name string, v sqltype.Datum) (err error) {
	if v.Type.Kind != sqltype.KindList {
		o.CSV.NamedTypes, err = namedTypes(name, v)
		return err
	}
	list, err := words(name, v)
	if err != nil {
		return err
	}
	for _, text := range list {
		t, err := typeNamed(text)
		if err != nil {
			return err
		}
		o.CSV.Types = append(o.CSV.Types, t)
	}
	return nil
}

// namedTypes reads a struct or a map of names and types.
func namedTypes(option string, v sqltype.Datum) (sqltype.Schema, error) {
	bad := badValue(option, v.String(), "names with types, such as {'a': 'INTEGER'}")
	if v.Null || v.Type.Kind != sqltype.KindStruct {
		return nil, bad
	}
	var s sqltype.Schema
	parts := v.Elements()
	for _, f := range v.Type.Fields() {
		if !parts.Next() || parts.IsNull() || f.Type.Kind != sqltype.KindVarchar {
			return nil, bad
		}
		t, err := typeNamed(parts.Datum().S)
		if err != nil {
			return nil, err
		}
		s = append(s, sqltype.Column{Name: f.Name, Type: t})
	}
	return s, nil
}

// typeNamed is the type that a text says, one that is built in.
func typeNamed(text string) (sqltype.Type, error) {
	e, err := parser.ParseExpr("CAST(NULL AS " + text + ")")
	if cast, ok := e.(*parser.Cast); err == nil && ok {
		return planner.TypeOf(noTypes{}, &cast.Type)
	}
	return sqltype.Null, sqltype.Errorf(sqltype.CodeUndefinedObject, "type %q does not exist", text)
}

// noTypes is a catalogue without types.
type noTypes struct{ catalog.Reader }

func (noTypes) Type(string, string) (*catalog.UserType, bool) { return nil, false }

func words(option string, v sqltype.Datum) ([]string, error) {
	if v.Null || v.Type.Kind != sqltype.KindList || v.Type.Elem().Kind != sqltype.KindVarchar {
		return nil, badValue(option, v.String(), "a list of texts")
	}
	var out []string
	for e := v.Elements(); e.Next(); {
		out = append(out, e.Datum().S)
	}
	return out, nil
}

// jsonForms are the forms of read_json by their names.
var jsonForms = map[string]arrow.JSONForm{
	"auto": arrow.JSONGuess, "newline_delimited": arrow.JSONLines, "nd": arrow.JSONLines,
	"array": arrow.JSONArray, "unstructured": arrow.JSONValues,
}

func oneByte(name string, v sqltype.Datum) (byte, error) {
	s := v.S
	if s == `\t` {
		s = "\t"
	}
	if v.Type.Kind != sqltype.KindVarchar || len(s) != 1 {
		return 0, badValue(name, v.String(), "a string of one byte")
	}
	return s[0], nil
}

func headerMode(v sqltype.Datum) (arrow.HeaderMode, error) {
	header, err := yes("header", v)
	switch {
	case err != nil:
		return arrow.HeaderGuess, err
	case header:
		return arrow.HeaderYes, nil
	}
	return arrow.HeaderNo, nil
}

func yes(name string, v sqltype.Datum) (bool, error) {
	d, err := sqltype.CastDatum(v, sqltype.Bool)
	if err != nil || d.Null {
		return false, badValue(name, v.String(), "true or false")
	}
	return d.I != 0, nil
}

// count reads a number; -1 is for all.
func count(name string, v sqltype.Datum) (int, error) {
	d, err := sqltype.CastDatum(v, sqltype.Int64)
	if err != nil || d.Null || d.I < -1 {
		return 0, badValue(name, v.String(), "a number")
	}
	if d.I < 0 {
		return math.MaxInt, nil
	}
	return int(d.I), nil
}

// skipParts decides from a file's bounds which parts a scan's filter rules out.
func skipParts(file arrow.File, scan *planner.FileScan) func(int) bool {
	if scan.Filter == nil {
		return nil
	}
	conjuncts := []planner.Expr{scan.Filter}
	if and, ok := scan.Filter.(*planner.And); ok {
		conjuncts = and.Args
	}
	source := map[planner.ColumnID]int{}
	for i, c := range scan.Columns {
		source[c.ID] = scan.Source[i]
	}
	for i, c := range scan.Fetch {
		source[c.ID] = scan.FetchSource[i]
	}
	return func(part int) bool {
		for _, e := range conjuncts {
			if c, ok := e.(*planner.Cmp); ok && neverTrue(c, func(id planner.ColumnID) (arrow.Bounds, bool) {
				return file.Bounds(part, source[id])
			}) {
				return true
			}
		}
		return false
	}
}

// neverTrue reports that a comparison of a column with a constant is true of no
// value within the column's bounds.
func neverTrue(c *planner.Cmp, bounds func(planner.ColumnID) (arrow.Bounds, bool)) bool {
	op, l, r := c.Op, c.L, c.R
	if _, ok := l.(*planner.Const); ok {
		l, r = r, l
		op = mirrored(op)
	}
	col, ok := l.(*planner.Col)
	if !ok {
		return false
	}
	k, ok := r.(*planner.Const)
	if !ok || k.Value.Null {
		return false
	}
	b, known := bounds(col.ID)
	if !known || b.Min.Null || b.Max.Null || b.Min.Type != k.Value.Type {
		return false
	}
	low, high := sqltype.Compare(k.Value, b.Min), sqltype.Compare(k.Value, b.Max)
	switch op {
	case planner.Eq:
		return low < 0 || high > 0
	case planner.Lt:
		return low <= 0
	case planner.Le:
		return low < 0
	case planner.Gt:
		return high >= 0
	case planner.Ge:
		return high > 0
	}
	return false
}

// mirrored is the comparison with its sides changed.
func mirrored(op planner.CmpOp) planner.CmpOp {
	switch op {
	case planner.Lt:
		return planner.Gt
	case planner.Le:
		return planner.Ge
	case planner.Gt:
		return planner.Lt
	case planner.Ge:
		return planner.Le
	}
	return op
}
