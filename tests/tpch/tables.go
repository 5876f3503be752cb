package tpch

import (
	"fmt"
	"strings"
)

// The types of columns. A money column is a DECIMAL(15,2), in cents; a date
// column counts days from 1970-01-01.
type kind uint8

const (
	integer kind = iota
	money
	text
	date
)

type column struct {
	name string
	kind kind
}

// Table is one of the eight tables.
type Table struct {
	Name    string
	columns []column
	rows    int64 // at scale 1
	scaled  bool
	// parent is set for a table that is made along with another: its rows are
	// the inner ones.
	parent *Table
	key    string // PRIMARY KEY
}

// columnsOf reads "name kind" pairs.
func columnsOf(list string) []column {
	var out []column
	f := strings.Fields(list)
	for i := 0; i < len(f); i += 2 {
		k := map[string]kind{"i": integer, "m": money, "t": text, "d": date}[f[i+1]]
		out = append(out, column{f[i], k})
	}
	return out
}

// The tables, in an order in which every foreign key comes after what it names.
var (
	Region = &Table{Name: "region", rows: 5, key: "r_regionkey",
		columns: columnsOf("r_regionkey i r_name t r_comment t")}
	Nation = &Table{Name: "nation", rows: 25, key: "n_nationkey",
		columns: columnsOf("n_nationkey i n_name t n_regionkey i n_comment t")}
	Supplier = &Table{Name: "supplier", rows: 10_000, scaled: true, key: "s_suppkey",
		columns: columnsOf("s_suppkey i s_name t s_address t s_nationkey i s_phone t s_acctbal m s_comment t")}
	Customer = &Table{Name: "customer", rows: 150_000, scaled: true, key: "c_custkey",
		columns: columnsOf("c_custkey i c_name t c_address t c_nationkey i c_phone t c_acctbal m c_mktsegment t c_comment t")}
	Part = &Table{Name: "part", rows: 200_000, scaled: true, key: "p_partkey",
		columns: columnsOf("p_partkey i p_name t p_mfgr t p_brand t p_type t p_size i p_container t p_retailprice m p_comment t")}
	PartSupp = &Table{Name: "partsupp", rows: 200_000, scaled: true, parent: Part, key: "ps_partkey, ps_suppkey",
		columns: columnsOf("ps_partkey i ps_suppkey i ps_availqty i ps_supplycost m ps_comment t")}
	Orders = &Table{Name: "orders", rows: 1_500_000, scaled: true, key: "o_orderkey",
		columns: columnsOf("o_orderkey i o_custkey i o_orderstatus t o_totalprice m o_orderdate d o_orderpriority t o_clerk t o_shippriority i o_comment t")}
	LineItem = &Table{Name: "lineitem", rows: 1_500_000, scaled: true, parent: Orders, key: "l_orderkey, l_linenumber",
		columns: columnsOf("l_orderkey i l_partkey i l_suppkey i l_linenumber i l_quantity m l_extendedprice m l_discount m l_tax m " +
			"l_returnflag t l_linestatus t l_shipdate d l_commitdate d l_receiptdate d l_shipinstruct t l_shipmode t l_comment t")}

	Tables = []*Table{Region, Nation, Supplier, Customer, Part, PartSupp, Orders, LineItem}
)

// CreateSQL is the table's CREATE TABLE, with its primary key if keyed.
func (t *Table) CreateSQL(keyed Keyed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (", t.Name)
	for i, c := range t.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s NOT NULL", c.name, [...]string{"INTEGER", "DECIMAL(15,2)", "VARCHAR", "DATE"}[c.kind])
	}
	if keyed == WithKeys {
		fmt.Fprintf(&b, ", PRIMARY KEY (%s)", t.key)
	}
	b.WriteString(")")
	return b.String()
}

// Keyed says whether tables get their primary keys.
type Keyed uint8

// The two forms of the schema.
const (
	WithoutKeys Keyed = iota
	WithKeys
)

// row takes the values of one row, in the order of the columns: int64 for
// integers, cents and days, string for text.
type row interface {
	int(v int64)
	string(s string)
}

// maker makes the rows of one scale.
type maker struct {
	*streams
	pool []byte
	// sign is that of the letters' draws: the official generator overflows 32
	// bits there, and its addresses show it.
	sign                        float64
	parts, suppliers, customers int64
	clerks                      int64
}

