package kernels

import (
	"cmp"
	"encoding/binary"
	"slices"

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

type sortArgs struct {
	Columns []SortColumn
	Rows    device.Ptr // numbers, in order on return
	Keys    device.Ptr // room for a sortEntry a row
	N       int64
	Pause   *pause
}

// pause asks, now and then in the course of a long launch, whether to go on.
type pause struct {
	check func() error // nil: always
	err   error
	left  int // work until the next question
}

// pauseWork is how many steps of some ten nanoseconds are done between two questions.
const pauseWork = 1 << 16

// ended counts work, and reports that it is to be given up.
func (p *pause) ended(work int) bool {
	if p.left -= work; p.left > 0 || p.check == nil || p.err != nil {
		return p.err != nil
	}
	p.left = pauseWork
	p.err = p.check()
	return p.err != nil
}

// sortEntry is the first column's order as a number, and a row.
type sortEntry struct {
	key uint64
	row uint32
	_   uint32
}

// SortBytes is the room that Sort needs for n rows.
func SortBytes(n int) int { return n * 32 }

var sortRows = &device.Kernel[sortArgs]{Name: "sort", Host: sortHost}

// Sort writes the numbers of n rows (uint32) to rows, ordered by the columns,
// and by number where all are equal: the sort is stable. scratch has SortBytes.
// check, unless it is nil, is asked every few milliseconds; its error ends the sort.
func Sort(s device.Stream, cols []SortColumn, n int, rows, scratch device.Ptr, check func() error) error {
	p := &pause{check: check}
	err := device.Launch(s, sortRows, n, sortArgs{Columns: cols, Rows: rows, Keys: scratch, N: int64(n), Pause: p})
	if err == nil {
		err = p.err
	}
	return err
}

func sortHost(a *sortArgs, lo, hi int) {
	both := device.View[sortEntry](a.Keys, 2*hi)
	entries := both[:hi:hi]
	for i := range entries {
		entries[i].row = uint32(i)
		if i%pauseWork == 0 && a.Pause.ended(pauseWork) {
			return
		}
	}
	a.order(entries, both[hi:], 0, 0)
	rows := device.View[uint32](a.Rows, hi)
	for i := range rows {
		rows[i] = entries[i].row
		if i%pauseWork == 0 && a.Pause.ended(pauseWork) {
			return
		}
	}
}

const (
	// fewRows is up to where rows are compared instead of their words.
	fewRows = 24
	// sortWords is how many words of a string are tried before strings are compared.
	sortWords = 8
)

// order sorts entries, which are in the order of their rows and equal in what
// comes before that word of that column: by the word, and then each run of
// equal ones by what comes next.
func (a *sortArgs) order(entries, other []sortEntry, col, word int) {
	if col == len(a.Columns) || len(entries) < 2 || a.Pause.ended(len(entries)) {
		return
	}
	if len(entries) <= fewRows || word == sortWords {
		a.compare(entries, col)
		return
	}
	c := &a.Columns[col]
	for from := 0; from < len(entries) && !a.Pause.ended(pauseWork); from += pauseWork {
		sortKeys(c, word, entries[from:min(len(entries), from+pauseWork)])
	}
	if len(entries) >= radixRows {
		if sorted := radixSort(entries, other, a.Pause); &sorted[0] != &entries[0] {
			copy(entries, sorted)
		}
	} else {
		slices.SortFunc(entries, func(x, y sortEntry) int {
			if x.key != y.key {
				return cmp.Compare(x.key, y.key)
			}
			return cmp.Compare(x.row, y.row)
		})
	}
	for from := 0; from < len(entries) && !a.Pause.ended(1); {
		to := from + 1
		for to < len(entries) && entries[to].key == entries[from].key {
			to++
		}
		if run := entries[from:to]; len(run) > 1 {
			switch c.tie(run, word, a.Pause) {
			case tieEqual:
				a.order(run, other[from:to], col+1, 0)
			case tieWord:
				a.order(run, other[from:to], col, word+1)
			default:
				a.compare(run, col)
			}
		}
		from = to
	}
}

// compare sorts entries by the columns from col on.
func (a *sortArgs) compare(entries []sortEntry, col int) {
	cols := a.Columns[col:]
	slices.SortFunc(entries, func(x, y sortEntry) int {
		if a.Pause.ended(2) { // what is all equal is sorted soon
			return 0
		}
		if c := compareRows(cols, int(x.row), int(y.row)); c != 0 {
			return c
		}
		return cmp.Compare(x.row, y.row)
	})
}

// tieKind says what a run of equal words is.
type tieKind uint8

const (
	tieMixed tieKind = iota // nothing that is simple: compare
	tieEqual                // values that are equal, or NULLs
	tieWord                 // values that differ in the next word, if at all
)

func (c *SortColumn) tie(run []sortEntry, word int, p *pause) tieKind {
	if c.Vec.Valid != 0 {
		nulls := 0
		for i := range run {
			if p.ended(1) {
				return tieEqual
			}
			if c.Vec.isNull(int(run[i].row)) {
				nulls++
			}
		}
		switch nulls {
		case 0:
		case len(run):
			return tieEqual
		default: // the lowest and the highest number may be a NULL's too
			return tieMixed
		}
	}
	switch c.Phys {
	case sqltype.PhysSpan:
		return tieMixed
	case sqltype.PhysI128:
		if word == 0 {
			return tieWord
		}
		return tieEqual
	case sqltype.PhysStr:
		first := c.Vec.str(int(run[0].row)).Len()
		shorter, same := true, true
		for i := range run {
			if p.ended(1) {
				return tieEqual
			}
			n := c.Vec.str(int(run[i].row)).Len()
			shorter, same = shorter && n <= 8*(word+1), same && n == first
		}
		switch {
		case !shorter:
			return tieWord
		case same:
			return tieEqual
		}
		return tieMixed // bytes of 0 at the end
	default:
		return tieEqual
	}
}

func compareRows(cols []SortColumn, i, j int) int {
	for k := range cols {
		c := &cols[k]
		x, y := c.Vec.isNull(i), c.Vec.isNull(j)
		if x || y {
			if x == y {
				continue
			}
			if x == c.NullsFirst {
				return -1
			}
			return 1
		}
		r := compareCell(c.Phys, loadCell(c.Phys, &c.Vec, i), loadCell(c.Phys, &c.Vec, j))
		if r != 0 {
			if c.Desc {
				return -r
			}
			return r
		}
	}
	return 0
}

// sortKeys fills the entries with numbers in the order of the column's word.
func sortKeys(c *SortColumn, word int, entries []sortEntry) {
	hasNull := c.Vec.Valid != 0
	var flip uint64
	if c.Desc {
		flip = ^uint64(0)
	}
	for i := range entries {
		e := &entries[i]
		row := int(e.row)
		switch {
		case hasNull && c.Vec.isNull(row):
			e.key = 0
			if !c.NullsFirst {
				e.key = ^uint64(0)
			}
		case word == 0:
			e.key = orderWord(c.Phys, loadCell(c.Phys, &c.Vec, row)) ^ flip
		case c.Phys == sqltype.PhysStr:
			e.key = orderString(c.Vec.str(row), word) ^ flip
		default: // PhysI128
			e.key = loadCell(c.Phys, &c.Vec, row)[0] ^ flip
		}
	}
}

// orderWord is a number that does not order two values the wrong way round. A
// number of fewer bits than 64 never is the lowest or the highest.
func orderWord(p sqltype.Phys, v [2]uint64) uint64 {
	switch p {
	case sqltype.PhysU64:
		return v[0]
	case sqltype.PhysF32, sqltype.PhysF64:
		return orderFloat(v[0])
	case sqltype.PhysI128:
		return v[1] ^ 1<<63
	case sqltype.PhysStr:
		return orderString(&View{v[0], v[1]}, 0)
	case sqltype.PhysSpan:
		lo, hi := spanOf(v).total()
		return (hi<<24 | lo>>40) ^ 1<<63
	default:
		return v[0] ^ 1<<63
	}
}

func orderFloat(b uint64) uint64 {
	switch {
	case b<<1 == 0: // -0
		return 1 << 63
	case b<<1 > 0x7FF<<53: // NaN
		return ^uint64(0)
	case b>>63 != 0:
		return ^b
	default:
		return b | 1<<63
	}
}

// orderString is 8 bytes of a string, most significant first, with zeros
// behind its end.
func orderString(v *View, word int) uint64 {
	var buf [8]byte
	if v.Len() > 8*word {
		copy(buf[:], v.Str()[8*word:])
	}
	return binary.BigEndian.Uint64(buf[:])
}

// radixRows is from where a radix sort is faster than comparing.
const radixRows = 2048

// radixSort orders entries by key, stable, and returns them in one of the two
// pieces of memory. Bytes that are the same in all keys cost nothing.
func radixSort(entries, other []sortEntry, p *pause) []sortEntry {
	var counts [8][256]uint32
	for i := range entries {
		k := entries[i].key
		for b := range counts {
			counts[b][byte(k>>(8*b))]++
		}
		if i%pauseWork == 0 && p.ended(pauseWork) {
			return entries
		}
	}
	for b := range counts {
		shift := 8 * b
		c := &counts[b]
		if int(c[byte(entries[0].key>>shift)]) == len(entries) {
			continue
		}
		var at uint32
		for v := range c {
			c[v], at = at, at+c[v]
		}
		for from := 0; from < len(entries); from += pauseWork {
			if p.ended(pauseWork) {
				return entries
			}
			for _, e := range entries[from:min(len(entries), from+pauseWork)] {
				v := byte(e.key >> shift)
				other[c[v]] = e
				c[v]++
			}
		}
		entries, other = other, entries
	}
	return entries
}
