package kernels

import (
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// strptimeFunc is strptime(text, format), and try_strptime, which is NULL where
// that is an error. The fields are those of strftime.
func strptimeFunc(try bool) ScalarFunc {
	return FuncRow(func(c *Call, i int) (int64, error) {
		text, format := ArgAt[string](c, 0, i), ArgAt[string](c, 1, i)
		ts, ok := strptime(text, format)
		switch {
		case ok:
			return ts, nil
		case try:
			return 0, ErrNull
		}
		return 0, sqltype.Errorf(sqltype.CodeBadDatetime, "%.60q is not of the form %.60q", text, format)
	})
}

// strptime reads a timestamp as C's strptime does. What the format leaves out is
// that of 1900-01-01.
func strptime(text, format string) (int64, bool) {
	p := strptimeReader{text: text, year: 1900, month: 1, day: 1}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			if !p.literal(format[i]) {
				return 0, false
			}
			continue
		}
		if i++; format[i] == '-' && i+1 < len(format) {
			i++
		}
		if !p.field(format[i]) {
			return 0, false
		}
	}
	if strings.TrimSpace(p.text) != "" || p.day > sqltype.DaysIn(p.year, p.month) {
		return 0, false
	}
	if p.half != 0 {
		if p.hour < 1 || p.hour > 12 {
			return 0, false
		}
		p.hour %= 12
		if p.half > 0 {
			p.hour += 12
		}
	}
	day := int64(sqltype.DaysFromCivil(p.year, p.month, p.day))
	if p.dayOfYear > 0 {
		day = int64(sqltype.DaysFromCivil(p.year, 1, 1)) + int64(p.dayOfYear) - 1
	}
	seconds := int64(p.hour*3600+p.minute*60+p.second) - p.zone
	return day*sqltype.MicrosPerDay + seconds*sqltype.MicrosPerSecond + int64(p.micros), true
}

type strptimeReader struct {
	text                 string
	year, month, day     int
	hour, minute, second int
	micros, dayOfYear    int
	half                 int // 1 PM, -1 AM
	zone                 int64
}

func (p *strptimeReader) literal(b byte) bool {
	if b == ' ' {
		p.text = strings.TrimLeft(p.text, " ")
		return true
	}
	if p.text == "" || p.text[0] != b {
		return false
	}
	p.text = p.text[1:]
	return true
}

func (p *strptimeReader) field(letter byte) bool {
	switch letter {
	case 'Y':
		return p.number(&p.year, 4, 1, 9999)
	case 'y':
		ok := p.number(&p.year, 2, 0, 99)
		if p.year < 69 {
			p.year += 100
		}
		p.year += 1900
		return ok
	case 'm':
		return p.number(&p.month, 2, 1, 12)
	case 'd', 'e':
		return p.number(&p.day, 2, 1, 31)
	case 'H':
		return p.number(&p.hour, 2, 0, 23)
	case 'I':
		return p.number(&p.hour, 2, 1, 12)
	case 'M':
		return p.number(&p.minute, 2, 0, 59)
	case 'S':
		return p.number(&p.second, 2, 0, 59)
	case 'j':
		return p.number(&p.dayOfYear, 3, 1, 366)
	case 'f', 'g', 'n':
		return p.fraction()
	case 'p':
		at, ok := p.name([]string{"AM", "PM"}, 2)
		p.half = 2*at - 1
		return ok
	case 'b', 'h':
		at, ok := p.name(monthNames[:], 3)
		p.month = at + 1
		return ok
	case 'B':
		at, ok := p.name(monthNames[:], 0)
		p.month = at + 1
		return ok
	case 'a':
		_, ok := p.name(dayNames[:], 3)
		return ok
	case 'A':
		_, ok := p.name(dayNames[:], 0)
		return ok
	case 'z':
		return p.offset()
	case 'Z':
		_, ok := p.name([]string{"UTC", "GMT", "Z"}, 0)
		return ok
	case 'F':
		return p.field('Y') && p.literal('-') && p.field('m') && p.literal('-') && p.field('d')
	case 'T', 'X':
		return p.field('H') && p.literal(':') && p.field('M') && p.literal(':') && p.field('S')
	case 'x':
		return p.field('F')
	case 'c':
		return p.field('F') && p.literal(' ') && p.field('T')
	case '%':
		return p.literal('%')
	}
	return false
}

// number reads up to so many digits.
func (p *strptimeReader) number(out *int, digits, least, most int) bool {
	n := 0
	for n < min(digits, len(p.text)) && p.text[n] >= '0' && p.text[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(p.text[:n])
	p.text = p.text[n:]
	*out = v
	return err == nil && v >= least && v <= most
}

// fraction reads digits behind the point of seconds; those after the sixth count
// for nothing.
func (p *strptimeReader) fraction() bool {
	n := 0
	for n < min(9, len(p.text)) && p.text[n] >= '0' && p.text[n] <= '9' {
		n++
	}
	if n == 0 {
		return false
	}
	digits := (p.text[:n] + "000000")[:6]
	p.text = p.text[n:]
	p.micros, _ = strconv.Atoi(digits)
	return true
}

// name reads one of these names, or with n its first n letters, whatever the case.
func (p *strptimeReader) name(names []string, n int) (int, bool) {
	for i, name := range names {
		if n > 0 {
			name = name[:n]
		}
		if len(p.text) >= len(name) && strings.EqualFold(p.text[:len(name)], name) {
			p.text = p.text[len(name):]
			return i, true
		}
	}
	return 0, false
}

// offset reads +hh, +hhmm or +hh:mm, and Z.
func (p *strptimeReader) offset() bool {
	if strings.HasPrefix(p.text, "Z") {
		p.text = p.text[1:]
		return true
	}
	if p.text == "" || p.text[0] != '+' && p.text[0] != '-' {
		return false
	}
	sign := int64(1)
	if p.text[0] == '-' {
		sign = -1
	}
	p.text = p.text[1:]
	var hours, minutes int
	if !p.number(&hours, 2, 0, 15) {
		return false
	}
	p.text = strings.TrimPrefix(p.text, ":")
	if p.text != "" && p.text[0] >= '0' && p.text[0] <= '9' && !p.number(&minutes, 2, 0, 59) {
		return false
	}
	p.zone = sign * int64(hours*3600+minutes*60)
	return true
}
