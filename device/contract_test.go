package device_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/cuda"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/device/faulty"
	"github.com/gpusql/gpusql/kernels"
)

// each is devicetest.Each, and the emulator with memory from the pool.
func each(t *testing.T, f func(t *testing.T, d device.Device)) {
	t.Helper()
	devicetest.Each(t, f)
	t.Run("simt pooled", func(t *testing.T) { f(t, devicetest.SIMT(t, cuda.Options{})) })
}

// alloc is n bytes until the test ends.
func alloc(t *testing.T, d device.Allocator, n int) *device.Buffer {
	t.Helper()
	b, err := d.Alloc(n)
	require.NoError(t, err)
	require.NotZero(t, b.Ptr())
	require.Zero(t, b.Ptr()%64)
	require.Equal(t, n, b.Len())
	t.Cleanup(b.Release)
	return b
}

// numbers is what ProbeFill with factor and add leaves in n items, as bytes.
func numbers(n int, factor, add uint64) []byte {
	out := make([]byte, 0, 8*n)
	for i := range uint64(n) {
		out = binary.NativeEndian.AppendUint64(out, i*factor+add)
	}
	return out
}

func fill(s device.Stream, b *device.Buffer, n int, factor, add uint64) error {
	return device.Launch(s, kernels.ProbeFill, n, kernels.ProbeArgs{Out: b.Ptr(), Factor: factor, Add: add, Status: s.Status()})
}

func read(t *testing.T, s device.Stream, b *device.Buffer, n int) []byte {
	t.Helper()
	out := make([]byte, n)
	require.NoError(t, s.Download(out, b.Ptr()))
	return out
}

func TestLaunch(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		s := devicetest.Stream(t, d)
		require.Same(t, d, s.Device())
		for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 1024, 1025, 16385} {
			b := alloc(t, d, 8*n)
			require.NoError(t, fill(s, b, n, 3, 7))
			require.NoError(t, s.Wait(context.Background()))
			require.Equal(t, numbers(n, 3, 7), read(t, s, b, 8*n), n)
			b.Release()
			b.Release()
		}
		require.NoError(t, kernels.Probe(s))
	})
}

// TestCopies goes around the sizes at which the way of a copy changes.
func TestCopies(t *testing.T) {
	const kib, piece = 1 << 10, 2 << 20
	each(t, func(t *testing.T, d device.Device) {
		s := devicetest.Stream(t, d)
		noise := make([]byte, 2*piece+4*kib)
		r := rand.New(rand.NewPCG(1, 2))
		for i := 0; i < len(noise); i += 8 {
			binary.NativeEndian.PutUint64(noise[i:], r.Uint64())
		}
		for _, n := range []int{0, 1, 63, 64, 65, 32*kib - 1, 32 * kib, 32*kib + 1, 60 * kib, 60*kib + 1, 64*kib + 1,
			piece - 1, piece, piece + 1, 2*piece + 1} {
			b := alloc(t, d, n+5)
			src := bytes.Clone(noise[:n])
			require.NoError(t, s.Upload(b.Ptr()+5, src))
			clear(src) // it may be used again at once
			got := make([]byte, n)
			require.NoError(t, s.Download(got, b.Ptr()+5))
			require.True(t, bytes.Equal(noise[:n], got), "%d bytes", n)
			b.Release()
		}
	})
}

// TestManySmallUploads has more of them under way than fit where they wait.
func TestManySmallUploads(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		s := devicetest.Stream(t, d)
		const count, size = 1000, 1000
		b := alloc(t, d, count*size)
		src, want := make([]byte, size), make([]byte, 0, count*size)
		for i := range count {
			for j := range src {
				src[j] = byte(i + j)
			}
			require.NoError(t, s.Upload(b.Ptr()+device.Ptr(i*size), src))
			want = append(want, src...)
		}
		require.True(t, bytes.Equal(want, read(t, s, b, count*size)))
	})
}

func TestOrder(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		s := devicetest.Stream(t, d)
		const n = 3000
		b := alloc(t, d, 8*n)
		for i := range uint64(20) {
			require.NoError(t, fill(s, b, n, i, 1))
			require.NoError(t, s.Upload(b.Ptr(), numbers(n/2, 2, i)))
		}
		want := append(numbers(n/2, 2, 19), numbers(n, 19, 1)[8*(n/2):]...)
		require.Equal(t, want, read(t, s, b, 8*n))
	})
}

