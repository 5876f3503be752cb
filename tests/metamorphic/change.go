package metamorphic

import (
	"fmt"
	"strings"
	"time"
)

// Changes runs the same statements in both engines: what each gives back and
// what the tables hold at the end agree.
var Changes = Oracle{Name: "changes", New: func(g *Generator) *Case {
	g.aliases = 0
	return &Case{Query: &Query{}, History: g.history()}
}}

// history is some statements, the last ones read all tables. Two statements
// that begin or end a transaction may follow each other: see checkHistory.
func (g *Generator) history() []*Expr {
	var tables []*Table
	for _, t := range g.db.Tables {
		if t.View == nil {
			tables = append(tables, t)
		}
	}
	var out []*Expr
	most := 10
	if g.features.Small { // statements are cheap beside the databases that they begin with
		most = 20
	}
	for range 3 + g.r.IntN(most) {
		t := pick(g, tables)
		switch n := g.r.IntN(100); {
		case n < 12:
			out = append(out, &Expr{Form: "BEGIN"})
		case n < 20:
			out = append(out, &Expr{Form: "COMMIT"})
		case n < 25:
			out = append(out, &Expr{Form: "ROLLBACK"})
		case n < 30 && g.features.Savepoints:
			out = append(out, &Expr{Form: pick(g, []string{"SAVEPOINT ", "SAVEPOINT ", "ROLLBACK TO ", "RELEASE "}) + pick(g, []string{"s1", "s2"})})
		case n < 36 && g.features.Extended && len(tables) > 1:
			out = append(out, g.joined(t, pick(g, tables)))
		case n < 50:
			out = append(out, g.insert(t))
		case n < 56 && !t.Key:
			out = append(out, g.insertQuery(t))
		case n < 76:
			out = append(out, g.update(t))
		case n < 90:
			out = append(out, g.remove(t))
		default:
			out = append(out, &Expr{Form: "%", Sub: g.query(&scope{}, g.types(2), 2, false)})
		}
	}
	for _, t := range g.db.Tables {
		out = append(out, &Expr{Form: "SELECT * FROM " + t.Name})
	}
	return out
}

// own are the columns of t as its statements name them.
func own(t *Table) *scope {
	s := &scope{}
	for _, c := range t.Columns {
		s.cols = append(s.cols, &Expr{Form: t.Name + "." + c.Name, Type: c.Type})
	}
	return s
}

// value is an expression for column c.
func (g *Generator) value(c Column, s *scope, depth int) *Expr {
	return bounded(c, g.expr(c.Type, s, depth))
}

// bounded is e, so that it does not grow from statement to statement.
func bounded(c Column, e *Expr) *Expr {
	switch c.Type {
	case Text:
		return &Expr{Form: "substr(%, 1, 20)", Type: Text, Args: []*Expr{e}}
	case Int:
		return &Expr{Form: "(% %% 5000)", Type: Int, Args: []*Expr{e}}
	case List:
		return &Expr{Form: "list_slice(%, 1, 4)", Type: List, Args: []*Expr{e}}
	case Dec:
		return &Expr{Form: "CAST(% %% 900 AS DECIMAL(10,2))", Type: Dec, Args: []*Expr{e}}
	}
	return e
}

