package lsm

import (
	"cmp"
	"math/bits"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// shape is index.Format in numbers of fixed width.
type shape struct {
	Size  uint32 // bytes of a key
	Words uint32
	Long  uint32
	Wide  uint32 // a key is more than its lead
}

func shapeOf(f index.Format) shape {
	s := shape{Size: uint32(f.Size()), Words: uint32(f.Words)}
	if f.Long {
		s.Long = 1
	}
	if f.Long || f.Words > 1 {
		s.Wide = 1
	}
	return s
}

// lead is a key's first word, by which it is searched; mostly it is all there is.
type lead interface{ uint32 | uint64 }

// words are those of a wide key, its tail's address after them.
func (s *shape) words(key device.Ptr) []uint64 { return device.View[uint64](key, int(s.Size/8)) }

// compareKeys orders wide keys.
func (s *shape) compareKeys(a, b device.Ptr) int {
	x, y := s.words(a), s.words(b)
	for i := range x[:s.Words] {
		if x[i] != y[i] {
			return cmp.Compare(x[i], y[i])
		}
	}
	if s.Long != 0 {
		return index.CompareTails(x[s.Words], y[s.Words])
	}
	return 0
}

// part is a sorted piece of entries as kernels see it.
//
//	 0  Keys    N keys in the index's format
//	 8  Rows    N row ids
//	16  Dead    a bit for each entry that takes one of an older run away; 0: none does
//	24  Fences  the lead of every 16th entry, and of every 16th of these
//	32  Filter  Blocks words, see filterBits
//	40  N       entries
//	48  Gone    dead ones among them
//	56  Start   entries of the parts before it
//	64  Before  dead ones among those
//	72  Blocks
//
// Fences and Filter are 0 in a part that is not sealed yet.
type part struct {
	Keys, Rows, Dead, Fences, Filter device.Ptr
	N, Gone, Start, Before, Blocks   int64
}

func partsAt(p device.Ptr, n int64) []part { return device.View[part](p, int(n)) }

// list is a part's entries as a Host body sees them.
type list[W lead] struct {
	shape *shape
	keys  []W
	rows  []uint64
	dead  []uint64 // nil: none is
	step  int      // of keys
	n     int
	base  device.Ptr
}

func open[W lead](s *shape, p *part) list[W] {
	n, step := int(p.N), s.step(int(unsafe.Sizeof(W(0))))
	return list[W]{s, device.View[W](p.Keys, n*step), device.View[uint64](p.Rows, n),
		device.View[uint64](p.Dead, (n+63)/64), step, n, p.Keys}
}

// step is the size of a key in units of its lead.
func (s *shape) step(lead int) int { return int(s.Size) / lead }

func (l *list[W]) key(i int) device.Ptr { return l.base + device.Ptr(i*int(l.shape.Size)) }

func (l *list[W]) isDead(i int) bool { return l.dead != nil && l.dead[i>>6]>>(i&63)&1 != 0 }

// compare orders entry i and entry j of m.
func (l *list[W]) compare(i int, m *list[W], j int) int {
	if c := cmp.Compare(l.keys[i*l.step], m.keys[j*m.step]); c != 0 {
		return c
	}
	if l.shape.Wide != 0 {
		if c := l.shape.compareKeys(l.key(i), m.key(j)); c != 0 {
			return c
		}
	}
	return cmp.Compare(l.rows[i], m.rows[j])
}

// place is just before an entry (key, row).
type place[W lead] struct {
	lead W
	key  device.Ptr
	row  uint64
}

func placeAt[W lead](key device.Ptr, row uint64) place[W] {
	return place[W]{device.View[W](key, 1)[0], key, row}
}

func (l *list[W]) place(i int) place[W] { return place[W]{l.keys[i*l.step], l.key(i), l.rows[i]} }

// compareKey orders entry i's key and that of a place.
func (l *list[W]) compareKey(i int, b *place[W]) int {
	if c := cmp.Compare(l.keys[i*l.step], b.lead); c != 0 || l.shape.Wide == 0 {
		return c
	}
	return l.shape.compareKeys(l.key(i), b.key)
}

// below reports that entry i is before the place.
func (l *list[W]) below(i int, b *place[W]) bool {
	c := l.compareKey(i, b)
	return c < 0 || c == 0 && b.row > 0 && l.rows[i] < b.row // a row that does not matter is not fetched
}

// less is 1 when a < b, without a branch.
func less[W lead](a, b W) int {
	_, c := bits.Sub64(uint64(a), uint64(b), 0)
	return int(c)
}

// countBlock is countBelow for what a fence stands for, where most of all
// searching is done.
func countBlock[W lead](v []W, x W) int {
	b := (*[fan]W)(v)
	at := 8 & -less(b[7], x)
	at += 4 & -less(b[(at+3)%fan], x)
	at += 2 & -less(b[(at+1)%fan], x)
	at += less(b[at%fan], x)
	return at + less(b[at%fan], x)
}

// countFenced is how many of v are below x, those before from being so, and
// those a block further on not.
func countFenced[W lead](v []W, from int, x W) int {
	if from+fan <= len(v) {
		return from + countBlock(v[from:], x)
	}
	return from + countBelow(v[from:], x)
}

// countBelow is how many of v, which ascend, are below x.
func countBelow[W lead](v []W, x W) int {
	at, n := 0, len(v)
	for n > 1 {
		half := n / 2
		at += half & -less(v[at+half-1], x)
		n -= half
	}
	if n == 1 {
		at += less(v[at], x)
	}
	return at
}
