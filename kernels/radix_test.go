package kernels

import (
	"fmt"
	"testing"

	"github.com/gpusql/gpusql/device"
)

// TestRadix sorts keys of all shapes; stability is seen in values that say where
// a key came from.
func TestRadix(t *testing.T) {
	for shape := range radixSorts {
		for _, few := range []bool{false, true} {
			for _, r := range []Radix{WholeKey(shape.key, shape.value), {shape.key, shape.value, 1, 4}} {
				t.Run(fmt.Sprintf("%+v few=%v", r, few), func(t *testing.T) {
					agree(t, stepSizes, func(m *memory, n int) []any {
						keys := random[byte](m, n*r.Key)
						for i := range keys {
							if few && i%r.Key != 1 {
								keys[i] = 0xff
							}
						}
						values := make([]byte, n*r.Value)
						for i := range values { // the row, in the lowest bytes
							values[i] = byte(i / max(r.Value, 1) >> (8 * (i % max(r.Value, 1)) & 31))
						}
						k := [2]device.Ptr{upload(m, keys), m.room(n * r.Key)}
						v := [2]device.Ptr{upload(m, values), m.room(n * r.Value)}
						side, err := r.Sort(m.s, k, v, m.room(r.Bytes(n)), n)
						m.ok(err)
						return []any{download[byte](m, k[side], n*r.Key), download[byte](m, v[side], n*r.Value)}
					})
				})
			}
		}
	}
}
