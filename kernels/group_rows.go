package kernels

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// rows is the layout for keys that stay together row by row, in words:
//
//	texts and 128-bit numbers take two words each, a NULL text is all ones;
//	other columns share words, as in a packed key;
//	a column that may be NULL and is no text has a bit, which is 1 for NULL
//
// A group's key is then in one line of the cache or two, where columns of their
// own cost one each. Equal keys are equal words, unless a text is long: that is
// compared by content. On a GPU columns are better, since its threads read the
// same column of many rows; false when a column's equality is not that of words.
func (l KeyLayout) rows() (KeyLayout, bool) {
	n := len(l.Phys)
	r := KeyLayout{Form: KeyRow, Phys: l.Phys, nullBit: l.nullBit, word: make([]uint8, n), shift: make([]uint8, n), nullAt: make([]int16, n)}
	var used []int // bits of each word
	place := func(bits int) (word, shift int) {
		for word < len(used) && used[word]+bits > 64 {
			word++
		}
		if word == len(used) {
			used = append(used, 0)
		}
		shift = used[word]
		used[word] += bits
		return word, shift
	}
	for i, p := range l.Phys {
		switch p {
		case sqltype.PhysSpan:
			return l, false
		case sqltype.PhysStr, sqltype.PhysI128:
			r.word[i] = uint8(len(used))
			used = append(used, 64, 64)
			if p == sqltype.PhysStr {
				r.addresses |= 2 << r.word[i]
			}
		default:
			word, shift := place(8 * p.Width())
			r.word[i], r.shift[i] = uint8(word), uint8(shift)
		}
		if len(used) > maxRowWords-1 {
			return l, false
		}
	}
	for i, p := range l.Phys {
		r.nullAt[i] = -1
		if l.nullBit[i] && p != sqltype.PhysStr {
			word, shift := place(1)
			r.nullAt[i] = int16(word<<6 | shift)
		}
	}
	r.words = len(used)
	return r, r.words <= maxRowWords
}

// maxRowWords is how many words a key may have to be kept row by row: addresses has a bit for each.
const maxRowWords = 64

// nullText is each word of a NULL text: no text is so long.
const nullText = ^uint64(0)

type rowArgs struct {
	Src    Vec
	Out    device.Ptr // rows
	Stride uint32     // words of a row
	Word   uint32
	Shift  uint8
	First  uint8 // 1: the word is set, not added to
}

var (
	packText    = &device.Kernel[rowArgs]{Name: "pack_text", Host: packTextHost}
	packWide    = &device.Kernel[rowArgs]{Name: "pack_wide", Host: packWideHost}
	packNulls   = &device.Kernel[rowArgs]{Name: "pack_nulls", Host: packNullsHost}
	unpackText  = &device.Kernel[rowArgs]{Name: "unpack_text", Host: unpackTextHost}
	unpackWide  = &device.Kernel[rowArgs]{Name: "unpack_wide", Host: unpackWideHost}
	unpackNulls = &device.Kernel[rowArgs]{Name: "unpack_nulls", Host: unpackNullsHost}
)

// wideKernel is what packs or unpacks a column of two words; nil for others.
func wideKernel(p sqltype.Phys, text, wide *device.Kernel[rowArgs]) *device.Kernel[rowArgs] {
	switch p {
	case sqltype.PhysStr:
		return text
	case sqltype.PhysI128:
		return wide
	default:
		return nil
	}
}

func (l *KeyLayout) rowArgs(i int, col Vec, rows device.Ptr) rowArgs {
	return rowArgs{Src: col, Out: rows, Stride: uint32(l.words), Word: uint32(l.word[i])}
}

// nullArgs is for the bits of the NULLs of column i.
func (l *KeyLayout) nullArgs(i int, col Vec, rows device.Ptr) rowArgs {
	a := l.rowArgs(i, col, rows)
	a.Word, a.Shift = uint32(l.nullAt[i]>>6), uint8(l.nullAt[i]&63)
	if a.Shift == 0 {
		a.First = 1
	}
	return a
}

