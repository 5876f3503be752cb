package tpcds

import "fmt"

// A place is a postal address.
type place struct {
	number, street, kind, suite, city, county, state, zip string
	offset                                                int64
}

// place draws an address; the larger states have more of them.
func (r *rng) place() place {
	state := states[statePick[r.between(0, int64(len(statePick)-1))]]
	p := place{
		number: fmt.Sprint(r.between(1, 1000)), street: r.word(streets), kind: r.word(streetKinds),
		suite: fmt.Sprintf("Suite %d", r.between(0, 49)*10), city: r.word(cities),
		state: state.name, offset: state.offset,
	}
	if r.oneIn(2) {
		p.street += " " + r.word(streets)
	}
	// A state has some of the counties, and a county a few post codes.
	own := r.between(0, state.counties-1)
	county := (own*7 + int64(state.name[0])*3 + int64(state.name[1])*5) % int64(len(counties))
	p.county = counties[county] + " County"
	if state.name == "LA" {
		p.county = counties[county] + " Parish"
	}
	near := draws(addressSalt, -(own*1000 + int64(state.name[0])*26 + int64(state.name[1])))
	p.zip = fmt.Sprintf("%05d", near.between(10_000, 99_000)+r.between(0, 9))
	if r.oneIn(50) {
		p.zip = r.word(zips)
	}
	return p
}

func (b *builder) place(p place) {
	b.text(p.number, p.street, p.kind, p.suite, p.city, p.county, p.state, p.zip, "United States")
	b.int(p.offset * 100)
}

// home is the state of most shops and warehouses.
func (p place) home(county string) place {
	p.state, p.county, p.offset, p.zip = "TN", county, -5, "3"+p.zip[1:]
	return p
}

func (m *maker) address(i int64, b *builder) {
	r := draws(addressSalt, i)
	p := r.place()
	b.int(i)
	b.text(businessKey(i))
	b.place(p)
	b.text(r.word([]string{"apartment", "condo", "single family"}))
}

func (m *maker) warehouse(i int64, b *builder) {
	r := draws(siteSalt, 100+i)
	b.int(i)
	b.text(businessKey(i), r.sentence(12))
	b.int(r.between(50_000, 1_000_000))
	p := r.place()
	b.place(p.home("Williamson County"))
}

// managers are a division's and a market's texts, which several tables have.
func (r *rng) person() string { return r.word(firstNames) + " " + r.word(lastNames) }

func (m *maker) store(i int64, b *builder) {
	id, from, to := revisionOf(i)
	r := draws(siteSalt, 200+i)
	closed := int64(null)
	if r.oneIn(6) {
		closed = day(2002, 6, 1) + julian
	}
	b.int(i)
	b.text(businessKey(id))
	b.int(from, to, closed)
	b.text(digits[id%int64(len(digits))])
	b.int(r.between(200, 300), r.between(5_000_000, 10_000_000))
	b.text(r.word(hours), r.person())
	b.int(r.between(1, 10))
	b.text("Unknown", r.sentence(60), r.person())
	b.int(1)
	b.text("Unknown")
	b.int(1)
	b.text("Unknown")
	p := r.place()
	if i%6 != 0 {
		p = p.home([]string{"Williamson County", "Franklin Parish", "Orange County"}[i%3])
	}
	p.city = []string{"Midway", "Fairview"}[i%2]
	b.place(p)
	b.int(r.between(0, 11))
}

func (m *maker) callCenter(i int64, b *builder) {
	id, from, to := revisionOf(i)
	r := draws(siteSalt, 300+i)
	b.int(i)
	b.text(businessKey(id))
	b.int(from, to, null, firstSale-300-i+julian)
	b.text([]string{"NY Metro", "Mid Atlantic", "North Midwest", "California", "Pacific Northwest"}[id%5], r.word([]string{"small", "medium", "large"}))
	b.int(r.between(1, 700)*1000, r.between(1000, 40_000))
	b.text(r.word(hours), r.person())
	b.int(r.between(1, 6))
	b.text(r.sentence(40), r.sentence(60), r.person())
	b.int(id)
	b.text(digits[id%10])
	b.int(id)
	b.text(companies[id%int64(len(companies))])
	p := r.place()
	b.place(p.home("Williamson County"))
	b.int(r.between(0, 11))
}

func (m *maker) webSite(i int64, b *builder) {
	id, from, to := revisionOf(i)
	r := draws(siteSalt, 400+i)
	b.int(i)
	b.text(businessKey(id))
	b.int(from, to)
	b.text(fmt.Sprintf("site_%d", id/6))
	b.int(firstSale-300-i+julian, null)
	b.text("Unknown", r.person())
	b.int(r.between(1, 6))
	b.text(r.sentence(40), r.sentence(60), r.person())
	company := r.between(1, int64(len(companies)))
	b.int(company)
	b.text(companies[company-1])
	b.place(r.place())
	b.int(r.between(0, 11))
}

func (m *maker) webPage(i int64, b *builder) {
	id, from, to := revisionOf(i)
	r := draws(siteSalt, 500+i)
	auto := r.flag(3)
	owner := int64(null)
	if auto == "Y" {
		owner = r.between(1, m.customers)
	}
	b.int(i)
	b.text(businessKey(id))
	b.int(from, to, r.between(firstSale-300, firstSale)+julian, r.between(lastSale-100, lastSale)+julian)
	b.text(auto)
	b.int(owner)
	b.text("http://www.foo.com", r.word([]string{"ad", "dynamic", "feedback", "general", "order", "protected", "welcome"}))
	b.int(r.between(100, 8000), r.between(2, 25), r.between(1, 7), r.between(0, 4))
}
