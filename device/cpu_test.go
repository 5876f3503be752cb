package device_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/device/faulty"
	"github.com/gpusql/gpusql/kernels"
)

var broken = device.Kernel[kernels.ProbeArgs]{Name: "broken", Split: 64, Host: func(_ *kernels.ProbeArgs, lo, _ int) {
	if lo > 0 {
		panic(errors.ErrUnsupported)
	}
}}

// pieces fails when a piece of a launch does not begin with a bitmap's word.
var pieces = device.Kernel[kernels.ProbeArgs]{Name: "pieces", Split: 64, Host: func(_ *kernels.ProbeArgs, lo, _ int) {
	if lo%64 != 0 {
		panic("a piece begins in the middle of a word")
	}
}}

func TestPieces(t *testing.T) {
	s := devicetest.Stream(t, devicetest.CPU(t))
	for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 129, 1000, 16385} {
		require.NoError(t, device.Launch(s, &pieces, n, kernels.ProbeArgs{}))
	}
}

func TestPanicIsAnError(t *testing.T) {
	d := devicetest.CPU(t)
	s := devicetest.Stream(t, d)
	err := device.Launch(s, &broken, 1000, kernels.ProbeArgs{})
	var k *device.KernelError
	require.ErrorAs(t, err, &k)
	require.Equal(t, "broken", k.Kernel)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.NoError(t, s.Upload(0, nil), "the stream is still usable")
}

func TestAllocReuses(t *testing.T) {
	d := device.NewCPU(device.CPUOptions{KeepBytes: 8 << 20})
	for _, n := range []int{1, 64, 65, 256, 257, 1000, 64 << 10, 64<<10 + 1, 1 << 20, 3<<20 + 5} {
		a, err := d.Alloc(n)
		require.NoError(t, err)
		v := device.View[byte](a.Ptr(), n)
		v[0], v[n-1] = 1, 2
		p := a.Ptr()
		a.Release()
		b, err := d.Alloc(n)
		require.NoError(t, err)
		require.Equal(t, p, b.Ptr(), "%d bytes", n)
		b.Release()
	}
	big, err := d.Alloc(16 << 20)
	require.NoError(t, err)
	big.Release() // more than is kept
	require.NoError(t, d.Close())
	_, err = d.Alloc(1)
	require.ErrorIs(t, err, device.ErrClosed)
}

func TestCloseTellsWhatIsInUse(t *testing.T) {
	d := device.NewCPU(device.CPUOptions{})
	_, err := d.Alloc(100)
	require.NoError(t, err)
	require.ErrorContains(t, d.Close(), "1 buffers (128 bytes)")
}

func TestScope(t *testing.T) {
	d := devicetest.CPU(t)
	db := device.NewScope(d, device.ScopeOptions{Name: "database", Limit: 1000, Setting: "memory_limit"})
	defer db.Close()
	a := device.NewScope(db, device.ScopeOptions{Name: "query 1"})
	b := device.NewScope(db, device.ScopeOptions{Name: "query 2"})
	defer b.Close()
	x, err := a.Alloc(600)
	require.NoError(t, err)
	_, err = b.Alloc(300)
	require.NoError(t, err)
	_, err = b.Alloc(200)
	require.ErrorIs(t, err, device.ErrNoMemory)
	require.EqualError(t, err, "out of host memory: 200 bytes asked for, 900 bytes of 1000 bytes in use (query 1 600 bytes, query 2 300 bytes); raise memory_limit")
	require.Equal(t, int64(300), b.Used(), "a refusal counts nothing")
	a.Close()
	x.Release() // after its scope: nothing
	require.Equal(t, int64(300), db.Used())
	_, err = b.Alloc(200)
	require.NoError(t, err)
	require.NoError(t, b.Reserve(500))
	require.ErrorIs(t, b.Reserve(1), device.ErrNoMemory)
	require.NoError(t, b.Reserve(-500))
	_, err = a.Alloc(1)
	require.ErrorIs(t, err, device.ErrClosed)
}

func TestScopeFromManyGoroutines(t *testing.T) {
	d := devicetest.CPU(t)
	s := device.NewScope(d, device.ScopeOptions{})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				b, err := s.Alloc(1 + 37*i*(g+1))
				if err != nil {
					t.Error(err)
				}
				if i%3 != 0 {
					b.Release()
				}
			}
		})
	}
	wg.Wait()
	s.Close()
}

func TestSweepFindsEveryCall(t *testing.T) {
	calls := 0
	faulty.Sweep(t, devicetest.CPU(t), func(d device.Device) error {
		calls++
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		defer s.Close()
		b, err := d.Alloc(64)
		if err != nil {
			return err
		}
		defer b.Release()
		if err := s.Upload(b.Ptr(), make([]byte, 64)); err != nil {
			return err
		}
		return s.Download(make([]byte, 64), b.Ptr())
	}, nil)
	require.Equal(t, 5, calls)
}
