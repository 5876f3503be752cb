package kernels

import (
	"fmt"
	"testing"

	"github.com/gpusql/gpusql/sqltype"
)

// TestPack packs columns to keys, and takes them out again.
func TestPack(t *testing.T) {
	for _, phys := range [][]sqltype.Phys{
		{sqltype.PhysI64},
		{sqltype.PhysF64},
		{sqltype.PhysF32, sqltype.PhysBool},
		{sqltype.PhysI8, sqltype.PhysU16, sqltype.PhysI32},
		{sqltype.PhysU64, sqltype.PhysI32, sqltype.PhysU8},
		{sqltype.PhysI16, sqltype.PhysU32, sqltype.PhysF32, sqltype.PhysI16},
	} {
		for _, nullable := range []bool{false, true} {
			t.Run(fmt.Sprint(phys, " nullable ", nullable), func(t *testing.T) {
				agree(t, stepSizes, func(m *memory, n int) []any {
					null := make([]bool, len(phys))
					cols := make([]Vec, len(phys))
					for i, p := range phys {
						cols[i] = m.column(p, n)
						if i%2 == 0 { // a NULL that has no bit is a 0
							cols[i].Valid = m.bitmap(n)
						}
						null[i] = nullable && (len(phys) == 1 || p.Width() < 8)
					}
					l := NewKeyLayout(phys, null)
					if l.Form == KeyColumns {
						m.Fatal("these columns should fit")
					}
					keys := m.room(l.Width() * n)
					m.ok(l.Pack(m.s, cols, n, keys))
					all := []any{download[uint64](m, keys, l.Width()/8*n)}
					for i, p := range phys {
						dst := Vec{Data: m.room(p.Width() * n), Valid: m.room(BitmapBytes(n))}
						m.ok(l.Unpack(m.s, i, keys, n, dst))
						all = append(all, download[byte](m, dst.Data, p.Width()*n), m.downloadBits(dst.Valid, n))
					}
					return all
				})
			})
		}
	}
}
