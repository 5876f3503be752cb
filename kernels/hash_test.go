package kernels

import (
	"math"
	"strings"
	"testing"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// strings are n views of strings of up to 70 bytes, the long ones at any address.
func (m *memory) strings(n int) []View {
	const longest = 70
	var text strings.Builder
	for text.Len() < 4096 {
		text.WriteByte(byte(m.Uint32()))
	}
	heap := upload(m, []byte(text.String()))
	views := make([]View, n)
	for i := range views {
		at, k := m.IntN(4096-longest), m.IntN(longest)
		s := text.String()[at : at+k]
		if views[i] = inlineView(s[:min(k, InlineLen)]); k > InlineLen {
			views[i] = longView([]byte(s), heap+device.Ptr(at))
		}
	}
	return views
}

// floats are n numbers, some of them special.
func (m *memory) floats(n int) []float64 {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), -math.NaN(), math.Inf(1), math.Inf(-1), 5e-324}
	v := make([]float64, n)
	for i := range v {
		if v[i] = m.NormFloat64(); i%3 == 0 {
			v[i] = special[m.IntN(len(special))]
		}
	}
	return v
}

// column is n values of a form, without a bitmap.
func (m *memory) column(p sqltype.Phys, n int) Vec {
	switch p {
	case sqltype.PhysStr:
		return Vec{Data: upload(m, m.strings(n))}
	case sqltype.PhysF64:
		return Vec{Data: upload(m, m.floats(n))}
	case sqltype.PhysF32:
		v := make([]float32, n)
		for i, f := range m.floats(n) {
			v[i] = float32(f)
		}
		return Vec{Data: upload(m, v)}
	default:
		return Vec{Data: upload(m, random[byte](m, n*p.Width()))}
	}
}

func TestHash(t *testing.T) {
	for p := range sqltype.Phys(sqltype.NumPhys) {
		if hashKernels[p] == nil {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			agree(t, stepSizes, func(m *memory, n int) []any {
				plain, nulls := m.column(p, n), m.column(p, n)
				nulls.Valid = m.bitmap(n)
				cols := []Vec{plain, nulls, plain}
				if p == sqltype.PhysStr {
					dict := m.dictionary(16, n)
					dict.Dict = upload(m, m.strings(int(dict.DictLen)))
					cols = append(cols, dict)
				}
				out := m.room(8 * n)
				var all []any
				for i := range cols {
					for _, of := range [][]Vec{cols[i : i+1], cols[:i]} {
						phys := make([]sqltype.Phys, len(of))
						for j := range phys {
							phys[j] = p
						}
						m.ok(Hash(m.s, of, phys, n, out))
						all = append(all, download[uint64](m, out, n))
					}
				}
				return all
			})
		})
	}
}
