package kernels

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// SortColumn is a column to order by.
type SortColumn struct {
	Vec        Vec
	Phys       sqltype.Phys
	Desc       bool
	NullsFirst bool
}

// sortPart is what a pass of a sort looks at: a word of a column's values, or
// what tells apart values of equal words.
//
//gpu:layout
type sortPart uint32

// The words of a value are 0, 1, ...
//
//gpu:layout
const (
	partLength sortPart = 1<<32 - 1 - iota // of strings that are equal but for zeros at the end
	partNull                               // whether there is a value
)

type sortArgs struct {
	Columns []SortColumn
	Pairs   device.Ptr // a Pair a row: a word of the row, and its number
	Other   device.Ptr // as many
	Edges   device.Ptr // of each piece: where its first run begins
	Longs   device.Ptr // of each piece: where a long run begins that is its last one, or N
	Ties    device.Ptr // of each piece: a tieCount
	Rows    device.Ptr
	N       int64
	Piece   int64
	First   int64 // of the launch
	Column  uint32
	Part    sortPart
}

var (
	sortBegin = &device.Kernel[sortArgs]{Name: "sort_begin", Split: spreadSplit, Host: sortBeginHost}
	sortWords = &device.Kernel[sortArgs]{Name: "sort_words", Split: spreadSplit, Host: sortWordsHost}
	sortEdges = &device.Kernel[sortArgs]{Name: "sort_edges", Host: sortEdgesHost}
	sortRuns  = &device.Kernel[sortArgs]{Name: "sort_runs", Split: spreadSplit, Host: sortRunsHost}
	sortTies  = &device.Kernel[sortArgs]{Name: "sort_ties", Split: spreadSplit, Host: sortTiesHost}
	sortRows  = &device.Kernel[sortArgs]{Name: "sort_rows", Split: spreadSplit, Host: sortRowsHost}
)

// SortBytes is the room that Sort needs for n rows.
func SortBytes(n int) int { return 32*n + spreadTables(n) + (n/64+2)*(8+tieBytes) }

// Sort writes the numbers of n rows (uint32) to rows, ordered by the columns,
// and by number where all are equal: the sort is stable. scratch has SortBytes.
//
//	rows ── by the first word of the first column ──▶ runs of rows with equal words
//	     short runs, many a launch ── by what comes next, in cache ──▶ done
//	     a long run ── by what comes next, as all rows before ──▶ runs
func Sort(s device.Stream, cols []SortColumn, n int, rows, scratch device.Ptr) error {
	if n == 0 {
		return nil
	}
	if !s.Device().Traits().HostBytes {
		return sortDevice(s, cols, n, rows, scratch)
	}
	p := &sorter{s: s, spread: spreader{s: s, piece: PieceItems(s)}}
	a := sortArgs{Columns: cols, Pairs: scratch, Rows: rows, Piece: int64(p.spread.piece)}
	a.Other = a.Pairs + device.Ptr(16*n)
	p.spread.tables = a.Other + device.Ptr(16*n)
	a.Edges = p.spread.tables + device.Ptr(spreadTables(n))
	a.Longs = a.Edges + device.Ptr(4*(n/64+2))
	a.Ties = a.Longs + device.Ptr(4*(n/64+2))
	if err := p.launch(sortBegin, a, 0, n); err != nil {
		return err
	}
	if len(cols) > 0 {
		if err := p.order(a, 0, n); err != nil {
			return err
		}
	}
	return p.launch(sortRows, a, 0, n)
}

// sorter is a sort under way.
type sorter struct {
	s      device.Stream
	spread spreader
}

// launch launches a kernel over rows lo to hi, a piece for each core at a time.
func (p *sorter) launch(k *device.Kernel[sortArgs], a sortArgs, lo, hi int) error {
	size := p.spread.piece * max(1, p.s.Device().Traits().Streams)
	return piecesOf(size, hi-lo, func(from, to int) error {
		a.First = int64(lo + from)
		return device.Launch(p.s, k, to-from, a)
	})
}

