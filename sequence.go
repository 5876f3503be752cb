package gpusql

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// sequences are the sequences of a statement, as exec.Sequences.
type sequences struct {
	conn *Conn
	tx   *storage.Tx
}

// find is the sequence of a name as it stands in SQL.
func (s *sequences) find(text string) (*catalog.Sequence, error) {
	n, err := parseName(text)
	if err != nil {
		return nil, err
	}
	return findSequence(s.tx.Reader(), n)
}

// Next implements exec.Sequences.
func (s *sequences) Next(name string) (int64, error) {
	q, err := s.find(name)
	if err != nil {
		return 0, err
	}
	n, err := s.tx.NextValue(q)
	if err == nil {
		s.conn.current[q.ID], s.conn.lastSequence = n, q.ID
	}
	return n, err
}

// Current implements exec.Sequences.
func (s *sequences) Current(name string) (int64, error) {
	q, err := s.find(name)
	if err != nil {
		return 0, err
	}
	n, ok := s.conn.current[q.ID]
	if !ok {
		return 0, sqltype.Errorf("55000", "currval of sequence \"%s\" is not yet defined in this session", q.Name)
	}
	return n, nil
}

// Last implements exec.Sequences.
func (s *sequences) Last() (int64, error) {
	n, ok := s.conn.current[s.conn.lastSequence]
	if !ok {
		return 0, sqltype.Errorf("55000", "lastval is not yet defined in this session")
	}
	return n, nil
}

// Set implements exec.Sequences.
func (s *sequences) Set(name string, value int64, called bool) error {
	q, err := s.find(name)
	if err != nil {
		return err
	}
	if err := s.tx.SetValue(q, value, called); err != nil {
		return err
	}
	if called {
		s.conn.current[q.ID], s.conn.lastSequence = value, q.ID
	}
	return nil
}

// parseName reads the name of an object in a string, as regclass does.
func parseName(text string) (parser.Name, error) {
	e, err := parser.ParseExpr(text)
	if ref, ok := e.(*parser.ColumnRef); err == nil && ok && len(ref.Name.Parts) <= 2 {
		return ref.Name, nil
	}
	return parser.Name{}, sqltype.Errorf("42602", "invalid name: %q", text)
}

func findSequence(r catalog.Reader, n parser.Name) (*catalog.Sequence, error) {
	schema, name := split(n)
	if q, ok := r.Sequence(schema, name); ok {
		return q, nil
	}
	if _, ok := r.Table(schema, name); ok {
		return nil, sqltype.Errorf(sqltype.CodeWrongObject, "\"%s\" is not a sequence", name)
	}
	return nil, sqltype.Errorf(sqltype.CodeUndefinedTable, "sequence \"%s\" does not exist", name)
}

// createSequence is CREATE SEQUENCE.
func (c *Conn) createSequence(ctx context.Context, s *parser.CreateSequence) (*Rows, error) {
	err := c.define(func(tx *storage.Tx) error {
		schema, name := split(s.Name)
		if old, ok := tx.Reader().Sequence(schema, name); ok && s.IfNotExists {
			return nil
		} else if ok && s.OrReplace {
			if err := dropSequence(ctx, tx, old, storage.KeepThem); err != nil {
				return err
			}
		}
		q := catalog.Sequence{Schema: schema, Name: name, Temp: s.Temp, Type: sqltype.Int64}
		if err := applyOptions(tx.Reader(), &q, &s.Options, true); err != nil {
			return positioned(err, at(s.Name))
		}
		_, err := tx.CreateSequence(ctx, q)
		return positioned(err, at(s.Name))
	})
	if err != nil {
		return nil, err
	}
	return doneRows("CREATE SEQUENCE", 0), nil
}

