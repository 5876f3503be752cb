package tpcds

// A channel is a table of sales with its table of returns.
type channel struct {
	sales, returns *Table
	orders, lines  int64 // salts
	most           int64 // lines of an order; half of it on average
	sale, refund   func(m *maker, o *order, l *line, b *builder)
}

var channels = []*channel{
	{sales: storeSales, returns: storeReturns, orders: storeSalt, lines: storeLineSalt, most: 23,
		sale: (*maker).storeSale, refund: (*maker).storeReturn},
	{sales: catalogSales, returns: catalogReturns, orders: catalogSalt, lines: catalogLineSalt, most: 17,
		sale: (*maker).catalogSale, refund: (*maker).catalogReturn},
	{sales: webSales, returns: webReturns, orders: webSalt, lines: webLineSalt, most: 23,
		sale: (*maker).webSale, refund: (*maker).webReturn},
}

// An order is what its lines have in common.
type order struct {
	basket
	number     int64
	bill, ship party
	outlet     int64 // a large number, which the channel's outlets divide
}

// A line is one item of an order.
type line struct {
	rng
	holes
	item, page, mode, warehouse, promo int64
	ships                              int64
	deal
}

// order makes the header of an order. A quarter of the customers from afar
// want again what they have bought in a store.
func (m *maker) order(c *channel, n int64) order {
	o := order{basket: m.basket(c.orders, n, c.most), number: n}
	if c.sales != storeSales && o.oneIn(4) {
		tickets := max(1, storeSales.Rows(m.scale)/12)
		o.again(m.basket(storeSalt, o.between(1, tickets), channels[0].most))
	}
	o.bill = m.party(&o.rng, o.customer)
	o.ship = o.bill
	if o.oneIn(7) { // a present
		o.ship = m.party(&o.rng, o.between(1, m.customers))
	}
	o.outlet = o.between(1, 1<<20)
	return o
}

// line makes line n of an order; id is its number in the whole table.
func (m *maker) line(c *channel, o *order, n, id int64) line {
	l := line{rng: draws(c.lines, id)}
	l.holes = l.rng.holes()
	l.item = o.item(m, n)
	l.page, l.mode, l.warehouse, l.promo = l.between(1, 1<<20), l.between(1, m.modes), l.between(1, m.houses), l.between(1, m.promos)
	l.ships = o.day + l.between(2, 120)
	l.deal = l.rng.deal()
	return l
}

// sell makes the sales of a channel, and the returns: in every run of so many
// lines as there are for one return, one comes back.
func (m *maker) sell(c *channel, to sink) error {
	sales, returns := newBuilder(c.sales), newBuilder(c.returns)
	defer sales.b.Release()
	defer returns.b.Release()
	total, back := c.sales.Rows(m.scale), c.returns.Rows(m.scale)
	returned := int64(0)
	next := func() int64 { // the line of the next return
		from, until := returned*total/back, (returned+1)*total/back
		r := draws(returnSalt, c.orders<<40+returned)
		return r.between(from, until-1)
	}
	at := next()
	var o order
	var l line
	for sold, n := int64(0), int64(1); sold < total; n++ {
		o = m.order(c, n)
		for i := range min(o.lines, total-sold) {
			l = m.line(c, &o, i, sold)
			c.sale(m, &o, &l, sales)
			if sold == at && returned < back {
				l.holes = l.rng.holes()
				c.refund(m, &o, &l, returns)
				returned++
				at = next()
			}
			sold++
		}
		if err := to.flush(recordRows, sales, returns); err != nil {
			return err
		}
	}
	return to.flush(1, sales, returns)
}

// sold gives the day and second of the sale.
func (b *builder) sold(o *order, l *line) {
	b.int(l.cut(o.day+julian), l.cut(o.second))
}

// party gives the columns of one.
func (b *builder) party(p party, l *line) {
	b.int(l.cut(p.customer), l.cut(p.demo), l.cut(p.household), l.cut(p.address))
}

// came gives the day and second on which something came back.
func (b *builder) came(from int64, l *line) {
	b.int(l.cut(from+l.between(1, 90)+julian), l.cut(l.between(8*3600, 17*3600-1)))
}

func (m *maker) storeSale(o *order, l *line, b *builder) {
	b.sold(o, l)
	b.int(l.item)
	b.party(o.bill, l)
	b.int(l.cut(o.outlet%m.stores+1), l.cut(l.promo), o.number)
	b.amounts(l.deal)
	b.int(l.paid, l.paidTax, l.profit)
}

func (m *maker) storeReturn(o *order, l *line, b *builder) {
	b.came(o.day, l)
	b.int(l.item)
	b.party(o.bill, l)
	b.int(l.cut(o.outlet%m.stores+1), l.cut(l.between(1, m.reasons)), o.number)
	b.refund(&l.rng, l.deal)
}

// catalogPageOf is the catalogue's page that a line was ordered from: of the catalogue
// of its day.
func (m *maker) catalogPageOf(o *order, l *line) int64 {
	last := m.pages / 108
	number := min((o.day-firstSale)/17, last-1)
	return number*108 + l.page%108 + 1
}

func (m *maker) catalogSale(o *order, l *line, b *builder) {
	b.sold(o, l)
	b.int(l.cut(l.ships + julian))
	b.party(o.bill, l)
	b.party(o.ship, l)
	b.int(l.cut(o.outlet%m.centers+1), l.cut(m.catalogPageOf(o, l)), l.cut(l.mode), l.cut(l.warehouse), l.item, l.cut(l.promo), o.number)
	b.amounts(l.deal)
	b.shipped(l.deal)
}

func (m *maker) catalogReturn(o *order, l *line, b *builder) {
	b.came(l.ships, l)
	b.int(l.item)
	b.party(o.bill, l)
	b.party(o.ship, l)
	b.int(l.cut(o.outlet%m.centers+1), l.cut(m.catalogPageOf(o, l)), l.cut(l.mode), l.cut(l.warehouse),
		l.cut(l.between(1, m.reasons)), o.number)
	b.refund(&l.rng, l.deal)
}

func (m *maker) webSale(o *order, l *line, b *builder) {
	b.sold(o, l)
	b.int(l.cut(l.ships+julian), l.item)
	b.party(o.bill, l)
	b.party(o.ship, l)
	b.int(l.cut(l.page%m.webPages+1), l.cut(o.outlet%m.sites+1), l.cut(l.mode), l.cut(l.warehouse), l.cut(l.promo), o.number)
	b.amounts(l.deal)
	b.shipped(l.deal)
}

func (m *maker) webReturn(o *order, l *line, b *builder) {
	b.came(l.ships, l)
	b.int(l.item)
	b.party(o.bill, l)
	b.party(o.ship, l)
	b.int(l.cut(l.page%m.webPages+1), l.cut(l.between(1, m.reasons)), o.number)
	b.refund(&l.rng, l.deal)
}
