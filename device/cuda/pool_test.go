package cuda

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
)

// fakeDriver hands out chunks of a made-up address space of a bounded size.
type fakeDriver struct {
	t      *testing.T
	next   device.Ptr
	room   int
	chunks map[device.Ptr]int
}

func (f *fakeDriver) pool() *pool {
	p := newPool("GPU memory of a test", 0, new(atomic.Uint64))
	p.grow = func(n int) (device.Ptr, error) {
		if n > f.room {
			return 0, p.short(n)
		}
		at := f.next
		f.next += device.Ptr(n + 1<<30)
		f.room -= n
		f.chunks[at] = n
		return at, nil
	}
	p.shrink = func(at device.Ptr) error {
		n, ok := f.chunks[at]
		require.True(f.t, ok)
		delete(f.chunks, at)
		f.room += n
		return nil
	}
	return p
}

func newFakeDriver(t *testing.T, room int) *fakeDriver {
	return &fakeDriver{t: t, next: 1 << 40, room: room, chunks: map[device.Ptr]int{}}
}

// check holds the pool to what it says of itself: blocks of a chunk follow one
// another, no two free ones are neighbours, and bins hold the free ones.
func (p *pool) check(t *testing.T, chunks map[device.Ptr]int) {
	t.Helper()
	seen, free := 0, map[*block]bool{}
	for i := range p.arenas {
		a := &p.arenas[i]
		for bin, b := range a.bins {
			require.Equal(t, b != nil, a.full[bin/64]>>(bin%64)&1 == 1)
			for up := (*block)(nil); b != nil; up, b = b, b.down {
				require.Equal(t, bin, binOf(b.n))
				require.Same(t, a, b.arena)
				require.True(t, b.free)
				require.True(t, up == b.up)
				free[b] = true
			}
		}
	}
	begin := map[*block]bool{}
	for b := range free {
		for b.prev != nil {
			b = b.prev
		}
		begin[b] = true
	}
	used := int64(0)
	for _, b := range p.live {
		used += int64(b.n)
		for b.prev != nil {
			b = b.prev
		}
		begin[b] = true
	}
	require.Equal(t, used, p.used.Load())
	require.Len(t, begin, len(chunks))
	for b := range begin {
		at, size := b.p, 0
		require.Contains(t, chunks, at)
		for ; b != nil; b = b.next {
			require.Equal(t, at+device.Ptr(size), b.p)
			require.Zero(t, b.n%blockAlign)
			require.Equal(t, b.free, free[b])
			require.Equal(t, !b.free, p.live[b.p] == b)
			if b.next != nil {
				require.Same(t, b, b.next.prev)
				require.False(t, b.free && b.next.free, "free neighbours")
			}
			size += b.n
			seen++
		}
		require.Equal(t, chunks[at], size)
	}
	require.Equal(t, len(free)+len(p.live), seen)
}

func TestPool(t *testing.T) {
	f := newFakeDriver(t, 400<<20)
	p := f.pool()
	r := rand.New(rand.NewPCG(1, 2))
	type held struct {
		at device.Ptr
		n  int
	}
	var all []held
	for i := range 4000 {
		if r.IntN(100) < 55 {
			n := r.IntN(1 << (1 + r.IntN(25)))
			at, err := p.take(n)
			if err != nil {
				require.ErrorIs(t, err, device.ErrNoMemory)
				continue
			}
			require.Zero(t, at%blockAlign)
			all = append(all, held{at, n})
		} else if len(all) > 0 {
			j := r.IntN(len(all))
			p.put(all[j].at, uint64(i))
			all[j] = all[len(all)-1]
			all = all[:len(all)-1]
		}
		if i%50 == 0 {
			p.check(t, f.chunks)
		}
	}
	require.NotEmpty(t, all)
	p.free()
	require.Empty(t, f.chunks)
	require.Zero(t, p.used.Load())
}

func TestPoolStamps(t *testing.T) {
	p := newFakeDriver(t, 64<<20).pool()
	a, err := p.take(1000)
	require.NoError(t, err)
	b, err := p.take(1000)
	require.NoError(t, err)
	require.Zero(t, p.reused.Load(), "fresh memory waits for nothing")
	p.put(a, 5)
	p.put(b, 3)
	c, err := p.take(2000)
	require.NoError(t, err)
	require.Equal(t, a, c)
	require.Equal(t, uint64(5), p.reused.Load(), "the later of two that were merged")
}

// TestPoolGivesBack: short of memory, chunks that are free go back to the
// driver, and the next chunk is no larger than needed.
func TestPoolGivesBack(t *testing.T) {
	f := newFakeDriver(t, 100<<20)
	p := f.pool()
	small, err := p.take(100)
	require.NoError(t, err)
	a, err := p.take(3 << 20) // a chunk of 64 MiB
	require.NoError(t, err)
	_, err = p.take(65 << 20)
	require.ErrorIs(t, err, device.ErrNoMemory)
	require.EqualError(t, err, "out of GPU memory of a test: 65.0 MiB asked for, 3.0 MiB in use")
	p.put(a, 0)
	b, err := p.take(66<<20 + 1)
	require.NoError(t, err)
	require.Equal(t, 68<<20, f.chunks[b])
	p.check(t, f.chunks)
	p.put(small, 0)
	p.put(b, 0)
	p.giveBack()
	require.Empty(t, f.chunks)
}

func TestPoolLimit(t *testing.T) {
	p := newFakeDriver(t, 1<<30).pool()
	p.limit = 10 << 20
	a, err := p.take(6 << 20)
	require.NoError(t, err)
	_, err = p.take(5 << 20)
	require.EqualError(t, err, "out of GPU memory of a test: 5.0 MiB asked for, 6.0 MiB of 10.0 MiB in use; raise gpu_memory_limit")
	p.put(a, 0)
	_, err = p.take(10 << 20)
	require.NoError(t, err)
}

func TestPoolShrinkFails(t *testing.T) {
	f := newFakeDriver(t, 64<<20)
	p := f.pool()
	a, err := p.take(2 << 20)
	require.NoError(t, err)
	p.put(a, 0)
	shrink := p.shrink
	p.shrink = func(device.Ptr) error { return errors.ErrUnsupported }
	_, err = p.take(65 << 20)
	require.ErrorIs(t, err, device.ErrNoMemory)
	p.check(t, f.chunks)
	p.shrink = shrink
	p.free()
	require.Empty(t, f.chunks)
}
