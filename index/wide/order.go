package wide

import (
	"math/bits"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// order puts a batch in order of key and row, those of an entry as they came:
// by the row, then by the last word of the keys, and so on to the first, each
// time by digits that differ. What is in order is left as it is.
//
//	one thing is done, keys of one word   words ─┐ sorted together, and nothing else
//	                                      rows  ─┘ is known of a change
//	anything else                         numbers of the changes are sorted
type order struct {
	s     device.Stream
	room  *room
	form  kernels.TreeForm
	e     index.Entries
	n     int
	facts kernels.TreeFacts
	out   device.Ptr // where these are
	words int        // of a key, without its tail
	low   device.Ptr // rows of 32 bits, as they came, where keys have one word

	sorts   [2]device.Ptr // where words are sorted
	numbers [2]device.Ptr
	scratch device.Ptr
	side    int // of numbers
}

// look finds out what the batch is like.
func (o *order) look() error {
	if err := o.ask(); err != nil {
		return err
	}
	return o.hear()
}

// ask has the GPU look, and hear waits for what it has seen.
func (o *order) ask() (err error) {
	o.n, o.words = o.e.Keys.N, int(o.form.Rest+1-o.form.Long)
	size := int(unsafe.Sizeof(o.facts))
	if o.out, err = o.room.one(size); err != nil {
		return err
	}
	if err := kernels.Zero(o.s, o.out, size); err != nil {
		return err
	}
	if o.one() {
		if o.low, err = o.room.one(4 * o.n); err != nil {
			return err
		}
	}
	k := kernels.TreeKeys{Form: o.form, Keys: o.e.Keys.Data, Rows: o.e.Rows, Out: o.out, Low: o.low}
	return k.Facts(o.s, o.n)
}

func (o *order) hear() error {
	one := make([]kernels.TreeFacts, 1)
	err := o.s.Download(bytesOf(one), o.out)
	o.facts = one[0]
	return err
}

// rows32 says that rows take 32 bits.
func (o *order) rows32() bool { return o.facts.Or[o.words]>>32 == 0 }

// one says that keys of one word are all there is to a change but its row.
func (o *order) one() bool {
	return !o.e.Sorted && o.e.Ops == 0 && o.e.Op != index.Upsert && o.form.Rest == 0
}

// fresh says that all changes insert entries that are nowhere, in the index or
// twice in the batch: their rows are above all that were.
func (o *order) fresh(maxRow uint64, empty bool) bool {
	f := &o.facts
	inserts := o.e.Ops == 0 && o.e.Op == index.Insert
	return inserts && (f.RowsFall|f.RowsSame == 0 && (empty || f.First > maxRow) || o.e.Sorted && empty)
}

// maxRow is not below the greatest row of the batch.
func (o *order) maxRow() uint64 {
	if o.facts.RowsFall == 0 {
		return o.facts.Last
	}
	return o.facts.Or[o.words]
}

// top is how many of the lowest bits of first words there are in which these differ.
func (o *order) top() int { return bits.Len64(o.facts.Or[0] & o.facts.Not[0]) }

// differ are the digits of a word in which keys differ.
func (o *order) differ(word int) (first, last int) {
	d := o.facts.Or[word] & o.facts.Not[word]
	if d == 0 {
		return 0, 0
	}
	return bits.TrailingZeros64(d) / 8, (bits.Len64(d) + 7) / 8
}

// unsorted are the changes as they came.
func (o *order) unsorted() kernels.TreeItems {
	return kernels.TreeItems{Words: o.e.Keys.Data, Stride: o.form.KeySize, Rows: o.e.Rows, Keys: o.e.Keys.Data,
		KeySize: o.form.KeySize, Ops: o.e.Ops, Op: uint32(o.e.Op)}
}

// items are the changes in order.
func (o *order) items() (kernels.TreeItems, error) {
	x := o.unsorted()
	if o.e.Sorted || o.facts.Fallen == 0 {
		if o.e.Sorted {
			x.Distinct = 1
		}
		return x, nil
	}
	if o.one() {
		return x, o.plain(&x)
	}
	return x, o.numbered(&x)
}

// plain sorts keys of one word with their rows.
func (o *order) plain(x *kernels.TreeItems) error {
	word, row := o.form.Word(), 8
	if o.rows32() {
		row = 4
	}
	// Rows that fall are sorted by first: then changes have numbers.
	if o.facts.RowsFall != 0 {
		return o.numbered(x)
	}
	first, last := o.differ(0)
	r := kernels.Radix{Key: word, Value: row, First: first, Last: last}
	var keys, rows [2]device.Ptr
	var p places
	for i := range 2 {
		p.add(&keys[i], word*o.n)
		p.add(&rows[i], row*o.n)
	}
	p.add(&o.scratch, r.Bytes(o.n))
	if err := o.room.take(&p); err != nil {
		return err
	}
	from := o.e.Rows
	if row == 4 {
		from, x.Rows32 = o.low, 1
	}
	// The caller's memory stays as it is.
	side, err := r.SortFrom(o.s, o.e.Keys.Data, from, keys, rows, o.scratch, o.n)
	if err != nil {
		return err
	}
	x.Words, x.Stride, x.Rows = keys[side], uint32(word), rows[side]
	return nil
}

// numbered sorts the numbers of changes.
func (o *order) numbered(x *kernels.TreeItems) error {
	var p places
	var words, rows device.Ptr
	for i := range 2 {
		p.add(&o.sorts[i], 8*o.n)
		p.add(&o.numbers[i], 4*o.n)
	}
	p.add(&words, o.form.Word()*o.n)
	p.add(&rows, 8*o.n)
	p.add(&o.scratch, kernels.WholeKey(8, 4).Bytes(o.n))
	if err := o.room.take(&p); err != nil {
		return err
	}
	k := kernels.TreeKeys{Form: o.form, Keys: o.e.Keys.Data, Rows: o.e.Rows}
	if err := o.start(); err != nil {
		return err
	}
	if o.facts.RowsFall != 0 {
		if err := o.by(&k, o.words); err != nil {
			return err
		}
	}
	if o.facts.Tails != 0 {
		if err := o.byTails(&k); err != nil {
			return err
		}
	}
	for w := o.words - 1; w >= 0; w-- {
		if err := o.by(&k, w); err != nil {
			return err
		}
	}
	x.Index = o.numbers[o.side]
	x.Words, x.Stride, x.Rows = words, uint32(o.form.Word()), rows
	k.Index, k.Out, k.Word = x.Index, words, 0
	if err := k.Words(o.s, o.n); err != nil {
		return err
	}
	k.Out, k.Word = rows, uint32(o.words)
	return k.Words(o.s, o.n)
}

// start numbers the changes as they came.
func (o *order) start() error {
	k := kernels.TreeRing{To: o.numbers[0], ToMask: 1<<32 - 1, Head: uint64(o.n), N: uint64(o.n)}
	return k.Move(o.s, o.n)
}

// by sorts the numbers by a word, which for keys is the row.
func (o *order) by(k *kernels.TreeKeys, word int) error {
	first, last := o.differ(word)
	if first == last {
		return nil
	}
	r := kernels.Radix{Key: 8, Value: 4, First: first, Last: last}
	if word == 0 {
		r.Key = o.form.Word()
	}
	k.Index, k.Out, k.Word = o.numbers[o.side], o.sorts[0], uint32(word)
	if err := k.Words(o.s, o.n); err != nil {
		return err
	}
	side, err := r.Sort(o.s, o.sorts, [2]device.Ptr{o.numbers[o.side], o.numbers[1-o.side]}, o.scratch, o.n)
	o.side ^= side
	return err
}

// byTails merges runs of numbers by the tails of their keys.
func (o *order) byTails(k *kernels.TreeKeys) error {
	for width := 1; width < o.n; width *= 2 {
		k.Index, k.Out, k.Width = o.numbers[o.side], o.numbers[1-o.side], uint32(width)
		if err := k.Merge(o.s, o.n); err != nil {
			return err
		}
		o.side = 1 - o.side
	}
	return nil
}
