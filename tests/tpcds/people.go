package tpcds

import "fmt"

func (m *maker) incomeBand(i int64, b *builder) {
	b.int(i, max(0, (i-1)*10_000+1), i*10_000)
}

// household is every combination of its columns.
func (m *maker) household(i int64, b *builder) {
	n := i - 1
	b.int(i, n%20+1)
	n /= 20
	b.text(potentials[n%6])
	n /= 6
	b.int(n%10, n/10%6-1)
}

// demographics is every combination of its columns; those of a smaller scale
// are spread over the whole.
func (m *maker) demographics(i int64, b *builder) {
	n := (i - 1) * m.stride
	if m.stride > 1 {
		n += (i - 1) % 70 // so that gender, marriage and education vary at every stride
	}
	b.int(i)
	gender, married, educated := n%2, n/2%5, n/10%7
	n /= 70
	b.text([...]string{"M", "F"}[gender], [...]string{"M", "S", "D", "W", "U"}[married], educations[educated])
	b.int(n%20*500 + 500)
	n /= 20
	b.text(ratings[n%4])
	n /= 4
	b.int(n%7, n/7%7, n/49%7)
}

func (m *maker) customer(i int64, b *builder) {
	r := draws(customerSalt, i)
	h := r.holes()
	first, last, title := r.word(firstNames), r.word(lastNames), r.word(titles)
	sale := r.between(firstSale, lastSale-400)
	b.int(i)
	b.text(businessKey(i))
	b.int(h.cut(r.between(1, m.demos)), h.cut(r.between(1, m.households)), r.between(1, m.addresses),
		h.cut(sale+30+julian), h.cut(sale+julian))
	email := fmt.Sprintf("%s.%s@%s.com", first, last, syllables(r.between(1, 9999)))
	if r.oneIn(30) {
		first = ""
	}
	if r.oneIn(30) {
		last = ""
	}
	preferred := r.flag(2)
	if r.oneIn(30) {
		preferred = ""
	}
	b.text(title, first, last, preferred)
	b.int(h.cut(r.between(1, 28)), h.cut(r.between(1, 12)), h.cut(r.between(1924, 1992)))
	b.text(r.word(countries), "", email)
	b.int(h.cut(r.between(lastSale-365, lastSale) + julian))
}
