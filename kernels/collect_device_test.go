package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/sqltype"
)

// TestCollectEverywhere: a device's results are the CPU's, for few groups and
// many, of which some have no rows.
func TestCollectEverywhere(t *testing.T) {
	for _, c := range []Collect{
		{Op: CollectFirst, Phys: sqltype.PhysI32}, {Op: CollectLast, Phys: sqltype.PhysStr}, {Op: CollectMode, Phys: sqltype.PhysU8},
		{Op: CollectMode, Phys: sqltype.PhysStr}, {Op: CollectQuantileCont, Phys: sqltype.PhysF64}, {Op: CollectQuantileDisc, Phys: sqltype.PhysI128},
		{Op: CollectJoin, Phys: sqltype.PhysStr},
	} {
		t.Run(fmt.Sprintf("%v", c), func(t *testing.T) {
			for _, groups := range []int{1, 9, 300} {
				agree(t, []int{1, 63, 64, 1000, 3000}, func(m *memory, n int) []any {
					ids := make([]uint32, n)
					for i := range ids {
						ids[i] = uint32(m.IntN(groups)) &^ uint32(m.IntN(2))
					}
					in := Collected{N: n, IDs: upload(m, ids), Rows: m.room(4 * n), Src: m.column(c.Phys, n)}
					if c.Op == CollectMode { // of few values
						if c.Phys == sqltype.PhysStr {
							in.Src.Data = upload(m, mapped(make([]View, n), func(View) View { return inlineView(fmt.Sprint(m.IntN(3))) }))
						} else {
							in.Src.Data = upload(m, mapped(make([]byte, n), func(byte) byte { return byte(m.IntN(3)) }))
						}
					}
					if c.Op == CollectFirst || c.Op == CollectLast {
						in.Src.Valid = m.bitmap(n)
					}
					fractions := mapped(make([]float64, n), func(float64) float64 { return float64(m.IntN(9)) / 8 })
					switch c.Op {
					case CollectQuantileCont, CollectQuantileDisc:
						in.Second = Vec{Data: upload(m, fractions), Valid: m.bitmap(n)}
					case CollectJoin:
						if n%2 == 0 {
							in.Second = m.column(sqltype.PhysStr, n)
							in.Second.Valid = m.bitmap(n)
						}
					}
					by := []SortColumn{{Vec: Vec{Data: in.IDs}, Phys: sqltype.PhysU32}, {Vec: in.Src, Phys: c.Phys}}
					m.ok(Sort(m.s, by, n, in.Rows, m.room(SortBytes(n))))
					heap := NewHeap(m.d)
					defer heap.Release()
					dst := Vec{Data: m.room(16 * groups), Valid: m.room(BitmapBytes(groups))}
					m.ok(c.Final(m.s, in, groups, dst, heap))
					valid, text := m.downloadBits(dst.Valid, groups), m.text(c.Phys, dst, groups)
					for i := range text {
						if !valid[i] {
							text[i] = "NULL"
						}
					}
					all := []any{text}
					if c.Op <= CollectLast {
						out := m.room(4 * n)
						k, err := c.Heads(m.s, in, out)
						m.ok(err)
						all = append(all, download[uint32](m, out, k))
					}
					if c.Op == CollectQuantileCont {
						in.Second = Vec{Data: upload(m, mapped(fractions, func(float64) float64 { return 1.5 }))}
						require.ErrorContains(m, c.Final(m.s, in, groups, dst, heap), "percentile value 1.5 is not between 0 and 1")
					}
					return all
				})
			}
		})
	}
}
