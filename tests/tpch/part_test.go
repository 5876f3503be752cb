package tpch

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// TestParts: the parts of tables, one behind the other, are the tables.
func TestParts(t *testing.T) {
	rows := func(parts int64) map[string][]string {
		got := map[string][]string{}
		for part := range parts {
			require.NoError(t, GeneratePart(0.002, Compact, part, parts, func(table *Table, rec arrow.RecordBatch) error {
				for i := range int(rec.NumRows()) {
					line := ""
					for _, c := range rec.Columns() {
						line += fmt.Sprint(c.ValueStr(i), "|")
					}
					got[table.Name] = append(got[table.Name], line)
				}
				return nil
			}))
		}
		return got
	}
	whole := rows(1)
	require.Len(t, whole, len(Tables))
	require.Equal(t, whole, rows(7))
}