func (g *Generator) insert(t *Table) *Expr {
	e := &Expr{}
	var rows []string
	for range 1 + g.r.IntN(4) {
		var row []string
		for i, c := range t.Columns {
			v := g.value(c, &scope{}, 1)
			if t.Key && i == 0 { // distinct in the statement, perhaps there already
				v = &Expr{Form: fmt.Sprint(3*(40*len(rows)+g.r.IntN(40)) - 20)}
			}
			row, e.Args = append(row, "%"), append(e.Args, v)
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
		if t.Key && g.chance(50) {
			break
		}
	}
	e.Form = "INSERT INTO " + t.Name + " VALUES " + strings.Join(rows, ", ")
	if t.Key && g.chance(60) {
		e.Form += " ON CONFLICT (c0) DO " + g.resolution(t, e)
	}
	e.Form += g.returning(t, e)
	return e
}

func (g *Generator) resolution(t *Table, e *Expr) string {
	if g.chance(40) {
		return "NOTHING"
	}
	c := t.Columns[1+g.r.IntN(len(t.Columns)-1)]
	s := own(t)
	for _, c := range t.Columns {
		s.cols = append(s.cols, &Expr{Form: "EXCLUDED." + c.Name, Type: c.Type})
	}
	to := g.value(c, s, 1)
	if asks(to) {
		to = bounded(c, g.constant(c.Type))
	}
	e.Args = append(e.Args, to)
	text := "UPDATE SET " + c.Name + " = %"
	if g.chance(30) {
		when := g.expr(Bool, s, 1)
		if !asks(when) {
			e.Args = append(e.Args, when)
			text += " WHERE %"
		}
	}
	return text
}

// asks reports an expression with a list_sum, which is a query over the elements:
// ON CONFLICT and RETURNING take none here.
func asks(e *Expr) bool { return strings.Contains(e.SQL(), "list_sum(") }

func (g *Generator) insertQuery(t *Table) *Expr {
	var types []Type
	for _, c := range t.Columns {
		types = append(types, c.Type)
	}
	q := g.query(&scope{}, types, 2, false)
	q.Limit = 20
	if g.features.Small { // histories are long, and tables are to stay small
		q.Limit = 3
	}
	for i, c := range t.Columns {
		q.Items[i] = bounded(c, q.Items[i])
	}
	return &Expr{Form: "INSERT INTO " + t.Name + " %" + g.returning(t, nil), Sub: q}
}

// update changes one or two columns, the key seldom.
func (g *Generator) update(t *Table) *Expr {
	e, s, depth := &Expr{}, own(t), 2
	if !g.features.Steady {
		depth = 1 // no subqueries
	}
	var sets []string
	for _, i := range g.r.Perm(len(t.Columns))[:1+g.r.IntN(2)] {
		c := t.Columns[i]
		if t.Key && i == 0 {
			sets = append(sets, c.Name+" = "+c.Name+" + 1000")
			continue
		}
		e.Args = append(e.Args, g.value(c, s, depth))
		sets = append(sets, c.Name+" = %")
	}
	e.Form = "UPDATE " + t.Name + " SET " + strings.Join(sets, ", ")
	if g.chance(85) {
		e.Args = append(e.Args, g.expr(Bool, s, 2*depth-1))
		e.Form += " WHERE %"
	}
	e.Form += g.returning(t, e)
	return e
}

func (g *Generator) remove(t *Table) *Expr {
	e := &Expr{Form: "DELETE FROM " + t.Name + " WHERE (% AND %)", Args: []*Expr{g.expr(Bool, own(t), 3), g.expr(Bool, own(t), 1)}}
	e.Form += g.returning(t, e)
	return e
}

// joined changes t by what another table has for the first column: one row each.
func (g *Generator) joined(t, other *Table) *Expr {
	types := []Type{t.Columns[1].Type}
	in := own(other)
	key := in.cols[0]
	value := g.aggregate(types[0], &scope{inner: &scope{cols: in.cols}})
	sub := &Query{From: []Source{{Table: other.Name, Alias: other.Name}}, Items: []*Expr{key.clone(), value}, Group: []*Expr{key.clone()}}
	source := &Expr{Form: "(%)", Type: Int, Sub: sub}
	s := own(t)
	s.cols = append(s.cols, &Expr{Form: "s.c0", Type: Int}, &Expr{Form: "s.c1", Type: types[0]})
	c := t.Columns[1+g.r.IntN(len(t.Columns)-1)]
	set, when := g.value(c, s, 1), g.expr(Bool, s, 1)
	returned := " RETURNING " + t.Name + ".c0, " + t.Name + "." + c.Name
	switch g.r.IntN(4) {
	case 0:
		return &Expr{Form: "UPDATE " + t.Name + " SET " + c.Name + " = % FROM % AS s WHERE " + t.Name + ".c0 = s.c0 AND %" + returned, Args: []*Expr{set, source, when}}
	case 1:
		return &Expr{Form: "DELETE FROM " + t.Name + " USING % AS s WHERE " + t.Name + ".c0 = s.c0 AND %" + returned, Args: []*Expr{source, when}}
	}
	e := &Expr{Form: "MERGE INTO " + t.Name + " USING % AS s ON " + t.Name + ".c0 = s.c0 WHEN MATCHED AND % THEN " +
		pick(g, []string{"DELETE", "UPDATE SET " + c.Name + " = %"}), Args: []*Expr{source, when}}
	if strings.HasSuffix(e.Form, "%") {
		e.Args = append(e.Args, set)
	}
	if g.chance(60) {
		row := []string{"s.c0"}
		for _, c := range t.Columns[1:] {
			row = append(row, "%")
			e.Args = append(e.Args, g.value(c, &scope{cols: s.cols[len(t.Columns):]}, 1))
		}
		e.Form += " WHEN NOT MATCHED THEN INSERT VALUES (" + strings.Join(row, ", ") + ")"
	}
	return e
}

// returning is a RETURNING clause; what it names is added to e.
func (g *Generator) returning(t *Table, e *Expr) string {
	if e == nil || g.chance(60) {
		return " RETURNING *"
	}
	x := g.expr(pick(g, g.features.Types), own(t), 1)
	if asks(x) {
		return " RETURNING *"
	}
	e.Args = append(e.Args, x)
	return " RETURNING c0, %"
}

// checkHistory runs the statements. What both refuse ends a transaction, as it
// does in some engines; beginning in a transaction and ending none is left out.
func (c *Case) checkHistory(a, b Engine) (*Finding, Outcome) {
	inside, outcome := false, Agreed
	var saved []string // the savepoints that there are
	for i, e := range c.History {
		text := e.SQL()
		switch text {
		case "BEGIN", "COMMIT", "ROLLBACK":
			if inside == (text == "BEGIN") {
				continue
			}
			inside, saved = !inside, nil
		}
		if verb, name, ok := savepoint(text); ok {
			at := lastIndex(saved, name)
			switch {
			case !inside || at < 0 && verb != "SAVEPOINT ":
				continue
			case verb == "SAVEPOINT ":
				saved = append(saved, name)
			case verb == "ROLLBACK TO ":
				saved = saved[:at+1]
			default:
				saved = saved[:at]
			}
		}
		c.Asked++
		left, right := change(a, text), change(b, text)
		f, o := compare(a, b, left, right)
		if o == Found {
			until := *c // what comes later is not asked
			until.History = c.History[:i+1]
			f.Case, f.Left, f.Right = &until, text, text
			return f, o
		}
		if o == Slow {
			return nil, Slow
		}
		if o == RefusedByBoth && inside {
			ask(a, "ROLLBACK")
			ask(b, "ROLLBACK")
			inside = false
		}
	}
	return nil, outcome
}

// change asks for a statement, of a MERGE only whether it succeeds: what it gives
// is a count for some.
func change(e Engine, text string) answer {
	if !strings.HasPrefix(text, "MERGE ") {
		return ask(e, text)
	}
	start := time.Now()
	err := e.Run(text)
	return answer{nil, err, time.Since(start)}
}

// savepoint is what a statement about a savepoint does, and to which.
func savepoint(text string) (verb, name string, ok bool) {
	for _, verb := range []string{"SAVEPOINT ", "ROLLBACK TO ", "RELEASE "} {
		if name, ok := strings.CutPrefix(text, verb); ok {
			return verb, name, true
		}
	}
	return "", "", false
}

func lastIndex(list []string, s string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == s {
			return i
		}
	}
	return -1
}
