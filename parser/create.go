package parser

import (
	"slices"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// create reads CREATE TABLE, INDEX, VIEW or SCHEMA.
func (p *parser) create() Statement {
	pos := p.advance().start
	orReplace := p.acceptWords(kwOr, kwReplace)
	temp := p.acceptWord(kwTemp) || p.acceptWord(kwTemporary)
	switch {
	case p.acceptWord(kwTable):
		return p.createTable(&CreateTable{OrReplace: orReplace, Temp: temp, Pos: pos})
	case p.word() == kwRecursive && p.ahead(1).word == kwView:
		p.at += 2
		return p.createRecursiveView(&CreateView{OrReplace: orReplace, Temp: temp, Pos: pos})
	case p.word() == kwMaterialized:
		panic(p.unsupported("a materialized view"))
	case p.acceptWord(kwView):
		return p.createView(&CreateView{OrReplace: orReplace, Temp: temp, Pos: pos})
	case p.acceptText("sequence"):
		return p.createSequence(&CreateSequence{OrReplace: orReplace, Temp: temp, Pos: pos})
	case p.acceptText("function"):
		return p.createFunction(&CreateFunction{OrReplace: orReplace, Temp: temp, Pos: pos})
	case p.acceptText("macro"):
		return p.createFunction(&CreateFunction{OrReplace: orReplace, Temp: temp, Macro: true, Pos: pos})
	case p.word() == kwType && !temp:
		p.at++
		return p.createType(&CreateType{OrReplace: orReplace, Pos: pos})
	case orReplace, temp:
		panic(p.unexpected("TABLE or VIEW"))
	case p.word() == kwUnique, p.word() == kwIndex:
		return p.createIndex(pos)
	case p.acceptWord(kwSchema):
		s := &CreateSchema{IfNotExists: p.ifNotExists(), Pos: pos}
		s.Name = p.ident("a schema's name")
		return s
	}
	p.refuseObject("CREATE ")
	panic(p.unexpected("TABLE, INDEX, VIEW or SCHEMA"))
}

// refuseObject fails for the kinds of objects that other engines have, so that
// they are not taken for a slip.
func (p *parser) refuseObject(verb string) {
	for _, kind := range []string{"trigger", "database", "extension", "role",
		"user", "external"} {
		if p.isText(kind) {
			panic(p.unsupported(verb + strings.ToUpper(kind)))
		}
	}
}

func (p *parser) ifNotExists() bool { return p.acceptWords(kwIf, kwNot, kwExists) }

// createTable reads what follows CREATE TABLE.
func (p *parser) createTable(s *CreateTable) *CreateTable {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name("a table name")
	if p.kind() == tokLParen {
		// (a, b) AS SELECT has names alone, all else has types or constraints.
		if k := p.ahead(2).kind; isName(p.ahead(1)) && (k == tokComma || k == tokRParen) {
			s.AsColumns = p.identList("a column name")
		} else {
			p.tableElements(s)
		}
	}
	if s.AsColumns == nil && s.Columns == nil && s.Likes == nil && p.acceptWord(kwLike) { // MySQL's
		s.Likes = []TableLike{p.tableLike(0)}
		for _, part := range likeParts {
			s.Likes[0].Including[part] = true
		}
	}
	if s.AsColumns != nil || s.Columns == nil && s.Likes == nil {
		p.expectWord(kwAs)
		if !p.isQuery() && p.kind() != tokLParen {
			panic(p.unexpected("a query"))
		}
		s.As = p.query()
		s.WithData = true
		if p.acceptWord(kwWith) {
			s.WithData = !p.acceptWord(kwNo)
			p.expectWord(kwData)
		}
	}
	return s
}

// tableElements reads the columns and constraints of a table.
func (p *parser) tableElements(s *CreateTable) {
	p.expect(tokLParen)
	for {
		if p.acceptWord(kwLike) {
			s.Likes = append(s.Likes, p.tableLike(len(s.Columns)))
		} else if p.isTableConstraint() {
			s.Constraints = append(s.Constraints, p.tableConstraint())
		} else {
			s.Columns = append(s.Columns, p.columnDef())
		}
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(tokRParen)
	if s.Columns == nil && s.Likes == nil {
		panic(failAt(s.Name.Parts[0].Pos, sqltype.CodeSyntax, "a table must have at least one column"))
	}
}

// likeParts are what LIKE may take besides names, types and NOT NULL.
var likeParts = []string{"DEFAULTS", "CONSTRAINTS", "INDEXES", "GENERATED", "IDENTITY"}

// tableLike reads what follows LIKE: t [INCLUDING|EXCLUDING part].
func (p *parser) tableLike(at int) TableLike {
	l := TableLike{Table: p.name("a table name"), At: at, Including: map[string]bool{}}
	for {
		including := p.acceptText("including")
		if !including && !p.acceptText("excluding") {
			return l
		}
		word := strings.ToUpper(p.label("what of the table").Name)
		switch {
		case word == "ALL":
			for _, part := range likeParts {
				l.include(part, including)
			}
		case slices.Contains(likeParts, word):
			l.include(word, including)
		case word != "COMMENTS" && word != "STATISTICS" && word != "STORAGE" && word != "COMPRESSION":
			panic(p.unexpectedAt(&p.toks[p.at-1], "ALL, "+strings.Join(likeParts, ", ")))
		}
	}
}

func (l *TableLike) include(part string, yes bool) {
	if yes {
		l.Including[part] = true
	} else {
		delete(l.Including, part)
	}
}

func (p *parser) isTableConstraint() bool {
	switch p.word() {
	case kwConstraint, kwPrimary, kwForeign, kwCheck:
		return true
	case kwUnique:
		return p.ahead(1).kind == tokLParen
	}
	return false
}

// tableConstraint reads a constraint that stands by itself.
func (p *parser) tableConstraint() TableConstraint {
	c := TableConstraint{Pos: p.pos()}
	if p.acceptWord(kwConstraint) {
		c.Name = p.ident("a constraint's name").Name
	}
	switch t := &p.toks[p.at]; {
	case p.acceptWord(kwPrimary):
		p.expectWord(kwKey)
		c.Kind, c.Columns = PrimaryKey, p.identList("a column name")
	case p.acceptWord(kwUnique):
		c.Kind, c.Columns = UniqueKey, p.identList("a column name")
	case t.word == kwCheck:
		check := p.check(c.Name)
		c.Kind, c.Check = CheckConstraint, &check
	case p.acceptWord(kwForeign):
		p.expectWord(kwKey)
		c.Kind, c.Columns = ForeignKeyConstraint, p.identList("a column name")
		c.Foreign = p.references()
	default:
		panic(p.unexpected("PRIMARY KEY, UNIQUE, CHECK or FOREIGN KEY"))
	}
	return c
}

// check reads CHECK (expression).
func (p *parser) check(name string) Check {
	p.expectWord(kwCheck)
	p.expect(tokLParen)
	start := p.pos()
	e := p.expr()
	text := p.text[start:p.toks[p.at-1].end]
	p.expect(tokRParen)
	return Check{Name: name, Expr: e, Text: text}
}

// references reads REFERENCES t (columns) and its actions.
func (p *parser) references() *ForeignKey {
	p.expectWord(kwReferences)
	f := &ForeignKey{Table: p.name("a table name")}
	if p.kind() == tokLParen {
		f.Columns = p.identList("a column name")
	}
	for p.word() == kwOn {
		switch p.ahead(1).word {
		case kwDelete:
			p.at += 2
			f.OnDelete = p.foreignAction()
		case kwUpdate:
			p.at += 2
			f.OnUpdate = p.foreignAction()
		default:
			p.at++
			panic(p.unexpected("DELETE or UPDATE"))
		}
	}
	return f
}

func (p *parser) foreignAction() string {
	switch {
	case p.acceptWords(kwNo, kwAction):
		return "NO ACTION"
	case p.acceptWord(kwRestrict):
		return "RESTRICT"
	case p.acceptWord(kwCascade):
		return "CASCADE"
	case p.acceptWords(kwSet, kwNull):
		return "SET NULL"
	case p.acceptWords(kwSet, kwDefault):
		return "SET DEFAULT"
	}
	panic(p.unexpected("NO ACTION, RESTRICT, CASCADE, SET NULL or SET DEFAULT"))
}

// columnDef reads a column with its constraints.
func (p *parser) columnDef() ColumnDef {
	c := ColumnDef{Name: p.ident("a column name")}
	switch {
	case p.serial(&c):
	case p.word() == kwGenerated, p.word() == kwAs: // its type is the expression's
	default:
		c.Type = p.typeName()
	}
	for p.columnConstraint(&c) {
	}
	return c
}

// columnConstraint reads one constraint into c; false when none is next.
func (p *parser) columnConstraint(c *ColumnDef) bool {
	name := ""
	if p.acceptWord(kwConstraint) {
		name = p.ident("a constraint's name").Name
	}
	switch t := &p.toks[p.at]; t.word {
	case kwNot:
		p.at++
		p.expectWord(kwNull)
		c.NotNull = true
	case kwNull:
		p.at++
		if c.NotNull {
			panic(failAt(t.start, sqltype.CodeSyntax, "conflicting NULL and NOT NULL for column \"%s\"", c.Name.Name))
		}
	case kwPrimary:
		p.at++
		p.expectWord(kwKey)
		p.acceptWord(kwAsc)
		c.PrimaryKey = true
		c.nameKey(name)
		if p.word() == kwAutoincrement || p.word() == kwAutoIncrement {
			p.at++
			c.Identity = &Identity{Kind: "BY DEFAULT"}
		}
	case kwUnique:
		p.at++
		c.Unique = true
		c.nameKey(name)
	case kwDefault:
		p.at++
		// Above NOT, so that NOT NULL after it is the column's.
		c.Default = p.exprAbove(precLike)
	case kwCheck:
		c.Check = append(c.Check, p.check(name))
	case kwReferences:
		c.References = p.references()
		c.nameKey(name)
	case kwCollate:
		p.at++
		parts := p.name("a collation").Parts
		c.Collate = parts[len(parts)-1].Name
	case kwAutoIncrement:
		p.at++
		c.Identity = &Identity{Kind: "BY DEFAULT"}
	case kwGenerated, kwAs:
		p.generated(c)
	default:
		if name != "" {
			panic(p.unexpected("a constraint"))
		}
		return false
	}
	return true
}

// nameKey keeps the name that a column's key was given.
func (c *ColumnDef) nameKey(name string) {
	if name != "" {
		c.ConstraintName = name
	}
}

// generated reads [GENERATED ALWAYS] AS (expression) [STORED|VIRTUAL], and
// GENERATED ... AS IDENTITY.
func (p *parser) generated(c *ColumnDef) {
	if p.acceptWord(kwGenerated) {
		kind := "ALWAYS"
		if p.acceptWords(kwBy, kwDefault) {
			kind = "BY DEFAULT"
		} else {
			p.expectWord(kwAlways)
		}
		p.expectWord(kwAs)
		if p.acceptText("identity") {
			p.identity(c, kind)
			return
		}
		if kind != "ALWAYS" {
			panic(p.unexpected("IDENTITY"))
		}
	} else {
		p.expectWord(kwAs)
	}
	p.expect(tokLParen)
	c.Generated = p.expr()
	p.expect(tokRParen)
	if !p.acceptWord(kwStored) {
		c.Virtual = p.acceptWord(kwVirtual)
	}
}

// createView reads what follows CREATE VIEW.
func (p *parser) createView(s *CreateView) *CreateView {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name("a view's name")
	if p.kind() == tokLParen {
		s.Columns = p.identList("a column name")
	}
	p.expectWord(kwAs)
	if !p.isQuery() && p.kind() != tokLParen {
		panic(p.unexpected("a query"))
	}
	start := p.pos()
	s.Query = p.query()
	s.Text = p.text[start:p.toks[p.at-1].end]
	return s
}

// createRecursiveView reads CREATE RECURSIVE VIEW v (columns) AS query, which is a
// view of WITH RECURSIVE v (columns) AS (query) SELECT columns FROM v.
func (p *parser) createRecursiveView(s *CreateView) *CreateView {
	if p.createView(s); len(s.Columns) == 0 {
		panic(failAt(s.Pos, sqltype.CodeSyntax, "a recursive view needs the names of its columns"))
	}
	name := s.Name.Parts[len(s.Name.Parts)-1]
	all := &Select{From: []TableExpr{&TableRef{Name: Name{[]Ident{name}}}}, Pos: s.Pos}
	for _, c := range s.Columns {
		all.Items = append(all.Items, SelectItem{Expr: &ColumnRef{Name{[]Ident{c}}}})
	}
	s.Query = &Query{With: []CTE{{Name: name, Columns: s.Columns, Query: s.Query}}, Recursive: true, Body: all, Pos: s.Pos}
	var f formatter
	f.query(s.Query)
	s.Text = string(f.buf)
	return s
}

// createIndex reads CREATE [UNIQUE] INDEX from its second word.
func (p *parser) createIndex(pos Pos) *CreateIndex {
	s := &CreateIndex{Pos: pos, Unique: p.acceptWord(kwUnique)}
	p.expectWord(kwIndex)
	p.acceptWord(kwConcurrently)
	s.IfNotExists = p.ifNotExists()
	if p.word() != kwOn {
		s.Name = p.ident("an index name")
	}
	p.expectWord(kwOn)
	s.Table = p.name("a table name")
	if p.acceptWord(kwUsing) {
		s.Using = p.ident("an index kind").Name
	}
	p.expect(tokLParen)
	for {
		k := IndexKey{Expr: p.expr()}
		k.Desc, k.Nulls = p.direction()
		s.Keys = append(s.Keys, k)
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(tokRParen)
	if s.Using == "" && p.acceptWord(kwUsing) { // MySQL's place for it
		s.Using = p.ident("an index kind").Name
	}
	if p.acceptWord(kwInclude) {
		s.Include = p.identList("a column name")
	}
	if p.acceptWord(kwWith) {
		p.expect(tokLParen)
		s.With = p.indexOptions()
		p.expect(tokRParen)
	}
	if p.acceptWord(kwWhere) {
		s.Where = p.expr()
	}
	return s
}

// indexOptions reads name = value, ...
func (p *parser) indexOptions() []NamedArg {
	var list []NamedArg
	for {
		o := NamedArg{Name: p.ident("an option")}
		if p.accept(tokEq) {
			o.Value = p.optionValue()
		} else {
			o.Value = trueLiteral(o.Name.Pos)
		}
		list = append(list, o)
		if !p.accept(tokComma) {
			return list
		}
	}
}
