package parser

import (
	"fmt"
	"strings"
)

// Format writes a statement so that it parses back to the same tree.
func Format(s Statement) string {
	var f formatter
	f.statement(s)
	return string(f.buf)
}

// FormatExpr writes an expression so that it parses back to the same tree.
func FormatExpr(e Expr) string {
	var f formatter
	f.expr(e)
	return string(f.buf)
}

// formatter writes trees on one line. What the grammar reads in a loop is
// written in a loop, so that a long chain does not go deep here either.
type formatter struct{ buf []byte }

func (f *formatter) text(s string) { f.buf = append(f.buf, s...) }

// when writes s if it is wanted.
func (f *formatter) when(wanted bool, s string) {
	if wanted {
		f.text(s)
	}
}

// list writes n things with commas between them.
func (f *formatter) list(n int, item func(i int)) {
	for i := range n {
		f.when(i > 0, ", ")
		item(i)
	}
}

// paren writes what body writes in parentheses.
func (f *formatter) paren(body func()) {
	f.text("(")
	body()
	f.text(")")
}

// quoteName writes name in double quotes.
func (f *formatter) quoteName(name string) {
	f.text(`"` + strings.ReplaceAll(name, `"`, `""`) + `"`)
}

func (f *formatter) quoteString(s string) {
	f.text("'" + strings.ReplaceAll(s, "'", "''") + "'")
}

// ident writes a name where a reserved word would not be one.
func (f *formatter) ident(id Ident) {
	if keywordInfo[keywordOf(id.Name)].use == reserved {
		f.quoteName(id.Name)
		return
	}
	f.label(id)
}

// label writes a name where any word is one: after AS or a dot.
func (f *formatter) label(id Ident) {
	if id.Quoted || !isPlainName(id.Name) {
		f.quoteName(id.Name)
		return
	}
	f.text(id.Name)
}

// isPlainName reports that a name means itself without quotes.
func isPlainName(name string) bool {
	if name == "" || !isNameStart(name[0]) {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; !isNamePart(c) || c-'A' <= 'Z'-'A' {
			return false
		}
	}
	return true
}

func (f *formatter) name(n Name) {
	for i, part := range n.Parts {
		if i == 0 {
			f.ident(part)
			continue
		}
		f.text(".")
		f.label(part)
	}
}

// idents writes names in parentheses.
func (f *formatter) idents(list []Ident) {
	f.paren(func() { f.list(len(list), func(i int) { f.ident(list[i]) }) })
}

// columns writes names in parentheses after a blank, if there are any.
func (f *formatter) columns(list []Ident) {
	if list != nil {
		f.text(" ")
		f.idents(list)
	}
}

// alias writes AS and the alias, if there is one.
func (f *formatter) alias(id *Ident) {
	if id != nil {
		f.text(" AS ")
		f.ident(*id)
	}
}

// statement writes any statement.
func (f *formatter) statement(s Statement) {
	switch s := s.(type) {
	case *Query:
		f.query(s)
	case *Insert:
		f.insert(s)
	case *Update:
		f.update(s)
	case *Delete:
		f.delete(s)
	case *Merge:
		f.merge(s)
	case *Truncate:
		f.text("TRUNCATE TABLE ")
		f.list(len(s.Tables), func(i int) { f.name(s.Tables[i]) })
		f.when(s.Restart, " RESTART IDENTITY")
		f.when(s.Cascade, " CASCADE")
	case *Summarize:
		f.text("SUMMARIZE ")
		f.query(s.Query)
	case *CreateSequence, *AlterSequence:
		f.sequence(s)
	case *CreateType, *AlterType, *Comment:
		f.enumType(s)
	case *CreateFunction:
		f.createFunction(s)
	case *DropFunction:
		f.dropFunction(s)
	case *CreateTable:
		f.createTable(s)
	case *CreateIndex:
		f.createIndex(s)
	case *CreateView:
		f.createView(s)
	case *CreateSchema:
		f.text("CREATE SCHEMA ")
		f.when(s.IfNotExists, "IF NOT EXISTS ")
		f.ident(s.Name)
	case *Drop:
		f.drop(s)
	case *AlterTable:
		f.alterTable(s)
	case *Begin, *Commit, *Rollback, *Savepoint:
		f.transaction(s)
	case *Explain:
		f.explain(s)
	case *Show:
		f.show(s)
	case *Set:
		f.set(s)
	case *Copy:
		f.copy(s)
	case *Maintain:
		f.text(s.Word)
		if s.Name != nil {
			f.text(" ")
			f.name(*s.Name)
		}
	case *Prepare, *Execute, *Deallocate:
		f.prepared(s)
	default:
		panic(fmt.Sprintf("parser: no text for %T", s))
	}
}