// order orders rows lo to hi, which are in the order of their numbers and equal
// in what comes before a's part of its column.
func (p *sorter) order(a sortArgs, lo, hi int) error {
	if err := p.launch(sortWords, a, lo, hi); err != nil {
		return err
	}
	at := device.Ptr(16 * lo)
	if err := p.spread.order(a.Pairs+at, a.Other, hi-lo, true); err != nil {
		return err
	}
	long, err := p.runs(a, lo, hi)
	if err != nil {
		return err
	}
	for _, r := range long {
		next, done, err := p.next(a, r[0], r[1])
		if err != nil {
			return err
		}
		if !done {
			if err := p.order(next, r[0], r[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// runs orders the runs of equal words among rows lo to hi, and gives those that
// are longer than a piece.
func (p *sorter) runs(a sortArgs, lo, hi int) (long [][2]int, err error) {
	at := device.Ptr(16 * lo)
	a.Pairs, a.N = a.Pairs+at, int64(hi-lo)
	n := (hi - lo + p.spread.piece - 1) / p.spread.piece
	if err := device.Launch(p.s, sortEdges, n, a); err != nil {
		return nil, err
	}
	if err := p.launch(sortRuns, a, 0, hi-lo); err != nil {
		return nil, err
	}
	edges, longs := make([]byte, 4*(n+1)), make([]byte, 4*n)
	if err := p.s.Download(edges, a.Edges); err != nil {
		return nil, err
	}
	if err := p.s.Download(longs, a.Longs); err != nil {
		return nil, err
	}
	for i := range n {
		if from := binary.LittleEndian.Uint32(longs[4*i:]); int64(from) < a.N {
			long = append(long, [2]int{lo + int(from), lo + int(binary.LittleEndian.Uint32(edges[4*i+4:]))})
		}
	}
	return long, nil
}

// next is what rows lo to hi, which have equal words, are to be ordered by, or
// done when nothing is left.
func (p *sorter) next(a sortArgs, lo, hi int) (sortArgs, bool, error) {
	a.Pairs, a.N = a.Pairs+device.Ptr(16*lo), int64(hi-lo)
	if err := p.launch(sortTies, a, 0, hi-lo); err != nil {
		return a, false, err
	}
	n := (hi - lo + p.spread.piece - 1) / p.spread.piece
	b := make([]byte, tieBytes*n)
	if err := p.s.Download(b, a.Ties); err != nil {
		return a, false, err
	}
	var t tieCount
	for ; len(b) > 0; b = b[tieBytes:] {
		t.add(tieCountOf(b))
	}
	a.Pairs -= device.Ptr(16 * lo)
	c := &a.Columns[a.Column]
	if part, more := c.after(a.Part, t); more {
		a.Part = part
		return a, false, nil
	}
	a.Column, a.Part = a.Column+1, 0
	return a, int(a.Column) == len(a.Columns), nil
}

// pairs are those of the sort.
func (a *sortArgs) pairs() []Pair { return device.View[Pair](a.Pairs, int(a.N)) }

// pieces has f see the numbers of the pieces that begin among rows First+lo to
// First+hi.
func (a *sortArgs) pieces(lo, hi int, f func(c int)) {
	size := int(a.Piece)
	for c := (int(a.First) + lo + size - 1) / size; c*size < int(a.First)+hi; c++ {
		f(c)
	}
}

func sortBeginHost(a *sortArgs, lo, hi int) {
	first := int(a.First)
	pairs := device.View[Pair](a.Pairs, first+hi)
	for i := first + lo; i < first+hi; i++ {
		pairs[i].Value = uint64(i)
	}
}

func sortWordsHost(a *sortArgs, lo, hi int) {
	pairs := device.View[Pair](a.Pairs, int(a.First)+hi)[int(a.First)+lo:]
	a.Columns[a.Column].words(a.Part, pairs)
}

func sortRowsHost(a *sortArgs, lo, hi int) {
	first := int(a.First)
	pairs, rows := device.View[Pair](a.Pairs, first+hi), device.View[uint32](a.Rows, first+hi)
	for i := first + lo; i < first+hi; i++ {
		rows[i] = uint32(pairs[i].Value)
	}
}

// sortEdgesHost finds where the first run begins that begins in a piece, or
// behind it.
func sortEdgesHost(a *sortArgs, lo, hi int) {
	pairs, edges := a.pairs(), device.View[uint32](a.Edges, hi+1)
	for c := lo; c < hi; c++ {
		at := c * int(a.Piece)
		if c > 0 && pairs[at].Key == pairs[at-1].Key {
			key := pairs[at].Key
			at += sort.Search(len(pairs)-at, func(i int) bool { return pairs[at+i].Key != key })
		}
		edges[c] = uint32(at)
	}
	if hi*int(a.Piece) >= len(pairs) {
		edges[hi] = uint32(len(pairs))
	}
}

// sortRunsHost orders the runs that begin in a piece, but for one that is longer.
func sortRunsHost(a *sortArgs, lo, hi int) {
	pairs, other := a.pairs(), device.View[Pair](a.Other, int(a.N))
	n := (len(pairs) + int(a.Piece) - 1) / int(a.Piece)
	edges, longs := device.View[uint32](a.Edges, n+1), device.View[uint32](a.Longs, n)
	a.pieces(lo, hi, func(c int) {
		longs[c] = uint32(len(pairs))
		end := int(edges[c+1])
		for from := int(edges[c]); from < end; {
			key := pairs[from].Key
			if end-from > int(a.Piece) && pairs[end-1].Key == key {
				longs[c] = uint32(from)
				return
			}
			to := from + 1
			for to < end && pairs[to].Key == key {
				to++
			}
			if to-from > 1 {
				a.ties(pairs[from:to], other[from:to], int(a.Column), a.Part)
			}
			from = to
		}
	})
}

func sortTiesHost(a *sortArgs, lo, hi int) {
	pairs := a.pairs()
	a.pieces(lo, hi, func(c int) {
		from := c * int(a.Piece)
		part := pairs[from:min(len(pairs), from+int(a.Piece))]
		device.View[tieCount](a.Ties, c+1)[c] = a.Columns[a.Column].count(part)
	})
}

const (
	// fewRows is up to where rows are compared instead of their words.
	fewRows = 24
	// fewWords is how many words of a string are tried before a short run is compared.
	fewWords = 8
)

// order orders a few rows, which are in the order of their numbers and equal in
// what comes before that part of that column.
func (a *sortArgs) order(pairs, other []Pair, col int, part sortPart) {
	if len(pairs) <= fewRows || part == fewWords {
		a.compare(pairs, col)
		return
	}
	a.Columns[col].words(part, pairs)
	least, most := keySpan(pairs)
	sortByKey(pairs, other, least, uint(bits.Len64(most-least)), true)
	for from := 0; from < len(pairs); {
		to := from + 1
		for to < len(pairs) && pairs[to].Key == pairs[from].Key {
			to++
		}
		if to-from > 1 {
			a.ties(pairs[from:to], other[from:to], col, part)
		}
		from = to
	}
}

// ties orders a few rows that are equal in that part of that column.
func (a *sortArgs) ties(pairs, other []Pair, col int, part sortPart) {
	c := &a.Columns[col]
	if next, more := c.after(part, c.count(pairs)); more {
		a.order(pairs, other, col, next)
	} else if col+1 < len(a.Columns) {
		a.order(pairs, other, col+1, 0)
	}
}

// compare orders rows by the columns from col on.
func (a *sortArgs) compare(pairs []Pair, col int) {
	cols := a.Columns[col:]
	slices.SortFunc(pairs, func(x, y Pair) int {
		if c := compareRows(cols, int(x.Value), int(y.Value)); c != 0 {
			return c
		}
		return cmp.Compare(x.Value, y.Value)
	})
}
