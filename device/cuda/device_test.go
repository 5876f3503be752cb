package cuda

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
)

// each runs f with the emulator, and with the driver where there is a GPU.
func each(t *testing.T, f func(t *testing.T, library string)) {
	t.Helper()
	t.Run("simt", func(t *testing.T) { f(t, library(t)) })
	t.Run("cuda", func(t *testing.T) {
		_, err := List("")
		if err != nil && os.Getenv("GPUSQL_REQUIRE_CUDA") == "" {
			t.Skip(err)
		}
		require.NoError(t, err)
		f(t, libraryName)
	})
}

// opened is a device for one test.
func opened(t testing.TB, o Options) *Device {
	t.Helper()
	d, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func stream(t testing.TB, d *Device) device.Stream {
	t.Helper()
	s, err := d.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestNoDriver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libnone.so")
	_, err := Open(Options{Library: path})
	require.ErrorContains(t, err, "no NVIDIA driver: "+path)
	_, err = List(path)
	require.ErrorContains(t, err, "no NVIDIA driver: "+path)
}

// TestOldDriver opens a library that has none of the functions.
func TestOldDriver(t *testing.T) {
	library(t) // where there is a compiler there is its library
	_, err := Open(Options{Library: "libm.so.6"})
	require.EqualError(t, err, "device: the driver libm.so.6 is too old: it has no cuInit; CUDA 11.8 or newer is needed")
}

func TestList(t *testing.T) {
	all, err := List(library(t))
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "cuda:0", all[0].Name)
	require.Equal(t, "SIMT emulator", all[0].Model)
	require.Equal(t, "8.0", all[0].Compute)
	require.Equal(t, "CUDA 13.0", all[0].Driver)
	require.Positive(t, all[0].Memory)
	require.Empty(t, all[0].Reason)
}

func TestNoSuchGPU(t *testing.T) {
	_, err := Open(Options{Library: library(t), Ordinal: 7})
	require.ErrorContains(t, err, "there is no GPU 7")
}

func TestTraits(t *testing.T) {
	require.Equal(t, device.Traits{BatchRows: 1 << 24, Streams: 1}, traits(Options{}, 140<<30))
	require.Equal(t, device.Traits{BatchRows: 1 << 21, Streams: 1}, traits(Options{}, 8<<30))
	require.Equal(t, device.Traits{BatchRows: 1 << 12, Streams: 1}, traits(Options{}, 1<<20))
	require.Equal(t, device.Traits{BatchRows: 7, Streams: 3}, traits(Options{BatchRows: 7, Streams: 3}, 1<<30))
	require.Equal(t, device.Traits{BatchRows: 1 << 20, Streams: 1}, traits(Options{MemoryLimit: 4 << 30}, 140<<30))
}

// TestLost: a kernel that writes where it may not loses the device, for all of
// its streams and for good. A real GPU is lost to the whole process, which is
// therefore another one; the emulator may be opened again.
func TestLost(t *testing.T) {
	each(t, func(t *testing.T, lib string) {
		const child = "GPUSQL_LOSE_THE_GPU"
		if lib == libraryName && os.Getenv(child) == "" {
			c := exec.Command(os.Args[0], "-test.run=^TestLost$/^cuda$")
			c.Env = append(os.Environ(), child+"=1")
			out, err := c.CombinedOutput()
			require.NoError(t, err, "%s", out)
			return
		}
		testLost(t, lib)
	})
}

func testLost(t *testing.T, lib string) {
	d, err := Open(Options{Library: lib})
	require.NoError(t, err)
	s, other := stream(t, d), stream(t, d)
	b, err := d.Alloc(100)
	require.NoError(t, err)
	require.NoError(t, d.Lost())
	require.NoError(t, device.Launch(s, kernels.ProbeFill, 1000, kernels.ProbeArgs{Out: 64}))
	err = s.Wait(context.Background())
	require.ErrorIs(t, err, device.ErrLost)
	require.ErrorContains(t, err, "cuda:0 is lost until the process starts again: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS")
	require.ErrorIs(t, d.Lost(), device.ErrLost)
	for _, call := range []func() error{
		func() error { return other.Wait(context.Background()) },
		func() error { return other.Upload(b.Ptr(), make([]byte, 100)) },
		func() error { return other.Download(make([]byte, 100), b.Ptr()) },
		func() error {
			return device.Launch(other, kernels.ProbeFill, 1, kernels.ProbeArgs{Out: b.Ptr()})
		},
		func() error { _, err := d.Alloc(1); return err },
		func() error { _, err := d.NewStream(); return err },
		func() error { _, err := device.NewMark(s); return err },
		func() error { _, err := device.Record(s, func() error { return nil }); return err },
	} {
		require.ErrorIs(t, call(), device.ErrLost)
	}
	b.Release()
	require.NoError(t, s.Close())
	require.NoError(t, other.Close())
	require.NoError(t, d.Close())
	if lib != libraryName {
		d = opened(t, Options{Library: lib})
		require.NoError(t, kernels.Probe(stream(t, d)))
	}
}

func TestLimit(t *testing.T) {
	each(t, func(t *testing.T, lib string) {
		d := opened(t, Options{Library: lib, MemoryLimit: 1 << 20})
		b, err := d.Alloc(1 << 19)
		require.NoError(t, err)
		_, err = d.Alloc(1<<19 + 1)
		require.EqualError(t, err, "out of GPU memory of cuda:0: 512.0 KiB asked for, 512.0 KiB of 1.0 MiB in use; raise gpu_memory_limit")
		b.Release()
	})
}