// applyOptions changes a sequence by what was said; fresh: it is made now.
func applyOptions(r catalog.Reader, q *catalog.Sequence, o *parser.SequenceOptions, fresh bool) error {
	oldLo, oldHi := storage.SequenceBounds(q.Type, max(q.Increment, -1))
	typed := o.Type != nil
	if typed {
		switch q.Type = o.Type.Type; q.Type.Kind {
		case sqltype.KindInt16, sqltype.KindInt32, sqltype.KindInt64:
		default:
			return sqltype.Errorf(sqltype.CodeInvalidParameter, "a sequence must be of type smallint, integer or bigint")
		}
	}
	if o.Increment != nil {
		q.Increment = *o.Increment
	} else if fresh {
		q.Increment = 1
	}
	if q.Increment == 0 {
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "INCREMENT must not be zero")
	}
	lo, hi := storage.SequenceBounds(q.Type, q.Increment)
	least, most := storage.SequenceBounds(q.Type, -q.Increment)
	least, most = min(least, lo), max(most, hi)
	switch {
	case o.Min != nil:
		q.Min = *o.Min
	case fresh, o.NoMin, typed && q.Min == oldLo:
		q.Min = lo
	}
	switch {
	case o.Max != nil:
		q.Max = *o.Max
	case fresh, o.NoMax, typed && q.Max == oldHi:
		q.Max = hi
	}
	if o.Cycle != nil {
		q.Cycle = *o.Cycle
	}
	switch {
	case o.Start != nil:
		q.Start = *o.Start
	case fresh && q.Increment > 0:
		q.Start = q.Min
	case fresh:
		q.Start = q.Max
	}
	switch {
	case q.Min < least || q.Max > most && most != math.MaxInt64:
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "the bounds %d and %d are out of range for type %s", q.Min, q.Max, q.Type)
	case q.Min >= q.Max:
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "MINVALUE (%d) must be less than MAXVALUE (%d)", q.Min, q.Max)
	case q.Start < q.Min || q.Start > q.Max:
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "START value (%d) must be between MINVALUE (%d) and MAXVALUE (%d)", q.Start, q.Min, q.Max)
	}
	if o.OwnedBy != nil {
		return ownedBy(r, q, *o.OwnedBy)
	}
	return nil
}

// ownedBy gives a sequence to a column.
func ownedBy(r catalog.Reader, q *catalog.Sequence, column parser.Name) error {
	last := len(column.Parts) - 1
	if last < 1 {
		return sqltype.Errorf(sqltype.CodeSyntax, "OWNED BY takes table.column or NONE")
	}
	t, err := findTable(r, parser.Name{Parts: column.Parts[:last]})
	if err != nil {
		return err
	}
	i := columnIndex(t, column.Parts[last].Name)
	if i < 0 {
		return errNoColumn(t, column.Parts[last])
	}
	q.Owner, q.OwnerColumn = t.ID, t.Columns[i].ID
	return nil
}

// alterSequence is ALTER SEQUENCE.
func (c *Conn) alterSequence(ctx context.Context, s *parser.AlterSequence) (*Rows, error) {
	err := c.define(func(tx *storage.Tx) error {
		old, err := findSequence(tx.Reader(), s.Name)
		if err != nil {
			if s.IfExists && isUndefined(err) {
				return nil
			}
			return positioned(err, at(s.Name))
		}
		q := *old
		if s.To != nil {
			q.Name = s.To.Name
			return tx.AlterSequence(ctx, old, q, nil)
		}
		if err := applyOptions(tx.Reader(), &q, &s.Options, false); err != nil {
			return positioned(err, at(s.Name))
		}
		var restart *int64
		if s.Options.Restart {
			if restart = s.Options.RestartAt; restart == nil {
				restart = &q.Start
			}
			if *restart < q.Min || *restart > q.Max {
				return sqltype.Errorf(sqltype.CodeInvalidParameter, "RESTART value (%d) must be between MINVALUE (%d) and MAXVALUE (%d)", *restart, q.Min, q.Max).At(int(at(s.Name)))
			}
		}
		return tx.AlterSequence(ctx, old, q, restart)
	})
	if err != nil {
		return nil, err
	}
	return doneRows("ALTER SEQUENCE", 0), nil
}

// dropSequence drops a sequence that no column's default needs; with how the
// defaults go too.
func dropSequence(ctx context.Context, tx *storage.Tx, q *catalog.Sequence, how storage.OnDependents) error {
	r := tx.Reader()
	for _, t := range r.Contents().Tables {
		for i := range t.Columns {
			if !usesSequence(r, t.Columns[i].Default, q) {
				continue
			}
			if how != storage.DropThem {
				e := sqltype.Errorf("2BP01", "cannot drop sequence \"%s\": the default of column \"%s\" of table \"%s\" needs it", q.Name, t.Columns[i].Name, t.Name)
				e.Hint = "CASCADE drops the default too"
				return e
			}
			if _, err := tx.SetDefault(ctx, t, i, ""); err != nil {
				return err
			}
		}
	}
	return tx.DropSequence(ctx, q)
}

