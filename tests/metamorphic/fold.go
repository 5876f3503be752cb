package metamorphic

import "strings"

// Fold (CODDTest): a subquery that sees nothing of the query around may be
// replaced by its value.
var Fold = Oracle{"fold", func(c *Case, e Engine) (string, string, error) {
	folded := c.Query.clone()
	var failed error
	folded.exprs(func(p **Expr) {
		if (*p).Sub == nil || failed != nil {
			return
		}
		if value, err := fold(*p, e); err != nil {
			failed = err
		} else if value != nil {
			*p = value
		}
	})
	return c.Query.SQL(), folded.SQL(), failed
}, func(g *Generator) *Case { return &Case{Query: g.Apart()} }}

// most is how many values a list has at most.
const most = 50

// fold is x with the rows of its subquery as literals; nil: it stays.
func fold(x *Expr, e Engine) (*Expr, error) {
	t := Int
	if len(x.Sub.Items) > 0 {
		t = x.Sub.Items[0].Type
	}
	rows, err := e.Query("SELECT CAST(c0 AS VARCHAR) FROM (" + x.Sub.SQL() + ") AS f")
	if err != nil {
		return nil, err
	}
	var values []string
	for _, r := range rows {
		values = append(values, constant(r, t))
	}
	c := *x
	c.Args, c.Sub = cloneExprs(x.Args), nil
	list := strings.ReplaceAll(strings.Join(values, ", "), "%", "%%")
	switch {
	case len(rows) > most:
		return nil, nil
	case x.Form == "EXISTS (%)":
		c.Form = []string{"FALSE", "TRUE"}[min(len(rows), 1)]
	case x.Form == "(NOT EXISTS (%))":
		c.Form = []string{"TRUE", "FALSE"}[min(len(rows), 1)]
	case x.Form == "(%)" && len(rows) == 1:
		c.Form = list
	case strings.HasSuffix(x.Form, "IN (%))") && len(rows) > 0:
		c.Form = strings.TrimSuffix(x.Form, "%))") + list + "))"
	default:
		return nil, nil
	}
	return &c, nil
}

// constant is a value's text as an expression.
func constant(text string, t Type) string {
	if text == "NULL" {
		return "CAST(NULL AS " + typeNames[t] + ")"
	}
	return "CAST('" + strings.ReplaceAll(text, "'", "''") + "' AS " + typeNames[t] + ")"
}
