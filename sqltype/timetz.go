package sqltype

// A TIMETZ is a time of day with the offset of its zone from UTC. Its number is
// the time in UTC, in microseconds, times 2^zoneBits, and the seconds west of
// Greenwich: numbers are in the order of the values, the same moment by the clock
// of the east first, as in PostgreSQL.
const zoneBits = 18

// maxZone is the first offset that is too large, in seconds; twice that is less
// than 2^zoneBits.
const maxZone = 16 * 3600

// MakeTimeTZ is the time of day micros at an offset in seconds east of UTC.
func MakeTimeTZ(micros, east int64) int64 {
	return (micros-east*MicrosPerSecond)<<zoneBits - east
}

// SplitTimeTZ is the time of day of a TIMETZ and its offset in seconds east.
func SplitTimeTZ(v int64) (micros, east int64) {
	utc := timeInUTC(v)
	east = utc<<zoneBits - v
	return utc + east*MicrosPerSecond, east
}

func timeInUTC(v int64) int64 { return (v + 1<<(zoneBits-1)) >> zoneBits }

// ParseTimeTZ reads a TIMETZ: 04:05:06+02, of a whole timestamp the time of day;
// without a zone it is UTC.
func ParseTimeTZ(text string) (int64, error) {
	m, r := scanMoment(text)
	if r == readOK && !m.hasTime {
		r = readBad
	}
	east := m.zone / MicrosPerSecond
	if r == readOK && (east <= -maxZone || east >= maxZone) {
		r = readRange
	}
	if r != readOK {
		return 0, momentError(r, TimeTZ, text)
	}
	return MakeTimeTZ(m.micros, east), nil
}

// AppendTimeTZ appends a TIMETZ: 04:05:06.5+02, with the minutes and seconds of the
// offset where there are any.
func AppendTimeTZ(dst []byte, v int64) []byte {
	micros, east := SplitTimeTZ(v)
	dst = AppendTime(dst, micros)
	sign := byte('+')
	if east < 0 {
		sign, east = '-', -east
	}
	dst = append2(append(dst, sign), int(east/3600))
	if east%3600 != 0 {
		dst = append2(append(dst, ':'), int(east/60%60))
	}
	if east%60 != 0 {
		dst = append2(append(dst, ':'), int(east%60))
	}
	return dst
}

// AddTimeTZ is a TIMETZ an interval's time on, around the clock of its zone.
func AddTimeTZ(v int64, s Span) int64 {
	micros, east := SplitTimeTZ(v)
	return MakeTimeTZ(AddTime(micros, s), east)
}

// DateTimeTZ is the moment of a time of day on a date.
func DateTimeTZ(date int32, v int64) (int64, error) {
	return AddInterval(DateToTimestamp(date), Span{Micros: timeInUTC(v)})
}
