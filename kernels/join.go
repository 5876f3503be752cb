package kernels

import (
	"encoding/binary"
	"math/bits"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// JoinTable finds the rows of one side of a join that have a key.
//
// Rows with the same key are linked in ascending order: a look-up gives the
// first, and Pairs follows the links. There are three forms of table:
//
//	direct       first row by key - lowest key, for one integer key of dense values
//	word, pair   slot = {key, row+1}
//	columns      slot = {high half of the hash, row+1}; keys compared column by column
//
// Once built it does not change, and any number of goroutines may look up.
type JoinTable struct {
	mem    device.Allocator
	layout KeyLayout
	zero   bool

	rows   int
	keys   []Vec // of the rows; they must outlive the table
	direct bool
	base   int64
	span   uint64
	slots  *device.Buffer
	mask   uint64
	next   *device.Buffer // next row+1 with the same key
}

// NewJoinTable makes an empty table. hashZero makes all keys collide, when they
// are few enough: see collisions.
func NewJoinTable(m device.Allocator, l KeyLayout, hashZero bool) *JoinTable {
	return &JoinTable{mem: m, layout: l, zero: hashZero}
}

type joinArgs struct {
	Key           Vec        // direct: the key
	Keys, Hashes  device.Ptr // packed keys
	Skip          device.Ptr // bitmap of the rows that may match, or 0
	Slots, Next   device.Ptr
	Mask, Span    uint64
	Base          int64
	Heads         device.Ptr
	Columns       []keyColumn
	First         uint32 // build: the number of the first row
	_             uint32
	Low           device.Ptr
	Probes, Build device.Ptr
	Cursor        device.Ptr
	Cap           int64
}

// JoinTableBytes is how much memory a table of n rows takes at most.
func JoinTableBytes(l KeyLayout, n int) int64 {
	return int64(4*n) + int64(l.slotBytes())<<bits.Len(uint(n*2)) + int64(n*(l.Width()+8))
}

// Build indexes n rows by keys, flat vectors; rows that are 0 in the bitmap
// match (0: none) are left out.
func (t *JoinTable) Build(s device.Stream, keys []Vec, n int, match device.Ptr) error {
	if ok, err := t.begin(s, keys, n, match); !ok || err != nil {
		return err
	}
	if t.direct {
		return PiecesBack(s, n, func(lo, hi int) error {
			return device.Launch(s, directBuildKernels[t.layout.Phys[0]], hi-lo, t.directPiece(lo, match))
		})
	}
	var scratch Array
	defer scratch.Release()
	k := joinBuildKernels[t.layout.Form]
	return PiecesBack(s, n, func(lo, hi int) error {
		a, err := t.hashed(s, t.piece(lo), hi-lo, bitsFrom(match, lo), &scratch)
		if err != nil {
			return err
		}
		a.First, a.Next = uint32(lo), a.Next+device.Ptr(lo*4)
		return device.Launch(s, k, hi-lo, a)
	})
}

// begin makes room for n rows, and decides on the form; false: there are none.
func (t *JoinTable) begin(s device.Stream, keys []Vec, n int, match device.Ptr) (bool, error) {
	t.rows, t.keys = n, keys
	t.zero = t.zero && n <= collidingKeys
	if n == 0 {
		return false, nil
	}
	next, err := t.mem.Alloc(n * 4)
	if err != nil {
		return false, err
	}
	t.next = next
	if len(t.layout.Phys) == 1 && !t.zero && !t.layout.nullBit[0] && rangeKernels[t.layout.Phys[0]] != nil {
		if err := t.tryDirect(s, n, match); t.direct || err != nil {
			return true, err
		}
	}
	slots := 1 << bits.Len(uint(n*2))
	if t.slots, err = t.mem.Alloc(slots * t.layout.slotBytes()); err != nil {
		return false, err
	}
	t.mask = uint64(slots - 1)
	return true, Zero(s, t.slots.Ptr(), slots*t.layout.slotBytes())
}

// piece is the keys from row lo on.
func (t *JoinTable) piece(lo int) []Vec {
	keys := make([]Vec, len(t.keys))
	for i := range keys {
		keys[i] = t.keys[i].from(lo, t.layout.Phys[i].Width())
	}
	return keys
}

// hashed packs and hashes n keys into scratch.
func (t *JoinTable) hashed(s device.Stream, keys []Vec, n int, match device.Ptr, scratch *Array) (joinArgs, error) {
	w := t.layout.Width()
	if err := scratch.Extend(t.mem, s, 0, n*(w+8)); err != nil {
		return joinArgs{}, err
	}
	return t.hashedTo(s, keys, n, match, scratch.Ptr(), scratch.Ptr()+device.Ptr(n*w))
}

// hashedTo packs n keys to packed, if the form packs them, and hashes them.
func (t *JoinTable) hashedTo(s device.Stream, keys []Vec, n int, match, packed, hashes device.Ptr) (joinArgs, error) {
	a := joinArgs{Skip: match, Slots: t.slots.Ptr(), Next: t.next.Ptr(), Mask: t.mask, Hashes: hashes}
	if t.layout.Width() > 0 {
		a.Keys = packed
		if err := t.layout.Pack(s, keys, n, a.Keys); err != nil {
			return a, err
		}
	} else {
		a.Columns = t.compared(keys)
	}
	return a, t.layout.Hash(s, keys, a.Keys, n, a.Hashes, t.zero)
}

// compared is what keys that are not packed are compared by, column by column.
func (t *JoinTable) compared(keys []Vec) []keyColumn {
	columns := make([]keyColumn, len(keys))
	for i := range keys {
		columns[i] = keyColumn{Src: keys[i], Dst: t.keys[i], Phys: t.layout.Phys[i]}
	}
	return columns
}

// Hash writes the hashes of n keys to out, from the packed keys when there are.
func (l *KeyLayout) Hash(s device.Stream, keys []Vec, packed device.Ptr, n int, out device.Ptr, zero bool) error {
	switch {
	case zero:
		return HashZero(s, n, out)
	case packed == 0:
		return Hash(s, keys, l.Phys, n, out)
	case l.Form == KeyWord:
		return Hash(s, []Vec{{Data: packed}}, []sqltype.Phys{sqltype.PhysI64}, n, out)
	default:
		return Hash(s, []Vec{{Data: packed}}, []sqltype.Phys{sqltype.PhysI128}, n, out)
	}
}

// directSlack is how many slots a row may cost in a direct table; they are 4
// bytes, and a slot of a hash table is 16, twice a row.
const directSlack = 16

// tryDirect makes room for a direct table if its keys are dense enough.
func (t *JoinTable) tryDirect(s device.Stream, n int, match device.Ptr) error {
	b, err := t.mem.Alloc(64)
	if err != nil {
		return err
	}
	defer b.Release()
	low, high, err := keyRange(s, t.keys[0], t.layout.Phys[0], n, match, b.Ptr())
	if err != nil {
		return err
	}
	if low > high {
		low, high = 0, 0
	}
	span := uint64(high) - uint64(low)
	if span >= uint64(n)*directSlack+1024 {
		return nil
	}
	t.direct, t.base, t.span = true, low, span+1
	if t.slots, err = t.mem.Alloc(int(t.span) * 4); err != nil {
		return err
	}
	return Zero(s, t.slots.Ptr(), int(t.span)*4)
}

// directPiece is how the rows from lo on go to a direct table.
func (t *JoinTable) directPiece(lo int, match device.Ptr) joinArgs {
	return joinArgs{Key: t.keys[0].from(lo, t.layout.Phys[0].Width()), Skip: bitsFrom(match, lo), Slots: t.slots.Ptr(),
		Next: t.next.Ptr() + device.Ptr(lo*4), Base: t.base, Span: t.span, First: uint32(lo)}
}

// Heads writes for each of n keys the first row+1 with that key, 0 for none,
// to heads (uint32). match is as in Build. scratch is the caller's.
func (t *JoinTable) Heads(s device.Stream, keys []Vec, n int, match, heads device.Ptr, scratch *Array) error {
	if t.rows == 0 {
		return Zero(s, heads, n*4)
	}
	if t.direct {
		return device.Launch(s, directProbeKernels[t.layout.Phys[0]], n, joinArgs{Key: keys[0], Skip: match,
			Slots: t.slots.Ptr(), Base: t.base, Span: t.span, Heads: heads})
	}
	a, err := t.hashed(s, keys, n, match, scratch)
	if err != nil {
		return err
	}
	a.Heads = heads
	return device.Launch(s, joinProbeKernels[t.layout.Form], n, a)
}

// PairCursor is where Pairs goes on: probe row Row, at build row Build-1 (0:
// its first). Cursor memory is 24 bytes: Row, Build, pairs written.
type PairCursor struct{ Row, Build, N uint64 }

// Pairs writes at most limit pairs of probe row and build row (uint32) from
// cursor on, and the number written to the cursor; all n probe rows are done
// when the cursor's Row is n.
func (t *JoinTable) Pairs(s device.Stream, heads device.Ptr, n, limit int, probes, build, cursor device.Ptr) (PairCursor, error) {
	a := joinArgs{Heads: heads, Probes: probes, Build: build, Cursor: cursor, Cap: int64(limit)}
	if t.next != nil {
		a.Next = t.next.Ptr()
	}
	var c [24]byte
	if err := device.Launch(s, joinPairs, n, a); err != nil {
		return PairCursor{}, err
	}
	if err := s.Download(c[:], cursor); err != nil {
		return PairCursor{}, err
	}
	le := binary.LittleEndian
	return PairCursor{le.Uint64(c[:]), le.Uint64(c[8:]), le.Uint64(c[16:])}, nil
}

// Release gives all memory back.
func (t *JoinTable) Release() {
	t.slots.Release()
	t.next.Release()
	t.slots, t.next = nil, nil
}

func joinPairsHost(a *joinArgs, lo, hi int) {
	heads := device.View[uint32](a.Heads, hi)
	next := device.View[uint32](a.Next, maxRows)
	probes := device.View[uint32](a.Probes, int(a.Cap))
	build := device.View[uint32](a.Build, int(a.Cap))
	cur := &device.View[PairCursor](a.Cursor, 1)[0]
	k := 0
	i := int(cur.Row)
	b := uint32(cur.Build)
	if b == 0 && i < hi {
		b = heads[i]
	}
	for i < hi {
		for b != 0 {
			if k == len(probes) {
				*cur = PairCursor{uint64(i), uint64(b), uint64(k)}
				return
			}
			probes[k], build[k] = uint32(i), b-1
			k++
			b = next[b-1]
		}
		i++
		if i < hi {
			b = heads[i]
		}
	}
	*cur = PairCursor{uint64(hi), 0, uint64(k)}
}
