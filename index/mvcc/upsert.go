package mvcc

import (
	"bytes"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/change"
)

type clearArgs struct {
	Form            form
	Keys, Rows, Ops device.Ptr // the changes
	Cleared         device.Ptr // the keys of which all entries go
	Firsts          device.Ptr // and the first change of each
	N               device.Ptr // how many; how many changes there are with their entries' deletions
	Offsets, Found  device.Ptr // the rows of those keys
	ToKeys, ToRows  device.Ptr
	ToOps           device.Ptr
}

var (
	listCleared = &device.Kernel[clearArgs]{Name: "mvcc_list_cleared", Host: listClearedHost}
	addDeletes  = &device.Kernel[clearArgs]{Name: "mvcc_add_deletes", Host: addDeletesHost}
)

// expand turns upserts into what they mean: deletions of what their keys have.
func (b *batch) expand() error {
	n := b.sorted.N
	a := clearArgs{Form: b.form, Keys: b.sorted.Keys, Rows: b.sorted.Rows, Ops: b.sorted.Ops}
	err := b.scratch.takeAll(want{&a.Cleared, b.form.keyBytes(n)}, want{&a.Firsts, 8 * n}, want{&a.N, 16})
	if err != nil {
		return err
	}
	if err := device.Launch(b.s, listCleared, n, a); err != nil {
		return err
	}
	var cleared [1]uint64
	if err := download(b.s, cleared[:], a.N); err != nil {
		return err
	}
	answer := index.NewAnswer(b.mem)
	defer answer.Release()
	old := b.snapshotOf(b.base)
	if err := old.Lookup(b.s, index.Keys{Data: a.Cleared, N: int(cleared[0])}, answer); err != nil {
		return err
	}
	a.Offsets, a.Found = answer.Offsets(), answer.Rows()
	most := n + answer.Total
	err = b.scratch.takeAll(want{&a.ToKeys, b.form.keyBytes(most)}, want{&a.ToRows, 8 * most}, want{&a.ToOps, most})
	if err != nil {
		return err
	}
	if err := device.Launch(b.s, addDeletes, n, a); err != nil {
		return err
	}
	var total [1]uint64
	if err := download(b.s, total[:], a.N+8); err != nil {
		return err
	}
	b.sorted = change.Sorted{N: int(total[0]), Keys: a.ToKeys, Rows: a.ToRows, Ops: a.ToOps}
	return nil
}

// sameKey compares two keys of a batch.
func (f *form) sameKey(a, b device.Ptr) bool {
	n := int(f.size)
	if f.kind == long {
		n -= 8
		if index.CompareTails(f.tailWord(a), f.tailWord(b)) != 0 {
			return false
		}
	}
	return bytes.Equal(device.View[byte](a, n), device.View[byte](b, n))
}

func listClearedHost(a *clearArgs, _, hi int) {
	ops := device.View[uint8](a.Ops, hi)
	firsts := device.View[uint64](a.Firsts, hi)
	n := 0
	for i := range ops {
		key := a.Form.keyAt(a.Keys, i)
		if ops[i]&change.Clear == 0 || n > 0 && a.Form.sameKey(key, a.Form.keyAt(a.Cleared, n-1)) {
			continue
		}
		copyBytes(a.Form.keyAt(a.Cleared, n), key, int(a.Form.size))
		firsts[n] = uint64(i)
		n++
	}
	device.View[uint64](a.N, 1)[0] = uint64(n)
}

func addDeletesHost(a *clearArgs, _, hi int) {
	cleared := int(device.View[uint64](a.N, 1)[0])
	offsets := device.View[uint64](a.Offsets, cleared+1)
	found := device.View[uint64](a.Found, int(offsets[cleared]))
	firsts := device.View[uint64](a.Firsts, cleared)
	rows, ops := device.View[uint64](a.Rows, hi), device.View[uint8](a.Ops, hi)
	most := hi + len(found)
	toRows, toOps := device.View[uint64](a.ToRows, most), device.View[uint8](a.ToOps, most)
	n := 0
	put := func(i int, row uint64, op uint8) {
		copyBytes(a.Form.keyAt(a.ToKeys, n), a.Form.keyAt(a.Keys, i), int(a.Form.size))
		toRows[n], toOps[n] = row, op&^change.Clear
		n++
	}
	k := 0
	for i := 0; i < hi; {
		if ops[i]&change.Clear == 0 {
			put(i, rows[i], ops[i])
			i++
			continue
		}
		first := i
		old := found[offsets[k]:offsets[k+1]]
		k++
		for ; i < hi && ops[i]&change.Clear != 0 && (k == cleared || uint64(i) < firsts[k]); i++ {
			for ; len(old) > 0 && old[0] < rows[i]; old = old[1:] {
				put(first, old[0], change.Delete)
			}
			if len(old) > 0 && old[0] == rows[i] {
				old = old[1:]
			}
			put(i, rows[i], ops[i])
		}
		for _, row := range old {
			put(first, row, change.Delete)
		}
	}
	device.View[uint64](a.N, 2)[1] = uint64(n)
}
