package tpcds

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// builder gathers rows of one table into records. Rows are given column by
// column, in order.
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

// int gives the next columns: integers, hundredths or days.
func (b *builder) int(values ...int64) {
	for _, v := range values {
		f := b.next()
		if v == null {
			f.AppendNull()
			continue
		}
		switch f := f.(type) {
		case *array.Int32Builder:
			f.Append(int32(v))
		case *array.Date32Builder:
			f.Append(arrow.Date32(v))
		case *array.Decimal128Builder:
			f.Append(decimal128.FromI64(v))
		default:
			panic(fmt.Sprintf("tpcds: an integer for %T", f))
		}
	}
}

// text gives the next columns.
func (b *builder) text(values ...string) {
	for _, s := range values {
		f := b.next().(*array.StringBuilder)
		if s == "" {
			f.AppendNull()
			continue
		}
		f.Append(s)
	}
}

// recordRows is about how many rows a record has.
const recordRows = 100_000

// sink takes the records; one is released when it returns.
type sink func(*Table, arrow.RecordBatch) error

// flush hands over what the builders hold, if it is at least so many rows.
func (s sink) flush(least int, builders ...*builder) error {
	for _, b := range builders {
		if b.rows < least {
			continue
		}
		rec := b.b.NewRecordBatch()
		b.rows = 0
		err := s(b.table, rec)
		rec.Release()
		if err != nil {
			return fmt.Errorf("tpcds: %s: %w", b.table.Name, err)
		}
	}
	return nil
}

// maker makes the rows of one scale.
type maker struct {
	scale                                   float64
	customers, addresses, demos, items      int64
	households, pages, promos, stores       int64
	centers, sites, webPages, modes, houses int64
	reasons                                 int64
	// stride is between the combinations of demographics that a scale has, and
	// counted the pairs of an item and a warehouse whose stock it has.
	stride, counted int64
	// days are the days of sales, each as often as it is likely.
	days []int64
}

func newMaker(scale float64) *maker {
	return &maker{scale: scale,
		customers: customer.Rows(scale), addresses: address.Rows(scale), demos: demographics.Rows(scale), items: item.Rows(scale),
		households: household.Rows(scale), pages: catalogPage.Rows(scale), promos: promotion.Rows(scale), stores: store.Rows(scale),
		centers: callCenter.Rows(scale), sites: webSite.Rows(scale), webPages: webPage.Rows(scale), modes: shipMode.Rows(scale),
		houses: warehouse.Rows(scale), reasons: reason.Rows(scale),
		stride:  demographics.rows / demographics.Rows(scale),
		counted: max(1, inventory.Rows(scale)/weeks),
		days:    season()}
}

// Generate makes the tables of a scale, of at least 0.001, and hands them over
// as records, in the order of Tables, but for returns, which are made along
// with their sales.
func Generate(scale float64, to func(*Table, arrow.RecordBatch) error) error {
	m := newMaker(scale)
	for _, t := range Tables {
		if t.row == nil {
			continue
		}
		if err := m.rows(t, to); err != nil {
			return err
		}
	}
	for _, c := range channels {
		if err := m.sell(c, to); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) rows(t *Table, to sink) error {
	b := newBuilder(t)
	defer b.b.Release()
	for i := range t.Rows(m.scale) {
		t.row(m, i+1, b)
		if err := to.flush(recordRows, b); err != nil {
			return err
		}
	}
	return to.flush(1, b)
}