// TestMemoryUsedAgain: one stream's work on memory that was released comes
// before another stream's on the buffer that has it next.
func TestMemoryUsedAgain(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		one, two := devicetest.Stream(t, d), devicetest.Stream(t, d)
		const n = 5000
		for i := range 20 {
			b, err := d.Alloc(8 * n)
			require.NoError(t, err)
			require.NoError(t, fill(one, b, n, 1, 1))
			b.Release()
			c, err := d.Alloc(8 * n)
			require.NoError(t, err)
			require.NoError(t, fill(two, c, n, 2, 2))
			if i%2 == 0 { // whoever is waited for first
				require.NoError(t, one.Wait(context.Background()))
			}
			require.NoError(t, two.Wait(context.Background()))
			require.NoError(t, one.Wait(context.Background()))
			require.Equal(t, numbers(n, 2, 2), read(t, two, c, 8*n))
			c.Release()
		}
	})
}

func TestConcurrentStreams(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for g := range errs {
			wg.Go(func() { errs[g] = work(d, uint64(g)) })
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
	})
}

// work takes memory, fills it and looks at it, again and again.
func work(d device.Device, seed uint64) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range uint64(50) {
		n := 1 + r.IntN(5000)
		b, err := d.Alloc(8 * n)
		if err != nil {
			return err
		}
		if err := fill(s, b, n, i, seed); err != nil {
			return err
		}
		if i%3 != 0 { // else the memory goes while the work is under way
			got := make([]byte, 8*n)
			if err := s.Download(got, b.Ptr()); err != nil {
				return err
			}
			if !bytes.Equal(got, numbers(n, i, seed)) {
				return fmt.Errorf("stream %d, round %d: wrong numbers", seed, i)
			}
		}
		b.Release()
	}
	return s.Wait(context.Background())
}

// TestCanary: a failure in a kernel is the error of the call that waits for it,
// names what the kernel said, and is over then.
func TestCanary(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		s := devicetest.Stream(t, d)
		b := alloc(t, d, 8)
		for _, wait := range []func() error{
			func() error { return s.Wait(context.Background()) },
			func() error { return s.Download(make([]byte, 8), b.Ptr()) },
			func() error { return s.Download(nil, b.Ptr()) },
		} {
			err := device.Launch(s, kernels.ProbeFail, 700, kernels.ProbeArgs{Status: s.Status(), Code: device.StatusCanary, Add: 42})
			if err == nil {
				err = wait()
			}
			var e *device.StatusError
			require.ErrorAs(t, err, &e)
			require.Equal(t, device.StatusCanary, e.Status.Code)
			require.Equal(t, [3]uint64{42, 700, 0}, e.Status.Detail)
			require.ErrorContains(t, err, "a failure on request")
			require.NoError(t, wait())
		}
		require.NoError(t, kernels.Probe(s))
	})
}

func TestCanaryAtClose(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		if d.Traits().HostBytes {
			t.Skip("work is done when Submit returns")
		}
		s, err := d.NewStream()
		require.NoError(t, err)
		require.NoError(t, device.Launch(s, kernels.ProbeFail, 1, kernels.ProbeArgs{Status: s.Status(), Code: device.StatusFull}))
		require.ErrorContains(t, s.Close(), "a structure is full")
		require.NoError(t, s.Close())
		require.NoError(t, kernels.Probe(devicetest.Stream(t, d)), "the next stream has none of it")
	})
}

func TestNoCode(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		s := devicetest.Stream(t, d)
		ran := false
		host := &device.Kernel[kernels.ProbeArgs]{Name: "host_only", Host: func(*kernels.ProbeArgs, int, int) { ran = true }}
		err := device.Launch(s, host, 1, kernels.ProbeArgs{})
		require.Equal(t, d.Traits().HostBytes, ran)
		if !ran {
			require.ErrorIs(t, err, device.ErrNoCode)
			require.ErrorContains(t, err, "host_only on "+d.Name())
		}
		steps := &device.Kernel[kernels.ProbeArgs]{Name: "steps", Host: host.Host,
			Steps: func(s device.Stream, a *kernels.ProbeArgs, n int) error {
				return device.Launch(s, kernels.ProbeFill, n, *a)
			}}
		b := alloc(t, d, 80)
		require.NoError(t, device.Launch(s, steps, 10, kernels.ProbeArgs{Out: b.Ptr(), Factor: 1}))
		if !d.Traits().HostBytes {
			require.Equal(t, numbers(10, 1, 0), read(t, s, b, 80))
		}
	})
}

func TestOutOfMemory(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		_, err := d.Alloc(1 << 50) // more than there are addresses
		require.ErrorIs(t, err, device.ErrNoMemory)
		require.ErrorContains(t, err, "1024.0 TiB asked for")
		b := alloc(t, d, 1<<20)
		require.NoError(t, fill(devicetest.Stream(t, d), b, 1000, 1, 1))
	})
}

