package index

import "github.com/gpusql/gpusql/sqltype"

// Codec encodes rows of key columns so that the order of the bytes is SQL's.
//
//	column   [1 null byte unless NOT NULL] value; every byte of a value inverted when descending
//	value    as sqltype.AppendOrdered has it; of a folded string A to Z are a to z;
//	         of a carried column as sqltype.AppendExact has it
//
// Carried columns come last: they are read back and compared with nothing. Entries
// of equal keys are then in the order of these, before that of their rows.
//
// No encoding is the beginning of another one's, so that a Format may fill up
// with zeros on the right.
type Codec struct {
	columns []KeyColumn
	keys    int // the first ones, which are not carried
	format  Format
}

// KeyColumn is one column of a key.
type KeyColumn struct {
	Type       sqltype.Type
	NotNull    bool
	Desc       bool
	NullsFirst bool
	Fold       bool // a string's ASCII letters are compared without case
	Carried    bool // no key, but read back with keys
}

// NewCodec returns the codec for keys of these columns, the carried ones last.
func NewCodec(columns []KeyColumn) *Codec {
	c := &Codec{columns: columns}
	for _, k := range columns {
		if !k.Carried {
			c.keys++
		}
	}
	total, long := 0, false
	for _, k := range columns {
		long = long || k.Type.Phys() == sqltype.PhysStr
		if !long {
			total += k.Width()
		}
	}
	switch {
	case long:
		// Most strings fit in the two words that come after what is before them.
		c.format = Format{Words: min(total/8+2, 4), Long: true}
	case total <= 4:
		c.format = Format{Words: 1, Narrow: true}
	default:
		c.format = Format{Words: min((total+7)/8, MaxWords), Long: total > 8*MaxWords}
	}
	return c
}

// Format is how the keys lie in memory.
func (c *Codec) Format() Format { return c.format }

// Columns are the key's columns, and behind them the carried ones.
func (c *Codec) Columns() []KeyColumn { return c.columns }

// Carries reports that entries of one key differ in more than their rows.
func (c *Codec) Carries() bool { return c.keys < len(c.columns) }

// Width is the bytes that the column takes in a key, a string's own not counted.
func (k KeyColumn) Width() int {
	w := k.Type.Phys().Width()
	if k.Type.Phys() == sqltype.PhysStr {
		w = 0
	}
	if !k.NotNull {
		w++
	}
	return w
}

// NullByte is the byte before a value that is or is not NULL, in a column that
// may be.
func (k KeyColumn) NullByte(null sqltype.Datum) byte {
	if null.Null == k.NullsFirst {
		return 0
	}
	return 1
}

// Append adds the encoding of d, a value of column i, to a key.
func (c *Codec) Append(key []byte, i int, d *sqltype.Datum) []byte {
	k := &c.columns[i]
	if !k.NotNull {
		if d.Null == k.NullsFirst {
			key = append(key, 0)
		} else {
			key = append(key, 1)
		}
		if d.Null {
			// A NULL has a value of zeros, so that all keys have one width.
			return append(key, make([]byte, k.Width()-1)...)
		}
	}
	from := len(key)
	v := *d
	v.Type = k.Type
	if k.Carried {
		return sqltype.AppendExact(key, &v)
	}
	key = sqltype.AppendOrdered(key, &v)
	if k.Fold {
		fold(key[from:])
	}
	if k.Desc {
		for j := from; j < len(key); j++ {
			key[j] = ^key[j]
		}
	}
	return key
}

// fold makes ASCII letters small, in place. The bytes that stand for 00 are none.
func fold(b []byte) {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
}

// Interval encodes a range.
func (c *Codec) Interval(r *Range) Interval {
	var b []byte
	for i := range r.Prefix {
		if r.Prefix[i].Null && !r.Nulls {
			return Interval{Empty: true}
		}
		b = c.Append(b, i, &r.Prefix[i])
	}
	if r.Lo == nil && r.Hi == nil {
		return c.between(b, false, b, true)
	}
	if r.Lo != nil && r.Lo.Null || r.Hi != nil && r.Hi.Null {
		return Interval{Empty: true}
	}
	n := len(r.Prefix)
	k := c.columns[n]
	// Open ends stop at the NULLs.
	floor := b
	if !k.NotNull {
		floor = append(b[:len(b):len(b)], k.NullByte(sqltype.Datum{}))
	}
	lo, hi, loOpen, hiOpen := r.Lo, r.Hi, r.LoOpen, r.HiOpen
	if k.Desc {
		lo, hi, loOpen, hiOpen = hi, lo, hiOpen, loOpen
	}
	end := func(d *sqltype.Datum) []byte {
		if d == nil {
			return floor
		}
		return c.Append(b[:len(b):len(b)], n, d)
	}
	return c.between(end(lo), lo != nil && loOpen, end(hi), hi == nil || !hiOpen)
}

// between is the keys from the prefix lo (with loAfter: from after all that
// begin with it) to the prefix hi (with hiAfter: to the last that begins with it).
func (c *Codec) between(lo []byte, loAfter bool, hi []byte, hiAfter bool) Interval {
	var iv Interval
	if loAfter {
		if lo = successor(lo); lo == nil {
			return Interval{Empty: true}
		}
	}
	if hiAfter {
		if hi = successor(hi); hi == nil {
			iv.NoHi = true
		}
	}
	iv.Lo, iv.Hi = lo, hi
	if !iv.NoHi && string(lo) >= string(hi) {
		iv.Empty = true
	}
	return iv
}

// successor is the least key above all that begin with b, nil if there is none.
func successor(b []byte) []byte {
	b = append([]byte(nil), b...)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] != 0 {
			return b[:i+1]
		}
	}
	return nil
}
