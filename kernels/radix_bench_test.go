package kernels

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// BenchmarkRadix sorts keys of all bits; the rate is that of keys. A sort moves
// 2*Key*(Key+Value) bytes a key, and reads the keys once to count.
func BenchmarkRadix(b *testing.B) {
	for _, r := range []Radix{WholeKey(4, 0), WholeKey(4, 4), WholeKey(8, 0), WholeKey(8, 4), WholeKey(8, 8)} {
		b.Run(fmt.Sprintf("key %d value %d", r.Key, r.Value), func(b *testing.B) {
			m, n := benchMemory(b)
			n /= 2 // 2^27
			first := m.noise(n)
			keys := [2]device.Ptr{m.room(n * r.Key), m.room(n * r.Key)}
			values := [2]device.Ptr{m.room(n * r.Value), m.room(n * r.Value)}
			scratch := m.room(r.Bytes(n))
			side := 0
			m.perSecond(b, n, func() {
				var err error
				side, err = r.SortFrom(m.s, first, first, keys, values, scratch, n)
				m.ok(err)
			})
			if r.Key == 8 {
				requireSorted(b, download[uint64](m, keys[side], n), download[uint64](m, first, n))
			} else {
				requireSorted(b, download[uint32](m, keys[side], n), download[uint32](m, first, n))
			}
		})
	}
}

// requireSorted checks that got is in order, and that its sums are those of from.
func requireSorted[K uint32 | uint64](b *testing.B, got, from []K) {
	b.Helper()
	require.True(b, slices.IsSorted(got))
	var have, want [2]uint64
	for i := range got {
		have[0], have[1] = have[0]+uint64(got[i]), have[1]+HashWord(uint64(got[i]))
		want[0], want[1] = want[0]+uint64(from[i]), want[1]+HashWord(uint64(from[i]))
	}
	require.Equal(b, want, have)
}

// BenchmarkEval computes a * (100 - b) where c < 24, over BIGINT columns.
func BenchmarkEval(b *testing.B) {
	m, n := benchMemory(b)
	n /= 2
	var cols []Vec
	for range 3 {
		cols = append(cols, Vec{Data: m.room(8 * n)})
	}
	for i := range cols {
		m.ok(Sequence(m.s, cols[i].Data, int64(i), int64(i+1), n))
	}
	p := &Builder{}
	i64, hundred := sqltype.Int64, p.Const(sqltype.NewInt64(100))
	x, y, z := p.Input(0, i64), p.Input(1, i64), p.Input(2, i64)
	less := p.Emit(Instr{Op: OpLt, Phys: sqltype.PhysI64, Mask: NoReg, Args: []Reg{z, p.Const(sqltype.NewInt64(24_000_000))}}, sqltype.Bool)
	rest := p.Emit(Instr{Op: OpSub, Phys: sqltype.PhysI64, Mask: NoReg, Flag: Unchecked, Args: []Reg{hundred, y}}, i64)
	product := p.Emit(Instr{Op: OpMul, Phys: sqltype.PhysI64, Mask: NoReg, Flag: Unchecked, Args: []Reg{x, rest}}, i64)
	e := NewEvaluator(p.Finish([]Reg{less, product}), m.d)
	defer e.Close()
	var outs []Vec
	m.rate(b, (3*8+9)*n, func() {
		var err error
		outs, err = e.Run(m.s, cols, n)
		m.ok(err)
	})
	flags, got := download[uint8](m, outs[0].Data, n), download[int64](m, outs[1].Data, n)
	for i := range got {
		x, y, z := int64(i), int64(1+2*i), int64(2+3*i)
		if got[i] != x*(100-y) || (flags[i] == 1) != (z < 24_000_000) {
			b.Fatalf("row %d", i)
		}
	}
}