func (f *formatter) transaction(s Statement) {
	switch s := s.(type) {
	case *Begin:
		f.text("BEGIN")
		f.when(s.ReadOnly, " READ ONLY")
	case *Commit:
		f.text("COMMIT")
	case *Rollback:
		f.text("ROLLBACK")
		if s.To != nil {
			f.text(" TO ")
			f.ident(*s.To)
		}
	case *Savepoint:
		if s.Release {
			f.text("RELEASE ")
		}
		f.text("SAVEPOINT ")
		f.ident(s.Name)
	}
}

func (f *formatter) explain(s *Explain) {
	f.text("EXPLAIN ")
	switch {
	case s.Format != "":
		f.text("(")
		f.when(s.Analyze, "ANALYZE, ")
		f.text("FORMAT " + strings.ToUpper(s.Format) + ") ")
	case s.Analyze:
		f.text("ANALYZE ")
	}
	f.statement(s.Statement)
}

func (f *formatter) show(s *Show) {
	switch s.What {
	case "DESCRIBE":
		f.text("DESCRIBE ")
		if s.Query != nil {
			f.query(s.Query)
			return
		}
	case "SETTING":
		f.text("SHOW ")
	case "INDEXES":
		if s.Name.Parts != nil {
			f.text("SHOW INDEX FROM ")
			break
		}
		f.text("SHOW INDEXES")
	case "CREATE TABLE":
		f.text("SHOW CREATE TABLE ")
	default:
		f.text("SHOW " + s.What)
	}
	f.name(s.Name)
}

func (f *formatter) set(s *Set) {
	switch {
	case s.Value == nil && s.Name.Name == "all" && !s.Name.Quoted:
		f.text("RESET ALL")
		return
	case s.Value == nil:
		f.text("RESET ")
	default:
		f.text("SET ")
	}
	f.when(s.Variable, "VARIABLE ")
	// A name with dots is written as it was, unless it was quoted.
	if first, rest, _ := strings.Cut(s.Name.Name, "."); !s.Name.Quoted && isPlainName(first) && rest != "" {
		f.text(s.Name.Name)
	} else {
		f.ident(s.Name)
	}
	if s.Value != nil {
		f.text(" = ")
		f.expr(s.Value)
	}
}

func (f *formatter) prepared(s Statement) {
	switch s := s.(type) {
	case *Prepare:
		f.text("PREPARE ")
		f.ident(s.Name)
		f.text(" AS ")
		f.statement(s.Statement)
	case *Execute:
		f.text("EXECUTE ")
		f.ident(s.Name)
		if s.Args != nil {
			f.paren(func() { f.exprs(s.Args) })
		}
	case *Deallocate:
		f.text("DEALLOCATE ")
		if s.Name.Name == "all" && !s.Name.Quoted {
			f.text("ALL")
			return
		}
		f.ident(s.Name)
	}
}

func (f *formatter) copy(s *Copy) {
	f.text("COPY ")
	if s.Query != nil {
		f.paren(func() { f.query(s.Query) })
	} else {
		f.name(*s.Table)
		f.columns(s.Columns)
	}
	if s.To {
		f.text(" TO ")
	} else {
		f.text(" FROM ")
	}
	f.quoteString(s.File)
	if s.Options == nil {
		return
	}
	f.text(" ")
	f.paren(func() {
		f.list(len(s.Options), func(i int) {
			f.label(s.Options[i].Name)
			f.text(" ")
			f.option(s.Options[i].Value)
		})
	})
}

// option writes the value of an option of COPY or of an index.
func (f *formatter) option(e Expr) {
	if a, ok := e.(*Array); ok {
		f.paren(func() { f.list(len(a.Exprs), func(i int) { f.option(a.Exprs[i]) }) })
		return
	}
	f.exprFrom(e, precAdd+1)
}
