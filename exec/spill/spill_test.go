package spill_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec/spill"
	"github.com/gpusql/gpusql/exec/spill/faulty"
	"github.com/gpusql/gpusql/kernels"
)

// sample is rows of three columns: numbers, texts of all lengths, and states
// that begin with a text.
type sample struct {
	ints  []int64
	texts []string
	null  []bool
	vecs  []kernels.Vec
	heap  *kernels.Heap
	bufs  []*device.Buffer
}

var forms = []spill.Column{{Width: 8}, {Width: 16, Text: true}, {Width: 24, Text: true}}

func newSample(t *testing.T, m device.Allocator, n int, seed uint64) *sample {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &sample{heap: kernels.NewHeap(m)}
	alloc := func(n int) device.Ptr {
		b, err := m.Alloc(max(n, 1))
		require.NoError(t, err)
		s.bufs = append(s.bufs, b)
		return b.Ptr()
	}
	ints, texts, states, bits := alloc(8*n), alloc(16*n), alloc(24*n), alloc(kernels.BitmapBytes(n)+8)
	clear(device.View[byte](states, 24*n))
	words := device.View[uint64](bits, n/64+1)
	clear(words)
	for i := range n {
		v := r.Int64()
		text := ""
		if r.IntN(3) > 0 {
			text = fmt.Sprintf("%0*d", r.IntN(60), v)
		}
		if r.IntN(200) == 0 {
			text = fmt.Sprintf("%09000d", v)
		}
		null := r.IntN(4) == 0
		s.ints, s.texts, s.null = append(s.ints, v), append(s.texts, text), append(s.null, null)
		device.View[int64](ints, n)[i] = v
		view, err := s.heap.String(text)
		require.NoError(t, err)
		device.View[[3]uint64](states, n)[i] = [3]uint64{view.Lo, view.Hi, uint64(v)}
		if null {
			view = kernels.View{Lo: 1 << 20, Hi: 8} // not to be followed
		} else {
			words[i/64] |= 1 << (i % 64)
		}
		device.View[kernels.View](texts, n)[i] = view
	}
	s.vecs = []kernels.Vec{{Data: ints}, {Data: texts, Valid: bits}, {Data: states}}
	return s
}

func (s *sample) release() {
	s.heap.Release()
	for _, b := range s.bufs {
		b.Release()
	}
}

// check sees that the rows at pick (nil: all) come back from a run.
func (s *sample) check(t *testing.T, m device.Allocator, run *spill.Run, pick []uint32) {
	r := spill.NewReader(run, m)
	defer r.Release()
	at := 0
	for {
		vecs, n, err := r.Next()
		require.NoError(t, err)
		if n == 0 {
			break
		}
		for i := range n {
			row := at + i
			if pick != nil {
				row = int(pick[row])
			}
			require.Equal(t, s.ints[row], device.View[int64](vecs[0].Data, n)[i])
			valid := vecs[1].Valid == 0 || device.View[uint64](vecs[1].Valid, i/64+1)[i/64]>>(i%64)&1 == 1
			require.Equal(t, !s.null[row], valid)
			if valid {
				require.Equal(t, s.texts[row], device.View[kernels.View](vecs[1].Data, n)[i].Str())
			}
			state := device.View[[3]uint64](vecs[2].Data, n)[i]
			view := kernels.View{Lo: state[0], Hi: state[1]}
			require.Equal(t, s.texts[row], view.Str())
			require.Equal(t, uint64(s.ints[row]), state[2])
		}
		at += n
	}
	want := len(s.ints)
	if pick != nil {
		want = len(pick)
	}
	require.Equal(t, want, at)
	require.EqualValues(t, want, run.Rows)
}

