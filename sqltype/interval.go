package sqltype

import (
	"math"
	"strconv"
	"strings"
)

// Span is an INTERVAL: three counts that do not convert into one another,
// since a month has no fixed days and a day no fixed hours. Its memory layout
// is that of PhysSpan.
type Span struct {
	Months, Days int32
	Micros       int64
}

// daysPerMonth is for comparing and for fractions of months only.
const daysPerMonth = 30

func errIntervalRange() *Error { return Errorf(CodeDatetimeOverflow, "interval out of range") }

// Compare orders spans by their length with a month of 30 days and a day of 24
// hours, as PostgreSQL does.
func (s Span) Compare(o Span) int { return s.Length().Cmp(o.Length()) }

// Length is the microseconds of s with a month of 30 days and a day of 24
// hours: what intervals are equal, hashed and ordered by.
func (s Span) Length() Int128 {
	days := int64(s.Months)*daysPerMonth + int64(s.Days)
	return MulInt64(days, MicrosPerDay).AddInt64(s.Micros)
}

// Add is s + o, part by part.
func (s Span) Add(o Span) (Span, error) {
	micros := s.Micros + o.Micros
	overflow := (s.Micros^micros)&(o.Micros^micros) < 0
	return makeSpan(int64(s.Months)+int64(o.Months), int64(s.Days)+int64(o.Days), micros, overflow)
}

// Neg is -s.
func (s Span) Neg() (Span, error) {
	return makeSpan(-int64(s.Months), -int64(s.Days), -s.Micros, s.Micros == math.MinInt64)
}

func makeSpan(months, days, micros int64, overflow bool) (Span, error) {
	s := Span{Months: int32(months), Days: int32(days), Micros: micros}
	if overflow || int64(s.Months) != months || int64(s.Days) != days {
		return Span{}, errIntervalRange()
	}
	return s, nil
}

// Mul is s * f. What is left of a month goes to the days, what is left of a
// day to the time.
func (s Span) Mul(f float64) (Span, error) {
	return spanOf(float64(s.Months)*f, float64(s.Days)*f, float64(s.Micros)*f)
}

// Div is s / f, for f other than 0.
func (s Span) Div(f float64) (Span, error) {
	return spanOf(float64(s.Months)/f, float64(s.Days)/f, float64(s.Micros)/f)
}

// spanOf makes an interval of parts with fractions.
func spanOf(months, days, micros float64) (Span, error) {
	wholeMonths, wholeDays := math.Trunc(months), math.Trunc(days)
	monthDays := roundTo6((months - wholeMonths) * daysPerMonth)
	wholeMonthDays := math.Trunc(monthDays)
	seconds := roundTo6((days - wholeDays + monthDays - wholeMonthDays) * 86400)
	if math.Abs(seconds) >= 86400 {
		over := math.Trunc(seconds / 86400)
		wholeDays += over
		seconds -= over * 86400
	}
	micros = math.RoundToEven(micros + seconds*float64(MicrosPerSecond))
	wholeDays += wholeMonthDays
	if !(math.Abs(wholeMonths) < 1<<31 && math.Abs(wholeDays) < 1<<31 && math.Abs(micros) < 1<<63) {
		return Span{}, errIntervalRange()
	}
	return Span{Months: int32(wholeMonths), Days: int32(wholeDays), Micros: int64(micros)}, nil
}

// roundTo6 drops what a product of doubles has beyond a millionth.
func roundTo6(f float64) float64 { return math.RoundToEven(f*1e6) / 1e6 }

// roundMicros is f rounded to an integer, 0 for what is no number or too large.
func roundMicros(f float64) int64 {
	if !(math.Abs(f) < 1<<62) {
		return 0
	}
	return int64(math.RoundToEven(f))
}

// JustifyHours turns 24 hours into a day.
func (s Span) JustifyHours() Span {
	days := int64(s.Days) + s.Micros/MicrosPerDay
	micros := s.Micros % MicrosPerDay
	if days > 0 && micros < 0 {
		days, micros = days-1, micros+MicrosPerDay
	} else if days < 0 && micros > 0 {
		days, micros = days+1, micros-MicrosPerDay
	}
	return Span{Months: s.Months, Days: int32(days), Micros: micros}
}

