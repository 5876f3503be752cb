package sqltype

// A DATE is days since 1970-01-01 in the Gregorian calendar, carried back
// before its invention. Years are astronomical here: 0 is 1 BC.

// MinDate and MaxDate are the ends of DATE: 4714-11-24 BC, where Julian days
// begin, and 294246-12-31, the last whole year whose microseconds fit 64 bits.
// So every DATE has a TIMESTAMP.
var (
	MinDate = DaysFromCivil(-4713, 11, 24) // of the year 4714 BC
	MaxDate = DaysFromCivil(294246, 12, 31)
)

// The calendar is counted from the first of March, so that a leap day is a
// year's last, and from 32 cycles of 400 years before the year 0, so that all
// counts are positive.
const (
	cycleDays  = 146097 // in 400 years
	eraCycles  = 32
	marchEpoch = 719468 + eraCycles*cycleDays // days from the era to 1970
	eraYears   = 400 * eraCycles
)

// DaysFromCivil is the day number of a date. Months outside 1 to 12 and days
// outside the month count on, as 2023-14-00 does.
func DaysFromCivil(year, month, day int) int {
	year += (month - 1) / 12
	month = (month-1)%12 + 1
	if month <= 0 {
		year, month = year-1, month+12
	}
	if month <= 2 {
		year, month = year-1, month+12
	}
	y := year + eraYears
	return y*365 + y/4 - y/100 + y/400 + (153*(month-3)+2)/5 + day - 1 - marchEpoch
}

// yearDay splits a day number into a year that begins in March and the day in
// it, from 0. The divisions are multiplications of 64 bits (Neri and Schneider,
// Euclidean affine functions, 2022).
func yearDay(days int32) (year, day uint32) {
	n := uint32(days+marchEpoch)*4 + 3
	century, rest := n/cycleDays, n%cycleDays/4
	p := uint64(rest*4+3) * 2939745
	return 100*century + uint32(p>>32), uint32(p) / 2939745 / 4
}

// lateDays: from this day of a March year on it is January of the next year.
const lateDays = 306

// CivilFromDays is the year, month and day of a day number.
func CivilFromDays(days int32) (year, month, day int) {
	y, d := yearDay(days)
	n := d*2141 + 197913
	m := n >> 16
	if d >= lateDays {
		y, m = y+1, m-12
	}
	return int(y) - eraYears, int(m), int(n&0xffff)/2141 + 1
}

// YearOf is the year of a day number.
func YearOf(days int32) int {
	y, d := yearDay(days)
	if d >= lateDays {
		y++
	}
	return int(y) - eraYears
}

// MonthOf is the month of a day number, from 1.
func MonthOf(days int32) int {
	_, d := yearDay(days)
	m := (d*2141 + 197913) >> 16
	if d >= lateDays {
		m -= 12
	}
	return int(m)
}

// Weekday is 0 for Sunday to 6 for Saturday.
func Weekday(days int32) int {
	const thursday = 4 // 1970-01-01
	w := (int(days) + thursday) % 7
	if w < 0 {
		w += 7
	}
	return w
}

// DayOfYear is 1 to 366.
func DayOfYear(days int32) int {
	return int(days) - DaysFromCivil(YearOf(days), 1, 1) + 1
}

// ISOWeek is the year and week by ISO 8601: weeks begin on Monday and belong
// to the year of their Thursday.
func ISOWeek(days int32) (year, week int) {
	thursday := days - int32((Weekday(days)+6)%7) + 3
	year = YearOf(thursday)
	return year, (int(thursday)-DaysFromCivil(year, 1, 1))/7 + 1
}

// DaysIn is the days of a month.
func DaysIn(year, month int) int {
	return DaysFromCivil(year, month+1, 1) - DaysFromCivil(year, month, 1)
}

// MakeDate is the day of a date that must exist.
func MakeDate(year, month, day int) (int32, error) {
	if month < 1 || month > 12 || day < 1 || day > 31 || year < -eraYears/2 || year > 1<<20 ||
		day > 28 && day > DaysIn(year, month) {
		return 0, Errorf(CodeDatetimeOverflow, "date field value out of range: %d-%02d-%02d", year, month, day)
	}
	return checkDate(int64(DaysFromCivil(year, month, day)))
}

func checkDate(days int64) (int32, error) {
	if days < int64(MinDate) || days > int64(MaxDate) {
		return 0, Errorf(CodeDatetimeOverflow, "date out of range")
	}
	return int32(days), nil
}

// AddDays is a date so many days on.
func AddDays(date int32, days int64) (int32, error) {
	if days > 1<<32 || days < -1<<32 {
		return 0, Errorf(CodeDatetimeOverflow, "date out of range")
	}
	return checkDate(int64(date) + days)
}

// DateToTimestamp is midnight of a date.
func DateToTimestamp(date int32) int64 { return int64(date) * MicrosPerDay }

// TimestampToDate is the day of a timestamp.
func TimestampToDate(ts int64) int32 { return int32(floorDiv(ts, MicrosPerDay)) }

// TimestampToTime is the time of day of a timestamp.
func TimestampToTime(ts int64) int64 { return ts - floorDiv(ts, MicrosPerDay)*MicrosPerDay }

// AppendDate appends a date: 1999-12-31, 0044-03-15 BC.
func AppendDate(dst []byte, date int32) []byte {
	year, month, day := CivilFromDays(date)
	dst = appendCivil(dst, year, month, day)
	if year <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}

func appendCivil(dst []byte, year, month, day int) []byte {
	if year <= 0 {
		year = 1 - year
	}
	dst = appendPadded(dst, year, 4)
	dst = append(dst, '-')
	dst = append2(dst, month)
	dst = append(dst, '-')
	return append2(dst, day)
}

// append2 appends two digits.
func append2(dst []byte, v int) []byte { return append(dst, byte('0'+v/10), byte('0'+v%10)) }

// appendPadded appends v with zeros before it up to a width.
func appendPadded(dst []byte, v, width int) []byte {
	var buf [20]byte
	i := len(buf)
	for v > 0 || width > 0 {
		i--
		buf[i] = byte('0' + v%10)
		v /= 10
		width--
	}
	return append(dst, buf[i:]...)
}
