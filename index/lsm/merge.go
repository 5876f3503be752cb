package lsm

import (
	"math/bits"
	"sort"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// lanes is the items of a launch that a task has: a device that is wide gives a
// task to a group of lanes, a CPU to one core.
const lanes = 64

// mergeArgs merges two sorted lists of parts into one. Task t merges part t of
// the list that has more parts with what of the other lies there:
//
//	more    | part 0        | part 1    | part 2 ...
//	fewer      | part 0                       | part 1
//	         └─ task 0 ─────┴─ task 1 ──┴─ ...        writes from entry Start of its part
//	                                                  plus the others before, to To[t]
type mergeArgs struct {
	Shape       shape
	More, Fewer device.Ptr // parts
	NMore       int64
	NFewer      int64
	NEntries    int64      // of both
	Keys, Rows  device.Ptr // room for all
	Dead        device.Ptr // room for a bit each and a word a task, cleared; 0: no entry is dead
	To          device.Ptr // the parts that are made, one a task
}

func mergeHost[W lead](a *mergeArgs, lo, hi int) {
	to := partsAt(a.To, a.NMore)
	for t := lo / lanes; t < hi/lanes; t++ {
		m := newMerger[W](a, t, &to[t])
		m.run()
		to[t].N, to[t].Gone = int64(m.n), int64(m.gone)
	}
}

// merger is one task.
type merger[W lead] struct {
	a     *mergeArgs
	more  list[W] // the task's part, from at on
	at    int
	fewer []part
	piece int // of fewer, and the entry in it
	from  int
	end   spot // of fewer

	out     list[W] // what is written; n entries are
	n, gone int
}

func newMerger[W lead](a *mergeArgs, t int, to *part) *merger[W] {
	more, fewer := partsAt(a.More, a.NMore), partsAt(a.Fewer, a.NFewer)
	m := &merger[W]{a: a, more: open[W](&a.Shape, &more[t]), fewer: fewer}
	start := more[t].Start
	m.end = spot{int32(len(fewer)), 0}
	if t+1 < len(more) {
		next := open[W](&a.Shape, &more[t+1])
		m.end = spotIn[W](&a.Shape, fewer, next.place(0))
	}
	if t > 0 {
		from := spotIn[W](&a.Shape, fewer, m.more.place(0))
		m.piece, m.from = int(from.Part), int(from.At)
	}
	if m.piece < len(fewer) {
		start += fewer[m.piece].Start + int64(m.from)
	} else if len(fewer) > 0 {
		start += fewer[len(fewer)-1].Start + fewer[len(fewer)-1].N
	}
	*to = part{Keys: a.Keys + device.Ptr(start)*device.Ptr(a.Shape.Size), Rows: a.Rows + device.Ptr(8*start)}
	room := *to
	room.N = a.NEntries - start
	if a.Dead != 0 {
		to.Dead = a.Dead + device.Ptr(8*(start/64+int64(t))) // a word that no other task writes
		room.Dead = to.Dead
	}
	m.out = open[W](&a.Shape, &room)
	return m
}

// spotIn is where a place lies in parts that may have no fences: before an
// entry of one of them, or at the end of all.
func spotIn[W lead](s *shape, parts []part, b place[W]) spot {
	i := sort.Search(len(parts), func(i int) bool {
		l := open[W](s, &parts[i])
		return !l.below(l.n-1, &b)
	})
	if i == len(parts) {
		return spot{int32(i), 0}
	}
	l := open[W](s, &parts[i])
	return spot{int32(i), int32(sort.Search(l.n, func(j int) bool { return !l.below(j, &b) }))}
}

func (m *merger[W]) run() {
	for ; m.piece <= int(m.end.Part) && m.piece < len(m.fewer); m.piece++ {
		l := open[W](&m.a.Shape, &m.fewer[m.piece])
		end := l.n
		if m.piece == int(m.end.Part) {
			end = int(m.end.At)
		}
		if m.from < end {
			m.merge(&l, m.from, end)
		}
		m.from = 0
	}
	m.copy(&m.more, m.at, m.more.n)
}

// merge merges entries from to end of l, the last of which come after what is
// left of more, or before.
func (m *merger[W]) merge(l *list[W], from, end int) {
	if m.a.Dead == 0 && m.out.step == 1 {
		from = m.mergeWords(l, from, end)
	} else {
		from = m.mergeAny(l, from, end)
	}
	m.copy(l, from, end)
}

// mergeWords is for keys of one word, and entries that are all live: then no two
// of them are equal, and (key, row) is compared as one number, without a branch.
func (m *merger[W]) mergeWords(l *list[W], from, end int) int {
	i, j, n := mergeLive(m.more.keys[m.at:], m.more.rows[m.at:], l.keys[from:end], l.rows[from:end], m.out.keys[m.n:], m.out.rows[m.n:])
	m.at += i
	m.n += n
	return from + j
}

// mergeLive merges until one of x and y or the room is used up, and returns what
// was taken of each and written. No two entries are equal.
func mergeLive[W lead](xk []W, xr []uint64, yk []W, yr []uint64, ok []W, or []uint64) (i, j, n int) {
	for i < len(xk) && j < len(yk) && n < len(ok) {
		kx, ky, rx, ry := xk[i], yk[j], xr[i], yr[j]
		_, c := bits.Sub64(ry, rx, 0)
		_, c = bits.Sub64(uint64(ky), uint64(kx), c)
		ok[n] = kx ^ (kx^ky)&W(-c)
		or[n] = rx ^ (rx^ry)&-c
		n++
		j += int(c)
		i += int(1 - c)
	}
	return i, j, n
}

// mergeAny is for all others. Two equal entries are one that is live in one list
// and taken away in the other: both go.
func (m *merger[W]) mergeAny(l *list[W], from, end int) int {
	for from < end && m.at < m.more.n {
		switch c := m.more.compare(m.at, l, from); {
		case c < 0:
			m.put(&m.more, m.at)
			m.at++
		case c > 0:
			m.put(l, from)
			from++
		default:
			m.at++
			from++
		}
	}
	return from
}

func (m *merger[W]) put(l *list[W], i int) {
	step := l.step
	if step == 1 {
		m.out.keys[m.n] = l.keys[i]
	} else {
		copy(m.out.keys[m.n*step:(m.n+1)*step], l.keys[i*step:(i+1)*step])
	}
	m.out.rows[m.n] = l.rows[i]
	if l.isDead(i) {
		m.out.dead[m.n>>6] |= 1 << (m.n & 63)
		m.gone++
	}
	m.n++
}

// copy writes entries of l that nothing else lies between.
func (m *merger[W]) copy(l *list[W], from, end int) {
	if l.dead != nil {
		for ; from < end; from++ {
			m.put(l, from)
		}
		return
	}
	if from < end {
		copy(m.out.keys[m.n*l.step:], l.keys[from*l.step:end*l.step])
		copy(m.out.rows[m.n:], l.rows[from:end])
		m.n += end - from
	}
}

// sealArgs cuts sorted parts into sealed ones, each with memory of its own:
// fences, a filter, and the bytes of tails. Task t makes part t of To, which
// says where, how many entries and, in Start, from which entry of From on.
type sealArgs struct {
	Shape    shape
	From, To device.Ptr // parts
	NFrom    int64
	NTo      int64
	Tails    device.Ptr // an address a part: where its tails go
	Sizes    device.Ptr // bytes of the tails of each part
}

func sealHost[W lead](a *sealArgs, lo, hi int) {
	from, to := partsAt(a.From, a.NFrom), partsAt(a.To, a.NTo)
	for t := lo / lanes; t < hi/lanes; t++ {
		p := &to[t]
		p.Gone = 0
		dead := device.View[uint64](p.Dead, (int(p.N)+63)/64)
		clear(dead)
		n := 0
		a.each(from, p, func(f *part, lo, hi int) {
			p.Gone += int64(copyPart[W](&a.Shape, p, n, f, lo, hi))
			n += hi - lo
		})
		if p.Gone == 0 {
			p.Dead = 0
		}
		if a.Shape.Long != 0 {
			ownTails(&a.Shape, p, device.View[device.Ptr](a.Tails, t+1)[t])
		}
		l := open[W](&a.Shape, p)
		setFences(p.Fences, l.keys, l.step, l.n)
		setFilter(&l, p)
	}
}

// each calls f with the pieces of the parts that p is made of.
func (a *sealArgs) each(from []part, p *part, f func(piece *part, lo, hi int)) {
	i := sort.Search(len(from), func(i int) bool { return from[i].Start+from[i].N > p.Start })
	for at := p.Start; at < p.Start+p.N; i++ {
		lo := at - from[i].Start
		hi := min(from[i].N, p.Start+p.N-from[i].Start)
		f(&from[i], int(lo), int(hi))
		at += hi - lo
	}
}

// copyPart copies entries lo to hi of f to entry n of p on, and returns how
// many of them are dead.
func copyPart[W lead](s *shape, p *part, n int, f *part, lo, hi int) (gone int) {
	to, l := open[W](s, p), open[W](s, f)
	copy(to.keys[n*to.step:], l.keys[lo*l.step:hi*l.step])
	copy(to.rows[n:], l.rows[lo:hi])
	if l.dead == nil {
		return 0
	}
	for i := lo; i < hi; i++ {
		if l.isDead(i) {
			to.dead[(n+i-lo)>>6] |= 1 << ((n + i - lo) & 63)
			gone++
		}
	}
	return gone
}

func setFilter[W lead](l *list[W], p *part) {
	f := device.View[uint64](p.Filter, int(p.Blocks))
	clear(f)
	if l.shape.Wide == 0 {
		for _, k := range l.keys {
			block, mask := filterBits(hash(uint64(k)), p.Blocks)
			f[block] |= mask
		}
		return
	}
	for i := range l.n {
		block, mask := filterBits(l.shape.hashKey(uint64(l.keys[i*l.step]), l.key(i)), p.Blocks)
		f[block] |= mask
	}
}

// tailBytes is the size of a tail in memory.
func tailBytes(address uint64) int64 {
	if address == 0 {
		return 0
	}
	return 8 * (1 + device.View[int64](device.Ptr(address), 1)[0])
}

func tailsHost(a *sealArgs, lo, hi int) {
	from, to := partsAt(a.From, a.NFrom), partsAt(a.To, a.NTo)
	sizes := device.View[int64](a.Sizes, int(a.NTo))
	for t := lo / lanes; t < hi/lanes; t++ {
		sizes[t] = 0
		a.each(from, &to[t], func(f *part, lo, hi int) {
			for i := lo; i < hi; i++ {
				key := a.Shape.words(f.Keys + device.Ptr(i*int(a.Shape.Size)))
				sizes[t] += tailBytes(key[a.Shape.Words])
			}
		})
	}
}

// ownTails copies the tails of a part's keys to an address.
func ownTails(s *shape, p *part, to device.Ptr) {
	for i := range int(p.N) {
		key := s.words(p.Keys + device.Ptr(i*int(s.Size)))
		n := tailBytes(key[s.Words])
		if n == 0 {
			continue
		}
		copy(device.View[byte](to, int(n)), device.View[byte](device.Ptr(key[s.Words]), int(n)))
		key[s.Words] = uint64(to)
		to += device.Ptr(n)
	}
}

// splitArgs counts the entries of the first of two parts that are below the second.
type splitArgs struct {
	Shape     shape
	Parts, To device.Ptr
}

func splitHost[W lead](a *splitArgs, _, _ int) {
	ps := partsAt(a.Parts, 2)
	l := open[W](&a.Shape, &ps[1])
	at := spotIn[W](&a.Shape, ps[:1], l.place(0))
	n := int64(at.At)
	if at.Part > 0 {
		n = ps[0].N
	}
	device.View[int64](a.To, 1)[0] = n
}

// endsArgs copies the first and the last entry of each part to To: key and row,
// key and row, a part after the other.
type endsArgs struct {
	Shape     shape
	Parts, To device.Ptr
	N         int64
}

func endBytes(s *shape) int { return (int(s.Size)+7)&^7 + 8 }

func endsHost(a *endsArgs, _, hi int) {
	size, to := int(a.Shape.Size), a.To
	for i := range partsAt(a.Parts, int64(hi)) {
		p := &partsAt(a.Parts, int64(hi))[i]
		for _, at := range []int{0, int(p.N) - 1} {
			copy(device.View[byte](to, size), device.View[byte](p.Keys+device.Ptr(at*size), size))
			device.View[uint64](to+device.Ptr(endBytes(&a.Shape)-8), 1)[0] = device.View[uint64](p.Rows, at+1)[at]
			to += device.Ptr(endBytes(&a.Shape))
		}
	}
}

// firstsArgs writes the leads of the parts' first entries, and their fences.
type firstsArgs struct {
	Shape         shape
	Parts, Firsts device.Ptr
	N             int64
}

func firstsHost[W lead](a *firstsArgs, _, hi int) {
	firsts := device.View[W](a.Firsts, hi)
	for i := range firsts {
		firsts[i] = device.View[W](partsAt(a.Parts, a.N)[i].Keys, 1)[0]
	}
	setFences(a.Firsts+firstsBytes[W](hi), firsts, 1, hi)
}

// firstsBytes is the room of n leads: their fences follow.
func firstsBytes[W lead](n int) device.Ptr {
	return device.Ptr(n*int(unsafe.Sizeof(W(0)))+7) &^ 7
}
