package sqltype

import (
	"strings"
	"time"
)

// moment is what the text of a date or time says.
type moment struct {
	year, month, day int
	hasDate          bool
	micros           int64 // of the day
	hasTime          bool
	zone             int64 // microseconds east of UTC
	hasZone          bool
}

// reading is how well a text was read.
type reading uint8

const (
	readOK reading = iota
	readBad
	readRange // well formed, but a field has no such value
)

// momentError turns a failed reading into the error of a type.
func momentError(r reading, t Type, text string) *Error {
	if r == readRange {
		return Errorf(CodeDatetimeOverflow, "date/time field value out of range: %q", text)
	}
	return Errorf(CodeBadDatetime, "invalid input syntax for type %s: %q", typeWord(t), text)
}

// ParseDate reads a DATE in the forms of PostgreSQL: 1999-01-08, 19990108,
// 1999/1/8, 1/8/1999 (month first), January 8, 1999, 8 Jan 1999, with BC; a
// time after it is read and left out.
func ParseDate(text string) (int32, error) {
	if len(text) == 10 && text[4] == '-' && text[7] == '-' {
		y, m, d := digits(text[:4]), digits(text[5:7]), digits(text[8:])
		if y > 0 && m >= 1 && m <= 12 && d >= 1 && (d <= 28 || d <= DaysIn(y, m)) {
			return int32(DaysFromCivil(y, m, d)), nil
		}
	}
	m, r := scanMoment(text)
	if r == readOK && !m.hasDate {
		r = readBad
	}
	if r != readOK {
		return 0, momentError(r, Date, text)
	}
	day, err := checkDate(int64(DaysFromCivil(m.year, m.month, m.day)))
	if err != nil {
		return 0, Errorf(CodeDatetimeOverflow, "date out of range: %q", text)
	}
	return day, nil
}

// digits is the value of a text of digits only, or -1.
func digits(s string) int {
	v := 0
	for i := 0; i < len(s); i++ {
		c := s[i] - '0'
		if c > 9 {
			return -1
		}
		v = v*10 + int(c)
	}
	return v
}

// ParseTime reads a TIME: 04:05, 04:05:06.789, 04:05 PM, 040506; of a whole
// timestamp the time of day.
func ParseTime(text string) (int64, error) {
	m, r := scanMoment(text)
	if r == readOK && !m.hasTime {
		r = readBad
	}
	if r != readOK {
		return 0, momentError(r, Time, text)
	}
	return m.micros, nil
}

// ParseTimestamp reads a TIMESTAMP: a date and perhaps a time, with blanks or a
// T between. A zone is read and left out.
func ParseTimestamp(text string) (int64, error) { return parseStamp(text, Timestamp) }

// ParseTimestampTZ reads a TIMESTAMPTZ; without a zone it is UTC.
func ParseTimestampTZ(text string) (int64, error) { return parseStamp(text, TimestampTZ) }

func parseStamp(text string, t Type) (int64, error) {
	m, r := scanMoment(text)
	if r == readOK && !m.hasDate {
		r = readBad
	}
	if r != readOK {
		return 0, momentError(r, t, text)
	}
	if t.Kind == KindTimestampTZ {
		m.micros -= m.zone
	}
	ts, err := checkTimestamp(int64(DaysFromCivil(m.year, m.month, m.day)), m.micros)
	if err != nil {
		return 0, Errorf(CodeDatetimeOverflow, "timestamp out of range: %q", text)
	}
	return ts, nil
}

// momentScanner reads the text of a moment word by word. A word is a run of
// letters, or a run of digits with the marks that dates and times have.
type momentScanner struct {
	moment
	bc      bool
	pm      int8 // 1 PM, -1 AM
	numbers [3]int
	count   int            // of numbers: the parts of a date written with a month's name
	named   int            // the month that was named
	place   *time.Location // a zone by name: its offset depends on the date
}

