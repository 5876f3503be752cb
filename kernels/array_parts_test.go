package kernels

import (
	"testing"

	"github.com/gpusql/gpusql/device"
)

// TestCopyAll copies parts of many lengths and alignments in a few launches.
func TestCopyAll(t *testing.T) {
	agree(t, []int{1, 5, copyParts, 2*copyParts + 3}, func(m *memory, n int) []any {
		dst := upload(m, make([]byte, n*40000))
		var parts []CopyPart
		for i := range n {
			from, size := m.IntN(9), stepSizes[m.IntN(len(stepSizes))]
			src := upload(m, random[byte](m, from+size+1))
			parts = append(parts, CopyPart{dst + 40000*device.Ptr(i) + device.Ptr(m.IntN(17)), src + device.Ptr(from), uint64(size)})
		}
		m.ok(CopyAll(m.s, parts))
		return []any{download[byte](m, dst, n*40000)}
	})
}
