package btree

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
)

var errFails = errors.New("the launch fails")

// failingStream fails at a launch.
type failingStream struct {
	device.Stream
	left int
}

func (s *failingStream) Submit(w device.Work) error {
	if s.left--; s.left < 0 {
		return errFails
	}
	return s.Stream.Submit(w)
}

// TestLocateOnCores applies a batch that has enough inner nodes for several cores, and
// compares the groups of its leaves with those that one core makes.
func TestLocateOnCores(t *testing.T) {
	const n = 1_600_000
	d := device.NewCPU(device.CPUOptions{Streams: 3})
	s := devicetest.Stream(t, d)
	x := newTree[uint64](d, index.Format{Words: 1})
	b := index.NewBatch(d, index.Format{Words: 1})
	defer func() {
		b.Release()
		require.NoError(t, x.Close())
	}()
	apply := func(op index.Op, words []uint64) {
		b.Reset()
		copy(b.Words(len(words)), words)
		for i := range words {
			b.Rows = append(b.Rows, uint64(i))
		}
		e, err := b.Upload(s)
		require.NoError(t, err)
		e.Op = op
		require.NoError(t, x.Apply(s, 1, e))
	}
	words := make([]uint64, n)
	for i := range words {
		words[i] = uint64(i) << 20
	}
	apply(index.Insert, words)
	rnd := rand.New(rand.NewPCG(5, 6))
	some := make([]uint64, 5000)
	for i := range some {
		some[i] = rnd.Uint64N(n << 20)
	}
	apply(index.Insert, some)
	level := x.root.height - 1
	from := x.work.groups[level-1]
	require.Greater(t, len(from), 2*splitNodes)
	require.NoError(t, x.Check(s))
	require.EqualValues(t, n+len(some), x.Stats().Entries)

	// A launch that fails leaves the tree as it was: what is taken back then is not what
	// the batch before did.
	for i := range b.Rows {
		b.Rows[i] += 1 << 40
	}
	e, err := b.Upload(s)
	require.NoError(t, err)
	fails := 0
	for ; ; fails++ {
		if err = x.Apply(&failingStream{Stream: s, left: fails}, 1, e); err == nil {
			break
		}
		require.ErrorIs(t, err, errFails)
		require.NoError(t, x.Check(s))
		require.EqualValues(t, n+len(some), x.Stats().Entries)
	}
	require.Positive(t, fails)
	require.NoError(t, x.Check(s))
	require.EqualValues(t, n+2*len(some), x.Stats().Entries)

	w := &x.work
	require.NoError(t, w.load(s, d, x.layout, e))
	require.NoError(t, x.locate(s, w, nil))
	from = w.groups[level-1]
	got := append([]group(nil), w.groups[level]...)
	require.Equal(t, x.children(w, from, 0, len(from), nil), got)
	w.end()
}
