package kernels

import (
	"math/bits"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// A table is built by several workers by parts of its slots, each linked by one of
// them and small enough for its cache. All that is half as much work again as one
// worker's Build has, or less where the table is larger than all caches.
//
//	rows     │ worker 0's │ worker 1's │ ...      hashed and counted by part, then
//	              │              │                 hashed again and copied to their parts
//	entries  │ part 0 │ part 1 │ part 2 │ ...      hash, key, row: ascending by row
//	              │ linked backwards
//	slots    │ part 0 │ part 1 │ part 2 │ ...
//	                  └──▶ rows whose way leads out of their part are late, and are
//	                       linked by one worker when the others have ended
//
// A key is late with all of its rows that come after the one that found no place,
// since slots do not empty: the rows of a key are linked in the order that one
// worker gives them.

const (
	partBytes = 1 << 18 // of slots, for a part
	maxParts  = 1 << 10
)

// Workers has f run once for each of 0 to n-1, by as many workers, each with a
// stream of its own.
type Workers func(n int, f func(s device.Stream, i int) error) error

// joinPartArgs is what the steps of building by parts take. They are for devices
// that are the host.
type joinPartArgs struct {
	joinArgs
	shift   uint     // of a hash's place, to its part
	at      []uint32 // counting: rows by part; copying: where the next one goes
	entries partEntries
	end     uint64 // linking: of the part's slots
	late    []uint64
}

// partEntries are rows by part.
type partEntries struct{ hashes, keys, rows device.Ptr }

func hostKernel(name string, body func(a *joinPartArgs, n int)) *device.Kernel[joinPartArgs] {
	return &device.Kernel[joinPartArgs]{Name: name, Host: func(a *joinPartArgs, _, n int) { body(a, n) }}
}

var (
	partCount  = hostKernel("join_part_count", partCountHost)
	partCopies = map[KeyForm]*device.Kernel[joinPartArgs]{
		KeyWord:    hostKernel("join_part_copy_word", partCopyHost[uint64]),
		KeyPair:    hostKernel("join_part_copy_pair", partCopyHost[[2]uint64]),
		KeyColumns: hostKernel("join_part_copy", partCopyHost[struct{}]),
	}
	partLinks = map[KeyForm]*device.Kernel[joinPartArgs]{
		KeyWord:    hostKernel("join_part_link_word", partLinkHost[uint64]),
		KeyPair:    hostKernel("join_part_link_pair", partLinkHost[[2]uint64]),
		KeyColumns: hostKernel("join_part_link_columns", partLinkColumnsHost),
	}
	directLink  = hostKernel("join_part_link_direct", directLinkHost)
	directPlace = [sqltype.NumPhys]*device.Kernel[joinPartArgs]{
		sqltype.PhysI8:  hostKernel("join_part_place", directPlaceHost[int8]),
		sqltype.PhysI16: hostKernel("join_part_place", directPlaceHost[int16]),
		sqltype.PhysI32: hostKernel("join_part_place", directPlaceHost[int32]),
		sqltype.PhysI64: hostKernel("join_part_place", directPlaceHost[int64]),
	}
)

// BuildBy is Build by several workers, on a device that is the host.
func (t *JoinTable) BuildBy(s device.Stream, keys []Vec, n int, match device.Ptr, workers int, by Workers) error {
	if ok, err := t.begin(s, keys, n, match); !ok || err != nil {
		return err
	}
	b := partBuild{t: t, n: n, match: match, w: t.layout.Width()}
	slots, size := t.span, 4
	if t.direct {
		b.w = 0
	} else {
		slots, size = t.mask+1, t.layout.slotBytes()
	}
	b.slots = slots
	b.shift = uint(max(0, bits.Len64(slots-1)-bits.Len(uint(min(maxParts, int(slots)*size/partBytes)))))
	parts := int((slots-1)>>b.shift) + 1
	room, err := t.mem.Alloc(n*(8+b.w+4) + 8 + BitmapBytes(n))
	if err != nil {
		return err
	}
	defer room.Release()
	b.entries = partEntries{hashes: room.Ptr(), keys: room.Ptr() + device.Ptr(8*n), rows: room.Ptr() + device.Ptr((8+b.w)*n)}
	late := b.entries.rows + device.Ptr((4*n+7)&^7)
	b.late = device.View[uint64](late, BitmapBytes(n)/8)
	clear(b.late)

	at := make([][]uint32, workers)
	if err := by(workers, func(s device.Stream, i int) error {
		at[i] = make([]uint32, parts)
		return b.rows(s, i, workers, at[i], partCount)
	}); err != nil {
		return err
	}
	from := make([]int, parts+1)
	sum := uint32(0)
	for p := range parts {
		from[p] = int(sum)
		for i := range at {
			at[i][p], sum = sum, sum+at[i][p]
		}
	}
	from[parts] = int(sum)
	form := t.layout.Form
	copying, link := partCopies[form], partLinks[form]
	if t.direct {
		copying, link = partCopies[KeyColumns], directLink
	}
	if err := by(workers, func(s device.Stream, i int) error { return b.rows(s, i, workers, at[i], copying) }); err != nil {
		return err
	}
	var next atomic.Int64
	if err := by(workers, func(s device.Stream, _ int) error {
		for p := int(next.Add(1) - 1); p < parts; p = int(next.Add(1) - 1) {
			if err := b.link(s, link, p, from[p], from[p+1]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil || t.direct {
		return err
	}
	var scratch Array
	defer scratch.Release()
	return PiecesBack(s, n, func(lo, hi int) error {
		if CountBits(b.late[lo/64:], hi-lo) == 0 {
			return nil
		}
		a, err := t.hashed(s, t.piece(lo), hi-lo, bitsFrom(late, lo), &scratch)
		if err != nil {
			return err
		}
		a.First, a.Next = uint32(lo), a.Next+device.Ptr(lo*4)
		return device.Launch(s, joinBuildKernels[form], hi-lo, a)
	})
}

// partBuild is a table that is built by parts.
type partBuild struct {
	t       *JoinTable
	n, w    int // rows, bytes of a packed key that an entry has
	match   device.Ptr
	slots   uint64
	shift   uint
	entries partEntries
	late    []uint64 // a bit a row
}

// rows has a step see the hashes of a worker's rows, piece by piece.
func (b *partBuild) rows(s device.Stream, worker, workers int, at []uint32, step *device.Kernel[joinPartArgs]) error {
	each := (b.n/workers + 64) &^ 63
	from, to := min(b.n, each*worker), min(b.n, each*(worker+1))
	var scratch Array
	defer scratch.Release()
	return Pieces(s, to-from, func(lo, hi int) error {
		lo, hi = from+lo, from+hi
		a := joinPartArgs{shift: b.shift, at: at, entries: b.entries}
		var err error
		if b.t.direct {
			if err = scratch.Extend(b.t.mem, s, 0, 8*(hi-lo)); err != nil {
				return err
			}
			a.joinArgs = b.t.directPiece(lo, b.match)
			a.Hashes, a.Mask = scratch.Ptr(), ^uint64(0)
			err = device.Launch(s, directPlace[b.t.layout.Phys[0]], hi-lo, a)
		} else {
			a.joinArgs, err = b.t.hashed(s, b.t.piece(lo), hi-lo, bitsFrom(b.match, lo), &scratch)
			a.First = uint32(lo)
		}
		if err != nil {
			return err
		}
		return device.Launch(s, step, hi-lo, a)
	})
}

// link links the entries from from to to, those of a part.
func (b *partBuild) link(s device.Stream, step *device.Kernel[joinPartArgs], part, from, to int) error {
	t := b.t
	a := joinPartArgs{joinArgs: joinArgs{Slots: t.slots.Ptr(), Next: t.next.Ptr(), Mask: t.mask, Span: b.slots, Cap: int64(b.n)}, late: b.late,
		end: min(b.slots, uint64(part+1)<<b.shift)}
	if b.w == 0 && !t.direct {
		a.Columns = t.compared(t.keys)
	}
	return PiecesBack(s, to-from, func(lo, hi int) error {
		e := from + lo
		a.entries = partEntries{b.entries.hashes + device.Ptr(8*e), b.entries.keys + device.Ptr(b.w*e), b.entries.rows + device.Ptr(4*e)}
		return device.Launch(s, step, hi-lo, a)
	})
}

func directPlaceHost[T int8 | int16 | int32 | int64](a *joinPartArgs, n int) {
	out := device.View[uint64](a.Hashes, n)
	for i, k := range device.View[T](a.Key.Data, n) {
		out[i] = uint64(int64(k) - a.Base)
	}
}

func partCountHost(a *joinPartArgs, n int) {
	may := a.may(n)
	for i, h := range device.View[uint64](a.Hashes, n) {
		if may == nil || may[i>>6]>>(i&63)&1 != 0 {
			a.at[h&a.Mask>>a.shift]++
		}
	}
}

// partCopyHost copies to the parts the rows that may match. K is struct{} where
// keys are compared column by column, or not at all.
func partCopyHost[K packed | struct{}](a *joinPartArgs, n int) {
	keys, hashes := device.View[K](a.Keys, n), device.View[uint64](a.Hashes, n)
	outKeys, outHashes := device.View[K](a.entries.keys, maxRows), device.View[uint64](a.entries.hashes, maxRows)
	outRows := device.View[uint32](a.entries.rows, maxRows)
	may := a.may(n)
	for i, h := range hashes {
		if may != nil && may[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		part := h & a.Mask >> a.shift
		to := a.at[part]
		a.at[part] = to + 1
		outHashes[to], outRows[to] = h, a.First+uint32(i)
		if keys != nil {
			outKeys[to] = keys[i]
		}
	}
}

func partLinkHost[K packed](a *joinPartArgs, n int) {
	hashes, rows := device.View[uint64](a.entries.hashes, n), device.View[uint32](a.entries.rows, n)
	keys := device.View[K](a.entries.keys, n)
	slots := device.View[slot[K]](a.Slots, int(a.Span))[:a.end]
	next := device.View[uint32](a.Next, int(a.Cap))
	for i := n - 1; i >= 0; i-- {
		p := hashes[i] & a.Mask
		for p < a.end && slots[p].id != 0 && slots[p].key != keys[i] {
			p++
		}
		if p == a.end {
			a.leave(rows[i])
			continue
		}
		next[rows[i]] = uint32(slots[p].id)
		slots[p] = slot[K]{key: keys[i], id: uint64(rows[i]) + 1}
	}
}

func partLinkColumnsHost(a *joinPartArgs, n int) {
	hashes, rows := device.View[uint64](a.entries.hashes, n), device.View[uint32](a.entries.rows, n)
	slots := device.View[uint64](a.Slots, int(a.Span))[:a.end]
	next := device.View[uint32](a.Next, int(a.Cap))
	for i := n - 1; i >= 0; i-- {
		tag := hashes[i] &^ (1<<32 - 1)
		p := hashes[i] & a.Mask
		for p < a.end && slots[p] != 0 && (slots[p]&^(1<<32-1) != tag || !rowIsGroup(a.Columns, int(rows[i]), int(uint32(slots[p])-1))) {
			p++
		}
		if p == a.end {
			a.leave(rows[i])
			continue
		}
		next[rows[i]] = uint32(slots[p])
		slots[p] = tag | (uint64(rows[i]) + 1)
	}
}

func directLinkHost(a *joinPartArgs, n int) {
	at, rows := device.View[uint64](a.entries.hashes, n), device.View[uint32](a.entries.rows, n)
	slots := device.View[uint32](a.Slots, int(a.Span))
	next := device.View[uint32](a.Next, int(a.Cap))
	for i := n - 1; i >= 0; i-- {
		next[rows[i]] = slots[at[i]]
		slots[at[i]] = rows[i] + 1
	}
}

// leave makes a row late. Other parts have rows in the same word.
func (a *joinPartArgs) leave(row uint32) { atomic.OrUint64(&a.late[row>>6], 1<<(row&63)) }
