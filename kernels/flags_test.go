package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
)

func TestAddTo(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d device.Device) {
		for _, n := range stepSizes {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				m := newMemory(t, d)
				rows := make([]uint32, n)
				want := make([]uint32, n)
				for i := range rows {
					rows[i], want[i] = uint32(i*7), uint32(i*7)+1<<31
				}
				p := upload(m, rows)
				require.NoError(t, AddTo(m.s, p, 1<<31, n))
				require.Equal(t, want, download[uint32](m, p, n))
			})
		}
	})
}
