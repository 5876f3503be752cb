package sqltype

import (
	"math"
	"strings"
)

// DatePart is a part of a date, time or interval: what EXTRACT gives, and the
// unit of date_trunc and date_diff.
type DatePart uint8

// The parts.
const (
	PartYear DatePart = iota
	PartMonth
	PartDay
	PartHour
	PartMinute
	PartSecond
	PartMillisecond
	PartMicrosecond
	PartQuarter
	PartWeek
	PartISOYear
	PartDayOfWeek // Sunday is 0
	PartISODayOfWeek
	PartDayOfYear
	PartDecade
	PartCentury
	PartMillennium
	PartEra
	PartEpoch
	PartJulian
	PartTimezone
	numParts
)

var partNames = [numParts]string{"year", "month", "day", "hour", "minute", "second", "millisecond",
	"microsecond", "quarter", "week", "isoyear", "dayofweek", "isodow", "dayofyear", "decade",
	"century", "millennium", "era", "epoch", "julian", "timezone"}

func (p DatePart) String() string { return partNames[p] }

// partWords are the other words for parts.
var partWords = map[string]DatePart{
	"y": PartYear, "yr": PartYear, "yrs": PartYear, "mon": PartMonth, "mons": PartMonth,
	"d": PartDay, "dayofmonth": PartDay, "h": PartHour, "hr": PartHour, "hrs": PartHour,
	"m": PartMinute, "min": PartMinute, "mins": PartMinute, "s": PartSecond, "sec": PartSecond, "secs": PartSecond,
	"ms": PartMillisecond, "msec": PartMillisecond, "msecs": PartMillisecond,
	"us": PartMicrosecond, "usec": PartMicrosecond, "usecs": PartMicrosecond,
	"qtr": PartQuarter, "w": PartWeek, "weekofyear": PartWeek, "dow": PartDayOfWeek, "weekday": PartDayOfWeek,
	"doy": PartDayOfYear, "dec": PartDecade, "decs": PartDecade, "c": PartCentury, "cent": PartCentury,
	"centuries": PartCentury, "mil": PartMillennium, "mils": PartMillennium, "millennia": PartMillennium,
}

// ParseDatePart finds a part by any of its words, in any case.
func ParseDatePart(word string) (DatePart, bool) {
	word = strings.ToLower(trimBlanks(word))
	if p, ok := partWords[word]; ok {
		return p, true
	}
	for i, n := range partNames {
		if word == n || len(word) == len(n)+1 && strings.HasPrefix(word, n) && word[len(n)] == 's' {
			return DatePart(i), true
		}
	}
	return 0, false
}

// IsWhole reports that the part has no fraction.
func (p DatePart) IsWhole() bool {
	return p != PartSecond && p != PartMillisecond && p != PartEpoch && p != PartJulian
}

// julianEpoch is the Julian day number of 1970-01-01.
const julianEpoch = 2440588

// Whole is a whole part of a moment: the day, and the microseconds since its
// beginning. It must not be asked for another part.
func (p DatePart) Whole(day int32, micros int64) int64 {
	switch p {
	case PartYear:
		return int64(historicYear(YearOf(day)))
	case PartMonth:
		return int64(MonthOf(day))
	case PartDay:
		_, _, d := CivilFromDays(day)
		return int64(d)
	case PartHour:
		return micros / MicrosPerHour
	case PartMinute:
		return micros / MicrosPerMinute % 60
	case PartMicrosecond:
		return micros % MicrosPerMinute
	case PartQuarter:
		return int64(MonthOf(day)+2) / 3
	case PartWeek:
		_, w := ISOWeek(day)
		return int64(w)
	case PartISOYear:
		y, _ := ISOWeek(day)
		return int64(historicYear(y))
	case PartDayOfWeek:
		return int64(Weekday(day))
	case PartISODayOfWeek:
		return int64(Weekday(day)+6)%7 + 1
	case PartDayOfYear:
		return int64(DayOfYear(day))
	case PartDecade:
		return floorDiv(int64(YearOf(day)), 10)
	case PartCentury:
		return sinceYearOne(YearOf(day), 100)
	case PartMillennium:
		return sinceYearOne(YearOf(day), 1000)
	case PartEra:
		if YearOf(day) > 0 {
			return 1
		}
		return 0
	case PartTimezone:
		return 0 // the session's zone is UTC
	}
	panic("sqltype: " + p.String() + " is not whole")
}

// historicYear numbers years without a 0: 1 BC is -1.
func historicYear(y int) int {
	if y <= 0 {
		return y - 1
	}
	return y
}

