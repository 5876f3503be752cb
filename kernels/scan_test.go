package kernels

import (
	"fmt"
	"testing"

	"github.com/gpusql/gpusql/device"
)

// TestScan runs over values that wrap, aligned and not, in place and not.
func TestScan(t *testing.T) {
	for _, width := range []int{4, 8} {
		t.Run(fmt.Sprint("width ", width), func(t *testing.T) {
			agree(t, selectSizes, func(m *memory, n int) []any {
				var all []any
				for _, at := range []device.Ptr{0, 8} {
					in := upload(m, random[byte](m, n*width+64)) + at
					out := m.room(n*width+64) + at
					for _, to := range []device.Ptr{out, in} {
						total := upload(m, []uint64{99})
						m.ok(Scan(m.s, width, in, to, n, total, m.room(ScanBytes(n))))
						all = append(all, download[byte](m, to, n*width), download[uint64](m, total, 1))
					}
				}
				return all
			})
		})
	}
}
