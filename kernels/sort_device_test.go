package kernels

import (
	"fmt"
	"testing"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// TestSortEverywhere: the order of rows is the same on every device, ties by number.
func TestSortEverywhere(t *testing.T) {
	forms := []sqltype.Phys{sqltype.PhysBool, sqltype.PhysI8, sqltype.PhysI16, sqltype.PhysI32, sqltype.PhysI64, sqltype.PhysU16, sqltype.PhysU64,
		sqltype.PhysF32, sqltype.PhysF64, sqltype.PhysI128, sqltype.PhysSpan, sqltype.PhysStr}
	for _, p := range forms {
		for _, o := range []SortColumn{{}, {Desc: true}, {Desc: true, NullsFirst: true}} {
			t.Run(fmt.Sprint(p, " desc=", o.Desc, " first=", o.NullsFirst), func(t *testing.T) {
				agree(t, []int{0, 1, 33, 1100}, func(m *memory, n int) []any {
					second := upload(m, mapped(make([]int32, n), func(int32) int32 { return int32(m.IntN(5)) }))
					cols := []SortColumn{
						{Vec: Vec{Data: anyColumn(m, p, n), Valid: m.bitmap(n)}, Phys: p, Desc: o.Desc, NullsFirst: o.NullsFirst},
						{Vec: Vec{Data: second}, Phys: sqltype.PhysI32, Desc: true},
					}
					rows := m.room(4 * n)
					m.ok(Sort(m.s, cols, n, rows, m.room(SortBytes(n))))
					return []any{download[uint32](m, rows, n)}
				})
			})
		}
	}
}

// anyColumn is n values of a form, some alike.
func anyColumn(m *memory, p sqltype.Phys, n int) device.Ptr {
	if p != sqltype.PhysStr {
		values := random[byte](m, n*p.Width())
		for i := range values {
			if p == sqltype.PhysBool {
				values[i] &= 1
			} else if m.IntN(3) > 0 {
				values[i] &= 0x81
			}
		}
		return upload(m, values)
	}
	texts := []string{"", "a", "a\x00", "ab", "abcdefgh", "abcdefghi", "abcdefghijkl", "abcdefghijklm", "abcdefghijklm and a lot more of it", "abcdefghijklm and a lot more of it!", "b\xff"}
	views := make([]View, len(texts))
	for i, s := range texts {
		if views[i] = inlineView(s[:min(len(s), InlineLen)]); len(s) > InlineLen {
			views[i] = longView([]byte(s), upload(m, []byte(s)))
		}
	}
	return upload(m, mapped(make([]View, n), func(View) View { return views[m.IntN(len(views))] }))
}
