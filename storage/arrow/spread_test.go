package arrow

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// A table whose columns several goroutines write is what one would have written:
// its values, statistics, and, when its dictionaries have come back in, those too.
func TestColumnsWrittenAtOnce(t *testing.T) {
	d := devicetest.CPU(t)
	write := func(workers int) *Table {
		tab := NewTable(d, everyType, TableOptions{SegmentRows: 3 * spreadRows, Workers: workers})
		for lo := 0; lo < 10*spreadRows; lo += spreadRows {
			b, err := FromDatums(d, everyType, sampleRows(lo, lo+spreadRows))
			require.NoError(t, err)
			_, err = tab.Append(&b.Batch, 1)
			require.NoError(t, err)
			b.Release()
		}
		require.NoError(t, tab.Encode(t.Context(), 1))
		again := &Batch{Rows: 3 * spreadRows, Columns: make([]Column, len(everyType))}
		for i := range again.Columns {
			again.Columns[i] = tab.Segments()[0].Column(i)
		}
		require.NotZero(t, again.Columns[12].Vec.Dict)
		_, err := tab.Append(again, 2)
		require.NoError(t, err)
		return tab
	}
	one, many := write(1), write(4)
	defer one.Close()
	defer many.Close()
	require.Equal(t, len(one.Segments()), len(many.Segments()))
	for k, s := range one.Segments() {
		for i := range everyType {
			require.Equal(t, s.Stats(i), many.Segments()[k].Stats(i), everyType[i].String())
			a, b := s.Column(i), many.Segments()[k].Column(i)
			require.Equal(t, a.Vec.DictLen, b.Vec.DictLen)
			for r := range s.Rows() {
				require.Equal(t, a.Datum(r), b.Datum(r))
			}
		}
	}
	first, last := one.Segments()[0], one.Segments()[len(one.Segments())-1]
	for i := range everyType {
		require.Equal(t, first.Stats(i), last.Stats(i), "with a dictionary as without: %s", everyType[i])
	}
}

func TestSpreadPanics(t *testing.T) {
	tab := &Table{workers: 3}
	require.PanicsWithValue(t, "seven", func() {
		tab.spread(10, func(i int) {
			if i == 7 {
				panic("seven")
			}
		})
	})
}

func TestCompareViews(t *testing.T) {
	d := devicetest.CPU(t)
	texts := []string{"", "\x00", "a", "a\x00", "ab", "abcd", "abcd\x00", "abcde", "abcdefghijkl", "abcdefghijklm", "abcdefghijkm", "abcdefghijkmn",
		"abce", "b", "zzzzzzzzzzzz", "zzzzzzzzzzzzzzzz", "é", "\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}
	var rows [][]sqltype.Datum
	for _, s := range texts {
		rows = append(rows, []sqltype.Datum{sqltype.NewString(s)})
	}
	b, err := FromDatums(d, []sqltype.Type{sqltype.Varchar}, rows)
	require.NoError(t, err)
	defer b.Release()
	views := device.View[kernels.View](b.Columns[0].Vec.Data, len(texts))
	for i := range texts {
		for j := range texts {
			require.Equal(t, cmp.Compare(texts[i], texts[j]), compareViews(&views[i], &views[j]), "%q and %q", texts[i], texts[j])
		}
	}
}