func TestRoundTrip(t *testing.T) {
	cpu := device.NewCPU(device.CPUOptions{})
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	space := spill.NewSpace(dir, 0, nil)
	for _, n := range []int{0, 1, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000, 5001} {
		for _, most := range []int{1, 64, 100, 1 << 20} {
			t.Run(fmt.Sprintf("%d rows, frames of %d", n, most), func(t *testing.T) {
				mem := device.NewScope(cpu, device.ScopeOptions{})
				s := newSample(t, mem, n, uint64(n))
				area := space.Area(0)
				var spilt atomic.Int64
				f, err := area.Create(&spilt)
				require.NoError(t, err)
				var pick []uint32
				for i := n; i > 0; i -= 2 {
					pick = append(pick, uint32(i-1))
				}
				var out spill.Scratch
				all := spill.NewWriter(f, mem, &out, forms, 4096, most)
				some := spill.NewWriter(f, mem, &out, forms, 1<<16, most)
				require.NoError(t, all.Add(s.vecs, nil, n))
				require.EqualValues(t, n, all.Rows())
				for i := 0; i < len(pick); i += 7 { // a few at a time, between the others
					require.NoError(t, some.Add(s.vecs, pick[i:min(i+7, len(pick))], 0))
				}
				a, err := all.Finish()
				require.NoError(t, err)
				b, err := some.Finish()
				require.NoError(t, err)
				s.check(t, mem, a, nil)
				s.check(t, mem, b, append([]uint32{}, pick...))
				s.check(t, mem, a, nil) // again
				require.Equal(t, spilt.Load(), area.Used())
				f.Close()
				f.Close()
				out.Release()
				s.release()
				require.Zero(t, mem.Used())
				require.Zero(t, area.Used())
				area.Close()
			})
		}
	}
	require.Zero(t, space.Used())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, cpu.Close())
}

func TestDictionary(t *testing.T) {
	cpu := device.NewCPU(device.CPUOptions{})
	space := spill.NewSpace(t.TempDir(), 0, nil)
	area := space.Area(0)
	defer area.Close()
	dict := newSample(t, cpu, 10, 3)
	codes, err := cpu.Alloc(4 * 100)
	require.NoError(t, err)
	want := &sample{}
	for i := range 100 {
		c := (i * 7) % 10
		device.View[uint32](codes.Ptr(), 100)[i] = uint32(c)
		want.ints, want.texts, want.null = append(want.ints, dict.ints[c]), append(want.texts, dict.texts[c]), append(want.null, false)
	}
	states := dict.vecs[2]
	vecs := []kernels.Vec{
		{Data: codes.Ptr(), Dict: dict.vecs[0].Data, DictLen: 10},
		{Data: codes.Ptr(), Dict: textOf(t, cpu, states.Data, 10), DictLen: 10},
		{Data: codes.Ptr(), Dict: states.Data, DictLen: 10},
	}
	f, err := area.Create(nil)
	require.NoError(t, err)
	var out spill.Scratch
	w := spill.NewWriter(f, cpu, &out, forms[:2], 4096, 64)
	require.NoError(t, w.Add(vecs[:2], nil, 100))
	run, err := w.Finish()
	require.NoError(t, err)
	r := spill.NewReader(run, cpu)
	at := 0
	for {
		got, n, err := r.Next()
		require.NoError(t, err)
		if n == 0 {
			break
		}
		for i := range n {
			require.Equal(t, want.ints[at+i], device.View[int64](got[0].Data, n)[i])
			require.Equal(t, want.texts[at+i], device.View[kernels.View](got[1].Data, n)[i].Str())
		}
		at += n
	}
	require.Equal(t, 100, at)
}

// textOf is the texts that states begin with.
func textOf(t *testing.T, m device.Allocator, states device.Ptr, n int) device.Ptr {
	b, err := m.Alloc(16 * n)
	require.NoError(t, err)
	for i, s := range device.View[[3]uint64](states, n) {
		device.View[kernels.View](b.Ptr(), n)[i] = kernels.View{Lo: s[0], Hi: s[1]}
	}
	return b.Ptr()
}

// TestDamage changes each byte of a frame: it must not be read.
func TestDamage(t *testing.T) {
	cpu := device.NewCPU(device.CPUOptions{})
	fs := faulty.New()
	space := spill.NewSpace(t.TempDir(), 0, fs)
	area := space.Area(0)
	defer area.Close()
	s := newSample(t, cpu, 5, 1)
	f, err := area.Create(nil)
	require.NoError(t, err)
	var out spill.Scratch
	w := spill.NewWriter(f, cpu, &out, forms, 4096, 64)
	require.NoError(t, w.Add(s.vecs, nil, 5))
	run, err := w.Finish()
	require.NoError(t, err)
	s.check(t, cpu, run, nil)
	for i := range int(area.Used()) {
		fs.Damage(int64(i))
		require.ErrorIs(t, readAll(run, cpu), spill.ErrDamaged, "byte %d", i)
	}
	fs.Damage(-1)
	s.check(t, cpu, run, nil)
	fs.Cut(100)
	require.ErrorIs(t, readAll(run, cpu), spill.ErrDamaged)
}

