package parser

import (
	"slices"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// statement reads one statement by its first word.
func (p *parser) statement() Statement {
	t := &p.toks[p.at]
	switch t.word {
	case kwSelect, kwValues, kwFrom, kwTable:
		return p.selectInto(p.query())
	case kwWith:
		return p.withStatement()
	case kwInsert, kwReplace, kwUpdate, kwDelete:
		return p.change(withClause{})
	case kwTruncate:
		return p.truncate()
	case kwCreate:
		return p.create()
	case kwDrop:
		return p.drop()
	case kwAlter:
		return p.alter()
	case kwBegin, kwStart, kwCommit, kwEnd, kwRollback, kwAbort, kwSavepoint, kwRelease:
		return p.transaction()
	case kwExplain:
		return p.explain()
	case kwShow, kwDescribe, kwDesc:
		return p.show()
	case kwSet, kwReset:
		return p.set()
	case kwCopy:
		return p.copy()
	case kwAnalyze, kwVacuum, kwCheckpoint, kwReindex:
		p.at++
		return p.maintain(t)
	case kwPrepare, kwExecute, kwDeallocate:
		return p.prepared()
	}
	switch {
	case t.kind == tokLParen, p.isPivotQuery():
		return p.query()
	case p.isText("merge"):
		return p.change(withClause{})
	case p.isText("summarize"):
		return p.summarize()
	case p.isText("comment"):
		return p.comment()
	case p.isText("use"):
		return p.use()
	case p.isText("call"):
		p.at++
		return p.callStatement(t.start)
	case p.isText("pragma"):
		return p.pragma()
	case p.isText("install"), p.isText("load"):
		return p.extension(t)
	case p.isText("force") && p.ahead(1).word == kwCheckpoint:
		p.at++
		return p.maintain(p.advance())
	}
	for _, word := range refusedStatements {
		if p.isText(word) {
			panic(p.unsupported(strings.ToUpper(word)))
		}
	}
	panic(p.unexpected("a statement"))
}

// builtIn are DuckDB's extensions whose work is done without one here.
var builtIn = []string{"json", "parquet", "icu", "core_functions", "autocomplete"}

// extension reads INSTALL name [FROM where] and LOAD name, which do nothing for what is
// there anyway. There are no others.
func (p *parser) extension(t *token) Statement {
	p.at++
	m := &Maintain{Word: "PRAGMA", Pos: t.start}
	at := p.toks[p.at].start
	name := ""
	if k := p.kind(); k == tokString {
		name = p.stringValue("")
	} else {
		name = p.ident("the name of an extension").Name
	}
	if !slices.ContainsFunc(builtIn, func(b string) bool { return strings.EqualFold(b, name) }) {
		panic(failAt(at, sqltype.CodeNotSupported, "there is no extension %q: json, parquet and icu are built in, and there are no others", name))
	}
	if p.acceptWord(kwFrom) {
		if p.kind() == tokString {
			p.at++
		} else {
			p.ident("where it is from")
		}
	}
	return m
}

// refusedStatements are those of other engines that are not taken for a slip.
var refusedStatements = [...]string{"attach", "detach", "export", "import", "grant", "revoke", "lock", "listen", "notify", "cluster", "do"}

// comment reads COMMENT ON what IS 'text'.
func (p *parser) comment() Statement {
	s := &Comment{Pos: p.advance().start}
	p.expectWord(kwOn)
	for _, kind := range []string{"table", "view", "index", "column"} {
		if p.acceptText(kind) {
			s.Kind = strings.ToUpper(kind)
		}
	}
	if s.Kind == "" {
		panic(p.unexpected("TABLE, VIEW, INDEX or COLUMN"))
	}
	if s.Name = p.name("a name"); s.Kind == "COLUMN" && len(s.Name.Parts) < 2 {
		panic(p.unexpected(`".": a column's name comes behind its table's`))
	}
	p.expectWord(kwIs)
	if !p.acceptWord(kwNull) {
		text := p.stringValue("a text or NULL")
		s.Text = &text
	}
	return s
}

// maintain reads what follows ANALYZE and the like: [FULL|TABLE ...] [t [(columns)]].
func (p *parser) maintain(t *token) Statement {
	m := &Maintain{Word: t.word.String(), Pos: t.start}
	for p.word() == kwAnalyze || p.word() == kwTable || p.word() == kwIndex || p.word() == kwFull || p.isText("verbose") {
		p.at++
	}
	if !isName(&p.toks[p.at]) {
		return m
	}
	name := p.name("a table name")
	m.Name = &name
	if p.kind() == tokLParen {
		p.identList("a column name")
	}
	return m
}

// withStatement reads WITH and the query or data change that it is for.
func (p *parser) withStatement() Statement {
	start := p.at
	w := p.with()
	if p.isChange() {
		return p.change(w)
	}
	q := &Query{With: w.list, Recursive: w.recursive, Pos: p.toks[start].start}
	q.Body = p.setQuery(p.unionTerm())
	p.queryTail(q)
	return p.selectInto(q)
}

// isChange reports that a statement that changes data is next.
func (p *parser) isChange() bool {
	switch p.word() {
	case kwInsert, kwReplace, kwUpdate, kwDelete:
		return true
	}
	return p.isText("merge")
}

// change reads a statement that changes data, after its WITH.
func (p *parser) change(w withClause) Statement {
	switch p.word() {
	case kwInsert, kwReplace:
		return p.insert(w)
	case kwUpdate:
		return p.update(w)
	case kwDelete:
		return p.delete(w)
	}
	return p.merge(w)
}

// truncate reads TRUNCATE [TABLE] names [RESTART|CONTINUE IDENTITY] [CASCADE].
func (p *parser) truncate() Statement {
	s := &Truncate{Pos: p.advance().start}
	p.acceptWord(kwTable)
	for {
		p.acceptWord(kwOnly)
		s.Tables = append(s.Tables, p.name("a table name"))
		if !p.accept(tokComma) {
			break
		}
	}
	if s.Restart = p.acceptText("restart"); s.Restart || p.acceptText("continue") {
		if !p.acceptText("identity") {
			panic(p.unexpected("IDENTITY"))
		}
	}
	s.Cascade = p.cascade()
	return s
}

// summarize reads SUMMARIZE of a table or a query.
func (p *parser) summarize() Statement {
	s := &Summarize{Pos: p.advance().start}
	if p.isQuery() || p.kind() == tokLParen {
		s.Query = p.query()
		return s
	}
	ref := &TableRef{Pos: p.pos(), Name: p.name("a table name")}
	star := []SelectItem{{Expr: &Star{Pos: ref.Pos}}}
	s.Query = &Query{Body: &Select{Items: star, From: []TableExpr{ref}, Pos: ref.Pos}, Pos: ref.Pos}
	return s
}

// selectInto is the statement that a query is: CREATE TABLE when it had INTO.
func (p *parser) selectInto(q *Query) Statement {
	if p.into == nil {
		return q
	}
	s := &CreateTable{Name: *p.into, As: q, WithData: true, Pos: q.Pos}
	p.into = nil
	return s
}

// transaction reads the statements that begin and end one.
func (p *parser) transaction() Statement {
	t := p.advance()
	switch t.word {
	case kwSavepoint:
		return &Savepoint{Name: p.ident("a savepoint's name")}
	case kwRelease:
		p.acceptWord(kwSavepoint)
		return &Savepoint{Name: p.ident("a savepoint's name"), Release: true}
	case kwStart:
		p.expectWord(kwTransaction)
		return p.begin()
	case kwBegin:
		_ = p.acceptWord(kwTransaction) || p.acceptWord(kwWork) || p.acceptText("deferred") || p.acceptText("immediate") ||
			p.acceptText("exclusive")
		p.acceptWord(kwTransaction)
		return p.begin()
	}
	if !p.acceptWord(kwTransaction) {
		p.acceptWord(kwWork)
	}
	if t.word == kwCommit || t.word == kwEnd {
		return &Commit{}
	}
	r := &Rollback{}
	if p.acceptWord(kwTo) {
		p.acceptWord(kwSavepoint)
		name := p.ident("a savepoint's name")
		r.To = &name
	}
	return r
}

// begin reads the modes of a transaction. Every level up to REPEATABLE READ is
// what snapshots give; SERIALIZABLE promises more and is refused.
func (p *parser) begin() *Begin {
	b := &Begin{}
	for {
		switch {
		case p.acceptWords(kwRead, kwOnly):
			b.ReadOnly = true
		case p.acceptWords(kwRead, kwWrite):
		case p.acceptWords(kwIsolation, kwLevel):
			switch {
			case p.acceptText("snapshot"):
			case p.acceptText("repeatable"):
				p.expectWord(kwRead)
			case p.acceptWord(kwRead):
				if !p.acceptText("committed") && !p.acceptText("uncommitted") {
					panic(p.unexpected("COMMITTED or UNCOMMITTED"))
				}
			case p.isText("serializable"):
				panic(p.unsupported("isolation level SERIALIZABLE"))
			default:
				panic(p.unexpected("an isolation level"))
			}
		default:
			return b
		}
		p.accept(tokComma)
	}
}

// explain reads EXPLAIN [ANALYZE] or EXPLAIN (options), and the statement.
func (p *parser) explain() Statement {
	p.enter()
	defer p.leave()
	p.at++
	e := &Explain{}
	if p.kind() == tokLParen && !p.parenBeginsQuery() {
		p.explainOptions(e)
	} else {
		e.Analyze = p.acceptWord(kwAnalyze)
		p.acceptText("verbose")
		if p.isText("format") {
			p.at++
			e.Format = p.explainFormat()
		}
	}
	e.Statement = p.statement()
	return e
}

// parenBeginsQuery reports that the current token opens a query in parentheses
// rather than a list of names.
func (p *parser) parenBeginsQuery() bool {
	p.at++
	defer func() { p.at-- }()
	return p.kind() == tokLParen || p.isQuery()
}

func (p *parser) explainOptions(e *Explain) {
	p.expect(tokLParen)
	for {
		switch {
		case p.acceptWord(kwAnalyze):
			e.Analyze = p.switchValue()
		case p.acceptText("format"):
			e.Format = p.explainFormat()
		case p.acceptText("verbose"), p.acceptText("costs"), p.acceptText("buffers"), p.acceptText("timing"),
			p.acceptText("summary"), p.acceptText("settings"):
			p.switchValue()
		default:
			panic(p.unexpected("ANALYZE or FORMAT"))
		}
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(tokRParen)
}

// switchValue reads the value of an option that is on or off; none means on.
func (p *parser) switchValue() bool {
	switch {
	case p.acceptWord(kwTrue), p.acceptWord(kwOn):
	case p.acceptWord(kwFalse), p.acceptText("off"):
		return false
	}
	return true
}

func (p *parser) explainFormat() string {
	for _, f := range []string{"text", "json", "tree"} {
		if p.acceptText(f) {
			return f
		}
	}
	panic(p.unexpected("TEXT, JSON or TREE"))
}

// show reads SHOW and DESCRIBE.
func (p *parser) show() Statement {
	t := p.advance()
	s := &Show{Pos: t.start}
	if t.word != kwShow {
		s.What = "DESCRIBE"
		if p.isQuery() && p.word() != kwTable || p.kind() == tokLParen {
			s.Query = p.query()
			return s
		}
		p.acceptWord(kwTable)
		s.Name = p.name("a table name")
		return s
	}
	for _, what := range showLists {
		if p.acceptText(what.word) {
			s.What = what.name
			return s
		}
	}
	switch {
	case p.word() == kwTime && p.ahead(1).word == kwZone:
		s.What, s.Name = "SETTING", Name{[]Ident{{Name: "timezone", Pos: p.pos()}}}
		p.at += 2
	case p.word() == kwAll && sameWord(p.textOf(p.ahead(1)), "tables"):
		p.at += 2
		s.What = "TABLES"
	case p.acceptWord(kwAll):
		s.What = "ALL"
	case p.isText("columns") && p.ahead(1).word == kwFrom, p.isText("columns") && p.ahead(1).word == kwIn:
		p.at += 2
		s.What, s.Name = "DESCRIBE", p.name("a table name")
	case p.isText("index") && p.ahead(1).word == kwFrom:
		p.at += 2
		s.What, s.Name = "INDEXES", p.name("a table name")
	case p.acceptWords(kwCreate, kwTable):
		s.What, s.Name = "CREATE TABLE", p.name("a table name")
	default:
		s.What, s.Name = "SETTING", p.name("a setting")
	}
	if s.What == "SETTING" && p.kind() != tokSemicolon && p.kind() != tokEOF {
		panic(p.unexpected(""))
	}
	return s
}

// showLists are the things that SHOW lists by one word.
var showLists = [...]struct{ word, name string }{
	{"tables", "TABLES"}, {"indexes", "INDEXES"}, {"views", "VIEWS"}, {"schemas", "SCHEMAS"},
	{"devices", "DEVICES"}, {"resident", "RESIDENT"}, {"functions", "FUNCTIONS"}, {"settings", "ALL"},
}

// set reads SET and RESET.
func (p *parser) set() Statement {
	t := p.advance()
	if t.word == kwSet && (p.ahead(1).kind == tokIdent || p.ahead(1).kind == tokQuoted) &&
		(p.isText("session") || p.isText("local") || p.isText("global")) && p.ahead(1).word != kwTo {
		p.at++
	}
	s := &Set{Pos: t.start}
	if p.isText("variable") && isName(p.ahead(1)) {
		p.at++
		s.Variable, s.Name = true, p.ident("a variable")
		if t.word == kwSet {
			if !p.accept(tokEq) && !p.accept(tokAssign) && !p.acceptWord(kwTo) {
				panic(p.unexpected(`"=" or TO`))
			}
			s.Value = p.expr()
		}
		return s
	}
	switch {
	case p.word() == kwTime && p.ahead(1).word == kwZone:
		s.Name = Ident{Name: "timezone", Pos: p.pos()}
		p.at += 2
		if t.word == kwReset {
			return s
		}
		s.Value = p.settingValue()
		return s
	case t.word == kwReset && p.word() == kwAll:
		s.Name = Ident{Name: "all", Pos: p.advance().start}
		return s
	}
	s.Name = p.settingName()
	if t.word == kwReset {
		return s
	}
	if !p.accept(tokEq) && !p.accept(tokAssign) && !p.acceptWord(kwTo) {
		panic(p.unexpected(`"=" or TO`))
	}
	s.Value = p.settingValue()
	if p.kind() == tokComma {
		s.Value = p.settingList(s.Value)
	}
	return s
}

// settingList reads the rest of a list of names, as of search_path: all of it is
// one string.
func (p *parser) settingList(first Expr) Expr {
	text := func(e Expr) string {
		switch e := e.(type) {
		case *ColumnRef:
			return e.Name.Parts[len(e.Name.Parts)-1].Name
		case *Literal:
			return e.Value.String()
		}
		panic(failAt(e.Start(), sqltype.CodeSyntax, "a list of settings has names or strings"))
	}
	list := text(first)
	for p.accept(tokComma) {
		list += "," + text(p.settingValue())
	}
	return stringLiteral(list, first.Start())
}

// settingName reads a name that may have dots, as one.
func (p *parser) settingName() Ident {
	id := p.ident("a setting")
	for p.accept(tokDot) {
		part := p.label("a setting")
		id.Name += "." + part.Name
		id.Quoted = id.Quoted || part.Quoted
	}
	return id
}

// settingValue reads the value of a setting: DEFAULT gives none, a bare word
// is a string.
func (p *parser) settingValue() Expr {
	t := &p.toks[p.at]
	switch {
	case t.word == kwDefault:
		p.at++
		return nil
	case t.word == kwTrue, t.word == kwFalse, t.word == kwNull:
	case t.kind == tokIdent && (p.ahead(1).kind == tokSemicolon || p.ahead(1).kind == tokEOF):
		id := p.label("a value")
		return stringLiteral(id.Name, id.Pos)
	}
	return p.expr()
}

// prepared reads PREPARE, EXECUTE and DEALLOCATE.
func (p *parser) prepared() Statement {
	p.enter()
	defer p.leave()
	t := p.advance()
	switch t.word {
	case kwPrepare:
		s := &Prepare{Name: p.ident("a name"), Pos: t.start}
		if p.accept(tokLParen) {
			// The types follow from the statement itself.
			for {
				p.typeName()
				if !p.accept(tokComma) {
					break
				}
			}
			p.expect(tokRParen)
		}
		p.expectWord(kwAs)
		s.Statement = p.statement()
		return s
	case kwExecute:
		s := &Execute{Name: p.ident("a name"), Pos: t.start}
		if p.accept(tokLParen) {
			s.Args = p.exprsUntil(tokRParen)
		}
		return s
	}
	p.acceptWord(kwPrepare)
	if p.word() == kwAll {
		return &Deallocate{Name: p.label("a name")}
	}
	return &Deallocate{Name: p.ident("a name")}
}
