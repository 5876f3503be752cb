package metamorphic

import (
	"slices"
	"strings"
)

// form is a way to make an expression: % stands for each argument.
type form struct {
	text string
	args []Type
}

// forms are those of each type; a comparison takes arguments of any one type.
var forms = [numTypes][]form{
	Int: {
		{"(% + %)", []Type{Int, Int}}, {"(% - %)", []Type{Int, Int}}, {"(- %)", []Type{Int}}, {"abs(%)", []Type{Int}},
		{"(% / NULLIF(%, 0))", []Type{Int, Int}}, {"(% %% NULLIF(%, 0))", []Type{Int, Int}},
		{"length(%)", []Type{Text}}, {"CASE WHEN % THEN 1 ELSE 0 END", []Type{Bool}},
		{"(% * 3)", []Type{Int}}, {"CAST(CAST(% AS VARCHAR) AS BIGINT)", []Type{Int}},
	},
	Text: {
		{"(% || %)", []Type{Text, Text}}, {"upper(%)", []Type{Text}}, {"lower(%)", []Type{Text}},
		{"substr(%, 1, 2)", []Type{Text}}, {"substr(%, 2)", []Type{Text}}, {"trim(%)", []Type{Text}},
		{"replace(%, 'a', 'bc')", []Type{Text}}, {"CAST(% AS VARCHAR)", []Type{Int}},
	},
	Bool: {
		{"(% AND %)", []Type{Bool, Bool}}, {"(% OR %)", []Type{Bool, Bool}}, {"(NOT %)", []Type{Bool}},
		{"(% IS TRUE)", []Type{Bool}}, {"(% IS NOT TRUE)", []Type{Bool}},
		{"(% LIKE 'a%%')", []Type{Text}}, {"(% LIKE '%%b%%')", []Type{Text}}, {"(% NOT LIKE '_b%%')", []Type{Text}},
	},
	Real: {
		{"(% + %)", []Type{Real, Real}}, {"(% - %)", []Type{Real, Real}}, {"(% * 0.5e0)", []Type{Real}},
		{"abs(%)", []Type{Real}}, {"CAST(% AS DOUBLE)", []Type{Int}},
	},
	Dec: {
		{"CAST(% + % AS DECIMAL(10,2))", []Type{Dec, Dec}}, {"abs(%)", []Type{Dec}},
		{"CAST(% %% 1000 AS DECIMAL(10,2))", []Type{Int}},
	},
	Date: {
		{"CAST(% + INTERVAL 3 DAY AS DATE)", []Type{Date}},
	},
}

