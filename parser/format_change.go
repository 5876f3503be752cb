package parser

import (
	"fmt"

	"github.com/gpusql/gpusql/sqltype"
)

func (f *formatter) insert(s *Insert) {
	f.with(s.With, s.Recursive)
	f.text("INSERT ")
	f.when(s.Replace, "OR REPLACE ")
	f.text("INTO ")
	f.name(s.Table)
	f.alias(s.Alias)
	f.columns(s.Columns)
	f.when(s.ByName, " BY NAME")
	f.when(s.Overriding != "", " OVERRIDING "+s.Overriding+" VALUE")
	if s.Source == nil {
		f.text(" DEFAULT VALUES")
	} else {
		f.text(" ")
		f.query(s.Source)
	}
	if c := s.OnConflict; c != nil {
		f.text(" ON CONFLICT")
		f.columns(c.Columns)
		if c.DoNothing {
			f.text(" DO NOTHING")
		} else {
			f.text(" DO UPDATE SET ")
			f.assignments(c.Set)
			f.where(c.Where)
		}
	}
	f.returning(s.Returning)
}

func (f *formatter) assignments(list []Assignment) {
	f.list(len(list), func(i int) {
		f.ident(list[i].Column)
		f.text(" = ")
		f.expr(list[i].Value)
	})
}

func (f *formatter) returning(list []SelectItem) {
	if list != nil {
		f.text(" RETURNING ")
		f.items(list)
	}
}

func (f *formatter) update(s *Update) {
	f.with(s.With, s.Recursive)
	f.text("UPDATE ")
	f.name(s.Table)
	f.alias(s.Alias)
	f.text(" SET ")
	f.assignments(s.Set)
	if s.From != nil {
		f.text(" FROM ")
		f.tables(s.From)
	}
	f.where(s.Where)
	f.returning(s.Returning)
}

func (f *formatter) delete(s *Delete) {
	f.with(s.With, s.Recursive)
	f.text("DELETE FROM ")
	f.name(s.Table)
	f.alias(s.Alias)
	if s.Using != nil {
		f.text(" USING ")
		f.tables(s.Using)
	}
	f.where(s.Where)
	f.returning(s.Returning)
}

func (f *formatter) createTable(s *CreateTable) {
	f.text("CREATE ")
	f.when(s.OrReplace, "OR REPLACE ")
	f.when(s.Temp, "TEMP ")
	f.text("TABLE ")
	f.when(s.IfNotExists, "IF NOT EXISTS ")
	f.name(s.Name)
	if elements := f.tableElements(s); elements != nil {
		f.text(" (")
		f.list(len(elements), func(i int) { elements[i]() })
		f.text(")")
	}
	f.columns(s.AsColumns)
	if s.As != nil {
		f.text(" AS ")
		f.query(s.As)
		f.when(!s.WithData, " WITH NO DATA")
	}
}

// tableElements write the columns, LIKEs and constraints of a table, in order.
func (f *formatter) tableElements(s *CreateTable) (all []func()) {
	likes := s.Likes
	for i := 0; i <= len(s.Columns); i++ {
		for ; len(likes) > 0 && likes[0].At == i; likes = likes[1:] {
			l := likes[0]
			all = append(all, func() {
				f.text("LIKE ")
				f.name(l.Table)
				for _, part := range likeParts {
					f.when(l.Including[part], " INCLUDING "+part)
				}
			})
		}
		if i < len(s.Columns) {
			all = append(all, func() { f.columnDef(&s.Columns[i]) })
		}
	}
	for i := range s.Constraints {
		all = append(all, func() { f.tableConstraint(&s.Constraints[i]) })
	}
	return all
}

func (f *formatter) columnDef(c *ColumnDef) {
	f.ident(c.Name)
	if c.Type.Text != "" || c.Type.User != nil || c.Type.Fields != nil || c.Type.Type.Kind != sqltype.KindNull {
		f.text(" ")
		f.typeName(c.Type)
	}
	if c.Collate != "" {
		f.text(" COLLATE ")
		f.ident(Ident{Name: c.Collate})
	}
	f.when(c.NotNull, " NOT NULL")
	if c.Default != nil {
		f.text(" DEFAULT ")
		f.exprFrom(c.Default, precLike+1)
	}
	if c.Generated != nil {
		f.text(" GENERATED ALWAYS AS ")
		f.paren(func() { f.expr(c.Generated) })
		f.when(c.Virtual, " VIRTUAL")
	}
	if c.Identity != nil {
		f.text(" GENERATED " + c.Identity.Kind + " AS IDENTITY")
		if o := (&formatter{}); c.Identity.Options != (SequenceOptions{}) {
			o.sequenceOptions(&c.Identity.Options)
			f.text(" (" + string(o.buf[1:]) + ")")
		}
	}
	f.constraintName(c.ConstraintName)
	f.when(c.PrimaryKey, " PRIMARY KEY")
	f.when(c.Unique, " UNIQUE")
	if c.References != nil {
		f.references(c.References)
	}
	for i := range c.Check {
		f.check(&c.Check[i])
	}
}

func (f *formatter) constraintName(name string) {
	if name != "" {
		f.text(" CONSTRAINT ")
		f.ident(Ident{Name: name})
	}
}

func (f *formatter) check(c *Check) {
	f.constraintName(c.Name)
	f.text(" CHECK ")
	f.paren(func() { f.expr(c.Expr) })
}