// JustifyDays turns 30 days into a month.
func (s Span) JustifyDays() Span {
	months, days := s.Months+s.Days/daysPerMonth, s.Days%daysPerMonth
	if months > 0 && days < 0 {
		months, days = months-1, days+daysPerMonth
	} else if months < 0 && days > 0 {
		months, days = months+1, days-daysPerMonth
	}
	return Span{Months: months, Days: days, Micros: s.Micros}
}

// Justify does both and makes the signs agree.
func (s Span) Justify() Span {
	s = s.JustifyHours().JustifyDays()
	days := int64(s.Months)*daysPerMonth + int64(s.Days)
	switch {
	case days > 0 && s.Micros < 0:
		s.Days, s.Micros = s.Days-1, s.Micros+MicrosPerDay
	case days < 0 && s.Micros > 0:
		s.Days, s.Micros = s.Days+1, s.Micros-MicrosPerDay
	}
	return s.JustifyDays()
}

// Age is a - b in years, months, days and time by the calendar.
func Age(a, b int64) Span {
	if a < b {
		s := Age(b, a)
		return Span{Months: -s.Months, Days: -s.Days, Micros: -s.Micros}
	}
	da, db := TimestampToDate(a), TimestampToDate(b)
	ya, ma, dayA := CivilFromDays(da)
	yb, mb, dayB := CivilFromDays(db)
	months := (ya-yb)*12 + ma - mb
	days := dayA - dayB
	micros := TimestampToTime(a) - TimestampToTime(b)
	if micros < 0 {
		days, micros = days-1, micros+MicrosPerDay
	}
	if days < 0 {
		// The month that is broken is the one b lies in.
		months, days = months-1, days+DaysIn(yb, mb)
	}
	return Span{Months: int32(months), Days: int32(days), Micros: micros}
}

// AppendInterval appends an interval as PostgreSQL shows it: 1 year 2 mons -3
// days +04:05:06.7, and 00:00:00 for none.
func AppendInterval(dst []byte, s Span) []byte {
	start := len(dst)
	before := int64(0) // the last part shown; a part after a negative one has its sign
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if before < 0 && v > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, v, 10)
		dst = append(dst, unit...)
		if v != 1 {
			dst = append(dst, 's')
		}
		before = v
	}
	part(int64(s.Months/12), " year")
	part(int64(s.Months%12), " mon")
	part(int64(s.Days), " day")
	if s.Micros == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	micros := uint64(s.Micros)
	switch {
	case s.Micros < 0:
		dst = append(dst, '-')
		micros = -micros
	case before < 0:
		dst = append(dst, '+')
	}
	seconds := int(micros / uint64(MicrosPerSecond))
	dst = appendPadded(dst, seconds/3600, 2)
	dst = append(dst, ':')
	dst = append2(dst, seconds/60%60)
	dst = append(dst, ':')
	dst = append2(dst, seconds%60)
	return appendFraction(dst, int(micros%uint64(MicrosPerSecond)))
}

// spanUnit is a unit that intervals are written in: so many months, days or
// microseconds.
type spanUnit struct{ months, days, micros int64 }

// spanUnits are the units by their names, in the singular where they have one.
var spanUnits = map[string]spanUnit{
	"microsecond": {micros: 1}, "us": {micros: 1}, "usec": {micros: 1},
	"millisecond": {micros: 1000}, "ms": {micros: 1000}, "msec": {micros: 1000},
	"second": {micros: MicrosPerSecond}, "sec": {micros: MicrosPerSecond}, "s": {micros: MicrosPerSecond},
	"minute": {micros: MicrosPerMinute}, "min": {micros: MicrosPerMinute}, "m": {micros: MicrosPerMinute},
	"hour": {micros: MicrosPerHour}, "hr": {micros: MicrosPerHour}, "h": {micros: MicrosPerHour},
	"day": {days: 1}, "d": {days: 1}, "week": {days: 7}, "w": {days: 7},
	"month": {months: 1}, "mon": {months: 1}, "quarter": {months: 3}, "qtr": {months: 3},
	"year": {months: 12}, "yr": {months: 12}, "y": {months: 12},
	"decade": {months: 120}, "dec": {months: 120}, "century": {months: 1200}, "centurie": {months: 1200},
	"cent": {months: 1200}, "c": {months: 1200},
	"millennium": {months: 12000}, "millennia": {months: 12000}, "mil": {months: 12000},
}