func newMaker(scale float64, e Edition) *maker {
	m := &maker{streams: newStreams(), clerks: max(1000, int64(1000*scale)), pool: pools[e](), sign: 1}
	if e == Reference {
		m.sign = -1
	}
	m.parts, m.suppliers, m.customers = Part.count(scale), Supplier.count(scale), Customer.count(scale)
	return m
}

// streamsOf are those that rows of a table, and of the one made along with it, draw
// from.
func (m *maker) streamsOf(t *Table) []*stream {
	switch t {
	case Region:
		return []*stream{&m.rComment}
	case Nation:
		return []*stream{&m.nComment}
	case Supplier:
		return []*stream{&m.sNation, &m.sAddress, &m.sPhone, &m.sBalance, &m.sComment,
			&m.sPress, &m.sPressKind, &m.sPressNoise, &m.sPressOffset}
	case Customer:
		return []*stream{&m.cNation, &m.cAddress, &m.cPhone, &m.cBalance, &m.cSegment, &m.cComment}
	case Part:
		return []*stream{&m.pMfgr, &m.pBrand, &m.pType, &m.pSize, &m.pContainer, &m.pComment, &m.pName,
			&m.psQty, &m.psCost, &m.psComment}
	case Orders:
		return []*stream{&m.oSupp, &m.oClerk, &m.oComment, &m.oDate, &m.oPriority, &m.oCust, &m.oLines,
			&m.lQty, &m.lDiscount, &m.lTax, &m.lInstruct, &m.lMode, &m.lPart, &m.lSupp, &m.lShip, &m.lCommit,
			&m.lReceipt, &m.lFlag, &m.lComment}
	default:
		panic("tpch: no streams for " + t.Name)
	}
}

// count is how many rows the table has, or its parent has.
func (t *Table) count(scale float64) int64 {
	if !t.scaled {
		return t.rows
	}
	return int64(float64(t.rows) * scale)
}

func (m *maker) region(i int64, r row) {
	r.int(i - 1)
	r.string(regions[i-1])
	r.string(m.comment(72, &m.rComment))
}

func (m *maker) nation(i int64, r row) {
	r.int(i - 1)
	r.string(nations[i-1].name)
	r.int(nations[i-1].region)
	r.string(m.comment(72, &m.nComment))
}

// phone is a telephone number of a nation.
func phone(nation int64, s *stream) string {
	a, b, c := s.between(100, 999), s.between(100, 999), s.between(1000, 9999)
	return fmt.Sprintf("%02d-%03d-%03d-%04d", 10+nation%90, a, b, c)
}

func (m *maker) supplier(i int64, r row) {
	nation := m.sNation.between(0, int64(len(nations)-1))
	r.int(i)
	r.string(fmt.Sprintf("Supplier#%09d", i))
	r.string(m.address(&m.sAddress))
	r.int(nation)
	r.string(phone(nation, &m.sPhone))
	r.int(m.sBalance.between(-99999, 999999))
	r.string(m.press([]byte(m.comment(63, &m.sComment))))
}

// press writes "Customer ... Complaints" or "... Recommends" into the comments
// of one supplier in a thousand.
func (m *maker) press(b []byte) string {
	const base = "Customer "
	hit := m.sPress.between(1, 10000)
	kind := m.sPressKind.between(0, 100)
	noise := m.sPressNoise.between(0, int64(len(b)-19))
	at := m.sPressOffset.between(0, int64(len(b))-(19+noise))
	if hit <= 10 {
		word := "Recommends"
		if kind < 50 {
			word = "Complaints"
		}
		copy(b[at:], base)
		copy(b[at+int64(len(base))+noise:], word)
	}
	return string(b)
}

func (m *maker) customer(i int64, r row) {
	nation := m.cNation.between(0, int64(len(nations)-1))
	r.int(i)
	r.string(fmt.Sprintf("Customer#%09d", i))
	r.string(m.address(&m.cAddress))
	r.int(nation)
	r.string(phone(nation, &m.cPhone))
	r.int(m.cBalance.between(-99999, 999999))
	r.string(segments.draw(&m.cSegment))
	r.string(m.comment(73, &m.cComment))
}

// retailPrice is a part's price in cents.
func retailPrice(part int64) int64 { return 90000 + part/10%20001 + part%1000*100 }