// sinceYearOne counts spans of n years, the first of which began in the year 1.
func sinceYearOne(year, n int) int64 {
	if year > 0 {
		return int64((year + n - 1) / n)
	}
	return -int64((n - year) / n)
}

// Value is any part of a moment.
func (p DatePart) Value(day int32, micros int64) float64 {
	switch p {
	case PartSecond:
		return float64(micros%MicrosPerMinute) / 1e6
	case PartMillisecond:
		return float64(micros%MicrosPerMinute) / 1e3
	case PartEpoch:
		return float64(DateToTimestamp(day)+micros) / 1e6
	case PartJulian:
		return float64(day) + julianEpoch + float64(micros)/float64(MicrosPerDay)
	}
	return float64(p.Whole(day, micros))
}

// HasTime and HasSpan report the parts that a TIME and an INTERVAL have.
func (p DatePart) HasTime() bool {
	return p >= PartHour && p <= PartMicrosecond || p == PartEpoch
}

// HasSpan reports a part that an INTERVAL has.
func (p DatePart) HasSpan() bool {
	return p <= PartQuarter || p >= PartDecade && p <= PartMillennium || p == PartEpoch
}

// OfSpan is a part of an interval.
func (p DatePart) OfSpan(s Span) float64 {
	years := int64(s.Months / 12)
	switch p {
	case PartYear:
		return float64(years)
	case PartMonth:
		return float64(s.Months % 12)
	case PartDay:
		return float64(s.Days)
	case PartHour:
		return float64(s.Micros / MicrosPerHour)
	case PartMinute:
		return float64(s.Micros / MicrosPerMinute % 60)
	case PartSecond:
		return float64(s.Micros%MicrosPerMinute) / 1e6
	case PartMillisecond:
		return float64(s.Micros%MicrosPerMinute) / 1e3
	case PartMicrosecond:
		return float64(s.Micros % MicrosPerMinute)
	case PartQuarter:
		return float64(s.Months%12/3 + 1)
	case PartDecade:
		return float64(years / 10)
	case PartCentury:
		return float64(years / 100)
	case PartMillennium:
		return float64(years / 1000)
	case PartEpoch:
		// A year is 365.25 days here, a month beyond it 30 days.
		days := float64(years)*365.25 + float64(s.Months%12)*daysPerMonth + float64(s.Days)
		return days*86400 + float64(s.Micros)/1e6
	}
	panic("sqltype: an interval has no " + p.String())
}

// Trunc sets everything of a timestamp below the part to its beginning; false
// when the part is no unit to truncate to.
func (p DatePart) Trunc(ts int64) (int64, bool) {
	day := TimestampToDate(ts)
	switch p {
	case PartMicrosecond:
		return ts, true
	case PartMillisecond:
		return floorDiv(ts, 1000) * 1000, true
	case PartSecond:
		return floorDiv(ts, MicrosPerSecond) * MicrosPerSecond, true
	case PartMinute:
		return floorDiv(ts, MicrosPerMinute) * MicrosPerMinute, true
	case PartHour:
		return floorDiv(ts, MicrosPerHour) * MicrosPerHour, true
	case PartDay:
	case PartWeek:
		day -= int32(Weekday(day)+6) % 7
	case PartMonth:
		_, _, d := CivilFromDays(day)
		day -= int32(d - 1)
	case PartQuarter:
		y, m, _ := CivilFromDays(day)
		day = int32(DaysFromCivil(y, (m-1)/3*3+1, 1))
	case PartYear:
		day = int32(DaysFromCivil(YearOf(day), 1, 1))
	case PartISOYear:
		y, _ := ISOWeek(day)
		fourth := int32(DaysFromCivil(y, 1, 4)) // always in the first week
		day = fourth - int32(Weekday(fourth)+6)%7
	case PartDecade:
		day = int32(DaysFromCivil(int(floorDiv(int64(YearOf(day)), 10))*10, 1, 1))
	case PartCentury:
		day = int32(DaysFromCivil(int(floorDiv(int64(YearOf(day))-1, 100))*100+1, 1, 1))
	case PartMillennium:
		day = int32(DaysFromCivil(int(floorDiv(int64(YearOf(day))-1, 1000))*1000+1, 1, 1))
	default:
		return 0, false
	}
	return DateToTimestamp(day), true
}