func scanMoment(text string) (moment, reading) {
	var s momentScanner
	rest := trimBlanks(text)
	if rest == "" {
		return s.moment, readBad
	}
	if strings.EqualFold(rest, "epoch") {
		return moment{year: 1970, month: 1, day: 1, hasDate: true, hasTime: true}, readOK
	}
	for rest != "" {
		var r reading
		switch c := rest[0]; {
		case c == ' ' || c == ',' || c == '\t' || c == '\n' || c == '(' || c == ')':
			rest = rest[1:]
			continue
		case isLetter(c):
			n := 1
			for n < len(rest) && isLetter(rest[n]) {
				n++
			}
			if r = s.word(strings.ToLower(rest[:n])); r == readBad && s.hasTime && !s.hasZone {
				n, r = s.namedZone(rest)
			}
			rest = rest[n:]
		case (c == '+' || c == '-') && s.hasTime && !s.hasZone:
			rest, r = s.offset(rest)
		case c >= '0' && c <= '9':
			rest, r = s.number(rest)
		default:
			r = readBad
		}
		if r != readOK {
			return s.moment, r
		}
	}
	return s.finish()
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// monthNames and dayNames are in full; three letters or more of one name it.
var (
	monthNames = [...]string{"january", "february", "march", "april", "may", "june",
		"july", "august", "september", "october", "november", "december"}
	dayNames = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
)

// nameIndex is the place of a name, or of three letters or more of one; -1.
func nameIndex(names []string, word string) int {
	if len(word) >= 3 {
		for i, n := range names {
			if strings.HasPrefix(n, word) {
				return i
			}
		}
	}
	return -1
}

func (s *momentScanner) word(w string) reading {
	switch w {
	case "t":
		if !s.hasDate || s.hasTime {
			return readBad
		}
	case "z", "utc", "gmt", "zulu":
		if s.hasZone || !s.hasTime {
			return readBad
		}
		s.hasZone = true
	case "am", "pm":
		if !s.hasTime || s.pm != 0 {
			return readBad
		}
		s.pm = 1
		if w == "am" {
			s.pm = -1
		}
	case "bc":
		s.bc = true
	case "ad":
	default:
		if m := nameIndex(monthNames[:], w); m >= 0 && s.named == 0 {
			s.named = m + 1
		} else if nameIndex(dayNames[:], w) < 0 {
			return readBad
		}
	}
	return readOK
}

// cutDigits splits off the digits at the front, at most nine.
func cutDigits(s string) (v, n int, rest string) {
	for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
		v = v*10 + int(s[n]-'0')
		n++
	}
	return v, n, s[n:]
}

// number reads what begins with a digit: a date, a time, or a part of a date
// whose month is a word.
func (s *momentScanner) number(text string) (string, reading) {
	v, n, rest := cutDigits(text)
	mark := byte(0)
	if rest != "" {
		mark = rest[0]
	}
	switch {
	case mark == ':':
		return s.clock(v, rest)
	case (mark == '-' || mark == '/' || mark == '.') && !s.hasDate && s.named == 0 && s.count == 0:
		return s.dashed(v, n, mark, rest)
	case n == 8 && !s.hasDate && s.named == 0:
		s.setDate(v/10000, v/100%100, v%100)
		return rest, readOK
	case n == 6 && !s.hasTime && s.named == 0 && s.count == 0:
		return s.compact(v, rest)
	case s.count < 3 && !s.hasDate:
		if mark == '-' { // 8-Jan-1999
			rest = rest[1:]
		}
		s.numbers[s.count] = v
		s.count++
		return rest, readOK
	}
	return rest, readBad
}

func (s *momentScanner) setDate(year, month, day int) {
	s.year, s.month, s.day, s.hasDate = year, month, day, true
}

// dashed reads 1999-1-8, 1/8/1999, 1999-Jan-8 and 8-Jan-1999 after their first number.
func (s *momentScanner) dashed(first, width int, mark byte, rest string) (string, reading) {
	rest = rest[1:]
	if rest != "" && isLetter(rest[0]) { // a month by name; the numbers tell the rest
		s.numbers[0], s.count = first, 1
		n := 1
		for n < len(rest) && isLetter(rest[n]) {
			n++
		}
		m := nameIndex(monthNames[:], strings.ToLower(rest[:n]))
		rest = strings.TrimPrefix(rest[n:], string(mark))
		if m < 0 {
			return rest, readBad
		}
		s.named = m + 1
		return rest, readOK
	}
	second, n2, rest := cutDigits(rest)
	if n2 == 0 || rest == "" || rest[0] != mark {
		return rest, readBad
	}
	third, n3, rest := cutDigits(rest[1:])
	if n3 == 0 {
		return rest, readBad
	}
	if width > 2 {
		s.setDate(first, second, third)
	} else {
		s.setDate(fullYear(third, n3), first, second)
	}
	return rest, readOK
}

// fullYear gives a year of two digits its century: 1970 to 2069.
func fullYear(year, width int) int {
	switch {
	case width > 2:
		return year
	case year < 70:
		return year + 2000
	}
	return year + 1900
}

// clock reads :MM[:SS[.ffffff]] after an hour.
func (s *momentScanner) clock(hour int, rest string) (string, reading) {
	if s.hasTime {
		return rest, readBad
	}
	minute, n, rest := cutDigits(rest[1:])
	if n == 0 && rest != "" { // nothing after a colon is a zero
		return rest, readBad
	}
	second, micros := 0, int64(0)
	if rest != "" && rest[0] == ':' {
		if second, n, rest = cutDigits(rest[1:]); n == 0 && rest != "" {
			return rest, readBad
		}
		micros, rest = cutFraction(rest)
	}
	return rest, s.setTime(hour, minute, second, micros)
}