// more are those that not all engines have.
var more = [numTypes][]form{
	Int: {
		{"strpos(%, 'b')", []Type{Text}}, {"ascii(%)", []Type{Text}}, {"CAST(% AS BIGINT)", []Type{Bool}},
		{"CAST(% AS BIGINT)", []Type{Dec}}, {"CAST(floor(%) AS BIGINT)", []Type{Real}}, {"CAST(ceil(%) AS BIGINT)", []Type{Dec}},
		{"CAST(% AS BIGINT)", []Type{Real}},
		{"CAST(extract(year FROM %) AS BIGINT)", []Type{Date}}, {"CAST(extract(month FROM %) AS BIGINT)", []Type{Date}},
		{"CAST(extract(dow FROM %) AS BIGINT)", []Type{Date}}, {"CAST(extract(doy FROM %) AS BIGINT)", []Type{Date}},
		{"CAST(extract(week FROM %) AS BIGINT)", []Type{Date}}, {"CAST(extract(quarter FROM %) AS BIGINT)", []Type{Date}},
		{"CAST((% - %) AS BIGINT)", []Type{Date, Date}}, {"sign(%)", []Type{Int}},
		{"len(%)", []Type{List}}, {"CAST(list_sum(%) AS BIGINT)", []Type{List}}, {"(%)[1]", []Type{List}}, {"(%)[%]", []Type{List, Int}},
		{"list_position(%, %)", []Type{List, Int}}, {"CAST(extract(hour FROM %) AS BIGINT)", []Type{Stamp}},
		{"CAST(extract(minute FROM %) AS BIGINT)", []Type{Stamp}}, {"CAST(epoch(%) AS BIGINT)", []Type{Stamp}},
		{"date_diff('month', %, %)", []Type{Date, Date}}, {"date_diff('hour', %, %)", []Type{Stamp, Stamp}},
		{"TRY_CAST(replace(%, '.', 'q') AS BIGINT)", []Type{Text}}, {"CAST(TRY_CAST(% * 100 AS SMALLINT) AS BIGINT)", []Type{Int}},
		{"(% & %)", []Type{Int, Int}}, {"(% | %)", []Type{Int, Int}}, {"xor(%, %)", []Type{Int, Int}},
		{"levenshtein(%, %)", []Type{Text, Text}}, {"instr(%, 'b')", []Type{Text}},
	},
	Text: {
		{"lpad(%, 5, 'xy')", []Type{Text}}, {"rpad(%, 3, '-')", []Type{Text}}, {"repeat(%, 2)", []Type{Text}},
		{"reverse(%)", []Type{Text}}, {"left(%, 2)", []Type{Text}}, {"right(%, 3)", []Type{Text}}, {"left(%, -1)", []Type{Text}},
		{"concat(%, %, '!')", []Type{Text, Int}}, {"split_part(%, 'b', 1)", []Type{Text}}, {"ltrim(%, 'a')", []Type{Text}},
		{"rtrim(%, 'eZ')", []Type{Text}}, {"translate(%, 'ab', 'x')", []Type{Text}}, {"CAST(% AS VARCHAR)", []Type{Date}},
		{"CAST(% AS VARCHAR)", []Type{Dec}}, {"CAST(% AS VARCHAR)", []Type{Bool}}, {"substr(%, 2, 3)", []Type{Text}},
		{"concat_ws('-', %, %)", []Type{Text, Text}}, {"md5(%)", []Type{Text}}, {"strftime(%, '%%Y/%%m')", []Type{Date}},
		{"regexp_replace(%, 'b+', 'X', 'g')", []Type{Text}}, {"strftime(%, '%%H:%%M')", []Type{Stamp}}, {"CAST(% AS VARCHAR)", []Type{List}},
		{"CAST(% AS VARCHAR)", []Type{Stamp}}, {"(string_split('b' || %, 'b'))[2]", []Type{Text}},
	},
	Bool: {
		{"starts_with(%, 'a')", []Type{Text}}, {"(% IS UNKNOWN)", []Type{Bool}}, {"(% IS NOT FALSE)", []Type{Bool}},
		{"(% = (%))", []Type{Bool, Bool}}, {"CAST(% AS BOOLEAN)", []Type{Int}}, {"(% ILIKE 'A%%')", []Type{Text}},
		{"regexp_matches(%, '^a.*b')", []Type{Text}}, {"contains(%, 'b')", []Type{Text}},
		{"list_contains(%, %)", []Type{List, Int}},
	},
	Real: {
		{"CAST(% AS DOUBLE)", []Type{Dec}}, {"floor(%)", []Type{Real}}, {"ceil(%)", []Type{Real}},
		{"CAST(CAST(% AS VARCHAR) AS DOUBLE)", []Type{Real}}, {"power(%, 2)", []Type{Real}}, {"CAST(sign(%) AS DOUBLE)", []Type{Real}},
	},
	Dec: {
		{"CAST(% - % AS DECIMAL(10,2))", []Type{Dec, Dec}}, {"CAST(CAST(% AS VARCHAR) AS DECIMAL(10,2))", []Type{Dec}},
		{"CAST(round(%, 1) AS DECIMAL(10,2))", []Type{Dec}}, {"CAST(trunc(%) AS DECIMAL(10,2))", []Type{Dec}},
	},
	Date: {
		{"CAST(date_trunc('month', %) AS DATE)", []Type{Date}}, {"CAST(% - INTERVAL 1 MONTH AS DATE)", []Type{Date}},
		{"CAST(CAST(% AS VARCHAR) AS DATE)", []Type{Date}}, {"last_day(%)", []Type{Date}}, {"CAST(CAST(% AS TIMESTAMP) AS DATE)", []Type{Date}},
		{"CAST(date_trunc('week', %) AS DATE)", []Type{Date}}, {"CAST(% AS DATE)", []Type{Stamp}},
		{"make_date(2020, CAST(1 + abs(% %% 12) AS BIGINT), 5)", []Type{Int}}, {"(% + CAST(% %% 100 AS INTEGER))", []Type{Date, Int}},
	},
	Stamp: {
		{"CAST(% AS TIMESTAMP)", []Type{Date}}, {"(% + INTERVAL 90 MINUTE)", []Type{Stamp}}, {"(% - INTERVAL 1 MONTH)", []Type{Stamp}},
		{"(date_trunc('hour', %) + INTERVAL 5 MINUTE)", []Type{Stamp}}, {"(date_trunc('month', %) + INTERVAL 5 MINUTE)", []Type{Stamp}}, {"CAST(CAST(% AS VARCHAR) AS TIMESTAMP)", []Type{Stamp}},
	},
	List: {
		{"[%, %]", []Type{Int, Int}}, {"list_sort(%)", []Type{List}}, {"list_sort(list_distinct(%))", []Type{List}},
		{"list_concat(COALESCE(%, [7]), %)", []Type{List, List}}, {"list_reverse(%)", []Type{List}}, {"list_slice(%, 1, 2)", []Type{List}},
		{"list_append(%, %)", []Type{List, Int}}, {"CAST(% AS BIGINT[])", []Type{List}},
	},
}

