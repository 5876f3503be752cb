package devicetest

import (
	"errors"
	"os"
	"testing"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/cuda"
	"github.com/gpusql/gpusql/kernels/simt"
)

// Each runs f as a subtest on every device.
func Each(t *testing.T, f func(t *testing.T, d device.Device)) {
	t.Helper()
	t.Run("cpu", func(t *testing.T) { f(t, CPU(t)) })
	EachGPU(t, f)
}

// EachGPU is Each for what has code for GPUs alone.
func EachGPU(t *testing.T, f func(t *testing.T, d device.Device)) {
	t.Helper()
	t.Run("simt", func(t *testing.T) { f(t, SIMT(t, cuda.Options{Apart: true, MadeItems: 1 << 18})) })
	t.Run("cuda", func(t *testing.T) { f(t, CUDA(t, cuda.Options{})) })
}

// CPU is a CPU device of two streams for one test. What the test leaves in use
// fails it.
func CPU(t testing.TB) device.Device {
	t.Helper()
	return closed(t, device.NewCPU(device.CPUOptions{Streams: 2}))
}

// SIMT is the emulated GPU for one test. Without a C++ compiler the test is
// skipped.
func SIMT(t testing.TB, o cuda.Options) *cuda.Device {
	t.Helper()
	o.Library = Library(t)
	d, err := cuda.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return closed(t, d)
}

// Library is the path of the emulator, in place of the driver's library.
func Library(t testing.TB) string {
	t.Helper()
	path, err := simt.Build()
	if errors.Is(err, simt.ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// EachHost is Each for tests that reach into memory themselves (device.View), or
// launch kernels that have a Host body only.
func EachHost(t *testing.T, f func(t *testing.T, d device.Device)) {
	t.Helper()
	t.Run("cpu", func(t *testing.T) { f(t, CPU(t)) })
}

// CUDA is the machine's first GPU for one test. Without one the test is
// skipped, or fails where GPUSQL_REQUIRE_CUDA is set.
func CUDA(t testing.TB, o cuda.Options) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(o)
	switch {
	case err == nil:
		return closed(t, d)
	case os.Getenv("GPUSQL_REQUIRE_CUDA") != "":
		t.Fatalf("GPUSQL_REQUIRE_CUDA is set: %v", err)
	default:
		t.Skip(err)
	}
	return nil
}

// closed closes d at the end of the test, which fails when something is left.
func closed[D device.Device](t testing.TB, d D) D {
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Stream is a stream of d for one test.
func Stream(t testing.TB, d device.Device) device.Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
