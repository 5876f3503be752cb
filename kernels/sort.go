package kernels

import (
	"cmp"
	"fmt"
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
const pauseWork = 1 << 17

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
	rows := device.View[uint32](a.Rows, hi)
	if len(a.Columns) == 0 {
		for i := range rows {
			rows[i] = uint32(i)
		}
		return
	}
	both := device.View[sortEntry](a.Keys, 2*hi)
	entries := both[:hi:hi]
	exact := true
	for from := 0; from < hi && !a.Pause.ended(pauseWork); from += pauseWork {
		exact = sortKeys(&a.Columns[0], entries[from:min(hi, from+pauseWork)], from)
	}
	if hi >= radixRows {
		entries = radixSort(entries, both[hi:], a.Pause)
	} else {
		slices.SortFunc(entries, func(x, y sortEntry) int {
			if x.key != y.key {
				return cmp.Compare(x.key, y.key)
			}
			return cmp.Compare(x.row, y.row)
		})
	}
	rest := a.Columns
	if exact {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		sortTies(entries, rest, a.Pause)
	}
	for i := range rows {
		rows[i] = entries[i].row
	}
}

// sortTies orders the runs of equal keys by the columns.
func sortTies(entries []sortEntry, cols []SortColumn, p *pause) {
	for from := 0; from < len(entries) && !p.ended(1); {
		to := from + 1
		for to < len(entries) && entries[to].key == entries[from].key {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(entries[from:to], func(x, y sortEntry) int {
				if p.ended(2) { // what is all equal is sorted soon
					return 0
				}
				if c := compareRows(cols, int(x.row), int(y.row)); c != 0 {
					return c
				}
				return cmp.Compare(x.row, y.row)
			})
		}
		from = to
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

// sortKeys fills the entries, of the rows from first on, with numbers in the
// column's order. It reports false when different values may have one number.
func sortKeys(c *SortColumn, entries []sortEntry, first int) bool {
	hasNull := c.Vec.Valid != 0
	exact := true
	var flip uint64
	if c.Desc {
		flip = ^uint64(0)
	}
	for i := range entries {
		e := &entries[i]
		row := first + i
		e.row = uint32(row)
		if hasNull && c.Vec.isNull(row) {
			e.key = 0
			if !c.NullsFirst {
				e.key = ^uint64(0)
			}
			continue
		}
		e.key = orderWord(c.Phys, loadCell(c.Phys, &c.Vec, row)) ^ flip
	}
	switch c.Phys {
	case sqltype.PhysI128, sqltype.PhysStr, sqltype.PhysSpan:
		exact = false
	case sqltype.PhysI64, sqltype.PhysU64, sqltype.PhysF64, sqltype.PhysF32:
		exact = !hasNull // the lowest and highest numbers may be NULL's too
	case sqltype.PhysBool, sqltype.PhysI8, sqltype.PhysI16, sqltype.PhysI32, sqltype.PhysU8, sqltype.PhysU16, sqltype.PhysU32:
		exact = true // 1<<63 off the ends
	default:
		panic(fmt.Sprintf("kernels: no order of form %s", c.Phys))
	}
	return exact
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
		return orderString(v)
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

// orderString is the first 8 bytes, most significant first.
func orderString(v [2]uint64) uint64 {
	view := View{v[0], v[1]}
	var buf [8]byte
	copy(buf[:], view.Str())
	var w uint64
	for _, b := range buf {
		w = w<<8 | uint64(b)
	}
	return w
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
