package kernels

import (
	"encoding/binary"

	"github.com/gpusql/gpusql/sqltype"
)

// OneWord reports values whose first word tells their order.
func OneWord(p sqltype.Phys) bool {
	return p != sqltype.PhysI128 && p != sqltype.PhysSpan && p != sqltype.PhysStr
}

// words fills in the keys of rows: numbers in the order of that part of the
// column's values.
func (c *SortColumn) words(part sortPart, pairs []Pair) {
	hasNull := c.Vec.Valid != 0
	var flip, null uint64
	if c.Desc {
		flip = ^uint64(0)
	}
	if !c.NullsFirst {
		null = ^uint64(0)
	}
	for i := range pairs {
		e := &pairs[i]
		row := int(e.Value)
		switch {
		case hasNull && c.Vec.isNull(row):
			e.Key = null
		case part == partNull:
			e.Key = ^null
		case part == partLength:
			e.Key = uint64(c.Vec.str(row).Len()) ^ flip
		case part == 0:
			e.Key = orderWord(c.Phys, loadCell(c.Phys, &c.Vec, row)) ^ flip
		case c.Phys == sqltype.PhysStr:
			e.Key = orderString(c.Vec.str(row), int(part)) ^ flip
		case c.Phys == sqltype.PhysSpan:
			lo, _ := spanOf(loadCell(c.Phys, &c.Vec, row)).total()
			e.Key = lo<<24 ^ flip
		default: // PhysI128
			e.Key = loadCell(c.Phys, &c.Vec, row)[0] ^ flip
		}
	}
}

// tieCount is what is known of rows of equal words: how many there are, how
// many of them are NULL, and the shortest and the longest string of the others.
type tieCount struct{ rows, nulls, shortest, longest uint32 }

const tieBytes = 16

func tieCountOf(b []byte) tieCount {
	le := binary.LittleEndian
	return tieCount{le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])}
}

func (t *tieCount) add(o tieCount) {
	switch {
	case o.rows == o.nulls:
	case t.rows == t.nulls:
		t.shortest, t.longest = o.shortest, o.longest
	default:
		t.shortest, t.longest = min(t.shortest, o.shortest), max(t.longest, o.longest)
	}
	t.rows += o.rows
	t.nulls += o.nulls
}

// after is what tells apart values that are equal in part; more is false when
// nothing does.
func (c *SortColumn) after(part sortPart, t tieCount) (next sortPart, more bool) {
	switch {
	case t.nulls == t.rows:
		return 0, false
	case t.nulls > 0: // the lowest and the highest number may be a NULL's too
		return partNull, true
	}
	switch c.Phys {
	case sqltype.PhysI128, sqltype.PhysSpan:
		return 1, part == 0 || part == partNull
	case sqltype.PhysStr:
		if part == partNull {
			return 0, true
		}
		if part == partLength || t.shortest == t.longest && t.longest <= 8*(uint32(part)+1) {
			return 0, false
		}
		if t.longest > 8*(uint32(part)+1) {
			return part + 1, true
		}
		return partLength, true
	default:
		return 0, false
	}
}

// count looks at the column's values of rows.
func (c *SortColumn) count(pairs []Pair) tieCount {
	t := tieCount{rows: uint32(len(pairs))}
	if c.Vec.Valid == 0 && c.Phys != sqltype.PhysStr {
		return t
	}
	for i := range pairs {
		row := int(pairs[i].Value)
		if c.Vec.isNull(row) {
			t.nulls++
			continue
		}
		if c.Phys != sqltype.PhysStr {
			continue
		}
		n := uint32(c.Vec.str(row).Len())
		if uint32(i) == t.nulls {
			t.shortest, t.longest = n, n
		}
		t.shortest, t.longest = min(t.shortest, n), max(t.longest, n)
	}
	return t
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