func unitByName(name string) (spanUnit, bool) {
	name = strings.ToLower(name)
	u, ok := spanUnits[name]
	if !ok {
		u, ok = spanUnits[strings.TrimSuffix(name, "s")]
	}
	return u, ok
}

// spanSum collects the parts of an interval while it is read.
type spanSum struct {
	months, days, micros int64
	bad                  bool // left the range
}

// add adds a number of units: whole and the fraction after it, which has the
// same sign. A fraction of a unit goes to the smaller units.
func (t *spanSum) add(whole int64, fraction float64, u spanUnit) {
	const limit = 1 << 31
	switch {
	case u.months != 0:
		if whole > limit || whole < -limit {
			t.bad = true
			return
		}
		t.months += whole * u.months
		months := fraction * float64(u.months)
		if u.months > 1 { // of a year, whole months
			t.months += int64(math.RoundToEven(months))
			return
		}
		t.addDays(months * daysPerMonth)
	case u.days != 0:
		if whole > limit || whole < -limit {
			t.bad = true
			return
		}
		t.days += whole * u.days
		t.addDays(fraction * float64(u.days))
	default:
		p := MulInt64(whole, u.micros)
		p = p.AddInt64(roundMicros(fraction * float64(u.micros))).AddInt64(t.micros)
		var ok bool
		t.micros, ok = p.Int64()
		t.bad = t.bad || !ok
	}
}

func (t *spanSum) addDays(days float64) {
	whole := math.Trunc(days)
	t.days += int64(whole)
	t.micros += roundMicros((days - whole) * float64(MicrosPerDay))
}

// ParseInterval reads an INTERVAL in the forms of PostgreSQL: 1 year 2 mons 3
// days 04:05:06, 1.5 hours, 3 4:05, 1-2 (years and months), @ 1 day ago, and
// ISO 8601's P1Y2M3DT4H5M6S.
func ParseInterval(text string) (Span, error) {
	var t spanSum
	s := trimBlanks(text)
	ok := false
	if len(s) > 1 && (s[0] == 'P' || s[0] == 'p') {
		ok = t.scanISO(s[1:])
	} else {
		ok = t.scanWords(strings.TrimPrefix(s, "@"))
	}
	if !ok {
		return Span{}, Errorf(CodeBadDatetime, "invalid input syntax for type interval: %q", text)
	}
	span, err := makeSpan(t.months, t.days, t.micros, t.bad)
	if err != nil {
		return Span{}, Errorf(CodeDatetimeOverflow, "interval field value out of range: %q", text)
	}
	return span, nil
}

// quantity is a signed number of an interval's text.
type quantity struct {
	neg      bool
	signed   bool // the sign was written
	whole    int64
	fraction float64 // of the sign of the number
}

// cutQuantity reads [+-]digits[.digits].
func cutQuantity(s string) (q quantity, rest string, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		q.neg, q.signed = s[0] == '-', true
		s = s[1:]
	}
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	m := n
	if m < len(s) && s[m] == '.' {
		for m++; m < len(s) && s[m] >= '0' && s[m] <= '9'; {
			m++
		}
	}
	if m == n && n == 0 || m == 1 && n == 0 {
		return q, s, false
	}
	var err error
	if n > 0 {
		if q.whole, err = strconv.ParseInt(s[:n], 10, 64); err != nil {
			return q, s, false
		}
	}
	if m > n+1 {
		q.fraction, _ = strconv.ParseFloat(s[n:m], 64)
	}
	if q.neg {
		q.whole, q.fraction = -q.whole, -q.fraction
	}
	return q, s[m:], true
}

