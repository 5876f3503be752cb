package kernels

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
)

// stepSizes are numbers of rows around those of words, warps, blocks and grids.
var stepSizes = []int{0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 2048, 4096, 4097, 20001}

// memory is a test's device memory, given back at its end, and its random numbers.
type memory struct {
	testing.TB
	*rand.Rand
	d device.Device
	s device.Stream
}

func newMemory(t testing.TB, d device.Device, seed uint64) *memory {
	return &memory{t, rand.New(rand.NewPCG(seed, 1)), d, devicetest.Stream(t, d)}
}

// agree runs a step on every device, at each size, and compares what it
// returns, values and slices, with what it returns on the CPU. It gets the same
// random numbers everywhere.
func agree(t *testing.T, sizes []int, step func(m *memory, n int) []any) {
	t.Helper()
	devicetest.Each(t, func(t *testing.T, d device.Device) {
		for _, n := range sizes {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				want := step(newMemory(t, devicetest.CPU(t), uint64(n)), n)
				require.Equal(t, want, step(newMemory(t, d, uint64(n)), n))
			})
		}
	})
}

// ok ends the test on an error.
func (m *memory) ok(err error) {
	m.Helper()
	require.NoError(m, err)
}

// room is n bytes.
func (m *memory) room(n int) device.Ptr {
	m.Helper()
	b, err := m.d.Alloc(max(n, 1))
	m.ok(err)
	m.Cleanup(b.Release)
	return b.Ptr()
}

// bitmap is n random bits, most of them 1.
func (m *memory) bitmap(n int) device.Ptr {
	m.Helper()
	words := make([]uint64, (n+63)/64)
	for i := range words {
		words[i] = m.Uint64() | m.Uint64()
	}
	return upload(m, words)
}

// downloadBits is the first n bits of a bitmap.
func (m *memory) downloadBits(p device.Ptr, n int) []bool {
	m.Helper()
	words := download[uint64](m, p, (n+63)/64)
	bits := make([]bool, n)
	for i := range bits {
		bits[i] = words[i/64]>>(i%64)&1 != 0
	}
	return bits
}

// downloadStrings is the n strings of a flat column.
func (m *memory) downloadStrings(v Vec, n int) []string {
	m.Helper()
	out := make([]string, n)
	for i, view := range download[View](m, v.Data, n) {
		if view.Len() <= InlineLen {
			out[i] = strings.Clone(view.Str())
		} else {
			out[i] = string(download[byte](m, device.Ptr(view.Hi), view.Len()))
		}
	}
	return out
}

// random is n values of any bits.
func random[T any](m *memory, n int) []T {
	values := make([]T, n)
	b := rawOf(values)
	for i := range b {
		b[i] = byte(m.Uint32())
	}
	return values
}

// upload is a copy of values in device memory.
func upload[T any](m *memory, values []T) device.Ptr {
	m.Helper()
	b := rawOf(values)
	p := m.room((len(b) + 63) &^ 63)
	m.ok(m.s.Upload(p, b))
	return p
}

// download is the n values at p.
func download[T any](m *memory, p device.Ptr, n int) []T {
	m.Helper()
	values := make([]T, n)
	m.ok(m.s.Download(rawOf(values), p))
	return values
}
