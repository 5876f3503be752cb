package btree

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/page"
)

// spell spells upserts out: what they remove from the tree is put before the
// batch, as deletions. It gives back a batch without upserts as it is.
func (t *tree[W]) spell(w *work, e index.Entries) (index.Entries, error) {
	ops := device.View[index.Op](e.Ops, e.Keys.N)
	if t.root.height == 0 || ops == nil && e.Op != index.Upsert {
		return e, nil
	}
	w.layout, w.n = t.layout, e.Keys.N
	w.keys = unsafe.Pointer(unsafe.SliceData(device.View[byte](e.Keys.Data, 1)))
	var from []int    // keys of the batch whose
	var rows []uint64 // rows are removed
	w.pages = page.Slots(t.pages)
	for i := range e.Keys.N {
		if ops != nil && ops[i] != index.Upsert {
			continue
		}
		x := item{w.firstWord(i), uint64(i)}
		q := place{word: x.word, rest: w.rest(x)}
		c := cursor[W]{l: t.layout, pages: w.pages}
		for c.seek(t.root, &q); c.valid() && c.sameKey(&q); c.next() {
			from, rows = append(from, i), append(rows, c.row())
		}
	}
	if len(from) == 0 {
		return e, nil
	}
	size, n := w.stride(), len(from)+e.Keys.N
	keys, err := room[byte](&w.batch, t.mem, n*size)
	if err != nil {
		return e, err
	}
	allRows, err := room[uint64](&w.batch, t.mem, n)
	if err != nil {
		return e, err
	}
	allOps, err := room[index.Op](&w.batch, t.mem, n)
	if err != nil {
		return e, err
	}
	old := device.View[byte](e.Keys.Data, e.Keys.N*size)
	for i, k := range from {
		copy(keys[i*size:], old[k*size:(k+1)*size])
		allRows[i], allOps[i] = rows[i], index.Delete
	}
	copy(keys[len(from)*size:], old)
	copy(allRows[len(from):], device.View[uint64](e.Rows, e.Keys.N))
	for i := range e.Keys.N {
		op := e.Op
		if ops != nil {
			op = ops[i]
		}
		allOps[len(from)+i] = op
	}
	return index.Entries{Keys: index.Keys{Data: addressOf(keys), N: n}, Rows: addressOf(allRows), Ops: addressOf(allOps)}, nil
}

// addressOf is the address of memory that is off Go's heap.
func addressOf[T any](s []T) device.Ptr {
	return device.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(s))))
}
