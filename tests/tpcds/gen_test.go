package tpcds

import (
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
)

// names are the endings of foreign keys and what they name.
var names = []struct {
	ending string
	table  *Table
}{
	{"_date_sk", dateDim}, {"_time_sk", timeDim}, {"_item_sk", item}, {"_customer_sk", customer}, {"_cdemo_sk", demographics},
	{"_hdemo_sk", household}, {"_addr_sk", address}, {"_store_sk", store}, {"_promo_sk", promotion}, {"_call_center_sk", callCenter},
	{"_catalog_page_sk", catalogPage}, {"_ship_mode_sk", shipMode}, {"_warehouse_sk", warehouse}, {"_reason_sk", reason},
	{"_web_page_sk", webPage}, {"_web_site_sk", webSite}, {"_income_band_sk", incomeBand},
}

// named is the table that a column names, or nil.
func (t *Table) named(c column) *Table {
	if len(t.key) == 1 && t.key[0] == c.name {
		return nil
	}
	for _, n := range names {
		if strings.HasSuffix(c.name, n.ending) {
			return n.table
		}
	}
	return nil
}

// content is what a test keeps of a table: its key's columns, the foreign keys
// and a checksum.
type content struct {
	rows  int64
	ints  map[string][]int64 // null where NULL
	check uint32
}

func generate(t *testing.T, scale float64) map[*Table]*content {
	all := map[*Table]*content{}
	require.NoError(t, Generate(scale, func(table *Table, rec arrow.RecordBatch) error {
		c := all[table]
		if c == nil {
			c = &content{ints: map[string][]int64{}}
			all[table] = c
		}
		c.rows += rec.NumRows()
		for i, col := range rec.Columns() {
			for _, buf := range col.Data().Buffers() {
				if buf != nil {
					c.check = crc32.Update(c.check, crc32.IEEETable, buf.Bytes())
				}
			}
			ints, ok := col.(*array.Int32)
			if !ok {
				continue
			}
			name := table.columns[i].name
			for j, v := range ints.Int32Values() {
				n := int64(v)
				if ints.IsNull(j) {
					n = null
				}
				c.ints[name] = append(c.ints[name], n)
			}
		}
		return nil
	}))
	return all
}

func TestRelations(t *testing.T) {
	all := generate(t, 0.01)
	require.Len(t, all, 24)
	for _, table := range Tables {
		c := all[table]
		require.Equal(t, table.Rows(0.01), c.rows, table.Name)
		seen := make(map[[3]int64]bool, c.rows)
		for i := range int(c.rows) {
			var key [3]int64
			for j, name := range table.key {
				key[j] = c.ints[name][i]
			}
			if seen[key] || slices.Contains(key[:], null) {
				require.Fail(t, "not a key", "%s: %d", table.Name, key)
			}
			seen[key] = true
		}
		for _, col := range table.columns {
			to := table.named(col)
			if to == nil {
				continue
			}
			keys := map[int64]bool{null: true}
			for _, k := range all[to].ints[to.key[0]] {
				keys[k] = true
			}
			for _, v := range c.ints[col.name] {
				if !keys[v] {
					require.Fail(t, "a key of nothing", "%s.%s: no %d in %s", table.Name, col.name, v, to.Name)
				}
			}
		}
	}
}

// TestReturnsAreOfSales looks for the sale of every return.
func TestReturnsAreOfSales(t *testing.T) {
	all := generate(t, 0.01)
	for _, c := range channels {
		sold := map[[2]int64]bool{}
		items, orders := all[c.sales].ints[c.sales.key[0]], all[c.sales].ints[c.sales.key[1]]
		for i := range items {
			sold[[2]int64{items[i], orders[i]}] = true
		}
		items, orders = all[c.returns].ints[c.returns.key[0]], all[c.returns].ints[c.returns.key[1]]
		for i := range items {
			require.True(t, sold[[2]int64{items[i], orders[i]}], "%s: item %d of order %d", c.returns.Name, items[i], orders[i])
		}
	}
}

// TestSkew finds the holes of facts, and more sales in December than in May.
func TestSkew(t *testing.T) {
	days := generate(t, 0.01)[storeSales].ints["ss_sold_date_sk"]
	months := map[int64]int{}
	missing := 0
	for _, d := range days {
		if d == null {
			missing++
			continue
		}
		if from := day(2000, 5, 1) + julian; d >= from && d < from+31 {
			months[5]++
		}
		if from := day(2000, 12, 1) + julian; d >= from && d < from+31 {
			months[12]++
		}
	}
	require.Greater(t, months[12], 2*months[5])
	require.InDelta(t, 0.045, float64(missing)/float64(len(days)), 0.01)
}

// TestRepeats makes the same rows twice.
func TestRepeats(t *testing.T) {
	a, b := generate(t, 0.001), generate(t, 0.001)
	for table := range a {
		require.Equal(t, a[table].check, b[table].check, table.Name)
	}
}

// TestSchema counts what the specification has.
func TestSchema(t *testing.T) {
	columns := map[string]bool{}
	for _, table := range Tables {
		require.Equal(t, table.rows, table.Rows(1), table.Name)
		for _, c := range table.columns {
			columns[c.name] = true
		}
	}
	require.Len(t, Tables, 24)
	require.Len(t, columns, 425)
}
