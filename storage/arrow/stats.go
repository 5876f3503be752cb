package arrow

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// ColumnStats are what is known about the values of a column. Min and Max hold
// for every row that was complete when they were asked for, whether it is
// visible or not; they are NULL when no value is known. (-0 is given as 0.)
type ColumnStats struct {
	Min, Max sqltype.Datum
	Nulls    int
	Distinct float64 // an estimate
}

// unknownStats are those of a column of which nothing is known.
func unknownStats(t sqltype.Type) ColumnStats {
	return ColumnStats{Min: sqltype.NullOf(t), Max: sqltype.NullOf(t)}
}

// columnStats are a column's statistics as they grow: of all rows, and of those
// that estimates are made of, which forget the dead (Table.Recount).
type columnStats struct {
	all, live valueRange
	distinct  sketch // of the live
}

// valueRange is the least and the greatest of values, if there are any, and how
// many NULLs there are besides.
type valueRange struct {
	min, max sqltype.Datum
	known    bool
	nulls    int
}

func (r *valueRange) widen(lo, hi sqltype.Datum) {
	if !r.known || sqltype.Compare(lo, r.min) < 0 {
		r.min = lo
	}
	if !r.known || sqltype.Compare(hi, r.max) > 0 {
		r.max = hi
	}
	r.known = true
}

// Bounds are the least and the greatest value of column i over all rows of the
// segment, and its NULLs. Telling the number of distinct values takes microseconds,
// and a scan asks every segment, several times: it is left to Stats.
func (s *Segment) Bounds(i int) ColumnStats {
	return s.statsOf(i, s.Rows(), func(c *columnStats) *valueRange { return &c.all })
}

// Counted is the number of rows that Stats are of.
func (s *Segment) Counted() int { return s.Rows() - int(s.forgotten.Load()) }

// Stats are what to estimate by of column i of the segment: of rows that are long
// dead they know nothing.
func (s *Segment) Stats(i int) ColumnStats {
	out := s.statsOf(i, s.Counted(), func(c *columnStats) *valueRange { return &c.live })
	if i < len(s.stats) {
		s.statMu.Lock()
		defer s.statMu.Unlock()
		out.Distinct = s.stats[i].distinct.estimate()
	} else if !out.Min.Null {
		out.Distinct = 1
	}
	return out
}

func (s *Segment) statsOf(i, rows int, of func(*columnStats) *valueRange) ColumnStats {
	if i >= len(s.stats) {
		c := s.table.added(i)
		d := c.Datum(0)
		if d.Null {
			return ColumnStats{Min: d, Max: d, Nulls: rows}
		}
		return ColumnStats{Min: d, Max: d}
	}
	s.statMu.Lock()
	defer s.statMu.Unlock()
	r := of(&s.stats[i])
	if !r.known {
		null := sqltype.NullOf(s.Column(i).Type)
		return ColumnStats{Min: null, Max: null, Nulls: r.nulls}
	}
	return ColumnStats{Min: r.min, Max: r.max, Nulls: r.nulls}
}

// recountPart is the part of the rows in a segment's statistics that have to be
// dead for them to be made anew: looking at a row again is paid for by one that went.
const recountPart = 4

// Recount makes statistics anew of segments of which many rows are dead at
// horizon or before. An estimate would go on with the values of before an UPDATE,
// otherwise.
func (t *Table) Recount(horizon uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.Segments() {
		if (s.Dead()-int(s.forgotten.Load()))*recountPart >= max(s.Counted(), 1) {
			s.recount(horizon)
		}
	}
}

