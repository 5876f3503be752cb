package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
)

// TestBytes copies, clears and fills runs that begin and end anywhere.
func TestBytes(t *testing.T) {
	for name, step := range map[string]func(s device.Stream, dst, src device.Ptr, n int) error{
		"copy": Copy,
		"zero": func(s device.Stream, dst, _ device.Ptr, n int) error { return Zero(s, dst, n) },
		"fill": func(s device.Stream, dst, _ device.Ptr, n int) error { return Fill(s, dst, 0xC3, n) },
	} {
		t.Run(name, func(t *testing.T) {
			agree(t, append(stepSizes, 2, 15, 16, 17, 40001), func(m *memory, n int) []any {
				var out []any
				for _, at := range [][2]device.Ptr{{0, 0}, {16, 48}, {3, 3}, {0, 5}, {7, 0}, {9, 14}, {15, 1}, {4, 8}} {
					dst, src := upload(m, random[uint8](m, n+64)), upload(m, random[uint8](m, n+64))
					m.ok(step(m.s, dst+at[0], src+at[1], n))
					out = append(out, download[uint8](m, dst, n+64))
				}
				return out
			})
		})
	}
}

func TestSequence(t *testing.T) {
	agree(t, stepSizes, func(m *memory, n int) []any {
		p := m.room(8 * n)
		m.ok(Sequence(m.s, p, -5, 1<<40+1, n))
		return []any{download[int64](m, p, n)}
	})
}

// TestOwn copies the bytes of long strings, but for those under a NULL.
func TestOwn(t *testing.T) {
	agree(t, stepSizes, func(m *memory, n int) []any {
		h := NewHeap(m.d)
		m.Cleanup(h.Release)
		v := Vec{Data: upload(m, m.strings(n)), Valid: m.bitmap(n)}
		before := m.downloadStrings(v, n)
		m.ok(h.Own(m.s, v, n, m.room(8)))
		after := m.downloadStrings(v, n)
		for i, valid := range m.downloadBits(v.Valid, n) {
			if !valid {
				before[i], after[i] = "", ""
			}
		}
		if len(h.blocks) > 0 {
			lo, hi := uint64(h.blocks[0].Ptr()), uint64(h.blocks[0].Ptr())+uint64(h.blocks[0].Len())
			for _, view := range download[View](m, v.Data, n) {
				if uint32(view.Lo) > InlineLen && (view.Hi < lo || view.Hi >= hi) {
					m.Fatal("a string outside the heap")
				}
			}
		}
		require.Equal(m, before, after)
		return []any{after}
	})
}
