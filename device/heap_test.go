package device

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClasses(t *testing.T) {
	last, lastSize := -1, 0
	for n := 1; n < 1<<22; n += 1 + n/97 {
		c, size := class(n)
		require.GreaterOrEqual(t, size, n)
		require.Zero(t, size%align)
		require.LessOrEqual(t, size, max(n+align-1, n+n/4+1), "%d bytes", n)
		require.True(t, c == last && size == lastSize || c > last && size > lastSize)
		again, same := class(size)
		require.Equal(t, c, again)
		require.Equal(t, size, same)
		last, lastSize = c, size
	}
}

func TestGiveBack(t *testing.T) {
	h := &heap{keep: 64 << 20, blocks: map[Ptr]int{}}
	for _, n := range []int{100, 1 << 20, 2 << 20, 2 << 20} {
		p, err := h.take(n)
		require.NoError(t, err)
		defer h.put(p, n)
	}
	p, err := h.take(3 << 20)
	require.NoError(t, err)
	h.put(p, 3<<20)
	require.Len(t, h.blocks, 4)
	h.giveBack()
	require.Len(t, h.blocks, 3)
	require.Zero(t, h.kept)
}

// TestGoing: what is beyond the bound goes back while others take and put.
func TestGoing(t *testing.T) {
	h := &heap{keep: 1 << 20, blocks: map[Ptr]int{}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				p, err := h.take(3 << 20)
				if err != nil {
					t.Error(err)
					return
				}
				View[byte](p, 3<<20)[1<<20] = 1
				h.put(p, 3<<20)
			}
		})
	}
	wg.Wait()
	h.given.Wait()
	require.Empty(t, h.blocks)
	require.Empty(t, h.going)
	require.False(t, h.giving)
	h.unmap()
}
