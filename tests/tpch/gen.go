package tpch

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Schema is the table's Arrow schema.
func (t *Table) Schema() *arrow.Schema {
	fields := make([]arrow.Field, len(t.columns))
	for i, c := range t.columns {
		fields[i] = arrow.Field{Name: c.name, Type: [...]arrow.DataType{
			arrow.PrimitiveTypes.Int32, &arrow.Decimal128Type{Precision: 15, Scale: 2},
			arrow.BinaryTypes.String, arrow.FixedWidthTypes.Date32}[c.kind]}
	}
	return arrow.NewSchema(fields, nil)
}

// builder gathers rows of one table into records.
type builder struct {
	table *Table
	b     *array.RecordBuilder
	at    int // the next column
	rows  int
}

func newBuilder(t *Table) *builder {
	return &builder{table: t, b: array.NewRecordBuilder(memory.DefaultAllocator, t.Schema())}
}

func (b *builder) next() array.Builder {
	f := b.b.Field(b.at)
	if b.at++; b.at == len(b.table.columns) {
		b.at = 0
		b.rows++
	}
	return f
}

func (b *builder) int(v int64) {
	switch f := b.next().(type) {
	case *array.Int32Builder:
		f.Append(int32(v))
	case *array.Date32Builder:
		f.Append(arrow.Date32(v))
	case *array.Decimal128Builder:
		f.Append(decimal128.FromI64(v))
	default:
		panic(fmt.Sprintf("tpch: an integer for %T", f))
	}
}

func (b *builder) string(s string) { b.next().(*array.StringBuilder).Append(s) }

// recordRows is about how many rows a record has.
const recordRows = 100_000

// Generate makes the tables of a scale, and hands them over as records, in
// order, a table and then the one made along with it interleaved. The record
// is released when sink returns.
func Generate(scale float64, e Edition, sink func(*Table, arrow.RecordBatch) error) error {
	return GeneratePart(scale, e, 0, 1, sink)
}

// GeneratePart is Generate of one of so many parts, the first being 0: neighbouring rows
// of each table. Parts may be made at the same time.
func GeneratePart(scale float64, e Edition, part, parts int64, sink func(*Table, arrow.RecordBatch) error) error {
	m := newMaker(scale, e)
	for _, t := range Tables {
		if t.parent == nil {
			n := t.count(scale)
			if err := m.generate(t, n*part/parts, n*(part+1)/parts, sink); err != nil {
				return fmt.Errorf("tpch: %s: %w", t.Name, err)
			}
		}
	}
	return nil
}

// generate makes the rows of a table behind the first from ones, up to row to.
func (m *maker) generate(t *Table, from, to int64, sink func(*Table, arrow.RecordBatch) error) error {
	streams := m.streamsOf(t)
	for _, s := range streams {
		s.skip(from * s.boundary)
	}
	outer := newBuilder(t)
	defer outer.b.Release()
	builders := []*builder{outer}
	var inner *builder
	for _, c := range Tables {
		if c.parent == t {
			inner = newBuilder(c)
			defer inner.b.Release()
			builders = append(builders, inner)
		}
	}
	flush := func(least int) error {
		for _, b := range builders {
			if b.rows < least {
				continue
			}
			rec := b.b.NewRecordBatch()
			b.rows = 0
			err := sink(b.table, rec)
			rec.Release()
			if err != nil {
				return err
			}
		}
		return nil
	}
	for i := from + 1; i <= to; i++ {
		switch t {
		case Region:
			m.region(i, outer)
		case Nation:
			m.nation(i, outer)
		case Supplier:
			m.supplier(i, outer)
		case Customer:
			m.customer(i, outer)
		case Part:
			m.part(i, outer, inner)
		case Orders:
			m.order(i, outer, inner)
		default:
			panic("tpch: no maker for " + t.Name)
		}
		for _, s := range streams {
			s.endRow()
		}
		if err := flush(recordRows); err != nil {
			return err
		}
	}
	return flush(1)
}
