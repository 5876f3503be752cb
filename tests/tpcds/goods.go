package tpcds

import (
	"fmt"
	"strings"
)

// Salts tell the draws of one table from another's.
const (
	itemSalt = iota + 1
	promotionSalt
	pageSalt
	addressSalt
	customerSalt
	siteSalt
	inventorySalt
	storeSalt
	storeLineSalt
	catalogSalt
	catalogLineSalt
	webSalt
	webLineSalt
	returnSalt
)

func (m *maker) item(i int64, b *builder) {
	id, from, to := revisionOf(i)
	r := draws(itemSalt, i)
	c := r.between(1, int64(len(categories)))
	category := categories[c-1]
	class := r.between(1, int64(len(category.classes)))
	brand := r.between(1, category.brands)
	manufacturer := r.between(1, 1000)
	price := 9 + r.between(0, 99)*r.between(0, 99) // most things are cheap
	b.int(i)
	b.text(businessKey(id))
	b.int(from, to)
	b.text(r.sentence(r.between(20, 180)))
	b.int(price, price*r.between(20, 90)/100)
	b.int(c*1_000_000 + class*1000 + brand)
	b.text(fmt.Sprintf("%s%s #%d", makers[(class-1)%int64(len(makers))], category.maker, brand))
	b.int(class)
	b.text(category.classes[class-1])
	b.int(c)
	b.text(category.name)
	b.int(manufacturer)
	b.text(syllables(manufacturer), r.word(sizes), fmt.Sprintf("%08d%s%06d", r.between(0, 99_999_999), r.word(colors), r.between(0, 999_999)),
		r.word(colors), r.word(units), "Unknown")
	b.int(r.between(1, 100))
	b.text(syllables(i))
}

// syllables spells a number, a word a digit.
func syllables(n int64) string {
	var b strings.Builder
	for ; n > 0; n /= 10 {
		b.WriteString(digits[n%10])
	}
	return b.String()
}

func (m *maker) promotion(i int64, b *builder) {
	r := draws(promotionSalt, i)
	start := r.between(firstSale, lastSale)
	b.int(i)
	b.text(businessKey(i))
	b.int(start+julian, start+r.between(10, 60)+julian, r.between(1, m.items), 100_000, 1)
	b.text(syllables(i), r.flag(2), r.flag(10), r.flag(10), r.flag(10), r.flag(10), r.flag(10), r.flag(10), r.flag(10),
		r.sentence(40), "Unknown", r.flag(10))
}

func (m *maker) catalogPage(i int64, b *builder) {
	const pagesPerCatalog = 108
	r := draws(pageSalt, i)
	number, page := (i-1)/pagesPerCatalog+1, (i-1)%pagesPerCatalog+1
	start := firstSale + (number-1)*17
	kind := int64(number % 3)
	b.int(i)
	b.text(businessKey(i))
	b.int(start+julian, start+[...]int64{30, 91, 182}[kind]+julian)
	b.text("DEPARTMENT")
	b.int(number, page)
	b.text(r.sentence(70), [...]string{"monthly", "quarterly", "bi-annual"}[kind])
}

func (m *maker) reason(i int64, b *builder) {
	b.int(i)
	text := fmt.Sprintf("reason %d", i)
	if i <= int64(len(reasons)) {
		text = reasons[i-1]
	}
	b.text(businessKey(i), text)
}

func (m *maker) shipMode(i int64, b *builder) {
	b.int(i)
	b.text(businessKey(i), shipTypes[(i-1)%int64(len(shipTypes))], shipCodes[(i-1)%int64(len(shipCodes))],
		carriers[(i-1)%int64(len(carriers))], fmt.Sprintf("%x", uint32(i*2654435761)))
}

// weeks is how many the stock is counted in.
const weeks = 261

// inventory counts half of the items, or fewer at scales below 1, in every
// warehouse and week.
func (m *maker) inventory(i int64, b *builder) {
	week, pair := (i-1)/m.counted, (i-1)%m.counted
	r := draws(inventorySalt, i)
	items := (m.counted + m.houses - 1) / m.houses
	b.int(firstSale-1+week*7+julian, pair/m.houses*m.items/items+1, pair%m.houses+1)
	if r.oneIn(20) {
		b.int(null)
		return
	}
	b.int(r.between(0, 1000))
}
