package main

import (
	_ "embed"
	"fmt"
	"hash/crc32"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// hitsQueries are 43 queries of the kinds that web analytics asks of one wide
// table. Every LIMIT has an order that leaves no ties.
//
//go:embed hits.sql
var hitsQueries string

// hitsColumn is a column of the hits. Exactly one of number and text makes its value.
type hitsColumn struct {
	name, typ string
	number    func(h *hit) int64
	text      func(h *hit) string
}

// A hit is what the columns of a row have in common.
type hit struct {
	draws
	row, user, counter, page, from int64
	second                         int64 // since 1970
}

var hitsStart = time.Date(2013, 7, 1, 0, 0, 0, 0, time.UTC).Unix()

// newHit draws row i of n. A user comes six times in the mean, some very
// often; a counter's pages are its own, and the first ones are called most.
func newHit(i, n int64) *hit {
	h := &hit{draws: draws{uint64(i)}, row: i}
	h.user = h.skewed(n/6+1) * 0x2545F4914F6CDD1D & (1<<62 - 1)
	h.counter = h.skewed(6000)
	h.page = h.counter<<32 | h.skewed(n/50/(h.counter+1)+20)
	h.from = h.skewed(n/10 + 1)
	h.second = hitsStart + i*31*86400/n + h.below(60)
	return h
}

// draws are pseudo-random numbers of one row, SplitMix64.
type draws struct{ state uint64 }

func (d *draws) below(n int64) int64 {
	d.state += 0x9E3779B97F4A7C15
	z := d.state * 0xD1342543DE82EF95
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int64((z ^ z>>31) >> 1 % uint64(n))
}

// skewed draws a number below n: half of the draws are in the first eighth.
func (d *draws) skewed(n int64) int64 {
	x := float64(d.below(1<<40)) / (1 << 40)
	return int64(x * x * x * float64(n))
}

// sparse is v once in n hits, otherwise 0.
func (h *hit) sparse(n, v int64) int64 {
	if h.below(n) != 0 {
		return 0
	}
	return 1 + h.skewed(v)
}

var (
	hitsWords  = strings.Fields("karelia house used new sale photo video forum weather moscow film online free map price auto news cheap flat rent work tour book music")
	hitsTopics = strings.Fields("catalog news search forum images maps auto realty watch profile")
)

// phrase is some words that id stands for.
func phrase(id int64, words int) string {
	var b strings.Builder
	d := draws{uint64(id) * 0x9E3779B97F4A7C15}
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(hitsWords[d.below(int64(len(hitsWords)))])
	}
	fmt.Fprintf(&b, " %d", id%1000)
	return b.String()
}

// address is the URL of a page.
func address(page int64) string {
	d := draws{uint64(page) * 31}
	host := "example"
	if d.below(60) == 0 {
		host = "google"
	}
	return fmt.Sprintf("http://www.%s%d.com/%s/%s/section-%d/item?id=%d&lang=en&sort=price&page=%d&session=%x",
		host, page>>32, hitsTopics[d.below(int64(len(hitsTopics)))], hitsTopics[d.below(int64(len(hitsTopics)))],
		d.below(50), page&0xFFFFFFFF, d.below(9), d.below(1<<40))
}

func referer(h *hit) string {
	switch h.from % 5 {
	case 0:
		return ""
	case 1:
		return "https://google.com/search?q=" + strings.ReplaceAll(phrase(h.from, 3), " ", "+")
	default:
		return address(h.from)
	}
}

func searched(h *hit) string {
	if h.from%8 != 1 {
		return ""
	}
	return phrase(h.from, 2)
}

func title(h *hit) string {
	if h.page%97 == 0 {
		return phrase(h.page, 4) + " - Google Sites and Maps of " + hitsWords[h.page%int64(len(hitsWords))]
	}
	return phrase(h.page, 9) + " | " + hitsTopics[h.page%int64(len(hitsTopics))]
}

// mobile reports one user in eleven.
func (h *hit) mobile() bool { return h.user%11 == 0 }

func phone(h *hit) int64 {
	if !h.mobile() {
		return 0
	}
	return h.user % 90
}

func model(h *hit) string {
	if !h.mobile() {
		return ""
	}
	return hitsWords[h.user%23] + " " + fmt.Sprint(h.user%7)
}

