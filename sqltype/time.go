package sqltype

// A TIME is microseconds since midnight, up to and with 24:00:00. A TIMESTAMP
// is microseconds since 1970-01-01 00:00:00 of an unnamed clock, a TIMESTAMPTZ
// of UTC, which it is also shown in.

// Microseconds in the units of time.
const (
	MicrosPerSecond = int64(1_000_000)
	MicrosPerMinute = 60 * MicrosPerSecond
	MicrosPerHour   = 60 * MicrosPerMinute
	MicrosPerDay    = 24 * MicrosPerHour
)

// MinTimestamp and MaxTimestamp are the ends of TIMESTAMP: the first and the
// last microsecond of a day that is a DATE.
var (
	MinTimestamp = int64(MinDate) * MicrosPerDay
	MaxTimestamp = int64(MaxDate)*MicrosPerDay + MicrosPerDay - 1
)

func errTimestampRange() *Error { return Errorf(CodeDatetimeOverflow, "timestamp out of range") }

// floorDiv is a / b rounded down, for b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// MakeTime is a time of day; seconds may have a fraction.
func MakeTime(hour, minute int, seconds float64) (int64, error) {
	micros := roundMicros(seconds * float64(MicrosPerSecond))
	t := int64(hour)*MicrosPerHour + int64(minute)*MicrosPerMinute + micros
	if hour < 0 || hour > 24 || minute < 0 || minute > 59 || !(seconds >= 0 && seconds <= 60) || t > MicrosPerDay {
		return 0, Errorf(CodeDatetimeOverflow, "time field value out of range: %d:%02d:%s", hour, minute, FormatFloat(seconds, 64))
	}
	return t, nil
}

// checkTimestamp makes a timestamp of a day and microseconds that may lie
// outside it.
func checkTimestamp(days, micros int64) (int64, error) {
	if days < -1<<31 || days > 1<<31 {
		return 0, errTimestampRange()
	}
	// 2^31 days do not fit, so the sum is made in 128 bits.
	ts, ok := MulInt64(days, MicrosPerDay).AddInt64(micros).Int64()
	if !ok || ts < MinTimestamp || ts > MaxTimestamp {
		return 0, errTimestampRange()
	}
	return ts, nil
}

// AddInterval is a timestamp an interval on: first the months, with the day
// held to the month's last, then the days, then the time.
func AddInterval(ts int64, s Span) (int64, error) {
	days := floorDiv(ts, MicrosPerDay)
	micros := ts - days*MicrosPerDay
	if s.Months != 0 {
		days = addMonths(int32(days), int64(s.Months))
	}
	// Whole days of the time go with the days, so that no sum can overflow.
	over := s.Micros / MicrosPerDay
	return checkTimestamp(days+int64(s.Days)+over, micros+s.Micros-over*MicrosPerDay)
}

// addMonths is a date so many months on, the day held to the month's last.
func addMonths(date int32, months int64) int64 {
	year, month, day := CivilFromDays(date)
	m := int64(year)*12 + int64(month-1) + months
	y := floorDiv(m, 12)
	if y < -eraYears/2 || y > 1<<20 {
		return 1 << 40 // out of range, as the check will find
	}
	year, month = int(y), int(m-y*12)+1
	return int64(DaysFromCivil(year, month, min(day, DaysIn(year, month))))
}

// AddTime is a time of day an interval's time on, around the clock.
func AddTime(t int64, s Span) int64 {
	r := (t + s.Micros%MicrosPerDay) % MicrosPerDay
	if r < 0 {
		r += MicrosPerDay
	}
	return r
}

// SubTimestamps is the days and time from b to a.
func SubTimestamps(a, b int64) Span {
	// The range of timestamps is such that the difference may not fit.
	d := Int128Of(a)
	d, _ = d.Sub(Int128Of(b))
	days, micros, _ := d.QuoRem(Int128Of(MicrosPerDay))
	return Span{Days: int32(days.Lo), Micros: int64(micros.Lo)}
}

// AppendTime appends a time of day: 04:05:06, with up to six digits after it.
func AppendTime(dst []byte, t int64) []byte {
	seconds := int(t / MicrosPerSecond)
	dst = append2(dst, seconds/3600)
	dst = append(dst, ':')
	dst = append2(dst, seconds/60%60)
	dst = append(dst, ':')
	dst = append2(dst, seconds%60)
	return appendFraction(dst, int(t%MicrosPerSecond))
}

// appendFraction appends a point and the digits of micros, but no last zeros.
func appendFraction(dst []byte, micros int) []byte {
	if micros == 0 {
		return dst
	}
	width := 6
	for micros%10 == 0 {
		micros /= 10
		width--
	}
	return appendPadded(append(dst, '.'), micros, width)
}

// AppendTimestamp appends a timestamp: 1999-12-31 23:59:59.5.
func AppendTimestamp(dst []byte, ts int64) []byte { return appendStamp(dst, ts, "") }

// AppendTimestampTZ appends a timestamp in UTC: 1999-12-31 23:59:59.5+00.
func AppendTimestampTZ(dst []byte, ts int64) []byte { return appendStamp(dst, ts, "+00") }

func appendStamp(dst []byte, ts int64, zone string) []byte {
	days := TimestampToDate(ts)
	year, month, day := CivilFromDays(days)
	dst = appendCivil(dst, year, month, day)
	dst = append(dst, ' ')
	dst = AppendTime(dst, ts-DateToTimestamp(days))
	dst = append(dst, zone...)
	if year <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}
