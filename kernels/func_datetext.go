package kernels

import (
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// dateTextFuncs are the functions between dates and text.
func dateTextFuncs(name string, args []sqltype.Type) (ScalarFunc, bool) {
	switch name {
	case "dayname":
		return moments(func(dst []byte, m *moment, _ string) []byte {
			return append(dst, dayNames[sqltype.Weekday(m.date)]...)
		}, 0, -1), true
	case "monthname":
		return moments(func(dst []byte, m *moment, _ string) []byte {
			return append(dst, monthNames[m.month-1]...)
		}, 0, -1), true
	case "strftime":
		if args[0].Kind == sqltype.KindVarchar {
			return moments(appendStrftime, 1, 0), true
		}
		return moments(appendStrftime, 0, 1), true
	case "to_char":
		switch k := args[0].Kind; {
		case k == sqltype.KindInterval:
			return spanToChar, true
		case k.IsNumeric():
			return numberToChar(args[0]), true
		}
		return moments(appendToChar, 0, 1), true
	case "to_date":
		return Func2(func(_ *Heap, text, format string) (int32, error) {
			m, err := parseFormatted(text, format)
			if err != nil {
				return 0, err
			}
			return sqltype.MakeDate(m.year, m.month, m.day)
		}), true
	case "to_timestamp":
		return Func2(func(_ *Heap, text, format string) (int64, error) {
			m, err := parseFormatted(text, format)
			if err != nil {
				return 0, err
			}
			day, err := sqltype.MakeDate(m.year, m.month, m.day)
			return sqltype.DateToTimestamp(day) + m.micros, err
		}), true
	}
	return nil, false
}

// moment is a date and a time of day, taken apart.
type moment struct {
	date             int32
	micros           int64 // of the day
	year, month, day int
}

func momentAt(date int32, micros int64) moment {
	m := moment{date: date, micros: micros}
	m.year, m.month, m.day = sqltype.CivilFromDays(date)
	return m
}

func (m *moment) hour() int   { return int(m.micros / sqltype.MicrosPerHour) }
func (m *moment) minute() int { return int(m.micros / sqltype.MicrosPerMinute % 60) }
func (m *moment) second() int { return int(m.micros / sqltype.MicrosPerSecond % 60) }
func (m *moment) fraction() int {
	return int(m.micros % sqltype.MicrosPerSecond)
}

// hour12 is 1 to 12.
func (m *moment) hour12() int { return (m.hour()+11)%12 + 1 }

var (
	monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July",
		"August", "September", "October", "November", "December"}
	dayNames = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// moments makes a function of the moment in argument at and, unless it is -1,
// the format in argument format.
func moments(f func(dst []byte, m *moment, format string) []byte, at, format int) ScalarFunc {
	return func(c *Call) error {
		split := splitter(c, at)
		var formats Reader[string]
		if format >= 0 {
			formats = Read[string](c, format)
		}
		var room []byte
		return funcRows(c, func(i int) (View, error) {
			text := ""
			if format >= 0 {
				text = formats.At(i)
			}
			m := momentAt(split(i))
			room = f(room[:0], &m, text)
			return c.Heap.Bytes(room)
		})
	}
}

// appendInt appends v with zeros, or another filling, before it up to a width.
func appendInt(dst []byte, v, width int, fill byte) []byte {
	if v < 0 {
		dst, v = append(dst, '-'), -v
	}
	text := strconv.Itoa(v)
	for n := len(text); n < width; n++ {
		dst = append(dst, fill)
	}
	return append(dst, text...)
}

// appendStrftime is C's strftime.
func appendStrftime(dst []byte, m *moment, format string) []byte {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			dst = append(dst, format[i])
			continue
		}
		i++
		width := 2
		if format[i] == '-' && i+1 < len(format) {
			width = 0
			i++
		}
		dst = appendStrftimeField(dst, m, format[i], width)
	}
	return dst
}