// readAll reads a run to its end or its first error.
func readAll(run *spill.Run, m device.Allocator) error {
	r := spill.NewReader(run, m)
	defer r.Release()
	for {
		if _, n, err := r.Next(); n == 0 || err != nil {
			return err
		}
	}
}

func TestLimit(t *testing.T) {
	cpu := device.NewCPU(device.CPUOptions{})
	space := spill.NewSpace(t.TempDir(), 10<<20, nil)
	first, second := space.Area(6<<20), space.Area(0)
	a, err := first.Alloc(5 << 20)
	require.NoError(t, err)
	device.View[byte](a.Ptr(), a.Len())[a.Len()-1] = 1
	_, err = first.Alloc(2 << 20)
	var short *device.NoMemoryError
	require.ErrorAs(t, err, &short)
	require.Equal(t, spill.Tier, short.Tier)
	require.Equal(t, spill.Setting, short.Setting)
	require.EqualValues(t, 6<<20, short.Limit)
	_, err = second.Alloc(6 << 20)
	require.ErrorAs(t, err, &short)
	require.EqualValues(t, 10<<20, short.Limit)
	f, err := second.Create(nil)
	require.NoError(t, err)
	s := newSample(t, cpu, 100_000, 1)
	var out spill.Scratch
	w := spill.NewWriter(f, cpu, &out, forms, 1<<16, 1<<14)
	err = w.Add(s.vecs, nil, 100_000)
	require.ErrorAs(t, err, &short)
	w.Release()
	out.Release()
	s.release()
	first.Close()
	second.Close()
	require.Zero(t, space.Used())
	space.Close()
	require.NoError(t, cpu.Close())
}

// TestSweep leaves files as a process that was killed does.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	left, other := filepath.Join(dir, "gpusql-spill-1-1"), filepath.Join(dir, "mine")
	for _, p := range []string{left, other} {
		require.NoError(t, os.WriteFile(p, []byte("x"), 0o600))
	}
	area := spill.NewSpace(dir, 0, nil).Area(0)
	_, err := area.Create(nil)
	require.NoError(t, err)
	require.NoFileExists(t, left)
	require.FileExists(t, other)
	area.Close()
}

// TestFaults lets every call of the file system fail.
func TestFaults(t *testing.T) {
	cpu := device.NewCPU(device.CPUOptions{})
	for n := 1; ; n++ {
		fs := faulty.New()
		fs.FailAt(n, syscall.ENOSPC)
		space := spill.NewSpace(t.TempDir(), 0, fs)
		area := space.Area(0)
		mem := device.NewScope(cpu, device.ScopeOptions{})
		err := func() error {
			s := newSample(t, mem, 3000, 9)
			defer s.release()
			f, err := area.Create(nil)
			if err != nil {
				return err
			}
			defer f.Close()
			b, err := area.Alloc(8 << 20)
			if err != nil {
				return err
			}
			defer b.Release()
			var out spill.Scratch
			defer out.Release()
			w := spill.NewWriter(f, mem, &out, forms, 1<<14, 1<<14)
			defer w.Release()
			if err := w.Add(s.vecs, nil, 3000); err != nil {
				return err
			}
			run, err := w.Finish()
			if err != nil {
				return err
			}
			return readAll(run, mem)
		}()
		require.Zero(t, mem.Used())
		area.Close()
		require.Zero(t, space.Used())
		require.Zero(t, fs.Open(), "call %d", n)
		if !fs.Failed() {
			require.NoError(t, err)
			require.Greater(t, n, 10)
			return
		}
		var e *spill.Error
		require.ErrorAs(t, err, &e, "call %d", n)
		require.True(t, e.Full())
		require.True(t, errors.Is(err, syscall.ENOSPC))
	}
}
