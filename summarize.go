package gpusql

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// summarize is SUMMARIZE: a row a column of a query, with figures about it. It
// is a query of its own over the query, which is computed once.
func (c *Conn) summarize(ctx context.Context, s *parser.Summarize, text string) (*Rows, error) {
	plan, err := c.bind(ctx, c.reader(), s.Query)
	if err != nil {
		return nil, err
	}
	var sql strings.Builder
	names := make([]string, len(plan.Columns))
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	fmt.Fprintf(&sql, "WITH s(%s) AS MATERIALIZED (%s)", strings.Join(names, ", "), parser.Format(s.Query))
	for i, col := range plan.Columns {
		word := " UNION ALL "
		if i == 0 {
			word = " "
		}
		figure := func(expr string) string {
			if !col.Type.Kind.IsNumeric() {
				return "CAST(NULL AS VARCHAR)"
			}
			return "CAST(" + expr + " AS VARCHAR)"
		}
		n := names[i]
		fmt.Fprintf(&sql, "%sSELECT %s AS column_name, %s AS column_type, CAST(min(%s) AS VARCHAR) AS min, CAST(max(%s) AS VARCHAR) AS max,"+
			" count(DISTINCT %s) AS approx_unique, %s AS avg, %s AS std, %s AS q25, %s AS q50, %s AS q75, count(*) AS count,"+
			" CAST(CASE WHEN count(*) = 0 THEN NULL ELSE 100.0 * (count(*) - count(%s)) / count(*) END AS DECIMAL(9,2)) AS null_percentage FROM s",
			word, quoted(col.Name), quoted(col.Type.String()), n, n, n, figure("avg("+n+")"), figure("stddev_samp("+n+")"),
			figure("quantile_cont("+n+", 0.25)"), figure("quantile_cont("+n+", 0.5)"), figure("quantile_cont("+n+", 0.75)"), n)
	}
	list, err := parser.Parse(sql.String())
	if err != nil {
		return nil, sqltype.Errorf(sqltype.CodeInternal, "SUMMARIZE: %v", err)
	}
	list[0].Params = 0
	return c.runPlanned(ctx, &prepared{parsed: list[0], text: text}, nil, nil)
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
