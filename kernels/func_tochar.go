package kernels

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// charFields are the fields of to_char's formats, the longer first where one
// begins with another. Letters match in any case; that of a name's letters is
// that of the name.
var charFields = [...]string{"YYYY", "Y,YYY", "YYY", "YY", "Y", "IYYY", "IYY", "IY", "I", "MONTH", "MON", "MM",
	"MI", "MS", "DAY", "DDD", "DD", "DY", "D", "HH24", "HH12", "HH", "SSSSS", "SSSS", "SS", "US", "FF6", "FF3",
	"A.M.", "P.M.", "AM", "PM", "B.C.", "A.D.", "BC", "AD", "Q", "WW", "W", "IW", "ID", "IDDD", "CC", "J", "TZ", "OF", "RM"}

// cutField finds the field at the beginning of a format, as written and in
// capitals.
func cutField(format string) (field, name string) {
	best := ""
	for _, f := range charFields {
		if len(f) > len(best) && len(format) >= len(f) && strings.EqualFold(format[:len(f)], f) {
			best = f
		}
	}
	return format[:len(best)], best
}

// appendToChar is PostgreSQL's to_char of a moment.
func appendToChar(dst []byte, m *moment, format string) []byte {
	for format != "" {
		if format[0] == '"' {
			text, rest, _ := strings.Cut(format[1:], `"`)
			dst, format = append(dst, text...), rest
			continue
		}
		fill := true
		if len(format) > 2 && strings.EqualFold(format[:2], "FM") {
			fill, format = false, format[2:]
		}
		field, name := cutField(format)
		if name == "" {
			if format != "" {
				dst, format = append(dst, format[0]), format[1:]
			}
			continue
		}
		format = format[len(field):]
		start := len(dst)
		dst = charField{field, name, fill}.append(dst, m)
		if len(format) >= 2 && strings.EqualFold(format[:2], "TH") && dst[len(dst)-1] <= '9' {
			suffix := ordinal(string(dst[start:]))
			if format[0] == 'T' {
				suffix = strings.ToUpper(suffix)
			}
			dst, format = append(dst, suffix...), format[2:]
		}
	}
	return dst
}

// ordinal is the ending of a number: st, nd, rd or th.
func ordinal(number string) string {
	n := len(number)
	if n < 2 || number[n-2] != '1' {
		switch number[n-1] {
		case '1':
			return "st"
		case '2':
			return "nd"
		case '3':
			return "rd"
		}
	}
	return "th"
}

var romanMonths = [...]string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

// charField is a field of a format: as written, which says the case, in
// capitals, and whether it is filled to its width.
type charField struct {
	text, name string
	fill       bool
}

// number appends v with zeros before it.
func (f charField) number(dst []byte, v, width int) []byte {
	if !f.fill {
		width = 0
	}
	return appendInt(dst, v, width, '0')
}

// word appends s in the field's case with blanks after it.
func (f charField) word(dst []byte, s string, width int) []byte {
	dst = append(dst, inCase(s, f.text)...)
	for n := len(s); f.fill && n < width; n++ {
		dst = append(dst, ' ')
	}
	return dst
}