// usesSequence reports that the text of a default is a nextval of the sequence.
func usesSequence(r catalog.Reader, text string, q *catalog.Sequence) bool {
	if !strings.Contains(strings.ToLower(text), "nextval") {
		return false
	}
	e, err := parser.ParseExpr(text)
	for err == nil {
		if cast, ok := e.(*parser.Cast); ok {
			e = cast.X
			continue
		}
		break
	}
	call, ok := e.(*parser.Call)
	if !ok || len(call.Args) != 1 {
		return false
	}
	arg := call.Args[0]
	if cast, ok := arg.(*parser.Cast); ok {
		arg = cast.X
	}
	l, ok := arg.(*parser.Literal)
	if !ok {
		return false
	}
	n, err := parseName(l.Value.S)
	if err != nil {
		return false
	}
	schema, name := split(n)
	used, ok := r.Sequence(schema, name)
	return ok && used.ID == q.ID
}

// ownSequences makes the sequences of a table's SERIAL and IDENTITY columns,
// and gives the columns their defaults. It comes before the table is made: the
// owner is said after.
func (c *Conn) ownSequences(ctx context.Context, tx *storage.Tx, t *catalog.Table, defs []parser.ColumnDef) (made []*catalog.Sequence, columns []int, err error) {
	for i := range defs {
		d := &defs[i]
		if !d.Serial && d.Identity == nil {
			continue
		}
		col := &t.Columns[i]
		switch col.Type.Kind {
		case sqltype.KindInt16, sqltype.KindInt32, sqltype.KindInt64:
		default:
			return nil, nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "an identity column must be of type smallint, integer or bigint").At(int(d.Name.Pos))
		}
		if d.Default != nil {
			return nil, nil, sqltype.Errorf(sqltype.CodeSyntax, "both default and identity specified for column \"%s\"", col.Name).At(int(d.Name.Pos))
		}
		q := catalog.Sequence{Schema: t.Schema, Temp: t.Temp, Type: col.Type}
		options := &parser.SequenceOptions{}
		if d.Identity != nil {
			options = &d.Identity.Options
			col.Identity, col.Always = true, d.Identity.Kind == "ALWAYS"
		}
		if err := applyOptions(tx.Reader(), &q, options, true); err != nil {
			return nil, nil, positioned(err, d.Name.Pos)
		}
		q.Name = freeSequence(tx.Reader(), t.Schema, t.Name+"_"+col.Name+"_seq")
		s, err := tx.CreateSequence(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		made, columns = append(made, s), append(columns, i)
		col.NotNull, col.Default = true, nextvalOf(s)
	}
	return made, columns, nil
}

// freeSequence is a name that nothing has: base, with a number if need be.
func freeSequence(r catalog.Reader, schema, base string) string {
	name := base
	for n := 1; ; n++ {
		_, q := r.Sequence(schema, name)
		_, t := r.Table(schema, name)
		if _, v := r.View(schema, name); !q && !t && !v {
			return name
		}
		name = fmt.Sprint(base, n)
	}
}

// nextvalOf is the text of a default that takes the next number.
func nextvalOf(q *catalog.Sequence) string {
	name := parser.FormatExpr(&parser.ColumnRef{Name: parser.Name{Parts: []parser.Ident{{Name: q.Schema, Quoted: true}, {Name: q.Name, Quoted: true}}}})
	return "nextval('" + strings.ReplaceAll(name, "'", "''") + "')"
}

// own gives sequences to the columns of a table.
func own(ctx context.Context, tx *storage.Tx, t *catalog.Table, made []*catalog.Sequence, columns []int) error {
	for i, q := range made {
		owned := *q
		owned.Owner, owned.OwnerColumn = t.ID, t.Columns[columns[i]].ID
		if err := tx.AlterSequence(ctx, q, owned, nil); err != nil {
			return err
		}
	}
	return nil
}
