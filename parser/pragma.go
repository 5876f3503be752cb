package parser

// use reads USE schema, which is SET search_path.
func (p *parser) use() Statement {
	s := &Set{Name: Ident{Name: "schema", Pos: p.pos()}, Pos: p.advance().start}
	name := p.name("a schema")
	last := name.Parts[len(name.Parts)-1]
	s.Value = stringLiteral(last.Name, last.Pos)
	return s
}

// callStatement reads a call of a function that gives rows: SELECT * FROM f(...).
func (p *parser) callStatement(start Pos) Statement {
	pos := p.pos()
	name := p.name("a function")
	if p.kind() != tokLParen {
		panic(p.unexpected(`"("`))
	}
	return rowsOf(&FuncTable{Call: p.call(name, pos), Pos: pos}, start)
}

// rowsOf is all rows of a table.
func rowsOf(t TableExpr, start Pos) *Query {
	return &Query{Body: &Select{Items: []SelectItem{{Expr: &Star{Pos: start}}}, From: []TableExpr{t}, Pos: start}, Pos: start}
}

// withoutEffect are DuckDB's settings of how it checks and shows itself, which
// its scripts begin with.
var withoutEffect = map[string]bool{
	"enable_verification": true, "disable_verification": true, "verify_parallelism": true, "disable_verify_parallelism": true,
	"verify_external": true, "disable_verify_external": true, "verify_serializer": true, "verify_fetch_row": true,
	"disable_verify_fetch_row": true, "enable_progress_bar": true, "disable_progress_bar": true, "enable_print_progress_bar": true,
	"disable_print_progress_bar": true, "enable_object_cache": true, "disable_object_cache": true, "enable_profiling": true,
	"disable_profiling": true, "enable_checkpoint_on_shutdown": true, "disable_checkpoint_on_shutdown": true, "force_checkpoint": true,
}

// pragma reads PRAGMA, as the statement that says the same: a query of what the
// catalogue knows, SHOW or SET.
func (p *parser) pragma() Statement {
	start := p.advance().start
	pos := p.pos()
	name := p.ident("a pragma")
	switch {
	case p.accept(tokEq):
		return &Set{Name: name, Value: p.settingValue(), Pos: start}
	case name.Name == "table_info" && p.kind() == tokLParen:
		p.at++
		e := p.expr()
		if ref, ok := e.(*ColumnRef); ok {
			text := ""
			for i, part := range ref.Name.Parts {
				if i > 0 {
					text += "."
				}
				text += part.Name
			}
			e = stringLiteral(text, ref.Start())
		}
		p.expect(tokRParen)
		return rowsOf(&FuncTable{Call: callOf("pragma_table_info", pos, e), Pos: pos}, start)
	case name.Name == "show_tables", name.Name == "show_tables_expanded":
		return &Show{What: "TABLES", Pos: start}
	case name.Name == "database_list":
		return rowsOf(&FuncTable{Call: callOf("duckdb_databases", pos), Pos: pos}, start)
	case name.Name == "version":
		q := &Select{Items: []SelectItem{{Expr: callOf("version", pos)}}, Pos: start}
		return &Query{Body: q, Pos: start}
	case withoutEffect[name.Name]:
		return &Maintain{Word: "PRAGMA", Name: &Name{[]Ident{name}}, Pos: start}
	}
	panic(failAt(pos, "0A000", "PRAGMA %s is not supported", name.Name))
}
