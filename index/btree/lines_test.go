package btree

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/index"
)

// TestLines compares what is counted in all lines at once with counting.
func TestLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var counts uint64
		lines := 1 + rnd.IntN(maxLines)
		most := rnd.IntN(perLine + 1)
		var entries [][2]int // where each is
		for line := range lines {
			c := rnd.IntN(most + 1)
			require.Equal(t, len(entries), before(counts, line))
			counts |= uint64(c) << (4 * line)
			require.Equal(t, c, inLineOf(counts, line))
			for at := range c {
				entries = append(entries, [2]int{line, at})
			}
		}
		require.Equal(t, len(entries), before(counts, maxLines))
		for i, e := range entries {
			line, at := lineWith(counts, i)
			require.Equal(t, e, [2]int{line, at}, "entry %d of %x", i, counts)
		}
	}
}

// TestLayout looks at the leaves of every format: their arrays come one after the
// other, what is read together begins a line, and little of a page is left over.
func TestLayout(t *testing.T) {
	formats := []index.Format{{Words: 1, Narrow: true}}
	for words := 1; words <= 20; words++ {
		formats = append(formats, index.Format{Words: words}, index.Format{Words: words, Long: true})
	}
	for _, f := range formats {
		l := newLayout(f)
		o := l.at[1]
		require.GreaterOrEqual(t, o.keys, 16+l.size*(l.lines-1), f)
		require.GreaterOrEqual(t, o.rest, o.keys+l.size*o.cap, f)
		require.Equal(t, o.rows, o.rest+8*l.x*o.cap, f)
		require.Equal(t, l.leaf.bytes, o.rows+8*o.cap, f)
		require.Zero(t, o.keys%lineBytes+o.rows%lineBytes, f)
		require.Equal(t, l.leaf.cap, perLine*l.lines, f)
		require.LessOrEqual(t, l.lines, maxLines, f)
		if l.x < 4 {
			require.Greater(t, 20*l.leaf.bytes, 19*64*unitsFor(l.leaf.bytes), f)
		}
	}
}
