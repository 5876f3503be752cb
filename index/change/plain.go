package change

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// plainArgs sort changes of one kind with keys of one word: a key and its row
// are all that there is to say of one, so they move as they are.
type plainArgs struct {
	Narrow            bool
	Keys, Rows, Pairs device.Ptr
	ToKeys, ToRows    device.Ptr
}

// sortPlain puts changes in order that are all insertions or all deletions.
func (c *Sorter) sortPlain(s device.Stream, e index.Entries) (Sorted, error) {
	n := e.Keys.N
	keys := (n*c.format.Size() + 7) &^ 7
	if err := c.grow(keys + 8*n + 16*n + kernels.SortPairsBytes(n)); err != nil {
		return Sorted{}, err
	}
	p := plainArgs{Keys: e.Keys.Data, Rows: e.Rows, Narrow: c.format.Narrow}
	p.ToRows = c.buffer.Ptr()
	p.ToKeys = p.ToRows + device.Ptr(8*n)
	p.Pairs = p.ToKeys + device.Ptr(keys)
	if err := shared(s, n, func(lo, hi int) { pairUp(&p, lo, hi) }); err != nil {
		return Sorted{}, err
	}
	if err := kernels.SortPairs(s, p.Pairs, p.Pairs+device.Ptr(16*n), n); err != nil {
		return Sorted{}, err
	}
	out := Sorted{Keys: p.ToKeys, Rows: p.ToRows}
	if err := Pieces(s, n, func(lo, hi int) { out.N = pairsDown(&p, out.N, lo, hi) }); err != nil {
		return Sorted{}, err
	}
	var err error
	if e.Op == index.Delete {
		out.Ops = p.Pairs // which are done with
		err = device.Launch(s, mark, out.N, args{ToOps: out.Ops})
	}
	return out, err
}

func pairUp(a *plainArgs, lo, hi int) {
	pairs, rows := device.View[kernels.Pair](a.Pairs, hi), device.View[uint64](a.Rows, hi)
	if a.Narrow {
		for i, k := range device.View[uint32](a.Keys, hi)[lo:] {
			pairs[lo+i] = kernels.Pair{Key: uint64(k), Value: rows[lo+i]}
		}
		return
	}
	for i, k := range device.View[uint64](a.Keys, hi)[lo:] {
		pairs[lo+i] = kernels.Pair{Key: k, Value: rows[lo+i]}
	}
}

// pairsDown writes the keys and rows of pairs lo to hi, each pair once, after n
// that are written, and returns how many are then.
func pairsDown(a *plainArgs, n, lo, hi int) int {
	pairs, rows := device.View[kernels.Pair](a.Pairs, hi), device.View[uint64](a.ToRows, hi)
	if a.Narrow {
		return unpair(pairs, lo, n, device.View[uint32](a.ToKeys, hi), rows)
	}
	return unpair(pairs, lo, n, device.View[uint64](a.ToKeys, hi), rows)
}

func unpair[W uint32 | uint64](pairs []kernels.Pair, lo, n int, keys []W, rows []uint64) int {
	for i, p := range pairs[lo:] {
		if lo+i > 0 && p == pairs[lo+i-1] {
			continue
		}
		keys[n], rows[n] = W(p.Key), p.Value
		n++
	}
	return n
}
