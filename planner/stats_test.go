package planner

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// TestFileStats: what a file says about its columns is what its rows are estimated by.
func TestFileStats(t *testing.T) {
	describe := func(string, string, map[string]sqltype.Datum) (FileInfo, error) {
		stats := func(column int) catalog.ColumnStats {
			if column == 0 {
				return catalog.ColumnStats{Min: sqltype.NullOf(sqltype.Varchar), Max: sqltype.NullOf(sqltype.Varchar)}
			}
			return catalog.ColumnStats{Distinct: 500, NullFrac: 0.5, Min: sqltype.NewInt64(0), Max: sqltype.NewInt64(1000)}
		}
		return FileInfo{Rows: 4000, Stats: stats,
			Schema: sqltype.Schema{{Name: "a", Type: sqltype.Varchar}, {Name: "b", Type: sqltype.Int64}}}, nil
	}
	for _, c := range []struct {
		where string
		rows  float64
	}{{"b = 7", 4}, {"b IS NULL", 2000}, {"b > 750", 500}, {"a = 'x'", 4000 * defaultEqual}} {
		parsed, err := parser.Parse("SELECT a FROM 'x.parquet' WHERE " + c.where)
		require.NoError(t, err)
		cat := newBindCatalog()
		p, err := Bind(cat, parsed[0].Statement, BindOptions{FileSchema: describe})
		require.NoError(t, err)
		p, err = Optimize(p, cat, OptimizeOptions{})
		require.NoError(t, err)
		require.InEpsilon(t, c.rows, newCostModel(cat).rows(p.Root), 0.01, c.where)
	}
}