func TestCloseTellsWhatIsInUse(t *testing.T) {
	d, err := Open(Options{Library: library(t)})
	require.NoError(t, err)
	b, err := d.Alloc(100)
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	require.NoError(t, device.Launch(s, kernels.ProbeFill, 1, kernels.ProbeArgs{Out: b.Ptr()}))
	require.EqualError(t, d.Close(), "device: cuda:0 closed while 1 buffers (256 bytes) and 1 streams were in use")
	b.Release()
	require.NoError(t, s.Close())
}

func TestPin(t *testing.T) {
	each(t, func(t *testing.T, lib string) {
		d := opened(t, Options{Library: lib})
		s := stream(t, d)
		host := make([]byte, 3<<20)
		for i := range host {
			host[i] = byte(i >> 3)
		}
		unpin, err := d.Pin(host)
		require.NoError(t, err)
		_, err = d.Pin(host)
		require.ErrorContains(t, err, "cuMemHostRegister")
		require.True(t, d.pins.have(host[5:100]))
		require.False(t, d.pins.have(make([]byte, 10)))
		b, err := d.Alloc(len(host))
		require.NoError(t, err)
		defer b.Release()
		require.NoError(t, s.Upload(b.Ptr(), host))
		want := append([]byte(nil), host...)
		clear(host)
		require.NoError(t, s.Download(host, b.Ptr()))
		require.Equal(t, want, host)
		require.NoError(t, unpin())
		require.NoError(t, unpin())
		require.Empty(t, d.pins.runs)
	})
}

func TestModules(t *testing.T) {
	d := opened(t, Options{Library: library(t)})
	s := stream(t, d)
	require.Empty(t, d.Loads())
	require.NoError(t, kernels.Probe(s))
	require.NoError(t, kernels.Probe(s))
	loads := d.Loads()
	require.Len(t, loads, 1)
	require.Equal(t, "probe", loads[0].Module)
	require.Positive(t, loads[0].Took)

	bad := *kernels.ProbeFill.Code
	bad.Module = &device.Module{Name: "bad", PTX: "this is no PTX"}
	launch := func(c device.Code) error {
		return device.Launch(s, &device.Kernel[kernels.ProbeArgs]{Name: "k", Code: &c}, 1, kernels.ProbeArgs{})
	}
	require.ErrorContains(t, launch(bad), "kernel k: module bad does not load: device: cuda:0: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX")
	bad = *kernels.ProbeFill.Code
	bad.Entry = "none"
	require.ErrorContains(t, launch(bad), "kernel k: module probe, entry none: device: cuda:0: cuModuleGetFunction: CUDA_ERROR_NOT_FOUND")
	bad = *kernels.ProbeFill.Code
	bad.Shared = 1 << 20
	require.ErrorContains(t, launch(bad), "1048576 bytes of shared memory a block are more than")
	bad = *kernels.ProbeFill.Code
	bad.Block = 4096
	require.ErrorContains(t, launch(bad), "kernel k: device: cuda:0: cuLaunchKernel: CUDA_ERROR_INVALID_VALUE")
	require.NoError(t, kernels.Probe(s))
}

func TestLargeArgument(t *testing.T) {
	type args struct{ A [maxArg + 1]byte }
	s := stream(t, opened(t, Options{Library: library(t)}))
	k := &device.Kernel[args]{Name: "k", Code: kernels.ProbeFill.Code}
	require.ErrorContains(t, device.Launch(s, k, 1, args{}), "its argument has 3969 bytes, more than 3968")
}

// TestLaunchAllocatesNothing: nor does a small copy.
func TestLaunchAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("pools drop at random")
	}
	each(t, func(t *testing.T, lib string) {
		d := opened(t, Options{Library: lib})
		s := stream(t, d)
		b, err := d.Alloc(8 * 1000)
		require.NoError(t, err)
		defer b.Release()
		a := kernels.ProbeArgs{Out: b.Ptr(), Factor: 1, Status: s.Status()}
		host := make([]byte, 8)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if device.Launch(s, kernels.ProbeFill, 1, a) != nil || s.Upload(b.Ptr(), host) != nil ||
				s.Download(host, b.Ptr()) != nil || s.Wait(context.Background()) != nil {
				t.Error("a call fails")
			}
		}))
	})
}

// TestStreamsAreUsedAgain: what a stream has of the driver goes to the next.
func TestStreamsAreUsedAgain(t *testing.T) {
	each(t, func(t *testing.T, lib string) {
		d := opened(t, Options{Library: lib})
		for range 5 {
			s, err := d.NewStream()
			require.NoError(t, err)
			require.NoError(t, kernels.Probe(s))
			require.NoError(t, s.Close())
		}
		require.Len(t, d.queues, 1)
		require.Len(t, d.idle, 1)
	})
}

// TestQueueLayout: the pinned memory's parts do not overlap.
func TestQueueLayout(t *testing.T) {
	require.LessOrEqual(t, int(unsafe.Sizeof(device.Status{})), queueParams)
	require.LessOrEqual(t, queueParams+2*int(unsafe.Sizeof(uintptr(0))), queueItems)
	require.LessOrEqual(t, queueItems+8, queueArg)
	require.Zero(t, queueArg%128, "a kernel's argument is aligned")
}
