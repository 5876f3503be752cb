package metamorphic

import (
	"fmt"
	"strings"
)

// windows are Ints of windows whose peers have one value.
var windows = []string{
	"rank() OVER (PARTITION BY % ORDER BY % NULLS LAST)",
	"dense_rank() OVER (PARTITION BY % ORDER BY % DESC NULLS FIRST)",
	"count(*) OVER (PARTITION BY % ORDER BY % NULLS FIRST)",
	"CAST(sum(%) OVER (PARTITION BY % ORDER BY % NULLS LAST) AS BIGINT)",
	"max(%) OVER (PARTITION BY % ORDER BY % NULLS LAST)",
	"min(%) OVER (ORDER BY % NULLS LAST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
	"CAST(floor(100 * cume_dist() OVER (ORDER BY % NULLS LAST)) AS BIGINT)",
	"count(%) FILTER (WHERE % > 0) OVER (PARTITION BY % ORDER BY % NULLS FIRST)",
}

// placed are Ints of windows that tell peers apart, so that they need a total
// order; @ stands where it goes, # where a frame of rows goes.
var placed = []string{
	"row_number() OVER (PARTITION BY % ORDER BY @)",
	"row_number() OVER (ORDER BY @)",
	"ntile(3) OVER (PARTITION BY % ORDER BY @)",
	"lag(%) OVER (PARTITION BY % ORDER BY @)",
	"lead(%, 2, %) OVER (ORDER BY @)",
	"first_value(%) OVER (PARTITION BY % ORDER BY @ #)",
	"last_value(%) OVER (PARTITION BY % ORDER BY @ #)",
	"nth_value(%, 2) OVER (ORDER BY @ #)",
	"CAST(sum(%) OVER (PARTITION BY % ORDER BY @ #) AS BIGINT)",
	"count(%) OVER (ORDER BY @ #)",
	"max(%) OVER (PARTITION BY % ORDER BY @ #)",
	"min(%) OVER (ORDER BY @ #)",
}

// framed are Ints of windows over frames of whole peers.
var framed = []string{
	"CAST(sum(%) OVER (PARTITION BY % ORDER BY % NULLS LAST #) AS BIGINT)",
	"count(%) OVER (ORDER BY % NULLS FIRST #)",
	"max(%) OVER (PARTITION BY % ORDER BY % DESC NULLS LAST #)",
	"min(%) OVER (ORDER BY % DESC NULLS FIRST #)",
}

// window is an Int of a window over the rows of s. Of the windows of one SELECT
// only one may be over a total order: equal rows may stand in another order in
// another window.
func (g *Generator) window(s *scope, total bool) *Expr {
	form := pick(g, windows)
	switch n := g.r.IntN(10); {
	case n < 4 && total && len(s.cols) > 0:
		form = strings.Replace(pick(g, placed), "#", g.frame("ROWS"), 1)
	case n < 7:
		form = strings.Replace(pick(g, framed), "#", g.frame(pick(g, []string{"RANGE", "GROUPS"})), 1)
	}
	e := &Expr{Type: Int}
	before, after, ordered := strings.Cut(form, "@")
	e.Form = form
	g.arguments(e, before, s)
	if ordered {
		var keys []string
		for _, i := range g.r.Perm(len(s.cols)) {
			keys = append(keys, "%"+pick(g, []string{" NULLS LAST", " DESC NULLS LAST", " NULLS FIRST"}))
			e.Args = append(e.Args, s.cols[i].clone())
		}
		e.Form = before + strings.Join(keys, ", ") + after
		g.arguments(e, after, s)
	}
	return e
}

// arguments adds an Int for each place of text.
func (g *Generator) arguments(e *Expr, text string, s *scope) {
	for range strings.Count(text, "%") {
		e.Args = append(e.Args, g.expr(Int, &scope{cols: s.cols}, 1))
	}
}

// frame is a frame that is not empty everywhere.
func (g *Generator) frame(unit string) string {
	bounds := []string{"UNBOUNDED PRECEDING", fmt.Sprintf("%d PRECEDING", 1+g.r.IntN(4)), "CURRENT ROW",
		fmt.Sprintf("%d FOLLOWING", 1+g.r.IntN(4)), "UNBOUNDED FOLLOWING"}
	from := g.r.IntN(4)
	to := from + g.r.IntN(5-from)
	if to == 0 {
		to = 1
	}
	text := fmt.Sprintf("%s BETWEEN %s AND %s", unit, bounds[from], bounds[to])
	if g.chance(30) {
		text += pick(g, []string{" EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS"})
	}
	return text
}