// supplierOf is the supplier number n (0 to 3) of a part.
func (m *maker) supplierOf(part, n int64) int64 {
	return (part+n*(m.suppliers/suppsPerPart+(part-1)/m.suppliers))%m.suppliers + 1
}

// partName is five colours, the head of a shuffle.
func (m *maker) partName() string {
	var order [92]int
	for i := range order {
		order[i] = i
	}
	for i := range order {
		j := m.pName.between(int64(i), int64(len(order)-1))
		order[i], order[j] = order[j], order[i]
	}
	words := make([]string, 5)
	for i := range words {
		words[i] = colors[order[i]]
	}
	return strings.Join(words, " ")
}

func (m *maker) part(i int64, r, inner row) {
	mfgr := m.pMfgr.between(1, 5)
	r.int(i)
	r.string(m.partName())
	r.string(fmt.Sprintf("Manufacturer#%d", mfgr))
	r.string(fmt.Sprintf("Brand#%d%d", mfgr, m.pBrand.between(1, 5)))
	r.string(partTypes.draw(&m.pType))
	r.int(m.pSize.between(1, 50))
	r.string(containers.draw(&m.pContainer))
	r.int(retailPrice(i))
	r.string(m.comment(14, &m.pComment))
	for n := range int64(suppsPerPart) {
		inner.int(i)
		inner.int(m.supplierOf(i, n))
		inner.int(m.psQty.between(1, 9999))
		inner.int(m.psCost.between(100, 100000))
		inner.string(m.comment(124, &m.psComment))
	}
}

// Days from 1970-01-01.
const (
	firstDay   = 8035           // 1992-01-01
	days       = 2557           // to 1998-12-31
	currentDay = 8035 + 1263    // 1995-06-17
	lastOrder  = days - 151 - 1 // the last order's day, so that its lines are received in time
)

func (m *maker) order(i int64, r, inner row) {
	key := i>>3<<5 | i&7 // keys are sparse: 8 of every 32
	cust := m.oCust.between(1, m.customers)
	for delta := int64(1); cust%3 == 0; delta = -delta { // a third of the customers order nothing
		cust = min(cust+delta, m.customers)
	}
	day := firstDay + m.oDate.between(0, lastOrder)
	priority := priorities.draw(&m.oPriority)
	clerk := fmt.Sprintf("Clerk#%09d", m.oClerk.between(1, m.clerks))
	note := m.comment(49, &m.oComment)
	lines := m.oLines.between(1, maxLines)
	var total, shipped int64
	for n := range lines {
		price, done := m.line(key, n+1, day, inner)
		total += price
		shipped += done
	}
	status := "P"
	switch shipped {
	case 0:
		status = "O"
	case lines:
		status = "F"
	}
	r.int(key)
	r.int(cust)
	r.string(status)
	r.int(total)
	r.int(day)
	r.string(priority)
	r.string(clerk)
	r.int(0)
	r.string(note)
}

// line makes one line of an order; it returns the line's price and 1 when it
// has shipped.
func (m *maker) line(key, number, orderDay int64, r row) (total, shipped int64) {
	quantity, discount, tax := m.lQty.between(1, 50), m.lDiscount.between(0, 10), m.lTax.between(0, 8)
	instruct, mode, note := instructs.draw(&m.lInstruct), modes.draw(&m.lMode), m.comment(27, &m.lComment)
	part := m.lPart.between(1, m.parts)
	supplier := m.supplierOf(part, m.lSupp.between(0, 3))
	price := retailPrice(part) * quantity
	ship := orderDay + m.lShip.between(1, 121)
	commit := orderDay + m.lCommit.between(30, 90)
	receipt := ship + m.lReceipt.between(1, 30)
	flag, status := "N", "O"
	if receipt <= currentDay {
		flag = flags.draw(&m.lFlag)
	}
	if ship <= currentDay {
		status, shipped = "F", 1
	}
	r.int(key)
	r.int(part)
	r.int(supplier)
	r.int(number)
	r.int(quantity * 100)
	r.int(price)
	r.int(discount)
	r.int(tax)
	r.string(flag)
	r.string(status)
	r.int(ship)
	r.int(commit)
	r.int(receipt)
	r.string(instruct)
	r.string(mode)
	r.string(note)
	return price * (100 - discount) / 100 * (100 + tax) / 100, shipped
}
