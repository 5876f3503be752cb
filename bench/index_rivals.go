package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	google "github.com/google/btree"
	tidwall "github.com/tidwall/btree"
)

// rival is another package's tree, from 64-bit keys to rows.
type rival struct {
	name string
	open func() rivalTree
}

// rivalTree does one thing at a time, as those packages do.
type rivalTree interface {
	insert(keys, rows []uint64)
	lookup(keys []uint64) (sum uint64)
	ranges(from []uint64, n int) (sum uint64)
	remove(keys []uint64)
	len() int
}

func rivals() []rival {
	return []rival{
		{"tidwall/btree Map", func() rivalTree { return &tidwallTree{} }},
		{"google/btree BTreeG", func() rivalTree {
			return &googleTree{google.NewG(32, func(a, b entry) bool { return a.key < b.key })}
		}},
	}
}

type tidwallTree struct{ m tidwall.Map[uint64, uint64] }

func (t *tidwallTree) insert(keys, rows []uint64) {
	for i, k := range keys {
		t.m.Set(k, rows[i])
	}
}

func (t *tidwallTree) lookup(keys []uint64) (sum uint64) {
	for _, k := range keys {
		v, _ := t.m.Get(k)
		sum += v
	}
	return sum
}

func (t *tidwallTree) ranges(from []uint64, n int) (sum uint64) {
	for _, k := range from {
		left := n
		t.m.Ascend(k, func(_, v uint64) bool {
			sum += v
			left--
			return left > 0
		})
	}
	return sum
}

func (t *tidwallTree) remove(keys []uint64) {
	for _, k := range keys {
		t.m.Delete(k)
	}
}

func (t *tidwallTree) len() int { return t.m.Len() }

type entry struct{ key, row uint64 }

type googleTree struct{ t *google.BTreeG[entry] }

func (t *googleTree) insert(keys, rows []uint64) {
	for i, k := range keys {
		t.t.ReplaceOrInsert(entry{k, rows[i]})
	}
}

func (t *googleTree) lookup(keys []uint64) (sum uint64) {
	for _, k := range keys {
		e, _ := t.t.Get(entry{key: k})
		sum += e.row
	}
	return sum
}

func (t *googleTree) ranges(from []uint64, n int) (sum uint64) {
	for _, k := range from {
		left := n
		t.t.AscendGreaterOrEqual(entry{key: k}, func(e entry) bool {
			sum += e.row
			left--
			return left > 0
		})
	}
	return sum
}

func (t *googleTree) remove(keys []uint64) {
	for _, k := range keys {
		t.t.Delete(entry{key: k})
	}
}

func (t *googleTree) len() int { return t.t.Len() }

func measureRival(v rival, n int) (t indexTimes, err error) {
	w := newIndexData(n)
	before := heapBytes()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector is not measured
	x := v.open()
	timed := func(what string, ops int, f func()) {
		start := processorTime()
		f()
		t.set(what, processorTime()-start, ops)
	}
	timed("build", n, func() { x.insert(w.keys, w.rows) })
	t.bytes = float64(heapBytes()-before) / float64(n)
	var sum, want uint64
	for _, k := range w.asked {
		want += rowOf(k, w)
	}
	timed("lookup", len(w.asked), func() { sum = x.lookup(w.asked) })
	if sum != want {
		return t, fmt.Errorf("lookups are wrong")
	}
	from := make([]uint64, len(w.starts))
	want = 0
	for i, p := range w.starts {
		from[i] = w.sorted[p]
		for _, r := range w.sortedRows[p : p+rangeKeys] {
			want += r
		}
	}
	timed("range", len(from), func() { sum = x.ranges(from, rangeKeys) })
	if sum != want {
		return t, fmt.Errorf("ranges are wrong")
	}
	timed("insert", len(w.fresh), func() { x.insert(w.fresh, w.freshRows) })
	t.after = float64(heapBytes()-before) / float64(n+len(w.fresh))
	timed("delete", len(w.fresh), func() { x.remove(w.fresh) })
	if x.len() != n {
		return t, fmt.Errorf("%d entries are left", x.len())
	}
	runtime.KeepAlive(x)
	return t, nil
}

// rowOf finds the row of a key by halving.
func rowOf(k uint64, w *indexData) uint64 {
	lo, hi := 0, len(w.sorted)
	for lo < hi {
		m := (lo + hi) / 2
		if w.sorted[m] < k {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return w.sortedRows[lo]
}

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