// scanWords reads the form with units by name.
func (t *spanSum) scanWords(s string) bool {
	any := false
	for {
		s = strings.TrimLeft(s, " \t\n,")
		if s == "" {
			return any
		}
		if any && strings.EqualFold(s, "ago") {
			t.months, t.days, t.micros = -t.months, -t.days, -t.micros
			return true
		}
		q, rest, ok := cutQuantity(s)
		if !ok {
			return false
		}
		any = true
		switch {
		case rest != "" && rest[0] == ':':
			if s, ok = t.clock(q, rest); !ok {
				return false
			}
		case rest != "" && rest[0] == '-' && q.fraction == 0:
			if s, ok = t.yearMonth(q, rest); !ok {
				return false
			}
		default:
			if s, ok = t.named(q, strings.TrimLeft(rest, " \t\n")); !ok {
				return false
			}
		}
	}
}

// clock reads :MM[:SS[.f]] after the hours; the sign is that of the whole.
func (t *spanSum) clock(q quantity, rest string) (string, bool) {
	minute, n, rest := cutDigits(rest[1:])
	if n == 0 || minute > 59 || q.fraction != 0 {
		return rest, false
	}
	second, micros := 0, int64(0)
	if rest != "" && rest[0] == ':' {
		if second, n, rest = cutDigits(rest[1:]); n == 0 || second > 59 {
			return rest, false
		}
		micros, rest = cutFraction(rest)
	}
	below := int64(minute)*MicrosPerMinute + int64(second)*MicrosPerSecond + micros
	if q.neg {
		below = -below
	}
	t.add(q.whole, 0, spanUnit{micros: MicrosPerHour})
	t.add(below, 0, spanUnit{micros: 1})
	return rest, true
}

// yearMonth reads -M after the years of 1-2.
func (t *spanSum) yearMonth(q quantity, rest string) (string, bool) {
	month, n, rest := cutDigits(rest[1:])
	if n == 0 || month > 11 {
		return rest, false
	}
	if q.neg {
		month = -month
	}
	t.add(q.whole, 0, spanUnit{months: 12})
	t.add(int64(month), 0, spanUnit{months: 1})
	return rest, true
}

// named reads the unit after a number. Without one the number counts seconds,
// or days when a time of day follows.
func (t *spanSum) named(q quantity, rest string) (string, bool) {
	n := 0
	for n < len(rest) && isLetter(rest[n]) {
		n++
	}
	u := spanUnit{micros: MicrosPerSecond}
	switch {
	case n > 0:
		var ok bool
		if u, ok = unitByName(rest[:n]); !ok {
			return rest, false
		}
	case strings.Contains(rest, ":"):
		u = spanUnit{days: 1}
	case rest != "":
		return rest, false
	}
	t.add(q.whole, q.fraction, u)
	return rest[n:], true
}

// scanISO reads what follows the P of ISO 8601, with designators or as
// 0001-02-03T04:05:06.
func (t *spanSum) scanISO(s string) bool {
	date, clock, timed := strings.Cut(strings.ToUpper(s), "T")
	if date == "" && clock == "" || timed && clock == "" {
		return false
	}
	if parts := strings.Split(date, "-"); len(parts) == 3 && parts[0] != "" {
		for i, u := range [...]spanUnit{{months: 12}, {months: 1}, {days: 1}} {
			v := digits(parts[i])
			if v < 0 || parts[i] == "" {
				return false
			}
			t.add(int64(v), 0, u)
		}
		return !timed || t.scanWords(clock)
	}
	return t.designated(date, isoDateUnits) && t.designated(clock, isoTimeUnits)
}

var (
	isoDateUnits = map[byte]spanUnit{'Y': {months: 12}, 'M': {months: 1}, 'W': {days: 7}, 'D': {days: 1}}
	isoTimeUnits = map[byte]spanUnit{'H': {micros: MicrosPerHour}, 'M': {micros: MicrosPerMinute}, 'S': {micros: MicrosPerSecond}}
)

func (t *spanSum) designated(s string, units map[byte]spanUnit) bool {
	for s != "" {
		q, rest, ok := cutQuantity(s)
		if !ok || rest == "" {
			return false
		}
		u, ok := units[rest[0]]
		if !ok {
			return false
		}
		t.add(q.whole, q.fraction, u)
		s = rest[1:]
	}
	return true
}
