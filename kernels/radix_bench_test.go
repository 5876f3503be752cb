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
			n = n / r.Key * 4 // 2^27 keys of 64 bits; of 32 bits 2^28
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
				got, want := download[uint64](m, keys[side], n), download[uint64](m, first, n)
				slices.Sort(want)
				require.True(b, slices.Equal(want, got))
			} else {
				got, want := download[uint32](m, keys[side], n), download[uint32](m, first, n)
				slices.Sort(want)
				require.True(b, slices.Equal(want, got))
			}
		})
	}
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
