package kernels

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
)

// stepSizes are numbers of rows around those of words, warps, blocks and grids.
var stepSizes = []int{0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 2048, 4097, 20001}

// memory is a test's device memory, given back at its end.
type memory struct {
	t testing.TB
	d device.Device
	s device.Stream
}

func newMemory(t testing.TB, d device.Device) *memory {
	return &memory{t: t, d: d, s: devicetest.Stream(t, d)}
}

// room is n bytes.
func (m *memory) room(n int) device.Ptr {
	m.t.Helper()
	b, err := m.d.Alloc(max(n, 1))
	require.NoError(m.t, err)
	m.t.Cleanup(b.Release)
	return b.Ptr()
}

// upload is a copy of values in device memory.
func upload[T any](m *memory, values []T) device.Ptr {
	m.t.Helper()
	p := m.room(sizeOf[T](len(values)))
	require.NoError(m.t, m.s.Upload(p, rawBytes(values)))
	return p
}

// download is the n values at p.
func download[T any](m *memory, p device.Ptr, n int) []T {
	m.t.Helper()
	values := make([]T, n)
	require.NoError(m.t, m.s.Download(rawBytes(values), p))
	return values
}

func sizeOf[T any](n int) int {
	var zero T
	return n * int(unsafe.Sizeof(zero))
}

func rawBytes[T any](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), sizeOf[T](len(values)))
}
