package simt

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/cuda"
)

func TestMain(m *testing.M) {
	// Read when the emulator starts: a launch that hangs is to be seen soon.
	os.Setenv("GPUSQL_SIMT_TURNS", "100000")
	os.Exit(m.Run())
}

// wrongArgs is the argument of testdata/wrong.cu's kernels.
type wrongArgs struct {
	Memory device.Ptr
	Bytes  uint64
}

// wrong is a kernel of testdata/wrong.cu. The emulator looks for its entry's
// name in the PTX, and no further.
func wrong(entry string) *device.Kernel[wrongArgs] {
	m := &device.Module{Name: "wrong", PTX: ".version 7.8\n.visible .entry " + entry + "("}
	return &device.Kernel[wrongArgs]{Name: entry, Code: &device.Code{Module: m, Entry: entry, Block: 64, Items: 64}}
}

func open(t *testing.T, checks ...string) *cuda.Device {
	lib, err := build(checks, "simt/testdata/*.cu")
	if err == ErrNoCompiler {
		t.Skip(err)
	}
	require.NoError(t, err)
	d, err := cuda.Open(cuda.Options{Library: lib, Apart: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestWrongKernels: what is wrong is seen, and said.
func TestWrongKernels(t *testing.T) {
	for entry, said := range map[string]string{
		"wrong_branch":      `kernel wrong_branch: block \d+, warp \d+: lane \d+ is at ballot \(.*wrong.cu:1\d\) while lanes \w+ wait at ballot \(.*wrong.cu:1\d\)`,
		"wrong_lane":        `kernel wrong_lane: block \d+, warp 1: lanes fffffeff wait at sync_warp \(.*wrong.cu:\d+\) for lanes 00000100, of which 00000100 have left the kernel`,
		"wrong_barrier":     `kernel wrong_barrier: block \d+: 32 of 64 threads wait at sync_block \(.*wrong.cu:\d+\), 32 have left the kernel`,
		"wrong_barriers":    `kernel wrong_barriers: block \d+: thread \d+ is at sync_block \(.*wrong.cu:\d+\) while others wait at`,
		"wrong_address":     `kernel wrong_address: block 1, thread 3: bad address 0x.*wrong.cu:\d+\)`,
		"wrong_alignment":   `kernel wrong_alignment: block 1, thread 3: an address that is not aligned.*wrong.cu:\d+\)`,
		"wrong_index":       `kernel wrong_index: block \d+, thread 63: .*an index.*wrong.cu:\d+\)`,
		"wrong_race_words":  `kernel wrong_race_words: block \d+, thread \d+: \w+ what block \d+, thread \d+ \w+, and nothing orders the two \(.*wrong.cu:\d+\)`,
		"wrong_race_blocks": `kernel wrong_race_blocks: block \d+, thread \d+: writes what block \d+, thread \d+ wrote`,
		"wrong_race_flag":   `kernel wrong_race_flag: block \d+, thread \d+: reads what block \d+, thread \d+ wrote`,
		"wrong_order":       `kernel wrong_order: does not end`,
	} {
		t.Run(entry, func(t *testing.T) {
			var checks []string
			if strings.Contains(entry, "race") {
				checks = append(checks, checkRaces)
			}
			d := open(t, checks...)
			s, err := d.NewStream()
			require.NoError(t, err)
			b, err := d.Alloc(4096)
			require.NoError(t, err)
			require.NoError(t, s.Upload(b.Ptr(), make([]byte, 4096)))
			require.NoError(t, device.Launch(s, wrong(entry), 40*64, wrongArgs{b.Ptr(), 4096}))
			err = s.Wait(t.Context())
			require.ErrorIs(t, err, device.ErrLost)
			require.Regexp(t, said, err.Error())
		})
	}
}

// TestRightOrder: what is ordered is no race.
func TestRightOrder(t *testing.T) {
	d := open(t, checkRaces)
	s, err := d.NewStream()
	require.NoError(t, err)
	b, err := d.Alloc(4096)
	require.NoError(t, err)
	require.NoError(t, s.Upload(b.Ptr(), make([]byte, 4096)))
	require.NoError(t, device.Launch(s, wrong("right_order"), 40*64, wrongArgs{b.Ptr(), 4096}))
	require.NoError(t, s.Wait(t.Context()))
	b.Release()
	require.NoError(t, s.Close())
}

// TestNobodyWrote: neither memory nor a block's own is zero before it is written.
func TestNobodyWrote(t *testing.T) {
	d := open(t)
	s, err := d.NewStream()
	require.NoError(t, err)
	b, err := d.Alloc(128)
	require.NoError(t, err)
	require.NoError(t, device.Launch(s, wrong("wrong_read"), 64, wrongArgs{Memory: b.Ptr()}))
	got := make([]byte, 128)
	require.NoError(t, s.Download(got, b.Ptr()))
	require.Equal(t, bytes.Repeat([]byte{0xA5}, 128), got)
	b.Release()
	require.NoError(t, s.Close())
}