// compact reads HHMMSS.
func (s *momentScanner) compact(v int, rest string) (string, reading) {
	micros, rest := cutFraction(rest)
	return rest, s.setTime(v/10000, v/100%100, v%100, micros)
}

func (s *momentScanner) setTime(hour, minute, second int, micros int64) reading {
	if hour > 24 || minute > 59 || second > 60 {
		return readRange
	}
	s.micros = (int64(hour)*3600+int64(minute)*60+int64(second))*MicrosPerSecond + micros
	s.hasTime = true
	if s.micros > MicrosPerDay {
		return readRange
	}
	return readOK
}

// cutFraction reads a point and digits as microseconds, rounding the seventh.
func cutFraction(s string) (micros int64, rest string) {
	if s == "" || s[0] != '.' {
		return 0, s
	}
	s = s[1:]
	i := 0
	for unit := int64(100_000); i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		micros += int64(s[i]-'0') * unit
		if i == 6 && s[i] >= '5' {
			micros++
		}
		unit /= 10
	}
	return micros, s[i:]
}

// offset reads +HH, +HHMM, +HH:MM or +HH:MM:SS.
func (s *momentScanner) offset(text string) (string, reading) {
	v, n, rest := cutDigits(text[1:])
	var h, m, sec int
	switch n {
	case 1, 2:
		h = v
		if rest != "" && rest[0] == ':' {
			m, _, rest = cutDigits(rest[1:])
		}
		if rest != "" && rest[0] == ':' {
			sec, _, rest = cutDigits(rest[1:])
		}
	case 3, 4:
		h, m = v/100, v%100
	default:
		return rest, readBad
	}
	if h > 15 || m > 59 || sec > 59 {
		return rest, readRange
	}
	s.zone = (int64(h)*3600 + int64(m)*60 + int64(sec)) * MicrosPerSecond
	if text[0] == '-' {
		s.zone = -s.zone
	}
	s.hasZone = true
	return rest, readOK
}

// zoneHours are the abbreviations of zones that are no names of the database's,
// or names of it that mean something else.
var zoneHours = map[string]int64{"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
	"cet": 1, "cest": 2, "eet": 2, "eest": 3, "wet": 0, "west": 1, "bst": 1, "msk": 3, "jst": 9, "kst": 9}

// namedZone reads an abbreviation or a name of the time zone database at the
// beginning of text; n is its bytes.
func (s *momentScanner) namedZone(text string) (n int, _ reading) {
	for n < len(text) && (isLetter(text[n]) || text[n] == '/' || text[n] == '_' || n > 0 && text[n] == '-') {
		n++
	}
	s.hasZone = true
	if hours, ok := zoneHours[strings.ToLower(text[:n])]; ok {
		s.zone = hours * MicrosPerHour
		return n, readOK
	}
	zone, err := time.LoadLocation(text[:n])
	if err != nil || strings.EqualFold(text[:n], "local") {
		return n, readBad
	}
	s.place = zone
	return n, readOK
}

// finish puts the parts together and checks them.
func (s *momentScanner) finish() (moment, reading) {
	if s.named != 0 {
		if s.hasDate || s.count != 2 {
			return s.moment, readBad
		}
		// The larger number is the year: Jan 8 1999, 8 Jan 1999, 1999 Jan 8.
		day, year := s.numbers[0], s.numbers[1]
		if day > 31 {
			day, year = year, day
		} else if year < 100 {
			year = fullYear(year, 2)
		}
		s.setDate(year, s.named, day)
	} else if s.count != 0 {
		return s.moment, readBad
	}
	if s.hasDate {
		if s.year == 0 || s.month < 1 || s.month > 12 || s.day < 1 || s.day > 31 || s.year > 1<<20 {
			return s.moment, readRange
		}
		if s.bc {
			s.year = 1 - s.year
		}
		if s.day > DaysIn(s.year, s.month) {
			return s.moment, readRange
		}
	}
	if s.pm != 0 {
		hour := s.micros / MicrosPerHour
		if hour < 1 || hour > 12 {
			return s.moment, readRange
		}
		s.micros -= hour * MicrosPerHour
		if s.pm > 0 {
			hour = hour%12 + 12
		} else {
			hour %= 12
		}
		s.micros += hour * MicrosPerHour
	}
	if s.place != nil {
		t := time.Date(s.year, time.Month(s.month), s.day, 0, 0, 0, int(s.micros)*1000, s.place)
		_, seconds := t.Zone()
		s.zone = int64(seconds) * MicrosPerSecond
	}
	return s.moment, readOK
}
