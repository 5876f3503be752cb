package kernels

import (
	"testing"

	"github.com/gpusql/gpusql/device"
)

// TestCopyBits copies to and from any bit, and sets.
func TestCopyBits(t *testing.T) {
	agree(t, stepSizes, func(m *memory, n int) []any {
		var out []any
		for _, at := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {63, 64}, {64, 63}, {130, 7}, {33, 32}} {
			for _, src := range []device.Ptr{0, m.bitmap(at[1] + n)} {
				dst := m.bitmap(at[0] + n)
				m.ok(CopyBits(m.s, dst, at[0], src, at[1], n))
				out = append(out, m.downloadBits(dst, at[0]+n))
			}
		}
		return out
	})
}