// sameForms are made of arguments of the type itself, moreSame those that not
// all engines have; compares take any one type.
var (
	sameForms = []form{{"COALESCE(%, %)", nil}, {"NULLIF(%, %)", nil}, {"CASE % WHEN % THEN % ELSE % END", nil},
		{"COALESCE(%, NULL, %)", nil}}
	moreSame = []form{{"greatest(%, %)", nil}, {"least(%, %)", nil}, {"greatest(%, %, %)", nil}}
	compares = []string{"(% = %)", "(% = %)", "(% <> %)", "(% < %)", "(% <= %)", "(% > %)", "(% >= %)",
		"(% IS DISTINCT FROM %)", "(% IS NOT DISTINCT FROM %)"}
)

// expr is an expression of type t at most depth deep.
func (g *Generator) expr(t Type, s *scope, depth int) *Expr {
	if s.inner != nil && g.chance(45) {
		return g.aggregate(t, s)
	}
	if depth <= 0 || g.chance(25) {
		if t == Bool && g.chance(70) {
			return g.comparison(s, 0)
		}
		return g.leaf(t, s)
	}
	if t == Bool {
		return g.condition(s, depth)
	}
	switch n := g.r.IntN(100); {
	case n < 10:
		f := pick(g, sameForms)
		if g.features.Functions && g.chance(30) {
			f = pick(g, moreSame)
		}
		e := &Expr{Form: f.text, Type: t}
		for range strings.Count(f.text, "%") {
			e.Args = append(e.Args, g.expr(t, s, depth-1))
		}
		return e
	case n < 22:
		return &Expr{Form: "CASE WHEN % THEN % ELSE % END", Type: t,
			Args: []*Expr{g.expr(Bool, s, depth-1), g.expr(t, s, depth-1), g.expr(t, s, depth-1)}}
	case n < 30 && depth > 1:
		return g.scalar(t, s, depth)
	}
	return g.formed(t, s, depth)
}

func (g *Generator) formed(t Type, s *scope, depth int) *Expr {
	list := forms[t]
	if g.features.Functions && (len(list) == 0 || g.chance(40)) {
		list = more[t]
	}
	f := pick(g, list)
	e := &Expr{Form: f.text, Type: t}
	for _, a := range f.args {
		if !slices.Contains(g.features.Types, a) {
			return g.leaf(t, s)
		}
		e.Args = append(e.Args, g.expr(a, s, depth-1))
	}
	return e
}

func (g *Generator) comparison(s *scope, depth int) *Expr {
	t := pick(g, g.features.Types)
	return &Expr{Form: pick(g, compares), Type: Bool, Args: []*Expr{g.expr(t, s, depth), g.expr(t, s, depth)}}
}

// condition is a Bool with something inside.
func (g *Generator) condition(s *scope, depth int) *Expr {
	t := pick(g, g.features.Types)
	switch n := g.r.IntN(100); {
	case n < 35:
		return g.comparison(s, depth-1)
	case n < 42:
		return &Expr{Form: pick(g, []string{"(% IS NULL)", "(% IS NOT NULL)"}), Type: Bool, Args: []*Expr{g.expr(t, s, depth-1)}}
	case n < 48:
		return &Expr{Form: pick(g, []string{"(% BETWEEN % AND %)", "(% NOT BETWEEN % AND %)"}), Type: Bool,
			Args: []*Expr{g.expr(t, s, depth-1), g.expr(t, s, 0), g.expr(t, s, 0)}}
	case n < 55:
		return &Expr{Form: pick(g, []string{"(% IN (%, %, %))", "(% NOT IN (%, %, %))", "(% IN (%, NULL, %, %))", "(% NOT IN (%, %, NULL, %))"}), Type: Bool,
			Args: []*Expr{g.expr(t, s, depth-1), g.constant(t), g.constant(t), g.expr(t, s, 0)}}
	case n < 63 && depth > 1:
		return &Expr{Form: pick(g, []string{"(% IN (%))", "(% NOT IN (%))"}), Type: Bool,
			Args: []*Expr{g.expr(t, s, 1)}, Sub: g.query(g.inside(s), []Type{t}, depth-2, false)}
	case n < 71 && depth > 1:
		return &Expr{Form: pick(g, []string{"EXISTS (%)", "(NOT EXISTS (%))"}), Type: Bool,
			Sub: g.query(g.inside(s), []Type{t}, depth-2, false)}
	case n < 75 && depth > 1 && g.features.Rows:
		op := pick(g, []string{"= ANY", "<> ALL", "< ANY", ">= ALL"})
		return &Expr{Form: "(% " + op + " (%))", Type: Bool,
			Args: []*Expr{g.expr(t, s, 1)}, Sub: g.query(g.inside(s), []Type{t}, depth-2, false)}
	}
	return g.formed(Bool, s, depth)
}

