package btree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
)

// TestMemoryComesBack is invariant 6: with no entries and no snapshots left no
// page is in use, whatever happened before.
func TestMemoryComesBack(t *testing.T) {
	for _, f := range []index.Format{{Words: 1}, {Words: 1, Long: true}} {
		t.Run(f.String(), func(t *testing.T) {
			d := devicetest.CPU(t)
			s := devicetest.Stream(t, d)
			x := newTree[uint64](d, f)
			defer func() { require.NoError(t, x.Close()) }()
			b := index.NewBatch(d, f)
			defer b.Release()
			rnd := rand.New(rand.NewPCG(1, 1))
			var held []index.Snapshot
			apply := func(op index.Op, lo, hi int) {
				b.Reset()
				for _, i := range rnd.Perm(hi - lo) {
					b.Add([]byte(fmt.Sprintf("key %08d has a tail\x00\x00", lo+i)))
					b.Rows = append(b.Rows, uint64(lo+i))
				}
				e, err := b.Upload(s)
				require.NoError(t, err)
				e.Op = op
				require.NoError(t, x.Apply(s, 1, e))
				require.NoError(t, x.Check(s))
			}
			for round := range 12 {
				lo := rnd.IntN(20000)
				apply(index.Op(round%3%2), lo, lo+1+rnd.IntN(9000))
				sn, err := x.Snapshot(index.Latest)
				require.NoError(t, err)
				held = append(held, sn)
			}
			const large = smallBatch + 5000 // everything is written anew
			apply(index.Insert, 0, large)
			require.EqualValues(t, large, x.Stats().Entries)
			apply(index.Delete, 0, large)
			require.Zero(t, x.Stats().Entries)
			for len(held) > 0 {
				i := rnd.IntN(len(held))
				held[i].Release()
				held = append(held[:i], held[i+1:]...)
			}
			_, used := x.store.Bytes()
			require.Zero(t, used)
		})
	}
}
