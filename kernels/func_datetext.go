package kernels

import (
	"strconv"

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
	case "to_number":
		return Func2(toNumber), true
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

// half is AM or PM.
func (m *moment) half() string {
	if m.hour() >= 12 {
		return "PM"
	}
	return "AM"
}

func (m *moment) era() string {
	if m.year <= 0 {
		return "BC"
	}
	return "AD"
}