func appendStrftimeField(dst []byte, m *moment, field byte, width int) []byte {
	switch field {
	case 'Y':
		return appendInt(dst, m.year, 2*width, '0')
	case 'y':
		return appendInt(dst, (m.year%100+100)%100, width, '0')
	case 'm':
		return appendInt(dst, m.month, width, '0')
	case 'd':
		return appendInt(dst, m.day, width, '0')
	case 'e':
		return appendInt(dst, m.day, width, ' ')
	case 'H':
		return appendInt(dst, m.hour(), width, '0')
	case 'I':
		return appendInt(dst, m.hour12(), width, '0')
	case 'M':
		return appendInt(dst, m.minute(), width, '0')
	case 'S':
		return appendInt(dst, m.second(), width, '0')
	case 'f':
		return appendInt(dst, m.fraction(), 6, '0')
	case 'g':
		return appendInt(dst, m.fraction()/1000, 3, '0')
	case 'p':
		return append(dst, m.half()...)
	case 'j':
		return appendInt(dst, sqltype.DayOfYear(m.date), width+width/2, '0')
	case 'a':
		return append(dst, dayNames[sqltype.Weekday(m.date)][:3]...)
	case 'A':
		return append(dst, dayNames[sqltype.Weekday(m.date)]...)
	case 'b', 'h':
		return append(dst, monthNames[m.month-1][:3]...)
	case 'B':
		return append(dst, monthNames[m.month-1]...)
	case 'w':
		return appendInt(dst, sqltype.Weekday(m.date), 1, '0')
	case 'u':
		return appendInt(dst, (sqltype.Weekday(m.date)+6)%7+1, 1, '0')
	case 'U':
		return appendInt(dst, (sqltype.DayOfYear(m.date)+6-sqltype.Weekday(m.date))/7, width, '0')
	case 'W':
		return appendInt(dst, (sqltype.DayOfYear(m.date)+6-(sqltype.Weekday(m.date)+6)%7)/7, width, '0')
	case 'V':
		_, week := sqltype.ISOWeek(m.date)
		return appendInt(dst, week, width, '0')
	case 'G':
		year, _ := sqltype.ISOWeek(m.date)
		return appendInt(dst, year, 2*width, '0')
	case 's':
		return strconv.AppendInt(dst, int64(m.date)*86400+m.micros/sqltype.MicrosPerSecond, 10)
	case 'F', 'x':
		return appendStrftime(dst, m, "%Y-%m-%d")
	case 'T', 'X':
		return appendStrftime(dst, m, "%H:%M:%S")
	case 'D':
		return appendStrftime(dst, m, "%m/%d/%y")
	case 'R':
		return appendStrftime(dst, m, "%H:%M")
	case 'c':
		return appendStrftime(dst, m, "%Y-%m-%d %H:%M:%S")
	case 'z':
		return append(dst, "+00"...)
	case 'Z':
		return append(dst, "UTC"...)
	case 'n':
		return append(dst, '\n')
	case 't':
		return append(dst, '\t')
	case '%':
		return append(dst, '%')
	}
	return append(dst, '%', field)
}

// half is AM or PM.
func (m *moment) half() string {
	if m.hour() >= 12 {
		return "PM"
	}
	return "AM"
}

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
		dst = appendCharField(dst, m, field, name, fill)
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

func appendCharField(dst []byte, m *moment, field, name string, fill bool) []byte {
	year := m.year
	if year <= 0 {
		year = 1 - year
	}
	isoYear, isoWeek := sqltype.ISOWeek(m.date)
	number := func(v, width int) []byte {
		if !fill {
			width = 0
		}
		return appendInt(dst, v, width, '0')
	}
	word := func(s string, width int) []byte {
		dst = append(dst, inCase(s, field)...)
		for n := len(s); fill && n < width; n++ {
			dst = append(dst, ' ')
		}
		return dst
	}
	const longest = 9 // September, Wednesday
	switch name {
	case "YYYY":
		return number(year, 4)
	case "YYY":
		return number(year%1000, 3)
	case "YY":
		return number(year%100, 2)
	case "Y":
		return number(year%10, 1)
	case "Y,YYY":
		dst = append(number(year/1000, 1), ',')
		return number(year%1000, 3)
	case "IYYY":
		return number(isoYear, 4)
	case "IYY":
		return number(isoYear%1000, 3)
	case "IY":
		return number(isoYear%100, 2)
	case "I":
		return number(isoYear%10, 1)
	case "MONTH":
		return word(monthNames[m.month-1], longest)
	case "MON":
		return word(monthNames[m.month-1][:3], 0)
	case "RM":
		return word(romanMonths[m.month-1], 4)
	case "MM":
		return number(m.month, 2)
	case "DAY":
		return word(dayNames[sqltype.Weekday(m.date)], longest)
	case "DY":
		return word(dayNames[sqltype.Weekday(m.date)][:3], 0)
	case "DDD":
		return number(sqltype.DayOfYear(m.date), 3)
	case "IDDD":
		return number((isoWeek-1)*7+(sqltype.Weekday(m.date)+6)%7+1, 3)
	case "DD":
		return number(m.day, 2)
	case "D":
		return number(sqltype.Weekday(m.date)+1, 1)
	case "ID":
		return number((sqltype.Weekday(m.date)+6)%7+1, 1)
	case "HH24":
		return number(m.hour(), 2)
	case "HH12", "HH":
		return number(m.hour12(), 2)
	case "MI":
		return number(m.minute(), 2)
	case "SS":
		return number(m.second(), 2)
	case "SSSS", "SSSSS":
		return number(int(m.micros/sqltype.MicrosPerSecond), 1)
	case "MS", "FF3":
		return number(m.fraction()/1000, 3)
	case "US", "FF6":
		return number(m.fraction(), 6)
	case "AM", "PM":
		return word(m.half(), 0)
	case "A.M.", "P.M.":
		return word(m.half()[:1]+".M.", 0)
	case "BC", "AD":
		return word(m.era(), 0)
	case "B.C.", "A.D.":
		return word(m.era()[:1]+"."+m.era()[1:]+".", 0)
	case "Q":
		return number((m.month+2)/3, 1)
	case "WW":
		return number((sqltype.DayOfYear(m.date)-1)/7+1, 2)
	case "W":
		return number((m.day-1)/7+1, 1)
	case "IW":
		return number(isoWeek, 2)
	case "CC":
		return number(int(sqltype.PartCentury.Whole(m.date, 0)), 2)
	case "J":
		return number(int(sqltype.PartJulian.Value(m.date, 0)), 1)
	case "TZ":
		return word("UTC", 0)
	case "OF":
		return append(dst, "+00"...)
	}
	panic("kernels: no to_char field " + name)
}