// append appends the field of a moment.
func (f charField) append(dst []byte, m *moment) []byte {
	if r, ok := f.appendTime(dst, m); ok {
		return r
	}
	if r, ok := f.appendYear(dst, m); ok {
		return r
	}
	const longest = 9 // September, Wednesday
	_, isoWeek := sqltype.ISOWeek(m.date)
	weekday := sqltype.Weekday(m.date)
	switch f.name {
	case "MONTH":
		return f.word(dst, monthNames[m.month-1], longest)
	case "MON":
		return f.word(dst, monthNames[m.month-1][:3], 0)
	case "RM":
		return f.word(dst, romanMonths[m.month-1], 4)
	case "MM":
		return f.number(dst, m.month, 2)
	case "DAY":
		return f.word(dst, dayNames[weekday], longest)
	case "DY":
		return f.word(dst, dayNames[weekday][:3], 0)
	case "DDD":
		return f.number(dst, sqltype.DayOfYear(m.date), 3)
	case "IDDD":
		return f.number(dst, (isoWeek-1)*7+(weekday+6)%7+1, 3)
	case "DD":
		return f.number(dst, m.day, 2)
	case "D":
		return f.number(dst, weekday+1, 1)
	case "ID":
		return f.number(dst, (weekday+6)%7+1, 1)
	case "Q":
		return f.number(dst, (m.month+2)/3, 1)
	case "WW":
		return f.number(dst, (sqltype.DayOfYear(m.date)-1)/7+1, 2)
	case "W":
		return f.number(dst, (m.day-1)/7+1, 1)
	case "IW":
		return f.number(dst, isoWeek, 2)
	case "J":
		return f.number(dst, int(sqltype.PartJulian.Value(m.date, 0)), 1)
	}
	panic("kernels: no to_char field " + f.name)
}

// appendYear appends a field of years.
func (f charField) appendYear(dst []byte, m *moment) ([]byte, bool) {
	year := m.year
	if year <= 0 {
		year = 1 - year
	}
	isoYear, _ := sqltype.ISOWeek(m.date)
	switch f.name {
	case "YYYY":
		return f.number(dst, year, 4), true
	case "YYY":
		return f.number(dst, year%1000, 3), true
	case "YY":
		return f.number(dst, year%100, 2), true
	case "Y":
		return f.number(dst, year%10, 1), true
	case "Y,YYY":
		dst = append(f.number(dst, year/1000, 1), ',')
		return f.number(dst, year%1000, 3), true
	case "IYYY":
		return f.number(dst, isoYear, 4), true
	case "IYY":
		return f.number(dst, isoYear%1000, 3), true
	case "IY":
		return f.number(dst, isoYear%100, 2), true
	case "I":
		return f.number(dst, isoYear%10, 1), true
	case "BC", "AD":
		return f.word(dst, m.era(), 0), true
	case "B.C.", "A.D.":
		return f.word(dst, m.era()[:1]+"."+m.era()[1:]+".", 0), true
	case "CC":
		return f.number(dst, int(sqltype.PartCentury.Whole(m.date, 0)), 2), true
	}
	return dst, false
}

// appendTime appends a field of the time of day.
func (f charField) appendTime(dst []byte, m *moment) ([]byte, bool) {
	switch f.name {
	case "HH24":
		return f.number(dst, m.hour(), 2), true
	case "HH12", "HH":
		return f.number(dst, m.hour12(), 2), true
	case "MI":
		return f.number(dst, m.minute(), 2), true
	case "SS":
		return f.number(dst, m.second(), 2), true
	case "SSSS", "SSSSS":
		return f.number(dst, int(m.micros/sqltype.MicrosPerSecond), 1), true
	case "MS", "FF3":
		return f.number(dst, m.fraction()/1000, 3), true
	case "US", "FF6":
		return f.number(dst, m.fraction(), 6), true
	case "AM", "PM":
		return f.word(dst, m.half(), 0), true
	case "A.M.", "P.M.":
		return f.word(dst, m.half()[:1]+".M.", 0), true
	case "TZ":
		return f.word(dst, "UTC", 0), true
	case "OF":
		return append(dst, "+00"...), true
	}
	return dst, false
}

// inCase writes s in the case of a field: MONTH, Month or month.
func inCase(s, field string) string {
	switch {
	case field == strings.ToUpper(field):
		return strings.ToUpper(s)
	case field[0] >= 'a':
		return strings.ToLower(s)
	}
	return s
}

// spanToChar is to_char of an interval: its years, months, days and time stand
// where those of a date would.
var spanToChar = Func2(func(h *Heap, s sqltype.Span, format string) (View, error) {
	m := moment{year: int(s.Months / 12), month: max(int(s.Months%12), 1), day: int(s.Days), micros: max(s.Micros, 0)}
	return h.Bytes(appendToChar(nil, &m, format))
})