// recount makes the statistics of the rows that someone may see; the table's lock
// is held, so that none comes meanwhile.
func (s *Segment) recount(horizon uint64) {
	n := s.Rows()
	lives := make([]uint64, kernels.BitmapBytes(n)/8)
	rows := 0
	for i := range n {
		if s.Born(i) != Never && s.Died(i) > horizon {
			lives[i/64] |= 1 << (i % 64)
			rows++
		}
	}
	if n-rows == int(s.forgotten.Load()) {
		return
	}
	s.statMu.Lock()
	defer s.statMu.Unlock()
	for i := range s.stats {
		c, a := s.Column(i), &s.stats[i]
		a.live, a.distinct = valueRange{}, nil
		ok := lives
		if c.Vec.Valid != 0 {
			ok = slices.Clone(lives)
			for w, valid := range device.View[uint64](c.Vec.Valid, len(ok)) {
				ok[w] &= valid
			}
		}
		values := 0
		for _, w := range ok {
			values += bits.OnesCount64(w)
		}
		a.live.nulls = rows - values
		if values > 0 {
			a.distinct = make(sketch, 1<<sketchBits)
			a.live.widen(a.distinct.sees(&c, &c, n, ok))
		}
	}
	s.forgotten.Store(int64(n - rows))
}

// Stats are the statistics of column i over all segments.
func (t *Table) Stats(i int) ColumnStats {
	t.mu.Lock()
	typ := t.types[i]
	t.mu.Unlock()
	all := ColumnStats{Min: sqltype.NullOf(typ), Max: sqltype.NullOf(typ)}
	distinct := make(sketch, 1<<sketchBits)
	for _, s := range t.Segments() {
		c := s.Stats(i)
		all.Nulls += c.Nulls
		if c.Min.Null {
			continue
		}
		if all.Min.Null || sqltype.Compare(c.Min, all.Min) < 0 {
			all.Min = c.Min
		}
		if all.Max.Null || sqltype.Compare(c.Max, all.Max) > 0 {
			all.Max = c.Max
		}
		if i < len(s.stats) {
			s.statMu.Lock()
			distinct.merge(s.stats[i].distinct)
			s.statMu.Unlock()
		} else {
			all.Distinct = 1
		}
	}
	all.Distinct = max(all.Distinct, distinct.estimate())
	return all
}

// add counts n values: c has them flat, and valid as they came, with their validity.
func (a *columnStats) add(c, valid *Column, n int) {
	var ok []uint64
	if nulls := valid.Nulls(n); nulls > 0 {
		a.all.nulls += nulls
		a.live.nulls += nulls
		if nulls == n {
			return
		}
		ok = device.View[uint64](valid.Vec.Valid, kernels.BitmapBytes(n)/8)
	}
	if a.distinct == nil {
		a.distinct = make(sketch, 1<<sketchBits)
	}
	lo, hi := a.distinct.sees(c, valid, n, ok)
	a.all.widen(lo, hi)
	a.live.widen(lo, hi)
}

// sees adds n values to the sketch, those that are ok, and gives the least and the
// greatest of them; there is one. c has them flat, unless it is from itself, which
// may have a dictionary.
func (k sketch) sees(c, from *Column, n int, ok []uint64) (lo, hi sqltype.Datum) {
	p, t := c.Vec.Data, c.Type
	switch t.Phys() {
	case sqltype.PhysBool, sqltype.PhysU8:
		lo, hi = intRange[uint8](p, n, ok, t, k)
	case sqltype.PhysI8:
		lo, hi = intRange[int8](p, n, ok, t, k)
	case sqltype.PhysI16:
		lo, hi = intRange[int16](p, n, ok, t, k)
	case sqltype.PhysI32:
		lo, hi = intRange[int32](p, n, ok, t, k)
	case sqltype.PhysI64:
		lo, hi = intRange[int64](p, n, ok, t, k)
	case sqltype.PhysU16:
		lo, hi = intRange[uint16](p, n, ok, t, k)
	case sqltype.PhysU32:
		lo, hi = intRange[uint32](p, n, ok, t, k)
	case sqltype.PhysU64:
		lo, hi = intRange[uint64](p, n, ok, t, k)
	case sqltype.PhysF32:
		lo, hi = floatRange[float32](p, n, ok, t, k)
	case sqltype.PhysF64:
		lo, hi = floatRange[float64](p, n, ok, t, k)
	case sqltype.PhysStr:
		p, n, ok = from.used(p, n, ok)
		lo, hi = stringRange(p, n, ok, t, k)
	case sqltype.PhysI128, sqltype.PhysSpan:
		lo, hi = datumRange(c, n, ok, k)
	default:
		panic(fmt.Sprintf("arrow: no statistics of %v", t.Phys()))
	}
	return lo, hi
}

