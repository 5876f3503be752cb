package kernels

import (
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

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
