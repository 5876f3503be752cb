package arrow

import (
	"encoding/binary"
	"math"
	"os"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/gpusql/gpusql/sqltype"
)

// Bounds implements File. Only types whose statistics are ordered as SQL
// orders them have bounds.
func (p *parquetFile) Bounds(part, c int) (b Bounds, ok bool) {
	defer func() {
		if recover() != nil { // broken statistics bound nothing
			ok = false
		}
	}()
	if p.fields[c].leaf < 0 {
		return Bounds{}, false
	}
	rg := p.pf.MetaData().RowGroup(part)
	chunk, err := rg.ColumnChunk(p.fields[c].leaf)
	if err != nil {
		return Bounds{}, false
	}
	if set, err := chunk.StatsSet(); err != nil || !set {
		return Bounds{}, false
	}
	stats, err := chunk.Statistics()
	if err != nil || stats == nil || !stats.HasMinMax() {
		return Bounds{}, false
	}
	b = Bounds{Nulls: -1, Rows: rg.NumRows()}
	if stats.HasNullCount() {
		b.Nulls = stats.NullCount()
	}
	var okMin, okMax bool
	b.Min, okMin = statDatum(stats, p.schema[c].Type, stats.EncodeMin())
	b.Max, okMax = statDatum(stats, p.schema[c].Type, stats.EncodeMax())
	return b, okMin && okMax
}

// statDatum reads a plainly encoded bound.
func statDatum(stats metadata.TypedStatistics, t sqltype.Type, raw []byte) (sqltype.Datum, bool) {
	d := sqltype.Datum{Type: t}
	switch t.Kind {
	case sqltype.KindInt8, sqltype.KindInt16, sqltype.KindInt32, sqltype.KindInt64, sqltype.KindDate:
	case sqltype.KindVarchar:
		d.S = string(raw)
		return d, true
	case sqltype.KindFloat32, sqltype.KindFloat64:
		// NaN is greater than all numbers here and absent from the bounds there.
		return d, false
	case sqltype.KindDecimal:
		if t.Precision > 18 {
			return d, false
		}
	default:
		return d, false
	}
	switch stats.Type() {
	case parquet.Types.Int32:
		d.I = int64(int32(binary.LittleEndian.Uint32(raw)))
	case parquet.Types.Int64:
		d.I = int64(binary.LittleEndian.Uint64(raw))
	case parquet.Types.FixedLenByteArray:
		if len(raw) == 0 || len(raw) > 16 {
			return d, false
		}
		v := int64(int8(raw[0]))
		for _, b := range raw[1:] {
			if v > math.MaxInt64>>8 || v < math.MinInt64>>8 {
				return d, false
			}
			v = v<<8 | int64(b)
		}
		d.I = v
	default:
		return d, false
	}
	return d, true
}

// Stats implements File. The number of different values is estimated from the
// dictionaries of some row groups and from how far the groups' bounds overlap.
func (p *parquetFile) Stats(c int) ColumnStats {
	null := sqltype.NullOf(p.schema[c].Type)
	all := ColumnStats{Min: null, Max: null}
	var spread float64 // of the groups' bounds, together
	bounded := true
	for part := range p.Parts() {
		b, ok := p.Bounds(part, c)
		if !ok {
			bounded = false
			break
		}
		all.Nulls += int(max(0, b.Nulls))
		if all.Min.Null || sqltype.Compare(b.Min, all.Min) < 0 {
			all.Min = b.Min
		}
		if all.Max.Null || sqltype.Compare(b.Max, all.Max) > 0 {
			all.Max = b.Max
		}
		spread += width(b.Min, b.Max)
	}
	if !bounded {
		all = ColumnStats{Min: null, Max: null}
	}
	rows := float64(p.Rows() - int64(all.Nulls))
	groups := float64(p.Parts())
	// How often the whole range is covered by groups: 1 when they follow each
	// other, as in a file in the column's order, groups when all have all.
	cover := groups
	if total := width(all.Min, all.Max); bounded && total > 0 {
		cover = min(max(1, spread/total), groups)
	}
	all.Distinct = p.distinct(c, rows/max(1, groups)*cover) * groups / max(1, cover)
	all.Distinct = min(all.Distinct, max(1, rows))
	if bounded && !p.schema[c].Type.Kind.IsString() { // bounds of what is not text are whole numbers
		all.Distinct = min(all.Distinct, width(all.Min, all.Max)+1)
	}
	return all
}

// width is how far two bounds lie apart, 0 when that is no number.
func width(lo, hi sqltype.Datum) float64 {
	if lo.Null || hi.Null || lo.Type.Kind.IsString() {
		return 0
	}
	return float64(hi.I) - float64(lo.I)
}

// sampledGroups is how many row groups' dictionaries are looked at.
const sampledGroups = 3

// distinct estimates how many different values there are among rows rows that
// are like those of a row group. A group without a dictionary has as many as rows.
func (p *parquetFile) distinct(c int, rows float64) float64 {
	if p.fields[c].leaf < 0 {
		return 0
	}
	f, err := os.Open(p.name)
	if err != nil {
		return 0
	}
	defer f.Close()
	most := 0.0
	for i := range min(sampledGroups, p.Parts()) {
		rg := p.pf.MetaData().RowGroup(i * p.Parts() / sampledGroups % p.Parts())
		chunk, err := rg.ColumnChunk(p.fields[c].leaf)
		if err != nil {
			return 0
		}
		n := dictionarySize(f, chunk)
		if n < 0 {
			return rows
		}
		most = max(most, population(float64(n), float64(rg.NumRows()), rows))
	}
	return most
}

// dictionarySize is the number of values in a chunk's dictionary, -1 when not
// all of its pages are codes.
func dictionarySize(f *os.File, chunk *metadata.ColumnChunkMetaData) int {
	if !chunk.HasDictionaryPage() {
		return -1
	}
	for _, e := range chunk.EncodingStats() {
		dict := e.Encoding == parquet.Encodings.PlainDict || e.Encoding == parquet.Encodings.RLEDict
		if pageKind(e.PageType) != dictionaryPage && !dict {
			return -1
		}
	}
	var b [256]byte
	n, _ := f.ReadAt(b[:], chunk.DictionaryPageOffset())
	h, _, err := readPageHeader(b[:n])
	if err != nil || h.kind != dictionaryPage {
		return -1
	}
	return h.values
}

// population is how many different values all rows have, when n rows picked
// from them have d: those of D values that n picks meet are D(1-exp(-n/D)).
func population(d, n, all float64) float64 {
	if d >= n {
		return all
	}
	lo, hi := d, max(d, all)
	for range 40 {
		mid := (lo + hi) / 2
		if mid*(1-math.Exp(-n/mid)) < d {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