// packRows writes the keys of n rows to out.
func (l *KeyLayout) packRows(s device.Stream, cols []Vec, n int, out device.Ptr) error {
	for i, c := range cols {
		var err error
		if k := wideKernel(l.Phys[i], packText, packWide); k != nil {
			err = device.Launch(s, k, n, l.rowArgs(i, c, out))
		} else {
			a := l.args(i)
			a.Src, a.Out = c, out
			err = device.Launch(s, packKernels[l.Phys[i]], n, a)
		}
		if err != nil {
			return err
		}
	}
	for i, c := range cols {
		if l.nullAt[i] >= 0 {
			if err := device.Launch(s, packNulls, n, l.nullArgs(i, c, out)); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpackRows writes column i of n rows to dst, which has a bitmap.
func (l *KeyLayout) unpackRows(s device.Stream, i int, rows device.Ptr, n int, dst Vec) error {
	if k := wideKernel(l.Phys[i], unpackText, unpackWide); k != nil {
		if err := device.Launch(s, k, n, l.rowArgs(i, dst, rows)); err != nil {
			return err
		}
	} else {
		a := l.args(i)
		a.Src, a.Out = dst, rows
		if err := device.Launch(s, unpackKernels[l.Phys[i].Width()], n, a); err != nil {
			return err
		}
	}
	if l.nullAt[i] < 0 {
		return nil
	}
	return device.Launch(s, unpackNulls, n, l.nullArgs(i, dst, rows))
}

func packTextHost(a *rowArgs, lo, hi int) {
	stride, word := int(a.Stride), int(a.Word)
	out := device.View[uint64](a.Out, hi*stride)
	null := View{nullText, nullText}
	for i := range hi {
		v := &null
		if !a.Src.isNull(i) {
			v = a.Src.str(i)
		}
		out[i*stride+word], out[i*stride+word+1] = v.Lo, v.Hi
	}
}

func unpackTextHost(a *rowArgs, lo, hi int) {
	stride, word := int(a.Stride), int(a.Word)
	rows := device.View[uint64](a.Out, hi*stride)
	views := device.View[View](a.Src.Data, hi)
	valid := device.View[uint64](a.Src.Valid, (hi+63)/64)
	clear(valid)
	for i := range views {
		v := View{rows[i*stride+word], rows[i*stride+word+1]}
		if v.Lo == nullText {
			views[i] = View{}
			continue
		}
		views[i] = v
		valid[i>>6] |= 1 << (i & 63)
	}
}

func packWideHost(a *rowArgs, lo, hi int) {
	stride, word := int(a.Stride), int(a.Word)
	out := device.View[uint64](a.Out, hi*stride)
	for i, v := range device.View[[2]uint64](a.Src.Data, hi) {
		if a.Src.isNull(i) {
			v = [2]uint64{}
		}
		out[i*stride+word], out[i*stride+word+1] = v[0], v[1]
	}
}

func unpackWideHost(a *rowArgs, lo, hi int) {
	stride, word := int(a.Stride), int(a.Word)
	rows := device.View[uint64](a.Out, hi*stride)
	dst := device.View[[2]uint64](a.Src.Data, hi)
	for i := range dst {
		dst[i] = [2]uint64(rows[i*stride+word:])
	}
	setBits(device.View[uint64](a.Src.Valid, (hi+63)/64), hi)
}

// setBits sets the first n bits and clears the rest of the last word.
func setBits(words []uint64, n int) {
	for i := range words {
		words[i] = ^uint64(0)
	}
	if n&63 != 0 {
		words[len(words)-1] = 1<<(n&63) - 1
	}
}

func packNullsHost(a *rowArgs, lo, hi int) {
	stride, at := int(a.Stride), int(a.Word)
	out := device.View[uint64](a.Out, hi*stride)
	valid := device.View[uint64](a.Src.Valid, (hi+63)/64)
	if valid == nil {
		if a.First != 0 {
			for i := at; i < len(out); i += stride {
				out[i] = 0
			}
		}
		return
	}
	for i, j := 0, at; i < hi; i, j = i+1, j+stride {
		bit := (^valid[i>>6] >> (i & 63) & 1) << a.Shift
		if a.First != 0 {
			out[j] = bit
		} else {
			out[j] |= bit
		}
	}
}

func unpackNullsHost(a *rowArgs, lo, hi int) {
	stride, at := int(a.Stride), int(a.Word)
	rows := device.View[uint64](a.Out, hi*stride)
	valid := device.View[uint64](a.Src.Valid, (hi+63)/64)
	clear(valid)
	for i := range hi {
		valid[i>>6] |= (^rows[i*stride+at] >> a.Shift & 1) << (i & 63)
	}
}

type findRowArgs struct {
	Rows, Hashes, IDs      device.Ptr // of the batch
	Slots, Count           device.Ptr
	GroupRows, GroupHashes device.Ptr
	Mask                   uint64
	Words                  uint32
	Addresses              uint64 // see KeyLayout
}

var (
	findRows = &device.Kernel[findRowArgs]{Name: "group_rows", Host: findRowsHost}
	rowBytes = &device.Kernel[ownRowArgs]{Name: "row_bytes", Host: rowBytesHost}
	ownRows  = &device.Kernel[ownRowArgs]{Name: "own_rows", Host: ownRowsHost}
)

// findRowChunk keys are packed, hashed and looked up before the next ones are: they stay in the cache.
const findRowChunk = 2048

// findByRows looks up n keys that are kept row by row; there is room for new ones.
func (g *Groups) findByRows(s device.Stream, keys []Vec, n int, ids device.Ptr) error {
	words := g.layout.words
	part := make([]Vec, len(keys))
	return piecesOf(findRowChunk, n, func(lo, hi int) error {
		m := hi - lo
		for i := range keys {
			part[i] = keys[i].from(lo, g.layout.Phys[i].Width())
		}
		a := g.rowFinder()
		a.Rows, a.Hashes, a.IDs = g.batch.Ptr(), g.batch.Ptr()+device.Ptr(8*words*findRowChunk), ids+device.Ptr(4*lo)
		if err := g.layout.packRows(s, part, m, a.Rows); err != nil {
			return err
		}
		if err := g.layout.Hash(s, part, 0, m, a.Hashes, g.zero.now); err != nil {
			return err
		}
		return device.Launch(s, findRows, m, a)
	})
}

// rowFinder is what the table itself contributes to a launch.
func (g *Groups) rowFinder() findRowArgs {
	return findRowArgs{Slots: g.slots.Ptr(), Mask: g.mask, Count: g.ctl.Ptr(), GroupRows: g.packed.Ptr(), GroupHashes: g.hashes.Ptr(),
		Words: uint32(g.layout.words), Addresses: g.layout.addresses}
}

// findRowsHost reads the slots of a run of keys before it compares any, since
// those reads wait for memory together; so do the keys of the groups, whose
// comparisons do not depend on each other.
func findRowsHost(a *findRowArgs, lo, hi int) {
	words := int(a.Words)
	rows := device.View[uint64](a.Rows, hi*words)
	hashes := device.View[uint64](a.Hashes, hi)
	ids := device.View[uint32](a.IDs, hi)
	slots := device.View[uint64](a.Slots, int(a.Mask)+1)
	count := &device.View[uint64](a.Count, 1)[0]
	groups := device.View[uint64](a.GroupRows, maxRows)
	groupHashes := device.View[uint64](a.GroupHashes, maxRows)
	n := uint32(*count)
	var first [256]uint64
	for lo := 0; lo < hi; lo += len(first) {
		some := hashes[lo:min(hi, lo+len(first))]
		for j, h := range some {
			first[j] = slots[h&a.Mask]
		}
		for j, h := range some {
			i := lo + j
			row := rows[i*words:][:words]
			if s := first[j]; s != 0 && (s^h)>>32 == 0 {
				g := uint32(s) - 1
				if sameRow(row, groups[int(g)*words:][:words], a.Addresses) {
					ids[i] = g
					continue
				}
			}
			for p := h & a.Mask; ; p = (p + 1) & a.Mask {
				s := slots[p]
				if s == 0 {
					slots[p] = h&^(1<<32-1) | uint64(n+1)
					copy(groups[int(n)*words:][:words], row)
					groupHashes[n] = h
					ids[i] = n
					n++
					break
				}
				if g := uint32(s) - 1; (s^h)>>32 == 0 && sameRow(row, groups[int(g)*words:][:words], a.Addresses) {
					ids[i] = g
					break
				}
			}
		}
	}
	*count = uint64(n)
}

// sameRow compares two keys, whose long texts' addresses are the words of these bits.
func sameRow(x, y []uint64, addresses uint64) bool {
	y = y[:len(x)]
	var differ uint64
	for k, w := range x {
		differ |= w ^ y[k]
	}
	return differ == 0 || addresses != 0 && sameTexts(x, y, addresses)
}

// sameTexts compares two keys of which some word differs.
func sameTexts(x, y []uint64, addresses uint64) bool {
	for k, w := range x {
		if w == y[k] {
			continue
		}
		if addresses>>k&1 == 0 {
			return false
		}
		v, u := View{x[k-1], w}, View{y[k-1], y[k]}
		if !sameString(&v, &u) {
			return false
		}
	}
	return true
}

type ownRowArgs struct {
	Rows      device.Ptr
	Words     uint32
	Addresses uint64
	Base      device.Ptr // where the bytes go
	Size      device.Ptr // where their number is written
}

// ownTexts copies the long texts of the groups from the first on to the heap.
func (g *Groups) ownTexts(s device.Stream, first int) error {
	if g.layout.addresses == 0 {
		return nil
	}
	words, n := g.layout.words, g.n-first
	a := ownRowArgs{Rows: g.packed.Ptr() + device.Ptr(8*words*first), Words: uint32(words), Addresses: g.layout.addresses, Size: g.ctl.Ptr() + 8}
	if err := device.Launch(s, rowBytes, n, a); err != nil {
		return err
	}
	size, err := readCount(s, a.Size)
	if size == 0 || err != nil {
		return err
	}
	if _, a.Base, err = g.heap.Grab(size); err != nil {
		return err
	}
	return device.Launch(s, ownRows, n, a)
}

// eachAddress calls f with the two words of each long text of n rows.
func (a *ownRowArgs) eachAddress(n int, f func(lo uint64, hi *uint64)) {
	words := int(a.Words)
	rows := device.View[uint64](a.Rows, n*words)
	for k := range words {
		if a.Addresses>>k&1 == 0 {
			continue
		}
		for i := k; i < len(rows); i += words {
			if lo := rows[i-1]; uint32(lo) > InlineLen && lo != nullText {
				f(lo, &rows[i])
			}
		}
	}
}

func rowBytesHost(a *ownRowArgs, lo, hi int) {
	var sum uint64
	a.eachAddress(hi, func(lo uint64, _ *uint64) { sum += uint64(uint32(lo)) })
	device.View[uint64](a.Size, 1)[0] = sum
}

func ownRowsHost(a *ownRowArgs, lo, hi int) {
	next := a.Base
	a.eachAddress(hi, func(lo uint64, at *uint64) {
		n := int(uint32(lo))
		copy(device.View[byte](next, n), device.View[byte](device.Ptr(*at), n))
		*at = uint64(next)
		next += device.Ptr(n)
	})
}
