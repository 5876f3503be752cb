package kernels

import "testing"

func TestAddTo(t *testing.T) {
	agree(t, stepSizes, func(m *memory, n int) []any {
		p := upload(m, random[uint32](m, n))
		m.ok(AddTo(m.s, p, 1<<31+7, n))
		return []any{download[uint32](m, p, n)}
	})
}

func TestNumbers(t *testing.T) {
	agree(t, stepSizes, func(m *memory, n int) []any {
		p := m.room(4 * n)
		m.ok(Numbers(m.s, p, n))
		return []any{download[uint32](m, p, n)}
	})
}

func TestFlagHeads(t *testing.T) {
	agree(t, stepSizes, func(m *memory, n int) []any {
		heads := random[uint32](m, n)
		for i := range heads {
			heads[i] &= -(heads[i] >> 31)
		}
		p := m.room(n)
		m.ok(FlagHeads(m.s, upload(m, heads), n, p))
		return []any{download[uint8](m, p, n)}
	})
}

// TestFlagRows names flags more than once, in one call and in two.
func TestFlagRows(t *testing.T) {
	agree(t, stepSizes, func(m *memory, n int) []any {
		const flags = 777
		p := upload(m, make([]uint8, flags+1))
		scratch := upload(m, []uint64{99})
		var out []any
		for range 2 {
			rows := make([]uint32, n)
			for i := range rows {
				rows[i] = m.Uint32N(flags)
			}
			again, err := FlagRows(m.s, upload(m, rows), n, p+1, scratch)
			m.ok(err)
			out = append(out, again)
		}
		return append(out, download[uint8](m, p, flags+1))
	})
}

func TestOrFlags(t *testing.T) {
	agree(t, stepSizes, func(m *memory, n int) []any {
		x, y := upload(m, random[uint8](m, n)), upload(m, random[uint8](m, n))
		m.ok(OrFlags(m.s, x, y, n))
		return []any{download[uint8](m, x, n)}
	})
}

func TestAndBits(t *testing.T) {
	agree(t, stepSizes, func(m *memory, n int) []any {
		out := m.room(BitmapBytes(n))
		m.ok(AndBits(m.s, m.bitmap(n), m.bitmap(n), n, out))
		return []any{m.downloadBits(out, n)}
	})
}

func TestMarkKnown(t *testing.T) {
	for name, given := range map[string][2]bool{"flags": {}, "may": {true, false}, "unknown": {false, true}, "both": {true, true}} {
		t.Run(name, func(t *testing.T) {
			agree(t, stepSizes, func(m *memory, n int) []any {
				zeros := func() []uint8 {
					b := random[uint8](m, n)
					for i := range b {
						b[i] &= 1
					}
					return b
				}
				flags, may, unknown := upload(m, zeros()), m.bitmap(n), upload(m, zeros())
				if !given[0] {
					may = 0
				}
				if !given[1] {
					unknown = 0
				}
				out := m.room(BitmapBytes(n))
				m.ok(MarkKnown(m.s, flags, may, unknown, n, out))
				return []any{m.downloadBits(out, n)}
			})
		})
	}
}