func isValid(ok []uint64, i int) bool { return ok == nil || ok[i/64]>>(i%64)&1 != 0 }

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func intRange[T integer](p device.Ptr, n int, ok []uint64, t sqltype.Type, k sketch) (lo, hi sqltype.Datum) {
	var least, most T
	first := true
	for i, v := range device.View[T](p, n) {
		if !isValid(ok, i) {
			continue
		}
		if first {
			least, most, first = v, v, false
		}
		least, most = min(least, v), max(most, v)
		k.add(mix(uint64(v)))
	}
	return sqltype.Datum{Type: t, I: int64(least)}, sqltype.Datum{Type: t, I: int64(most)}
}

func floatRange[T float32 | float64](p device.Ptr, n int, ok []uint64, t sqltype.Type, k sketch) (lo, hi sqltype.Datum) {
	least, most := math.NaN(), math.Inf(-1)
	nan := false
	for i, x := range device.View[T](p, n) {
		if !isValid(ok, i) {
			continue
		}
		v := float64(x) + 0 // -0 becomes 0
		k.add(mix(math.Float64bits(v)))
		if v != v {
			nan = true
			continue
		}
		if !(least <= v) {
			least = v
		}
		most = max(most, v)
	}
	if nan {
		most = math.NaN() // greater than all numbers
	}
	return sqltype.Datum{Type: t, F: least}, sqltype.Datum{Type: t, F: most}
}

// used is what is worth a look of n flat values at p, those of c: where c has a
// dictionary of fewer values these, and which of them it has.
func (c *Column) used(p device.Ptr, n int, ok []uint64) (device.Ptr, int, []uint64) {
	values := int(c.Vec.DictLen)
	if c.Vec.Dict == 0 || values > n/2 {
		return p, n, ok
	}
	has := make([]uint64, (values+63)/64)
	for i, code := range device.View[uint32](c.Vec.Data, n) {
		if isValid(ok, i) {
			has[code/64] |= 1 << (code % 64)
		}
	}
	return c.Vec.Dict, values, has
}

func stringRange(p device.Ptr, n int, ok []uint64, t sqltype.Type, k sketch) (lo, hi sqltype.Datum) {
	views := device.View[kernels.View](p, n)
	var least, most *kernels.View
	for i := range views {
		if !isValid(ok, i) {
			continue
		}
		v := &views[i]
		k.add(hashView(v))
		if least == nil {
			least, most = v, v
		} else if compareViews(v, least) < 0 {
			least = v
		} else if compareViews(v, most) > 0 {
			most = v
		}
	}
	return sqltype.Datum{Type: t, S: string(viewBytes(least))}, sqltype.Datum{Type: t, S: string(viewBytes(most))}
}

// compareViews compares by bytes. The first four, zero padded, settle most, and of
// short strings the other eight and the lengths.
func compareViews(a, b *kernels.View) int {
	if x, y := bits.ReverseBytes32(uint32(a.Lo>>32)), bits.ReverseBytes32(uint32(b.Lo>>32)); x != y {
		return cmp.Compare(x, y)
	}
	m, n := uint32(a.Lo), uint32(b.Lo)
	if max(m, n) > kernels.InlineLen {
		return cmp.Compare(string(viewBytes(a)), string(viewBytes(b)))
	}
	if a.Hi != b.Hi {
		return cmp.Compare(bits.ReverseBytes64(a.Hi), bits.ReverseBytes64(b.Hi))
	}
	return cmp.Compare(m, n)
}

func datumRange(c *Column, n int, ok []uint64, k sketch) (lo, hi sqltype.Datum) {
	first := true
	flat := Column{Type: c.Type, Vec: kernels.Vec{Data: c.Vec.Data}}
	for i := range n {
		if !isValid(ok, i) {
			continue
		}
		d := flat.Datum(i)
		k.add(mix(uint64(d.I) ^ mix(uint64(d.Hi)^uint64(d.Days)<<32^uint64(d.Months))))
		if first || sqltype.Compare(d, lo) < 0 {
			lo = d
		}
		if first || sqltype.Compare(d, hi) > 0 {
			hi = d
		}
		first = false
	}
	return lo, hi
}