// TruncSpan sets everything of an interval below the part to 0; false when the
// part is no unit of intervals.
func (p DatePart) TruncSpan(s Span) (Span, bool) {
	unit := int64(0)
	months := int32(0)
	switch p {
	case PartMicrosecond:
		return s, true
	case PartMillisecond:
		unit = 1000
	case PartSecond:
		unit = MicrosPerSecond
	case PartMinute:
		unit = MicrosPerMinute
	case PartHour:
		unit = MicrosPerHour
	case PartDay:
		unit = math.MaxInt64
	case PartMonth:
		months = 1
	case PartQuarter:
		months = 3
	case PartYear:
		months = 12
	case PartDecade:
		months = 120
	case PartCentury:
		months = 1200
	case PartMillennium:
		months = 12000
	default:
		return s, false
	}
	if months != 0 {
		return Span{Months: s.Months - s.Months%months}, true
	}
	s.Micros -= s.Micros % unit
	return s, true
}

// Diff counts the boundaries of the part that lie between two timestamps, of weeks the whole ones;
// false when the part is no unit to count.
func (p DatePart) Diff(from, to int64) (int64, bool) {
	d1, d2 := TimestampToDate(from), TimestampToDate(to)
	months := func() int64 {
		y1, m1, _ := CivilFromDays(d1)
		y2, m2, _ := CivilFromDays(d2)
		return int64(y2-y1)*12 + int64(m2-m1)
	}
	years := func(n int64) int64 { return floorDiv(int64(YearOf(d2)), n) - floorDiv(int64(YearOf(d1)), n) }
	steps := func(unit int64) int64 { return floorDiv(to, unit) - floorDiv(from, unit) }
	switch p {
	case PartYear:
		return years(1), true
	case PartDecade:
		return years(10), true
	case PartCentury:
		return years(100), true
	case PartMillennium:
		return years(1000), true
	case PartISOYear:
		y1, _ := ISOWeek(d1)
		y2, _ := ISOWeek(d2)
		return int64(y2 - y1), true
	case PartQuarter:
		q := func(d int32) int64 { y, m, _ := CivilFromDays(d); return int64(y)*4 + int64(m-1)/3 }
		return q(d2) - q(d1), true
	case PartMonth:
		return months(), true
	case PartWeek:
		return (int64(d2) - int64(d1)) / 7, true // as in DuckDB, where weeks have no beginnings
	case PartDay, PartDayOfWeek, PartDayOfYear, PartISODayOfWeek, PartJulian:
		return int64(d2) - int64(d1), true
	case PartHour:
		return steps(MicrosPerHour), true
	case PartMinute:
		return steps(MicrosPerMinute), true
	case PartSecond, PartEpoch:
		return steps(MicrosPerSecond), true
	case PartMillisecond:
		return steps(1000), true
	case PartMicrosecond:
		return to - from, true
	}
	return 0, false
}

// Complete counts how often the part goes whole between two timestamps; false when it
// is no unit to count. Back in time it is negative.
func (p DatePart) Complete(from, to int64) (int64, bool) {
	if to < from {
		n, ok := p.Complete(to, from)
		return -n, ok
	}
	months := map[DatePart]int64{PartMonth: 1, PartQuarter: 3, PartYear: 12, PartISOYear: 12, PartDecade: 120, PartCentury: 1200, PartMillennium: 12000}
	if unit := months[p]; unit > 0 {
		n, _ := PartMonth.Diff(from, to)
		d1, d2 := TimestampToDate(from), TimestampToDate(to)
		if addMonths(d1, n)*MicrosPerDay+(from-DateToTimestamp(d1)) > int64(d2)*MicrosPerDay+(to-DateToTimestamp(d2)) {
			n-- // the last one is not whole
		}
		return n / unit, true
	}
	micros := map[DatePart]int64{PartWeek: 7 * MicrosPerDay, PartDay: MicrosPerDay, PartDayOfWeek: MicrosPerDay, PartDayOfYear: MicrosPerDay,
		PartISODayOfWeek: MicrosPerDay, PartJulian: MicrosPerDay, PartHour: MicrosPerHour, PartMinute: MicrosPerMinute,
		PartSecond: MicrosPerSecond, PartEpoch: MicrosPerSecond, PartMillisecond: 1000, PartMicrosecond: 1}
	if unit := micros[p]; unit > 0 {
		return (to - from) / unit, true
	}
	return 0, false
}

// UnknownPart is the error of a word that names no part, or none of that type.
func UnknownPart(word string, t Type) *Error {
	return Errorf(CodeInvalidParameter, "unit %q not recognized for type %s", word, typeWord(t))
}
