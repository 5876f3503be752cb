package tpcds

import (
	"fmt"
	"time"
)

// Days are counted from 1970-01-01; keys of dates are Julian.
const julian = 2440588

// day is the number of a date.
func day(year, month, dom int) int64 {
	return time.Date(year, time.Month(month), dom, 0, 0, 0, 0, time.UTC).Unix() / 86400
}

// The first day of the calendar, and the first and last of sales.
var (
	firstDay  = day(1900, 1, 2)
	firstSale = day(1998, 1, 2)
	lastSale  = day(2003, 1, 2)
)

// season is the days of sales: two in three of the year's fall into its last
// five months, and most of those into November and December.
func season() []int64 {
	var days []int64
	for d := firstSale; d <= lastSale; d++ {
		weight := 2
		switch m := time.Unix(d*86400, 0).UTC().Month(); {
		case m >= time.November:
			weight = 6
		case m >= time.August:
			weight = 4
		}
		for range weight {
			days = append(days, d)
		}
	}
	return days
}

func (m *maker) date(i int64, b *builder) {
	d := firstDay + i - 1
	t := time.Unix(d*86400, 0).UTC()
	year, month, dow := int64(t.Year()), int64(t.Month()), int64(t.Weekday())
	quarter := (month + 2) / 3
	week := (i+dow0)/7 + 1
	first := day(t.Year(), int(t.Month()), 1)
	last := day(t.Year(), int(t.Month())+1, 0)
	b.int(d + julian)
	b.text(businessKey(d + julian))
	b.int(d, (year-1900)*12+month-1, week, (year-1900)*4+quarter, year, dow, month, int64(t.Day()), quarter,
		year, (year-1900)*4+quarter, week)
	b.text(t.Weekday().String(), fmt.Sprintf("%dQ%d", year, quarter))
	b.text(yes(holiday(t)), yes(dow == 0 || dow == 6), yes(holiday(t.AddDate(0, 0, -1))))
	lastYear := max(day(t.Year()-1, int(t.Month()), t.Day()), firstDay)
	lastQuarter := max(day(t.Year(), int(t.Month())-3, t.Day()), firstDay)
	b.int(first+julian, last+julian, lastYear+julian, lastQuarter+julian)
	today := day(2003, 1, 8)
	b.text(yes(d == today), yes(week == (today-firstDay+1+dow0)/7+1), yes(year == 2003 && month == 1),
		yes(year == 2003 && quarter == 1), yes(year == 2003))
}

// dow0 is how far into its week the calendar's first day lies, less one.
const dow0 = 1

// holiday is true for the days on which most of the country is at home.
func holiday(t time.Time) bool {
	switch t.Format("01-02") {
	case "01-01", "07-04", "11-11", "12-24", "12-25", "12-31":
		return true
	}
	return t.Month() == time.November && t.Weekday() == time.Thursday && t.Day() > 21 && t.Day() < 29
}

func yes(v bool) string {
	if v {
		return "Y"
	}
	return "N"
}

func (m *maker) time(i int64, b *builder) {
	s := i - 1
	hour := s / 3600
	b.int(s)
	b.text(businessKey(s))
	b.int(s, hour, s/60%60, s%60)
	meal, shift, sub := "", "third", "night"
	switch {
	case hour >= 6 && hour <= 8:
		meal = "breakfast"
	case hour >= 11 && hour <= 13:
		meal = "lunch"
	case hour >= 17 && hour <= 20:
		meal = "dinner"
	}
	if hour >= 8 {
		shift = [...]string{"first", "second"}[(hour-8)/8]
	}
	if hour >= 7 {
		sub = [...]string{"morning", "afternoon", "evening"}[min(hour-7, 16)/6]
	}
	b.text([...]string{"AM", "PM"}[hour/12], shift, sub, meal)
}

// revisionOf is which thing the row i of a table with history tells of, and
// from when to when: of three things, one has one row, one two and one three.
func revisionOf(i int64) (id, from, to int64) {
	start := day(1997, 10, 27)
	block, at := (i-1)/6, (i-1)%6
	switch at {
	case 0:
		return 3*block + 1, start, null
	case 1:
		return 3*block + 2, start, day(2000, 10, 26)
	case 2:
		return 3*block + 2, day(2000, 10, 27), null
	case 3:
		return 3*block + 3, start, day(1999, 10, 27)
	case 4:
		return 3*block + 3, day(1999, 10, 28), day(2001, 10, 26)
	default:
		return 3*block + 3, day(2001, 10, 27), null
	}
}

// businessKey is the sixteen letters of a number, the lowest first.
func businessKey(n int64) string {
	b := []byte("AAAAAAAAAAAAAAAA")
	for i := 8; n > 0; i, n = i+1, n>>4 {
		b[i] = 'A' + byte(n&15)
	}
	return string(b)
}