func TestMarks(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		s := devicetest.Stream(t, d)
		b := alloc(t, d, 8*100000)
		for range 3 { // the second time marks are used again
			before, err := device.NewMark(s)
			require.NoError(t, err)
			require.NoError(t, fill(s, b, 100000, 1, 1))
			after, err := device.NewMark(s)
			require.NoError(t, err)
			require.NoError(t, s.Wait(context.Background()))
			took, err := after.Since(before)
			require.NoError(t, err)
			require.Positive(t, took)
			before.Release()
			after.Release()
			after.Release()
		}
	})
}

func TestRecord(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		s, other := devicetest.Stream(t, d), devicetest.Stream(t, d)
		const n = 1500
		b, c := alloc(t, d, 8*n), alloc(t, d, 8*n)
		require.NoError(t, fill(s, b, n, 9, 9))
		replay, err := device.Record(s, func() error {
			for i := range uint64(10) {
				if err := fill(s, b, n, i, 2); err != nil {
					return err
				}
			}
			// Others go on meanwhile, with memory that s has used.
			x := alloc(t, d, 8*n)
			require.NoError(t, fill(s, x, n, 5, 5))
			x.Release()
			x = alloc(t, d, 8*n)
			require.NoError(t, fill(other, x, n, 4, 4))
			require.NoError(t, other.Wait(context.Background()))
			x.Release()
			return fill(s, c, n, 1, 1)
		})
		require.NoError(t, err)
		if !d.Traits().HostBytes {
			require.Equal(t, numbers(n, 9, 9), read(t, s, b, 8*n), "what is recorded does not run")
			for range 3 {
				require.NoError(t, s.Upload(b.Ptr(), make([]byte, 8*n)))
				require.NoError(t, replay.Run())
				require.Equal(t, numbers(n, 9, 2), read(t, s, b, 8*n))
				require.Equal(t, numbers(n, 1, 1), read(t, s, c, 8*n))
			}
		}
		require.NoError(t, replay.Close())
		require.NoError(t, replay.Close())
	})
}

func TestRecordRefuses(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		if d.Traits().HostBytes {
			t.Skip("nothing is recorded")
		}
		s := devicetest.Stream(t, d)
		b := alloc(t, d, 8)
		for _, call := range []func() error{
			func() error { return s.Wait(context.Background()) },
			func() error { return s.Upload(b.Ptr(), make([]byte, 8)) },
			func() error { return s.Download(make([]byte, 8), b.Ptr()) },
			func() error { return errors.ErrUnsupported },
		} {
			_, err := device.Record(s, call)
			require.Error(t, err)
			require.Panics(t, func() { device.Record(s, func() error { panic(call) }) }) //nolint:errcheck // it does not return
			require.NoError(t, kernels.Probe(s), "the stream is as before")
		}
	})
}

func TestWaitEnds(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		s := devicetest.Stream(t, d)
		b := alloc(t, d, 8*1000)
		ctx, cancel := context.WithCancel(context.Background())
		require.NoError(t, fill(s, b, 1000, 1, 1))
		require.NoError(t, s.Wait(ctx))
		cancel()
		require.NoError(t, fill(s, b, 1000, 2, 2))
		require.ErrorIs(t, s.Wait(ctx), context.Canceled)
		require.Equal(t, numbers(1000, 2, 2), read(t, s, b, 8000), "the work goes on")
	})
}

func TestClosed(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		s, err := d.NewStream()
		require.NoError(t, err)
		b := alloc(t, d, 8)
		require.NoError(t, s.Close())
		require.NoError(t, s.Close())
		require.ErrorIs(t, s.Wait(context.Background()), device.ErrClosed)
		require.ErrorIs(t, s.Upload(b.Ptr(), make([]byte, 8)), device.ErrClosed)
		require.ErrorIs(t, s.Download(make([]byte, 8), b.Ptr()), device.ErrClosed)
		require.ErrorIs(t, fill(s, b, 1, 1, 1), device.ErrClosed)
		b.Release()
		require.NoError(t, d.Close())
		require.NoError(t, d.Close())
		_, err = d.Alloc(1)
		require.ErrorIs(t, err, device.ErrClosed)
		_, err = d.NewStream()
		require.ErrorIs(t, err, device.ErrClosed)
	})
}

// TestSweep lets every call of the device fail once.
func TestSweep(t *testing.T) {
	each(t, func(t *testing.T, d device.Device) {
		calls := 0
		faulty.Sweep(t, d, func(d device.Device) error {
			calls++
			s, err := d.NewStream()
			if err != nil {
				return err
			}
			defer s.Close()
			m, err := device.NewMark(s)
			if err != nil {
				return err
			}
			defer m.Release()
			return kernels.Probe(s)
		}, nil)
		require.Equal(t, 6, calls)
	})
}