// hitsColumns are the columns; 0 or the empty text stand for what is not known.
var hitsColumns = []hitsColumn{
	{"watch_id", "BIGINT", func(h *hit) int64 { return h.below(1 << 62) }, nil},
	{"event_time", "TIMESTAMP", func(h *hit) int64 { return h.second * 1e6 }, nil},
	{"event_date", "DATE", func(h *hit) int64 { return h.second / 86400 }, nil},
	{"counter_id", "INTEGER", func(h *hit) int64 { return h.counter }, nil},
	{"client_ip", "INTEGER", func(h *hit) int64 { return h.user % 1_500_000_000 }, nil},
	{"region_id", "INTEGER", func(h *hit) int64 { return h.user % 5000 * (h.user % 5000) / 5000 }, nil},
	{"user_id", "BIGINT", func(h *hit) int64 { return h.user }, nil},
	{"title", "VARCHAR", nil, title},
	{"url", "VARCHAR", nil, func(h *hit) string { return address(h.page) }},
	{"url_hash", "BIGINT", func(h *hit) int64 { return h.page * 0x2545F4914F6CDD1D }, nil},
	{"referer", "VARCHAR", nil, referer},
	{"referer_hash", "BIGINT", func(h *hit) int64 { return h.from * 0x2545F4914F6CDD1D }, nil},
	{"is_refresh", "SMALLINT", func(h *hit) int64 { return h.sparse(7, 1) }, nil},
	{"is_link", "SMALLINT", func(h *hit) int64 { return h.sparse(20, 1) }, nil},
	{"is_download", "SMALLINT", func(h *hit) int64 { return h.sparse(300, 1) }, nil},
	{"dont_count", "SMALLINT", func(h *hit) int64 { return h.sparse(30, 1) }, nil},
	{"resolution_width", "SMALLINT", func(h *hit) int64 { return 800 + h.user%15*100 }, nil},
	{"window_width", "SMALLINT", func(h *hit) int64 { return 600 + h.below(1200) }, nil},
	{"window_height", "SMALLINT", func(h *hit) int64 { return 300 + h.skewed(900) }, nil},
	{"mobile_phone", "SMALLINT", phone, nil},
	{"mobile_model", "VARCHAR", nil, model},
	{"traffic_source", "SMALLINT", func(h *hit) int64 { return h.below(10) - 1 }, nil},
	{"search_engine", "SMALLINT", func(h *hit) int64 { return h.sparse(7, 40) }, nil},
	{"search_phrase", "VARCHAR", nil, searched},
	{"adv_engine", "SMALLINT", func(h *hit) int64 { return h.sparse(160, 30) }, nil},
}

// arrowTypes are the types of records by their names in SQL.
var arrowTypes = map[string]arrow.DataType{
	"BIGINT": arrow.PrimitiveTypes.Int64, "INTEGER": arrow.PrimitiveTypes.Int32, "SMALLINT": arrow.PrimitiveTypes.Int16,
	"DOUBLE": arrow.PrimitiveTypes.Float64, "DATE": arrow.FixedWidthTypes.Date32, "VARCHAR": arrow.BinaryTypes.String,
	"TIMESTAMP": &arrow.TimestampType{Unit: arrow.Microsecond},
}

// tableOf is a table of pairs of names and types, without NULLs.
func tableOf(name string, columns ...[2]string) table {
	fields := make([]arrow.Field, len(columns))
	list := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c[0], Type: arrowTypes[c[1]]}
		list[i] = c[0] + " " + c[1] + " NOT NULL"
	}
	create := fmt.Sprintf("CREATE TABLE %s (%s)", name, strings.Join(list, ", "))
	return table{name, arrow.NewSchema(fields, nil), create, create}
}

func hitsSuite() *suite {
	s := &suite{texts: hitsQueries, ask: query, parts: runtime.GOMAXPROCS(0)}
	s.hits("hits", hitsColumns)
	s.narrow = func(s *suite, texts []text) {
		columns := slices.DeleteFunc(slices.Clone(hitsColumns), func(c hitsColumn) bool {
			word := regexp.MustCompile(`\b` + c.name + `\b|\bSELECT \*`)
			return !slices.ContainsFunc(texts, func(t text) bool { return word.MatchString(t.sql) })
		})
		var names []string
		for _, c := range columns {
			names = append(names, c.name)
		}
		s.hits(fmt.Sprintf("hits-%x-", crc32.ChecksumIEEE([]byte(strings.Join(names, " ")))), columns)
	}
	return s
}

// hits gives a suite its table, of some columns; data is what its folders begin with.
func (s *suite) hits(data string, cols []hitsColumn) {
	columns := make([][2]string, len(cols))
	for i, c := range cols {
		columns[i] = [2]string{c.name, c.typ}
	}
	t := tableOf("hits", columns...)
	s.data, s.tables = data, []table{t}
	s.generate = func(rows float64, part, parts int, to func(string, arrow.RecordBatch) error) error {
		n := int64(rows)
		first, end := n*int64(part)/int64(parts), n*int64(part+1)/int64(parts)
		return fill(t, first, end, to, func(i int64, b *array.RecordBuilder) {
			h := newHit(i, n)
			for j, c := range cols {
				if c.text != nil {
					put(b.Field(j), c.text(h))
				} else {
					put(b.Field(j), c.number(h))
				}
			}
		})
	}
}

// fill makes rows first to end of a table, in records of a few.
func fill(t table, first, end int64, to func(string, arrow.RecordBatch) error, row func(i int64, b *array.RecordBuilder)) error {
	const some = 100_000
	b := array.NewRecordBuilder(memory.DefaultAllocator, t.schema)
	defer b.Release()
	for lo := first; lo < end; lo += some {
		for i := lo; i < min(lo+some, end); i++ {
			row(i, b)
		}
		rec := b.NewRecordBatch()
		err := to(t.name, rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// put appends a value.
func put(b array.Builder, v any) {
	switch b := b.(type) {
	case *array.Int16Builder:
		b.Append(int16(v.(int64)))
	case *array.Int32Builder:
		b.Append(int32(v.(int64)))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.(int64)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(int64)))
	case *array.StringBuilder:
		b.Append(v.(string))
	default:
		panic(fmt.Sprintf("bench: no %T for %T", v, b))
	}
}
