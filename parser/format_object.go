package parser

import (
	"fmt"
	"strconv"
)

func (f *formatter) sequence(s Statement) {
	switch s := s.(type) {
	case *CreateSequence:
		f.text("CREATE ")
		f.when(s.OrReplace, "OR REPLACE ")
		f.when(s.Temp, "TEMP ")
		f.text("SEQUENCE ")
		f.when(s.IfNotExists, "IF NOT EXISTS ")
		f.name(s.Name)
		f.sequenceOptions(&s.Options)
	case *AlterSequence:
		f.text("ALTER SEQUENCE ")
		f.when(s.IfExists, "IF EXISTS ")
		f.name(s.Name)
		if s.To != nil {
			f.text(" RENAME TO ")
			f.ident(*s.To)
		}
		f.sequenceOptions(&s.Options)
	}
}

// sequenceOptions writes options, a blank before each.
func (f *formatter) sequenceOptions(o *SequenceOptions) {
	number := func(word string, n *int64) {
		if n != nil {
			f.text(word + " " + strconv.FormatInt(*n, 10))
		}
	}
	if o.Type != nil {
		f.text(" AS ")
		f.typeName(*o.Type)
	}
	number(" INCREMENT BY", o.Increment)
	number(" MINVALUE", o.Min)
	f.when(o.NoMin, " NO MINVALUE")
	number(" MAXVALUE", o.Max)
	f.when(o.NoMax, " NO MAXVALUE")
	number(" START WITH", o.Start)
	f.when(o.Restart && o.RestartAt == nil, " RESTART")
	number(" RESTART WITH", o.RestartAt)
	if o.Cycle != nil {
		f.when(!*o.Cycle, " NO")
		f.text(" CYCLE")
	}
	if o.OwnedBy != nil {
		f.text(" OWNED BY ")
		f.name(*o.OwnedBy)
	}
}

func (f *formatter) enumType(s Statement) {
	switch s := s.(type) {
	case *CreateType:
		f.text("CREATE ")
		f.when(s.OrReplace, "OR REPLACE ")
		f.text("TYPE ")
		f.when(s.IfNotExists, "IF NOT EXISTS ")
		f.name(s.Name)
		if s.Type != nil {
			f.text(" AS ")
			f.typeName(*s.Type)
			return
		}
		f.text(" AS ENUM ")
		f.paren(func() {
			if s.Query != nil {
				f.query(s.Query)
			}
			f.list(len(s.Labels), func(i int) { f.quoteString(s.Labels[i]) })
		})
	case *Comment:
		f.text("COMMENT ON " + s.Kind + " ")
		f.name(s.Name)
		f.text(" IS ")
		if s.Text == nil {
			f.text("NULL")
		} else {
			f.quoteString(*s.Text)
		}
	case *AlterType:
		f.text("ALTER TYPE ")
		f.name(s.Name)
		f.text(" " + s.Kind + " ")
		switch s.Kind {
		case "RENAME TO":
			f.ident(s.To)
		case "RENAME VALUE":
			f.quoteString(s.Value)
			f.text(" TO ")
			f.quoteString(s.Other)
		case "ADD VALUE":
			f.when(s.IfNotExists, "IF NOT EXISTS ")
			f.quoteString(s.Value)
			if s.Other != "" {
				f.text(map[bool]string{true: " BEFORE ", false: " AFTER "}[s.Before])
				f.quoteString(s.Other)
			}
		default:
			panic("parser: no text for ALTER TYPE " + s.Kind)
		}
	}
}

func (f *formatter) createFunction(s *CreateFunction) {
	f.text("CREATE ")
	f.when(s.OrReplace, "OR REPLACE ")
	f.when(s.Temp, "TEMP ")
	if s.Macro {
		f.text("MACRO ")
	} else {
		f.text("FUNCTION ")
	}
	f.when(s.IfNotExists, "IF NOT EXISTS ")
	f.name(s.Name)
	f.paren(func() { f.list(len(s.Params), func(i int) { f.funcParam(&s.Params[i]) }) })
	switch {
	case s.Returns != nil:
		f.text(" RETURNS ")
		f.when(s.SetOf, "SETOF ")
		f.typeName(*s.Returns)
	case s.Table != nil:
		f.text(" RETURNS TABLE (")
		f.list(len(s.Table), func(i int) { f.columnDef(&s.Table[i]) })
		f.text(")")
	}
	f.when(!s.Macro, " LANGUAGE SQL")
	f.when(s.Strict, " STRICT")
	switch {
	case s.Text != nil:
		f.text(" AS ")
		f.quoteString(*s.Text)
	case s.Query != nil:
		f.text(" AS TABLE ")
		f.query(s.Query)
	case s.Macro:
		f.text(" AS ")
		f.expr(s.Return)
	default:
		f.text(" RETURN ")
		f.expr(s.Return)
	}
}

func (f *formatter) funcParam(a *FuncParam) {
	if a.Name.Name != "" {
		f.ident(a.Name)
		f.when(a.Type != nil, " ")
	}
	if a.Type != nil {
		f.typeName(*a.Type)
	}
	if a.Default != nil {
		f.text(" DEFAULT ")
		f.expr(a.Default)
	}
}

func (f *formatter) dropFunction(s *DropFunction) {
	if s.Macro {
		f.text("DROP MACRO ")
	} else {
		f.text("DROP FUNCTION ")
	}
	f.when(s.IfExists, "IF EXISTS ")
	f.list(len(s.Names), func(i int) {
		n := &s.Names[i]
		f.name(n.Name)
		if n.Typed {
			f.paren(func() { f.list(len(n.Types), func(i int) { f.typeName(n.Types[i]) }) })
		}
	})
	f.when(s.Cascade, " CASCADE")
}

func (f *formatter) merge(s *Merge) {
	f.with(s.With, s.Recursive)
	f.text("MERGE INTO ")
	f.name(s.Table)
	f.alias(s.Alias)
	f.text(" USING ")
	f.table(s.Source)
	if s.On != nil {
		f.text(" ON ")
		f.expr(s.On)
	} else {
		f.text(" USING ")
		f.idents(s.Using)
	}
	for i := range s.Whens {
		f.mergeWhen(&s.Whens[i])
	}
	f.returning(s.Returning)
}

func (f *formatter) mergeWhen(w *MergeWhen) {
	switch w.Match {
	case Matched:
		f.text(" WHEN MATCHED")
	case NotMatched:
		f.text(" WHEN NOT MATCHED")
	case NotMatchedBySource:
		f.text(" WHEN NOT MATCHED BY SOURCE")
	default:
		panic(fmt.Sprintf("parser: no text for WHEN %d", w.Match))
	}
	if w.Cond != nil {
		f.text(" AND ")
		f.expr(w.Cond)
	}
	f.text(" THEN " + w.Action)
	switch {
	case w.Action == "UPDATE":
		f.text(" SET ")
		f.assignments(w.Set)
	case w.Action == "INSERT" && w.Values == nil:
		f.text(" DEFAULT VALUES")
	case w.Action == "INSERT":
		f.columns(w.Columns)
		f.text(" VALUES ")
		f.paren(func() { f.exprs(w.Values) })
	}
}
