package tpch

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
)

// TestOfficialRows compares a miniature, made by the official generator at
// scale 0.001, line by line.
func TestOfficialRows(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "sql", "tpch", "mini", "tbl")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no official rows here: ", dir)
	}
	got := map[string][]string{}
	require.NoError(t, Generate(0.001, Reference, func(table *Table, rec arrow.RecordBatch) error {
		for i := range int(rec.NumRows()) {
			var b strings.Builder
			for j, c := range table.columns {
				switch a := rec.Column(j).(type) {
				case *array.Decimal128:
					v := a.Value(i).LowBits()
					if c.name == "l_quantity" {
						fmt.Fprintf(&b, "%d|", int64(v)/100)
						continue
					}
					sign, n := "", int64(v)
					if n < 0 {
						sign, n = "-", -n
					}
					fmt.Fprintf(&b, "%s%d.%02d|", sign, n/100, n%100)
				default:
					b.WriteString(a.ValueStr(i) + "|")
				}
			}
			got[table.Name] = append(got[table.Name], b.String())
		}
		return nil
	}))
	for _, table := range Tables {
		f, err := os.Open(filepath.Join(dir, table.Name+".tbl"))
		require.NoError(t, err)
		var want []string
		for s := bufio.NewScanner(f); s.Scan(); {
			want = append(want, s.Text())
		}
		f.Close()
		require.Equal(t, len(want), len(got[table.Name]), table.Name)
		for i := range want {
			require.Equal(t, want[i], got[table.Name][i], "%s, row %d", table.Name, i+1)
		}
	}
}
