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

// TestKeyShare: of two tables of keys, and of what filters left of them.
func TestKeyShare(t *testing.T) {
	for _, c := range []struct {
		name                     string
		l, r, lnow, rnow, expect float64
	}{
		{"as they are", 200, 50, 200, 50, 200},
		{"not known what is left", 200, 50, 0, 0, 200},
		{"days of a year, sales of five", 1800, 73000, 1800, 365, 1800},
		{"all days", 1800, 73000, 1800, 73000, 73000},
		{"both filtered, of the same keys", 200000, 200000, 100, 200, 200000},
		{"no values", 0, 0, 0, 0, 1},
	} {
		require.InEpsilon(t, 1/c.expect, keyShare(c.l, c.r, c.lnow, c.rnow), 1e-9, c.name)
	}
	require.Equal(t, 7.0, hitValues(7, 100, 100))
	require.Equal(t, 0.0, hitValues(0, 100, 1))
	require.Equal(t, 1.0, hitValues(7, 100, 0))
	require.InDelta(t, 50, hitValues(100, 100, 50), 1e-9)
	require.InDelta(t, 6.9, hitValues(7, 700, 30), 0.2)
}