func (f *formatter) references(k *ForeignKey) {
	f.text(" REFERENCES ")
	f.name(k.Table)
	f.columns(k.Columns)
	f.when(k.OnDelete != "", " ON DELETE "+k.OnDelete)
	f.when(k.OnUpdate != "", " ON UPDATE "+k.OnUpdate)
}

// tableConstraint writes a constraint, a blank before it at most once.
func (f *formatter) tableConstraint(c *TableConstraint) {
	start := len(f.buf)
	if c.Kind == CheckConstraint {
		f.check(c.Check)
	} else {
		f.constraintName(c.Name)
	}
	switch c.Kind {
	case PrimaryKey:
		f.text(" PRIMARY KEY")
	case UniqueKey:
		f.text(" UNIQUE")
	case ForeignKeyConstraint:
		f.text(" FOREIGN KEY")
	case CheckConstraint:
	default:
		panic(fmt.Sprintf("parser: no constraint %d", c.Kind))
	}
	f.columns(c.Columns)
	if c.Foreign != nil {
		f.references(c.Foreign)
	}
	f.buf = append(f.buf[:start], f.buf[start+1:]...) // the blank after the comma is enough
}

func (f *formatter) createIndex(s *CreateIndex) {
	f.text("CREATE ")
	f.when(s.Unique, "UNIQUE ")
	f.text("INDEX ")
	f.when(s.IfNotExists, "IF NOT EXISTS ")
	if s.Name.Name != "" {
		f.ident(s.Name)
		f.text(" ")
	}
	f.text("ON ")
	f.name(s.Table)
	if s.Using != "" {
		f.text(" USING ")
		f.ident(Ident{Name: s.Using})
	}
	f.text(" (")
	f.list(len(s.Keys), func(i int) {
		f.expr(s.Keys[i].Expr)
		f.direction(s.Keys[i].Desc, s.Keys[i].Nulls)
	})
	f.text(")")
	if s.Include != nil {
		f.text(" INCLUDE ")
		f.idents(s.Include)
	}
	if s.With != nil {
		f.text(" WITH (")
		f.list(len(s.With), func(i int) {
			f.ident(s.With[i].Name)
			f.text(" = ")
			f.option(s.With[i].Value)
		})
		f.text(")")
	}
	f.where(s.Where)
}

func (f *formatter) createView(s *CreateView) {
	f.text("CREATE ")
	f.when(s.OrReplace, "OR REPLACE ")
	f.when(s.Temp, "TEMP ")
	f.text("VIEW ")
	f.when(s.IfNotExists, "IF NOT EXISTS ")
	f.name(s.Name)
	f.columns(s.Columns)
	f.text(" AS ")
	f.query(s.Query)
}

func (f *formatter) drop(s *Drop) {
	f.text("DROP " + s.Kind + " ")
	f.when(s.IfExists, "IF EXISTS ")
	f.list(len(s.Names), func(i int) { f.name(s.Names[i]) })
	f.when(s.Cascade, " CASCADE")
}

func (f *formatter) alterTable(s *AlterTable) {
	f.text("ALTER ")
	if s.View {
		f.text("VIEW ")
	} else {
		f.text("TABLE ")
	}
	f.when(s.IfExists, "IF EXISTS ")
	f.name(s.Name)
	f.text(" ")
	f.list(len(s.Actions), func(i int) { f.alterAction(&s.Actions[i]) })
}

func (f *formatter) alterAction(a *AlterAction) {
	switch a.Kind {
	case "ADD COLUMN":
		f.text("ADD COLUMN ")
		f.when(a.IfExists, "IF NOT EXISTS ")
		f.columnDef(a.Column)
	case "DROP COLUMN":
		f.text("DROP COLUMN ")
		f.when(a.IfExists, "IF EXISTS ")
		f.ident(a.Name)
		f.when(a.Cascade, " CASCADE")
	case "RENAME COLUMN":
		f.text("RENAME COLUMN ")
		f.ident(a.Name)
		f.text(" TO ")
		f.ident(a.To)
	case "RENAME TO":
		f.text("RENAME TO ")
		f.ident(a.To)
	case "SET TYPE":
		f.text("ALTER COLUMN ")
		f.ident(a.Name)
		f.text(" TYPE ")
		f.typeName(a.Column.Type)
		if a.Using != nil {
			f.text(" USING ")
			f.expr(a.Using)
		}
	case "SET DEFAULT":
		f.text("ALTER COLUMN ")
		f.ident(a.Name)
		f.text(" SET DEFAULT ")
		f.expr(a.Using)
	case "DROP DEFAULT", "SET NOT NULL", "DROP NOT NULL", "DROP EXPRESSION", "DROP IDENTITY":
		f.text("ALTER COLUMN ")
		f.ident(a.Name)
		f.text(" " + a.Kind)
		f.when(a.IfExists, " IF EXISTS")
	case "ADD CONSTRAINT":
		f.text("ADD ")
		f.tableConstraint(a.Constraint)
	case "DROP CONSTRAINT":
		f.text("DROP CONSTRAINT ")
		f.when(a.IfExists, "IF EXISTS ")
		f.ident(a.Name)
		f.when(a.Cascade, " CASCADE")
	case "RENAME CONSTRAINT":
		f.text("RENAME CONSTRAINT ")
		f.ident(a.Name)
		f.text(" TO ")
		f.ident(a.To)
	case "SET SCHEMA":
		f.text("SET SCHEMA ")
		f.ident(a.To)
	default:
		panic("parser: no text for ALTER TABLE " + a.Kind)
	}
}
