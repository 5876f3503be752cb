package kernels_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/kernels"
)

func comparePairs(a, b kernels.Pair) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
}

func TestSortPairs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	forms := map[string]func(i int) kernels.Pair{
		"uniform":   func(i int) kernels.Pair { return kernels.Pair{Key: rnd.Uint64(), Value: uint64(i)} },
		"ascending": func(i int) kernels.Pair { return kernels.Pair{Key: uint64(i), Value: 7} },
		"one key":   func(int) kernels.Pair { return kernels.Pair{Key: 5, Value: rnd.Uint64()} },
		"few keys":  func(int) kernels.Pair { return kernels.Pair{Key: rnd.Uint64N(3) << 60, Value: rnd.Uint64N(9)} },
		"skewed":    func(i int) kernels.Pair { return kernels.Pair{Key: rnd.Uint64() >> rnd.IntN(64), Value: uint64(-i)} },
		"the ends": func(i int) kernels.Pair {
			return kernels.Pair{Key: -uint64(i & 1), Value: math.MaxUint64 - uint64(i%3)}
		},
		"tied, values fall": func(i int) kernels.Pair { return kernels.Pair{Key: 9, Value: uint64(-i / 3)} },
		"descending":        func(i int) kernels.Pair { return kernels.Pair{Key: uint64(1 << 40), Value: uint64(-i)} },
	}
	devicetest.EachHost(t, func(t *testing.T, d device.Device) {
		s := devicetest.Stream(t, d)
		for name, form := range forms {
			for _, n := range []int{0, 1, 2, 24, 25, 63, 64, 65, 255, 256, 257, 1000, 4095, 32768, 32769, 65535, 65536, 70001} {
				t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
					b, err := d.Alloc(16*n + kernels.SortPairsBytes(n))
					require.NoError(t, err)
					defer b.Release()
					got := device.View[kernels.Pair](b.Ptr(), n)
					for i := range got {
						got[i] = form(i)
					}
					want := slices.Clone(got)
					slices.SortFunc(want, comparePairs)
					require.NoError(t, kernels.SortPairs(s, b.Ptr(), b.Ptr()+device.Ptr(16*n), n))
					require.True(t, slices.Equal(want, got))
				})
			}
		}
	})
}

func BenchmarkSortPairs(b *testing.B) {
	for _, n := range []int{1 << 13, 1 << 16, 1 << 20, 10_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := devicetest.CPU(b)
			s := devicetest.Stream(b, d)
			buf, err := d.Alloc(16*n + kernels.SortPairsBytes(n))
			require.NoError(b, err)
			defer buf.Release()
			pairs := device.View[kernels.Pair](buf.Ptr(), n)
			rnd := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				b.StopTimer()
				for i := range pairs {
					pairs[i] = kernels.Pair{Key: rnd.Uint64(), Value: uint64(i)}
				}
				b.StartTimer()
				require.NoError(b, kernels.SortPairs(s, buf.Ptr(), buf.Ptr()+device.Ptr(16*n), n))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/pair")
		})
	}
}
