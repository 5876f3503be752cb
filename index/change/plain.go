package change

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// plainArgs sort changes of one kind with keys of one word: a key and its row
// are all that there is to say of one, so they move as they are.
type plainArgs struct {
	Narrow                    uint32
	_                         uint32
	Keys, Rows, Pairs         device.Ptr
	ToKeys, ToRows, ToOutcome device.Ptr
	N                         int64
}

var (
	pairUp    = &device.Kernel[plainArgs]{Name: "change_pair", Split: 1 << 15, Host: pairHost}
	pairsDown = &device.Kernel[plainArgs]{Name: "change_unpair", Host: unpairHost}
)

// sortPlain puts changes in order that are all insertions or all deletions.
func (c *Sorter) sortPlain(s device.Stream, e index.Entries) (Sorted, error) {
	n := e.Keys.N
	keys := (n*c.format.Size() + 7) &^ 7
	if err := c.grow(32 + (n+7)&^7 + keys + 8*n + 16*n + kernels.SortPairsBytes(n)); err != nil {
		return Sorted{}, err
	}
	p := plainArgs{Keys: e.Keys.Data, Rows: e.Rows, ToOutcome: c.buffer.Ptr(), N: int64(n)}
	if c.format.Narrow {
		p.Narrow = 1
	}
	p.ToRows = p.ToOutcome + 32
	p.ToKeys = p.ToRows + device.Ptr(8*n)
	p.Pairs = p.ToKeys + device.Ptr(keys)
	if err := device.Launch(s, pairUp, n, p); err != nil {
		return Sorted{}, err
	}
	if err := kernels.SortPairs(s, p.Pairs, p.Pairs+device.Ptr(16*n), n); err != nil {
		return Sorted{}, err
	}
	if err := device.Launch(s, pairsDown, 1, p); err != nil {
		return Sorted{}, err
	}
	o, err := c.outcome(s, p.ToOutcome)
	if err != nil {
		return Sorted{}, err
	}
	out := Sorted{N: int(o.N), Keys: p.ToKeys, Rows: p.ToRows}
	if e.Op == index.Delete {
		out.Ops = p.Pairs // which are done with
		err = device.Launch(s, mark, out.N, args{ToOps: out.Ops})
	}
	return out, err
}

func pairHost(a *plainArgs, lo, hi int) {
	pairs, rows := device.View[kernels.Pair](a.Pairs, hi), device.View[uint64](a.Rows, hi)
	if a.Narrow != 0 {
		for i, k := range device.View[uint32](a.Keys, hi)[lo:] {
			pairs[lo+i] = kernels.Pair{Key: uint64(k), Value: rows[lo+i]}
		}
		return
	}
	for i, k := range device.View[uint64](a.Keys, hi)[lo:] {
		pairs[lo+i] = kernels.Pair{Key: k, Value: rows[lo+i]}
	}
}

// unpairHost writes keys and rows, each pair once.
func unpairHost(a *plainArgs, _, _ int) {
	pairs := device.View[kernels.Pair](a.Pairs, int(a.N))
	n := 0
	if a.Narrow != 0 {
		n = unpair(pairs, device.View[uint32](a.ToKeys, len(pairs)), device.View[uint64](a.ToRows, len(pairs)))
	} else {
		n = unpair(pairs, device.View[uint64](a.ToKeys, len(pairs)), device.View[uint64](a.ToRows, len(pairs)))
	}
	device.View[outcome](a.ToOutcome, 1)[0] = outcome{N: uint64(n)}
}

func unpair[W uint32 | uint64](pairs []kernels.Pair, keys []W, rows []uint64) int {
	n := 0
	for i, p := range pairs {
		if i > 0 && p == pairs[i-1] {
			continue
		}
		keys[n], rows[n] = W(p.Key), p.Value
		n++
	}
	return n
}
