package tpcds

// A basket is an order's header: who buys when, and which items. An order of
// one channel can look up the basket of another's, for it depends on nothing
// but its number.
type basket struct {
	rng
	day, second, customer int64
	lines                 int64
	base, step            int64
}

// basket draws the header of an order with up to most lines.
func (m *maker) basket(salt, number, most int64) basket {
	b := basket{rng: draws(salt, number)}
	b.day = m.days[b.between(0, int64(len(m.days)-1))]
	b.second = b.between(8*3600, 22*3600-1)
	b.customer = b.between(1, m.customers)
	b.lines = b.between(1, most)
	b.base = b.between(0, m.items-1)
	if b.oneIn(2) { // something that is on offer in this week
		offer := draws(itemSalt, -(b.day/7*64 + b.between(0, int64(7*m.scale))))
		b.base = offer.between(0, m.items-1)
	}
	b.step = b.between(1, max(1, m.items/most))
	return b
}

// again makes the basket one of somebody who comes back for what they bought
// in another channel, within a quarter.
func (b *basket) again(o basket) {
	b.customer, b.base, b.step = o.customer, o.base, o.step
	b.day = min(o.day+b.between(1, 90), lastSale)
}

// item is the item of a line, from 0; the lines of a basket have different ones.
func (b *basket) item(m *maker, line int64) int64 { return (b.base+line*b.step)%m.items + 1 }

// A party is who pays, or whom the goods go to.
type party struct{ customer, demo, household, address int64 }

func (m *maker) party(r *rng, customer int64) party {
	return party{customer, r.between(1, m.demos), r.between(1, m.households), r.between(1, m.addresses)}
}

// A deal is the amounts of one line, in hundredths.
type deal struct {
	quantity, wholesale, list, price     int64
	discount, sold, cost, listed         int64
	tax, coupon, shipping                int64
	paid, paidTax, paidShip, paidShipTax int64
	profit                               int64
}

func (r *rng) deal() deal {
	d := deal{quantity: r.between(1, 100), wholesale: r.between(100, 10_000)}
	d.list = d.wholesale * r.between(100, 300) / 100
	d.price = max(1, d.list*r.between(0, 100)/100) // nothing is free: queries divide by sums of prices
	d.sold, d.cost, d.listed = d.price*d.quantity, d.wholesale*d.quantity, d.list*d.quantity
	d.discount = d.listed - d.sold
	if r.oneIn(5) {
		d.coupon = d.sold * r.between(0, 100) / 100
	}
	d.paid = d.sold - d.coupon
	d.tax = d.paid * r.between(0, 9) / 100
	d.shipping = d.listed * r.between(0, 50) / 100
	d.paidTax, d.paidShip, d.paidShipTax = d.paid+d.tax, d.paid+d.shipping, d.paid+d.shipping+d.tax
	d.profit = d.paid - d.cost
	return d
}

// amounts gives the columns from the quantity to the coupon.
func (b *builder) amounts(d deal) {
	b.int(d.quantity, d.wholesale, d.list, d.price, d.discount, d.sold, d.cost, d.listed, d.tax, d.coupon)
}

// shipped gives the columns from the shipping cost to the profit.
func (b *builder) shipped(d deal) {
	b.int(d.shipping, d.paid, d.paidTax, d.paidShip, d.paidShipTax, d.profit)
}

// refund gives the columns of a return, from the quantity to the loss.
func (b *builder) refund(r *rng, d deal) {
	quantity := r.between(1, d.quantity)
	amount := d.price * quantity
	tax := amount * r.between(0, 9) / 100
	fee := r.between(50, 10_000)
	shipping := d.list * quantity * r.between(0, 50) / 100
	cash := amount * r.between(0, 100) / 100
	charge := (amount - cash) * r.between(0, 100) / 100
	b.int(quantity, amount, tax, amount+tax, fee, shipping, cash, charge, amount-cash-charge, fee+shipping+tax)
}