// inside is what a subquery of an expression sees of s.
func (g *Generator) inside(s *scope) *scope {
	if g.apart {
		return &scope{named: s.named}
	}
	return &scope{cols: s.cols, outer: s.outer, named: s.named}
}

// scalar is a subquery of one row: an aggregate without groups.
func (g *Generator) scalar(t Type, s *scope, depth int) *Expr {
	q := &Query{}
	in := &scope{outer: g.inside(s), named: s.named}
	g.from(q, in, depth-2)
	if g.chance(70) {
		q.Where = g.expr(Bool, in, depth-1)
	}
	q.Items = []*Expr{g.aggregate(t, &scope{inner: &scope{cols: in.cols, named: in.named}})}
	return &Expr{Form: "(%)", Type: t, Sub: q}
}

// aggregates are those of each type, over arguments of the type (Int: counts of
// any); @ stands where a FILTER goes.
var aggregates = [numTypes][]string{
	Int:   {"CAST(sum(%)@ AS BIGINT)", "CAST(sum(DISTINCT %)@ AS BIGINT)", "min(%)@", "max(%)@", "max(DISTINCT %)@"},
	Text:  {"min(%)@", "max(%)@"},
	Real:  {"sum(%)@", "min(%)@", "max(%)@"},
	Dec:   {"min(%)@", "max(%)@", "CAST(sum(%)@ AS DECIMAL(10,2))"},
	Date:  {"min(%)@", "max(%)@"},
	Stamp: {"min(%)@", "max(%)@"},
	List:  {"min(%)@", "max(%)@"},
}

// moreAggregates are those that not all engines have, each over arguments of a type.
var moreAggregates = [numTypes][]form{
	Int:   {{"bit_and(%)@", []Type{Int}}, {"bit_or(%)@", []Type{Int}}, {"bit_xor(%)@", []Type{Int}}, {"quantile_disc(%, 0.5)@", []Type{Int}}},
	Text:  {{"string_agg(#, '-' ORDER BY # NULLS LAST)@", []Type{Text}}, {"string_agg(DISTINCT #, ',' ORDER BY # DESC)@", []Type{Text}}},
	Bool:  {{"bool_and(%)@", []Type{Bool}}, {"bool_or(%)@", []Type{Bool}}},
	Real:  {{"median(%)@", []Type{Int}}, {"quantile_disc(%, 0.25)@", []Type{Real}}},
	Dec:   {{"quantile_disc(%, 0.75)@", []Type{Dec}}},
	Date:  {{"quantile_disc(%, 0.5)@", []Type{Date}}},
	Stamp: {{"max(DISTINCT %)@", []Type{Stamp}}},
	List:  {{"list(# ORDER BY # NULLS FIRST)@", []Type{Int}}, {"list(DISTINCT # ORDER BY # DESC NULLS LAST)@", []Type{Int}}},
}

// aggregate is one over s.inner.
func (g *Generator) aggregate(t Type, s *scope) *Expr {
	in := &scope{cols: s.inner.cols, named: s.named}
	if g.features.Functions && g.chance(20) {
		f := pick(g, moreAggregates[t])
		e := &Expr{Form: f.text, Type: t}
		for _, a := range f.args {
			e.Args = append(e.Args, g.expr(a, in, 1))
		}
		if strings.Contains(e.Form, "#") { // the same in both places
			e.Form = strings.ReplaceAll(e.Form, "#", "%")
			e.Args = append(e.Args, e.Args[0].clone())
		}
		return g.filtered(e, in)
	}
	if t == Bool {
		return &Expr{Form: "(% < %)", Type: Bool, Args: []*Expr{g.aggregate(Int, s), g.constant(Int)}}
	}
	e := &Expr{Type: t}
	switch {
	case t == Int && g.chance(30):
		e.Form = "count(*)@"
	case t == Int && g.chance(50):
		e.Form = pick(g, []string{"count(%)@", "count(DISTINCT %)@"})
		e.Args = []*Expr{g.expr(pick(g, g.features.Types), in, 1)}
	case t == Real && s.inexact && g.chance(30):
		e.Form, e.Args = "avg(%)@", []*Expr{g.expr(Int, in, 1)}
	default:
		e.Form, e.Args = pick(g, aggregates[t]), []*Expr{g.expr(t, in, 1)}
	}
	return g.filtered(e, in)
}

// filtered puts a FILTER where the form has an @, or nothing.
func (g *Generator) filtered(e *Expr, in *scope) *Expr {
	filter := ""
	if g.chance(10) {
		filter = " FILTER (WHERE %)"
		e.Args = append(e.Args, g.expr(Bool, in, 1))
	}
	e.Form = strings.Replace(e.Form, "@", filter, 1)
	return e
}
