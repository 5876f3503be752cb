package kernels

import (
	"fmt"
	"testing"

	"github.com/gpusql/gpusql/device"
)

// selectSizes go beyond many blocks that wait for each other.
var selectSizes = append(stepSizes, 8191, 8192, 8193, 300001)

// predicate is a condition's values, of which about one in most is true.
func (m *memory) predicate(n, most int) Vec {
	values := random[uint8](m, n) // only the lowest bit counts
	for i := range values {
		values[i] &^= 1
		if m.IntN(most) == 0 {
			values[i] |= 1
		}
	}
	return Vec{Data: upload(m, values)}
}

func TestSelect(t *testing.T) {
	for _, most := range []int{1, 2, 100, 1 << 30} {
		t.Run(fmt.Sprint("one in ", most), func(t *testing.T) {
			agree(t, selectSizes, func(m *memory, n int) []any {
				pred := m.predicate(n, most)
				var out []any
				for _, valid := range []device.Ptr{0, m.bitmap(n)} {
					pred.Valid = valid
					for _, step := range []func(device.Stream, Vec, int, device.Ptr) (int, error){Select, SelectNotTrue} {
						p := m.room(SelectBytes(n))
						k, err := step(m.s, pred, n, p)
						m.ok(err)
						out = append(out, k, download[uint32](m, p, k))
					}
				}
				return out
			})
		})
	}
}

func TestSelectBits(t *testing.T) {
	agree(t, selectSizes, func(m *memory, n int) []any {
		var out []any
		for _, first := range []int{0, 1, 31, 32, 64, 77} {
			p := m.room(SelectBytes(n))
			k, err := SelectBits(m.s, m.bitmap(first+n), first, n, p)
			m.ok(err)
			out = append(out, k, download[uint32](m, p, k))
		}
		return out
	})
}

func TestWhereTrue(t *testing.T) {
	agree(t, stepSizes, func(m *memory, n int) []any {
		pred := m.predicate(n, 2)
		var out []any
		for _, valid := range []device.Ptr{0, m.bitmap(n)} {
			for _, mask := range []device.Ptr{0, m.bitmap(n)} {
				pred.Valid = valid
				p := m.room(BitmapBytes(n))
				m.ok(WhereTrue(m.s, mask, pred, n, p))
				out = append(out, m.downloadBits(p, n))
			}
		}
		return out
	})
}

func TestSelectPart(t *testing.T) {
	agree(t, selectSizes, func(m *memory, n int) []any {
		hashes := upload(m, random[uint64](m, n))
		var out []any
		for part := range 3 {
			p := m.room(SelectBytes(n))
			k, err := SelectPart(m.s, hashes, n, part, 3, p)
			m.ok(err)
			out = append(out, k, download[uint32](m, p, k))
		}
		return out
	})
}
