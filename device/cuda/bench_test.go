package cuda

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
)

// These run on a GPU, or on the library that GPUSQL_CUDA_LIBRARY names:
//
//	go test -c -o cuda.test ./device/cuda && ./cuda.test -test.run Bench -test.bench . -test.benchmem

// bench is a GPU, a stream, memory and a launch for one benchmark.
type bench struct {
	d *Device
	s device.Stream
	b *device.Buffer
	a kernels.ProbeArgs
}

func newBench(b *testing.B, bytes int) *bench {
	b.Helper()
	d, err := Open(Options{Library: os.Getenv("GPUSQL_CUDA_LIBRARY")})
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { require.NoError(b, d.Close()) })
	s := stream(b, d)
	m, err := d.Alloc(bytes)
	require.NoError(b, err)
	b.Cleanup(m.Release)
	x := &bench{d, s, m, kernels.ProbeArgs{Out: m.Ptr(), Factor: 3, Add: 1, Status: s.Status()}}
	require.NoError(b, kernels.Probe(s))
	b.ReportAllocs()
	return x
}

func (x *bench) launch(n int) error { return device.Launch(x.s, kernels.ProbeFill, n, x.a) }

// must ends the benchmark with an error; it costs nothing without one.
func must(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkContext is what making the context the thread's costs every call.
func BenchmarkContext(b *testing.B) {
	x := newBench(b, 64)
	for b.Loop() {
		must(b, x.d.enter())
		x.d.leave()
	}
}

// BenchmarkLaunch submits without waiting, but for every thousandth.
func BenchmarkLaunch(b *testing.B) {
	x := newBench(b, 8*1024)
	for i := 0; b.Loop(); i++ {
		must(b, x.launch(32))
		if i%1000 == 999 {
			must(b, x.s.Wait(context.Background()))
		}
	}
}

func BenchmarkLaunchWait(b *testing.B) {
	x := newBench(b, 8*1024)
	for b.Loop() {
		must(b, x.launch(32))
		must(b, x.s.Wait(context.Background()))
	}
}

func BenchmarkLaunchDownload(b *testing.B) {
	x := newBench(b, 8*1024)
	host := make([]byte, 8)
	for b.Loop() {
		must(b, x.launch(1))
		must(b, x.s.Download(host, x.b.Ptr()))
	}
}

func BenchmarkTenLaunchesWait(b *testing.B) {
	x := newBench(b, 8*1024)
	for b.Loop() {
		for range 10 {
			must(b, x.launch(1000))
		}
		must(b, x.s.Wait(context.Background()))
	}
}

// BenchmarkReplayOfTenWait is the same ten, recorded.
func BenchmarkReplayOfTenWait(b *testing.B) {
	x := newBench(b, 8*1024)
	r, err := device.Record(x.s, func() error {
		for range 10 {
			if err := x.launch(1000); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(b, err)
	defer r.Close()
	for b.Loop() {
		must(b, r.Run())
		must(b, x.s.Wait(context.Background()))
	}
}

// BenchmarkFill is memory's speed in a kernel that only writes.
func BenchmarkFill(b *testing.B) {
	const n = 1 << 27
	x := newBench(b, 8*n)
	b.SetBytes(8 * n)
	for b.Loop() {
		must(b, x.launch(n))
		must(b, x.s.Wait(context.Background()))
	}
}

// BenchmarkAlloc takes and gives back memory that the pool has.
func BenchmarkAlloc(b *testing.B) {
	x := newBench(b, 64)
	for b.Loop() {
		m, err := x.d.Alloc(64 << 20)
		must(b, err)
		m.Release()
	}
}

func BenchmarkUpload(b *testing.B) { benchCopies(b, true) }

func BenchmarkDownload(b *testing.B) { benchCopies(b, false) }

// benchCopies goes through sizes, from ordinary memory and from pinned.
func benchCopies(b *testing.B, up bool) {
	for _, pinned := range []bool{false, true} {
		for _, n := range []int{8, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30} {
			b.Run(fmt.Sprintf("pinned=%v/%s", pinned, device.FormatBytes(int64(n))), func(b *testing.B) {
				x := newBench(b, n)
				host := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, n/8)
				want := bytes.Clone(host)
				if pinned {
					unpin, err := x.d.Pin(host)
					require.NoError(b, err)
					defer unpin() //nolint:errcheck // the device is closed next
				}
				require.NoError(b, x.s.Upload(x.b.Ptr(), host))
				b.SetBytes(int64(n))
				b.ResetTimer()
				for b.Loop() {
					if up {
						must(b, x.s.Upload(x.b.Ptr(), host))
						must(b, x.s.Wait(context.Background()))
					} else {
						must(b, x.s.Download(host, x.b.Ptr()))
					}
				}
				b.StopTimer()
				clear(host)
				require.NoError(b, x.s.Download(host, x.b.Ptr()))
				require.True(b, bytes.Equal(want, host))
			})
		}
	}
}
