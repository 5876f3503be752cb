package kernels

import (
	"math"
	"strings"
	"time"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// dateFuncs are the functions over dates, times and intervals.
func dateFuncs(name string, args []sqltype.Type, result sqltype.Type, consts []*sqltype.Datum) (ScalarFunc, bool) {
	switch name {
	case "date_part":
		if len(consts) > 0 && isText(consts[0]) {
			p, ok := sqltype.ParseDatePart(consts[0].S)
			if !ok {
				return failing(sqltype.UnknownPart(consts[0].S, args[1])), true
			}
			return datePart(p, 1, args[1], result)
		}
		return namedDatePart(args[1], result)
	case "date_trunc":
		if len(args) == 3 {
			return dateTruncIn, true
		}
		return dateTrunc(args[1]), true
	case "date_bin":
		return dateBin, true
	case "date_diff":
		return dateDiff(args, sqltype.DatePart.Diff)
	case "date_sub":
		return dateDiff(args, sqltype.DatePart.Complete)
	case "timezone":
		if len(args) == 2 {
			return atTimeZone(args[1].Kind == sqltype.KindTimestampTZ), true
		}
	}
	if p, ok := sqltype.ParseDatePart(name); ok && p.String() == name {
		return datePart(p, 0, args[0], result)
	}
	if f, ok := makeDateFuncs(name, args); ok {
		return f, true
	}
	return dateTextFuncs(name, args)
}

// failing gives the same error for every row.
func failing(err error) ScalarFunc {
	return func(c *Call) error {
		for i := range c.N {
			if c.Has(i) {
				return err
			}
		}
		return nil
	}
}

// splitter gives the day and the microseconds in it of argument k at a row.
func splitter(c *Call, k int) func(i int) (int32, int64) {
	switch c.Args[k].Type.Kind {
	case sqltype.KindDate:
		in := Read[int32](c, k)
		return func(i int) (int32, int64) { return in.At(i), 0 }
	case sqltype.KindTime:
		in := Read[int64](c, k)
		return func(i int) (int32, int64) { return 0, in.At(i) }
	case sqltype.KindTimeTZ:
		in := Read[int64](c, k)
		return func(i int) (int32, int64) {
			micros, _ := sqltype.SplitTimeTZ(in.At(i))
			return 0, micros
		}
	}
	in := Read[int64](c, k)
	return func(i int) (int32, int64) {
		ts := in.At(i)
		day := sqltype.TimestampToDate(ts)
		return day, ts - sqltype.DateToTimestamp(day)
	}
}

// partFits reports that values of a type have a part.
func partFits(p sqltype.DatePart, t sqltype.Type) bool {
	switch t.Kind {
	case sqltype.KindTime, sqltype.KindTimeTZ:
		return p.HasTime()
	case sqltype.KindInterval:
		return p.HasSpan()
	}
	return true
}

// datePart is a known part of argument k, as a BIGINT or a DOUBLE.
func datePart(p sqltype.DatePart, k int, t, result sqltype.Type) (ScalarFunc, bool) {
	whole := result.Kind == sqltype.KindInt64
	switch {
	case !partFits(p, t):
		return failing(sqltype.UnknownPart(p.String(), t)), true
	case t.Kind == sqltype.KindInterval:
		return func(c *Call) error {
			in := Read[sqltype.Span](c, k)
			if whole {
				return funcRows(c, func(i int) (int64, error) { return int64(p.OfSpan(in.At(i))), nil })
			}
			return funcRows(c, func(i int) (float64, error) { return p.OfSpan(in.At(i)), nil })
		}, true
	case p == sqltype.PartYear && t.Kind == sqltype.KindDate && whole:
		return func(c *Call) error { return yearsOfDates(c, k) }, true
	}
	return func(c *Call) error {
		split := splitter(c, k)
		if whole {
			return funcRows(c, func(i int) (int64, error) { return p.Whole(split(i)), nil })
		}
		return funcRows(c, func(i int) (float64, error) { return p.Value(split(i)), nil })
	}, true
}

// yearsOfDates is the part that is asked for most, without a call per row. The
// rows that are not wanted have readable values, so all are computed.
func yearsOfDates(c *Call, k int) error {
	in := Read[int32](c, k)
	out := device.View[int64](c.Out, c.N)
	for i := range out {
		y := sqltype.YearOf(in.vals[i&in.mask])
		if y <= 0 {
			y-- // there is no year 0
		}
		out[i] = int64(y)
	}
	return nil
}

// namedDatePart is date_part with a field that rows bring.
func namedDatePart(t, result sqltype.Type) (ScalarFunc, bool) {
	return func(c *Call) error {
		unit := unitReader(c, 0, t)
		var value func(p sqltype.DatePart, i int) float64
		if t.Kind == sqltype.KindInterval {
			in := Read[sqltype.Span](c, 1)
			value = func(p sqltype.DatePart, i int) float64 { return p.OfSpan(in.At(i)) }
		} else {
			split := splitter(c, 1)
			value = func(p sqltype.DatePart, i int) float64 { return p.Value(split(i)) }
		}
		at := func(i int) (float64, error) {
			p, err := unit(i)
			switch {
			case err != nil:
				return 0, err
			case !partFits(p, t):
				return 0, sqltype.UnknownPart(p.String(), t)
			}
			return value(p, i), nil
		}
		if result.Kind == sqltype.KindInt64 {
			return funcRows(c, func(i int) (int64, error) {
				f, err := at(i)
				return int64(f), err
			})
		}
		return funcRows(c, at)
	}, true
}

// unitReader reads the units of an argument, which is mostly a constant.
func unitReader(c *Call, k int, t sqltype.Type) func(i int) (sqltype.DatePart, error) {
	in := Read[string](c, k)
	last, lastPart := "", sqltype.DatePart(0)
	return func(i int) (sqltype.DatePart, error) {
		word := in.At(i)
		if word != last {
			p, ok := sqltype.ParseDatePart(word)
			if !ok {
				return 0, sqltype.UnknownPart(word, t)
			}
			last, lastPart = strings.Clone(word), p
		}
		if last == "" {
			return 0, sqltype.UnknownPart(word, t)
		}
		return lastPart, nil
	}
}

func dateTrunc(t sqltype.Type) ScalarFunc {
	if t.Kind == sqltype.KindInterval {
		return func(c *Call) error {
			unit, in := unitReader(c, 0, t), Read[sqltype.Span](c, 1)
			return funcRows(c, func(i int) (sqltype.Span, error) {
				p, err := unit(i)
				if err != nil {
					return sqltype.Span{}, err
				}
				s, ok := p.TruncSpan(in.At(i))
				if !ok {
					return s, sqltype.UnknownPart(p.String(), t)
				}
				return s, nil
			})
		}
	}
	return func(c *Call) error {
		unit, in := unitReader(c, 0, t), Read[int64](c, 1)
		return funcRows(c, func(i int) (int64, error) {
			p, err := unit(i)
			if err != nil {
				return 0, err
			}
			ts, ok := p.Trunc(in.At(i))
			if !ok {
				return 0, sqltype.UnknownPart(p.String(), t)
			}
			return ts, nil
		})
	}
}

// dateDiff is date_diff(unit, from, to) or date_sub, by what counts the units, or
// MySQL's datediff(to, from) in days.
func dateDiff(args []sqltype.Type, count func(p sqltype.DatePart, from, to int64) (int64, bool)) (ScalarFunc, bool) {
	if len(args) == 2 {
		return Pure2(func(to, from int32) int64 { return int64(to) - int64(from) }), true
	}
	return func(c *Call) error {
		unit := unitReader(c, 0, args[1])
		from, to := splitter(c, 1), splitter(c, 2)
		return funcRows(c, func(i int) (int64, error) {
			p, err := unit(i)
			if err != nil {
				return 0, err
			}
			d1, t1 := from(i)
			d2, t2 := to(i)
			n, ok := count(p, sqltype.DateToTimestamp(d1)+t1, sqltype.DateToTimestamp(d2)+t2)
			if !ok {
				return 0, sqltype.UnknownPart(p.String(), args[1])
			}
			return n, nil
		})
	}, true
}

// makeDateFuncs are the functions that put dates together and adjust them.
func makeDateFuncs(name string, args []sqltype.Type) (ScalarFunc, bool) {
	switch name {
	case "make_date":
		return Func3(func(_ *Heap, y, m, d int64) (int32, error) { return makeDate(y, m, d) }), true
	case "make_time":
		return Func3(func(_ *Heap, h, m int64, s float64) (int64, error) {
			return sqltype.MakeTime(smallInt(h), smallInt(m), s)
		}), true
	case "make_timestamp":
		if len(args) == 1 {
			return Func1(func(_ *Heap, micros int64) (int64, error) {
				if micros < sqltype.MinTimestamp || micros > sqltype.MaxTimestamp {
					return 0, sqltype.Errorf(sqltype.CodeDatetimeOverflow, "timestamp out of range: %d", micros)
				}
				return micros, nil
			}), true
		}
		return FuncRow(makeTimestamp), true
	case "make_timestamptz":
		return FuncRow(func(c *Call, i int) (int64, error) {
			ts, err := makeTimestamp(c, i)
			if err != nil || len(c.Args) == 6 {
				return ts, err
			}
			zone, err := zoneByName(ArgAt[string](c, 6, i))
			if err != nil {
				return 0, err
			}
			return momentIn(ts, zone), nil
		}), true
	case "make_interval":
		return FuncRow(makeInterval), true
	case "to_timestamp":
		if len(args) == 1 {
			return Func1(func(_ *Heap, seconds float64) (int64, error) {
				micros := math.RoundToEven(seconds * 1e6)
				if !(micros >= float64(sqltype.MinTimestamp) && micros <= float64(sqltype.MaxTimestamp)) {
					return 0, sqltype.Errorf(sqltype.CodeDatetimeOverflow, "timestamp out of range: %q", sqltype.FormatFloat(seconds, 64))
				}
				return int64(micros), nil
			}), true
		}
	case "last_day":
		return func(c *Call) error {
			split := splitter(c, 0)
			return funcRows(c, func(i int) (int32, error) {
				day, _ := split(i)
				y, m, d := sqltype.CivilFromDays(day)
				return day + int32(sqltype.DaysIn(y, m)-d), nil
			})
		}, true
	case "age":
		return Pure2(sqltype.Age), true
	case "overlaps":
		return overlapping, true
	case "epoch_ms":
		if args[0].Kind == sqltype.KindInt64 {
			return Func1(func(_ *Heap, ms int64) (int64, error) {
				if ms < sqltype.MinTimestamp/1000 || ms > sqltype.MaxTimestamp/1000 {
					return 0, sqltype.Errorf(sqltype.CodeDatetimeOverflow, "timestamp out of range: %d", ms)
				}
				return ms * 1000, nil
			}), true
		}
		return Pure1(func(ts int64) int64 { return (ts - (ts%1000+1000)%1000) / 1000 }), true
	case "epoch_us":
		return Pure1(same[int64]), true
	case "clock_timestamp":
		return Func0(func(*Heap) (int64, error) { return time.Now().UnixMicro(), nil }), true
	case "justify_days":
		return Pure1(sqltype.Span.JustifyDays), true
	case "justify_hours":
		return Pure1(sqltype.Span.JustifyHours), true
	case "justify_interval":
		return Pure1(sqltype.Span.Justify), true
	}
	return nil, false
}

func makeTimestamp(c *Call, i int) (int64, error) {
	day, err := makeDate(ArgAt[int64](c, 0, i), ArgAt[int64](c, 1, i), ArgAt[int64](c, 2, i))
	if err != nil {
		return 0, err
	}
	t, err := sqltype.MakeTime(smallInt(ArgAt[int64](c, 3, i)), smallInt(ArgAt[int64](c, 4, i)), ArgAt[float64](c, 5, i))
	return sqltype.DateToTimestamp(day) + t, err
}

// smallInt narrows without wrapping into range.
func smallInt(v int64) int { return int(max(min(v, math.MaxInt32), math.MinInt32)) }

// makeDate takes years before Christ as negative: -44 is 44 BC.
func makeDate(y, m, d int64) (int32, error) {
	year := smallInt(y)
	if year == 0 {
		return 0, sqltype.Errorf(sqltype.CodeDatetimeOverflow, "date field value out of range: %d-%02d-%02d", y, m, d)
	}
	if year < 0 {
		year++
	}
	return sqltype.MakeDate(year, smallInt(m), smallInt(d))
}

// makeInterval is make_interval(years, months, weeks, days, hours, mins, secs),
// any number of them.
func makeInterval(c *Call, i int) (sqltype.Span, error) {
	var v [6]int64
	for k := range min(len(c.Args), len(v)) {
		v[k] = int64(smallInt(ArgAt[int64](c, k, i)))
	}
	micros := (v[4]*60 + v[5]) * sqltype.MicrosPerMinute
	if len(c.Args) > len(v) {
		seconds := ArgAt[float64](c, len(v), i)
		if !(math.Abs(seconds) < 1e12) {
			return sqltype.Span{}, errIntervalRange()
		}
		micros += int64(math.RoundToEven(seconds * 1e6))
	}
	months, days := v[0]*12+v[1], v[2]*7+v[3]
	if months != int64(int32(months)) || days != int64(int32(days)) {
		return sqltype.Span{}, errIntervalRange()
	}
	return sqltype.Span{Months: int32(months), Days: int32(days), Micros: micros}, nil
}
