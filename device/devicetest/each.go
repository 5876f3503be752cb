package devicetest

import (
	"os"
	"testing"

	"github.com/gpusql/gpusql/device"
)

// Each runs f as a subtest on every device.
func Each(t *testing.T, f func(t *testing.T, d device.Device)) {
	t.Helper()
	t.Run("cpu", func(t *testing.T) { f(t, CPU(t)) })
	t.Run("cuda", func(t *testing.T) {
		const reason = "there is no CUDA device in this build"
		if os.Getenv("GPUSQL_REQUIRE_CUDA") != "" {
			t.Fatal(reason + ", and GPUSQL_REQUIRE_CUDA is set")
		}
		t.Skip(reason)
	})
}

// CPU is a CPU device of two streams for one test. What the test leaves in use
// fails it.
func CPU(t testing.TB) device.Device {
	t.Helper()
	d := device.NewCPU(device.CPUOptions{Streams: 2})
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
