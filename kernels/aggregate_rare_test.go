package kernels

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// text is the n values of a form at p as text, floats by the digits that do not
// depend on the order of additions.
func (m *memory) text(p sqltype.Phys, v Vec, n int) []string {
	switch p {
	case sqltype.PhysStr:
		return m.downloadStrings(v, n)
	case sqltype.PhysF64:
		return mapped(download[float64](m, v.Data, n), func(f float64) string { return strconv.FormatFloat(f, 'e', 8, 64) })
	default:
		return mapped(slices.Collect(slices.Chunk(download[byte](m, v.Data, n*p.Width()), p.Width())), func(b []byte) string { return fmt.Sprintf("%x", b) })
	}
}

// TestRareAggregatesEverywhere is TestAggregatesEverywhere of states that are
// changed by one thread at a time. Strings outlive their batch.
func TestRareAggregatesEverywhere(t *testing.T) {
	type result struct {
		agg   Agg
		final Final
	}
	double, big := sqltype.Float64, sqltype.Int64
	results := []result{{Agg{AggProduct, sqltype.PhysF64}, Final{Type: double}}}
	for _, kind := range []AggKind{AggBitAnd, AggBitOr, AggBitXor} {
		for _, ty := range []sqltype.Type{big, sqltype.Int16, sqltype.Uint32} {
			results = append(results, result{Agg{kind, ty.Phys()}, Final{Type: ty}})
		}
	}
	for _, kind := range []AggKind{AggMin, AggMax} {
		for _, ty := range []sqltype.Type{sqltype.Varchar, sqltype.Decimal(38, 2), sqltype.Interval} {
			results = append(results, result{Agg{kind, ty.Phys()}, Final{Type: ty}})
		}
	}
	for op := FinalVarSamp; op <= FinalStddevPop; op++ {
		results = append(results, result{Agg{AggMoments, sqltype.PhysF64}, Final{Op: op, Type: double}})
	}
	for op := FinalCovarSamp; op <= FinalRegrSYY; op++ {
		ty := double
		if op == FinalRegrCount {
			ty = big
		}
		results = append(results, result{Agg{AggPairs, sqltype.PhysF64}, Final{Op: op, Type: ty}})
	}
	for _, r := range results {
		t.Run(fmt.Sprintf("%v %v", r.agg, r.final), func(t *testing.T) {
			for _, groups := range []int{1, 7, 200} {
				agree(t, []int{0, 65, 1500}, func(m *memory, n int) []any {
					heap := NewHeap(m.d)
					defer heap.Release()
					ids, state := make([]uint32, n), m.room(r.agg.Bytes()*groups)
					for i := range ids {
						ids[i] = uint32(m.IntN(groups))
					}
					m.ok(Zero(m.s, state, r.agg.Bytes()*groups))
					for range 2 { // the second time states have values
						in := AggInput{Groups: groups, Src: Vec{Data: m.rareValues(r.agg.Phys, n), Valid: m.bitmap(n)}, Second: Vec{Data: m.rareValues(sqltype.PhysF64, n)}}
						if groups > 1 {
							in.IDs = upload(m, ids)
						}
						var long []View
						if r.agg.Phys == sqltype.PhysStr {
							in.Heap, long = heap, download[View](m, in.Src.Data, n)
						}
						m.ok(r.agg.Update(m.s, state, in, n))
						for _, v := range long {
							if v.Len() > InlineLen {
								m.ok(Zero(m.s, device.Ptr(v.Hi), v.Len()))
							}
						}
					}
					if n > 0 { // two groups become one
						m.ok(r.agg.Merge(m.s, state, state+device.Ptr((groups-1)*r.agg.Bytes()), 0, upload(m, []uint32{0}), 1, heap))
					}
					w := r.final.Type.Phys().Width()
					out := Vec{Data: m.room(w * groups), Valid: m.room(BitmapBytes(groups))}
					m.ok(r.agg.Final(m.s, state, r.final, groups, out))
					valid, text := m.downloadBits(out.Valid, groups), m.text(r.final.Type.Phys(), out, groups)
					for i := range text {
						if !valid[i] {
							text[i] = "NULL"
						}
					}
					return []any{text}
				})
			}
		})
	}
}

// rareValues are n values of a form; floats are near 1.
func (m *memory) rareValues(p sqltype.Phys, n int) device.Ptr {
	switch p {
	case sqltype.PhysStr:
		return upload(m, m.strings(n))
	case sqltype.PhysF64:
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Exp(m.NormFloat64() / 100)
		}
		return upload(m, v)
	default:
		return upload(m, random[byte](m, n*p.Width()))
	}
}
