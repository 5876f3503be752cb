package planner

import (
	"fmt"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// BindOptions are what binding asks of its surroundings.
type BindOptions struct {
	// ParamTypes are the types of the parameters that are known; Null and those
	// beyond the end are inferred: a parameter takes the type of what it meets.
	ParamTypes []sqltype.Type
	// FileSchema looks at a file. Format is "parquet", "csv", "json", "ndjson" or "arrow". Nil:
	// files are refused.
	FileSchema func(path, format string, options map[string]sqltype.Datum) (FileInfo, error)
	// Files gives the names of the files that a pattern stands for, in order. Nil:
	// a pattern is a name.
	Files func(pattern string) ([]string, error)
	// Query runs a query of one column, for a PIVOT that asks for values, and gives
	// its first rows. Nil: such a PIVOT is refused.
	Query func(q *parser.Query, most int) ([]sqltype.Datum, error)
	// Variable is the value of a variable of the session, Setting that of a setting as
	// SHOW gives it. Nil: there are none.
	Variable func(name string) (sqltype.Datum, bool)
	Setting  func(name string) (string, error)
	// Fold computes an expression that names no column; see OptimizeOptions. Nil:
	// what is to be known while binding must be a constant as it stands.
	Fold func(Expr) (sqltype.Datum, error)
}

// Bind resolves the names and types of a query, INSERT, UPDATE, DELETE or MERGE and
// makes the plan that says the same as the text. Errors are *sqltype.Error,
// with a position where there is one.
func Bind(r catalog.Reader, s parser.Statement, o BindOptions) (p *Plan, err error) {
	b := binder{reader: r, opts: o, nextColumn: 1, nextCTE: 1}
	defer b.recover(&err)
	return b.statement(s), nil
}

// binder is one call of Bind. Its methods end the call by fail, a panic that
// Bind turns into its error, and so need no error results.
type binder struct {
	reader     catalog.Reader
	opts       BindOptions
	params     []sqltype.Type // Null: not known yet
	nextColumn ColumnID
	nextCTE    int
	notNull    colSet   // columns that are never NULL
	views      []string // the views being read, against a circle
	viewReads  int      // of views, in views too
	depth      int      // of queries in queries
	sequential bool     // sequences are used
	once       bool     // the plan holds what tables had when it was made
	frames     []*scope // of the functions whose bodies are being bound
	calls      int      // how many those are
	changes    bool     // tables are changed
	within     *cte     // the names of WITH around the change that is being bound
	// asked is what is computed above the change that is being bound, nil for nothing.
	asked *asked
}

// maxQueryDepth bounds queries in queries, views included.
const maxQueryDepth = 500

// codeInvalidReference is SQLSTATE invalid_column_reference.
const codeInvalidReference = "42P10"

func (b *binder) statement(s parser.Statement) *Plan {
	p := &Plan{}
	switch s := s.(type) {
	case *parser.Query:
		q := b.query(nil, nil, s)
		p.Root, p.Columns = q.node, q.cols
		b.settleParams()
		b.note(p)
		return p
	default:
		p.Root, p.Kind = b.change(s)
	}
	p.Columns = p.Root.Cols()
	b.settleParams()
	b.note(p)
	return p
}

// note puts into a plan what is known when all is bound.
func (b *binder) note(p *Plan) {
	p.Params, p.NextColumn, p.NextCTE, p.Sequential, p.Once = b.params, b.nextColumn, b.nextCTE, b.sequential, b.once
	p.Changes = b.changes
}

// settleParams makes VARCHARs of parameters that met no type.
func (b *binder) settleParams() {
	for i, t := range b.params {
		if t.Kind == sqltype.KindNull {
			b.params[i] = sqltype.Varchar
		}
	}
}

// column defines a new column.
func (b *binder) column(name string, t sqltype.Type, nulls nullability) ColDef {
	c := ColDef{ID: b.nextColumn, Name: name, Type: t, NotNull: nulls == neverNull}
	b.nextColumn++
	if c.NotNull {
		b.notNull = b.notNull.add(c.ID)
	}
	return c
}

func nullsOf(notNull bool) nullability {
	if notNull {
		return neverNull
	}
	return mayBeNull
}

// ---- errors ----

// noPos is the position of what is not in the text.
const noPos parser.Pos = -1

// bindError carries an error out of the binder.
type bindError struct{ err *sqltype.Error }

func (b *binder) recover(err *error) {
	switch r := recover().(type) {
	case nil:
	case bindError:
		*err = r.err
	default:
		panic(r)
	}
}

// fail ends the binding.
func fail(code string, at parser.Pos, format string, args ...any) {
	failHint("", code, at, format, args...)
}

func failHint(hint, code string, at parser.Pos, format string, args ...any) {
	e := sqltype.Errorf(code, format, args...)
	e.Hint = hint
	failWith(e, at)
}

// failWith ends the binding with an error of another room, which gets the
// position at unless it has one.
func failWith(err error, at parser.Pos) {
	e, ok := err.(*sqltype.Error)
	if !ok {
		e = sqltype.Errorf(sqltype.CodeInternal, "%v", err)
	}
	if at != noPos {
		e = e.At(int(at))
	}
	panic(bindError{e})
}

// didYouMean is the hint for a misspelt name; the candidates may be repeated.
func didYouMean(name string, candidates []string) string {
	if s := catalog.Suggest(name, candidates); s != "" {
		return fmt.Sprintf("did you mean %q?", s)
	}
	return ""
}
