package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

func TestKeyFilterAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	d := device.NewCPU(device.CPUOptions{})
	s, err := d.NewStream()
	require.NoError(t, err)
	for _, p := range []sqltype.Phys{sqltype.PhysI8, sqltype.PhysI32, sqltype.PhysI64} {
		for _, n := range []int{1, 63, 64, 65, 500} {
			sc := device.NewScope(d, device.ScopeOptions{})
			low, span := int64(-60), int64(100)
			if p == sqltype.PhysI64 {
				low, span = math.MinInt64+7, 5000
			}
			keys, probe := randomColumn(r, p, n, low, span), randomColumn(r, p, n, low-5, span+20)
			in := map[int64]bool{}
			for i, k := range keys.ints {
				if !keys.null[i] {
					in[k] = true
				}
			}
			f, err := NewKeyFilter(sc, s, keys.vec(t, sc), p, n)
			require.NoError(t, err)
			require.NotNil(t, f)
			out, err := sc.Alloc(SelectBytes(n))
			require.NoError(t, err)
			k, err := f.Pick(s, probe.vec(t, sc), p, 0, n, out.Ptr())
			require.NoError(t, err)
			var want []uint32
			for i, key := range probe.ints {
				if in[key] && !probe.null[i] {
					want = append(want, uint32(i))
				}
			}
			require.Equal(t, append([]uint32{}, want...), append([]uint32{}, device.View[uint32](out.Ptr(), k)...))
			if k > 0 { // of rows that were picked before, in place
				again, err := f.Pick(s, probe.vec(t, sc), p, out.Ptr(), k, out.Ptr())
				require.NoError(t, err)
				require.Equal(t, k, again)
			}
			f.Release()
			sc.Close()
		}
	}
	far := &hostColumn{phys: sqltype.PhysI64, ints: []int64{math.MinInt64, math.MaxInt64}, strs: []string{"", ""}, null: make([]bool, 2)}
	sc := device.NewScope(d, device.ScopeOptions{})
	f, err := NewKeyFilter(sc, s, far.vec(t, sc), sqltype.PhysI64, 2)
	require.NoError(t, err)
	require.Nil(t, f, "too far apart")
	sc.Close()
	require.NoError(t, s.Close())
	require.NoError(t, d.Close())
}