func (m *moment) era() string {
	if m.year <= 0 {
		return "BC"
	}
	return "AD"
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

// parseFormatted reads text by one of to_char's formats. What is not said is
// the first of the year 1 at midnight.
func parseFormatted(text, format string) (moment, error) {
	p := formatParser{text: text, moment: moment{year: 1, month: 1, day: 1}}
	for format != "" && p.err == nil {
		if len(format) > 2 && strings.EqualFold(format[:2], "FM") {
			format = format[2:]
		}
		field, name := cutField(format)
		if name == "" {
			// A character between fields stands for any that is no part of one.
			format = format[1:]
			if p.text != "" && !isAlnum(p.text[0]) {
				p.text = p.text[1:]
			}
			continue
		}
		format = format[len(field):]
		p.field(name)
	}
	if p.err != nil {
		return moment{}, p.err
	}
	return p.finish(), nil
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// formatParser is the text still to read and what was found.
type formatParser struct {
	moment
	text                 string
	hours, minutes, secs int
	fraction             int
	pm, half, bc         bool
	dayOfYear            int
	err                  error
}

func (p *formatParser) field(name string) {
	p.text = strings.TrimLeft(p.text, " ")
	switch name {
	case "YYYY", "IYYY":
		p.year = p.number(4)
	case "YYY":
		p.year = 2000 + p.number(3)
	case "YY", "IY":
		if p.year = p.number(2); p.year < 70 {
			p.year += 2000
		} else {
			p.year += 1900
		}
	case "MM":
		p.month = p.number(2)
	case "MONTH":
		p.month = p.name(monthNames[:], 0) + 1
	case "MON":
		p.month = p.name(monthNames[:], 3) + 1
	case "DAY":
		p.name(dayNames[:], 0)
	case "DY":
		p.name(dayNames[:], 3)
	case "DD":
		p.day = p.number(2)
	case "DDD":
		p.dayOfYear = p.number(3)
	case "HH24", "HH12", "HH":
		p.hours = p.number(2)
	case "MI":
		p.minutes = p.number(2)
	case "SS":
		p.secs = p.number(2)
	case "MS", "FF3":
		p.fraction = p.digits(3) * 1000
	case "US", "FF6":
		p.fraction = p.digits(6)
	case "AM", "PM", "A.M.", "P.M.":
		p.half, p.pm = true, p.word("PM", "P.M.", "AM", "A.M.") < 2
	case "BC", "AD", "B.C.", "A.D.":
		p.bc = p.word("BC", "B.C.", "AD", "A.D.") < 2
	default:
		p.err = sqltype.Errorf(sqltype.CodeNotSupported, "the field %s of a format cannot be read", name)
	}
}

func (p *formatParser) fail(what string) {
	if p.err == nil {
		p.err = sqltype.Errorf(sqltype.CodeBadDatetime, "invalid value %q: expected %s", p.text, what)
	}
}

// number reads up to so many digits.
func (p *formatParser) number(width int) int {
	n := 0
	for n < len(p.text) && n < width && p.text[n] >= '0' && p.text[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(p.text[:n])
	if err != nil {
		p.fail("a number")
	}
	p.text = p.text[n:]
	return v
}

// digits reads a fraction of so many digits; missing ones are 0.
func (p *formatParser) digits(width int) int {
	before := len(p.text)
	v := p.number(width)
	for n := before - len(p.text); n < width; n++ {
		v *= 10
	}
	return v
}

// name reads one of names, or its first letters when short is not 0.
func (p *formatParser) name(names []string, short int) int {
	for i, n := range names {
		if short > 0 {
			n = n[:short]
		}
		if len(p.text) >= len(n) && strings.EqualFold(p.text[:len(n)], n) {
			p.text = p.text[len(n):]
			return i
		}
	}
	p.fail("a name")
	return 0
}

// word reads one of a few words and says which.
func (p *formatParser) word(words ...string) int {
	for i, w := range words {
		if len(p.text) >= len(w) && strings.EqualFold(p.text[:len(w)], w) {
			p.text = p.text[len(w):]
			return i
		}
	}
	p.fail(words[0])
	return 0
}

func (p *formatParser) finish() moment {
	if p.half {
		p.hours %= 12
		if p.pm {
			p.hours += 12
		}
	}
	if p.bc {
		p.year = 1 - p.year
	}
	if p.dayOfYear > 0 {
		p.date = int32(sqltype.DaysFromCivil(p.year, 1, p.dayOfYear))
		p.year, p.month, p.day = sqltype.CivilFromDays(p.date)
	}
	p.micros = (int64(p.hours)*3600+int64(p.minutes)*60+int64(p.secs))*sqltype.MicrosPerSecond + int64(p.fraction)
	return p.moment
}
