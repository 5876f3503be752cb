package kernels

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestPick counts the groups of rows, and picks twice from others. Of PickTake
// and PickLeave it compares which groups the rows are of.
func TestPick(t *testing.T) {
	for _, groups := range []int{1, 40, 5000} {
		for _, mode := range []PickMode{PickFresh, PickTake, PickLeave} {
			for _, most := range []uint32{1, 3, math.MaxUint32} {
				t.Run(fmt.Sprint(groups, " groups, mode ", mode, ", most ", most), func(t *testing.T) {
					agree(t, []int{0, 1, 64, 1000, 4097}, func(m *memory, n int) []any {
						draw := func(n int) []uint32 {
							ids := make([]uint32, n)
							for i := range ids {
								ids[i] = uint32(m.IntN(groups))
							}
							return ids
						}
						counts := upload(m, make([]uint32, groups))
						if mode != PickFresh {
							m.ok(CountGroups(m.s, upload(m, draw(n/2)), n/2, counts, most))
						}
						all := []any{download[uint32](m, counts, groups)}
						for range 2 {
							ids, out := draw(n), m.room(SelectBytes(n))
							count, err := Pick(m.s, upload(m, ids), n, counts, mode, out)
							m.ok(err)
							rows := download[uint32](m, out, count)
							if mode != PickFresh {
								for i, r := range rows {
									rows[i] = ids[r]
								}
								slices.Sort(rows)
							}
							all = append(all, rows, download[uint32](m, counts, groups))
						}
						return all
					})
				})
			}
		}
	}
}
