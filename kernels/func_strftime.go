package kernels

import (
	"strconv"

	"github.com/gpusql/gpusql/sqltype"
)

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
