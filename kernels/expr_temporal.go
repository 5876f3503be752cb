package kernels

import "github.com/gpusql/gpusql/sqltype"

// temporalFuncs are the operators + - * / and neg over dates, times and
// intervals; those over numbers are instructions.
func temporalFuncs(name string, args []sqltype.Type, result sqltype.Type, _ []*sqltype.Datum) (ScalarFunc, bool) {
	var a, b sqltype.Kind
	switch len(args) {
	case 2:
		a, b = args[0].Kind, args[1].Kind
	case 1:
		a = args[0].Kind
	default:
		return nil, false
	}
	var f ScalarFunc
	switch name {
	case "+":
		if f = addTemporal(a, b); f == nil {
			f = swapped(addTemporal(b, a))
		}
	case "-":
		f = subTemporal(a, b)
	case "*":
		if a == sqltype.KindInterval && b == sqltype.KindFloat64 {
			f = Func2(mulSpan)
		} else if a == sqltype.KindFloat64 && b == sqltype.KindInterval {
			f = swapped(Func2(mulSpan))
		}
	case "/":
		if a == sqltype.KindInterval && b == sqltype.KindFloat64 {
			f = Func2(divSpan)
		}
	case "neg":
		if a == sqltype.KindInterval && len(args) == 1 {
			f = Func1(func(_ *Heap, v sqltype.Span) (sqltype.Span, error) { return v.Neg() })
		}
	}
	return f, f != nil
}

// swapped calls f with its two arguments the other way round.
func swapped(f ScalarFunc) ScalarFunc {
	if f == nil {
		return nil
	}
	return func(c *Call) error {
		c.Args[0], c.Args[1] = c.Args[1], c.Args[0]
		return f(c)
	}
}

func addTemporal(a, b sqltype.Kind) ScalarFunc {
	switch {
	case a == sqltype.KindDate && b == sqltype.KindInt32:
		return Func2(func(_ *Heap, d, n int32) (int32, error) { return sqltype.AddDays(d, int64(n)) })
	case a == sqltype.KindDate && b == sqltype.KindInterval:
		return Func2(func(_ *Heap, d int32, v sqltype.Span) (int64, error) {
			return sqltype.AddInterval(sqltype.DateToTimestamp(d), v)
		})
	case a == sqltype.KindDate && b == sqltype.KindTime:
		return Func2(func(_ *Heap, d int32, t int64) (int64, error) {
			return sqltype.AddInterval(sqltype.DateToTimestamp(d), sqltype.Span{Micros: t})
		})
	case (a == sqltype.KindTimestamp || a == sqltype.KindTimestampTZ) && b == sqltype.KindInterval:
		return Func2(func(_ *Heap, t int64, v sqltype.Span) (int64, error) { return sqltype.AddInterval(t, v) })
	case a == sqltype.KindTime && b == sqltype.KindInterval:
		return Pure2(sqltype.AddTime)
	case a == sqltype.KindTimeTZ && b == sqltype.KindInterval:
		return Pure2(sqltype.AddTimeTZ)
	case a == sqltype.KindDate && b == sqltype.KindTimeTZ:
		return Func2(func(_ *Heap, d int32, t int64) (int64, error) { return sqltype.DateTimeTZ(d, t) })
	case a == sqltype.KindInterval && b == sqltype.KindInterval:
		return Func2(func(_ *Heap, u, v sqltype.Span) (sqltype.Span, error) { return u.Add(v) })
	}
	return nil
}

func subTemporal(a, b sqltype.Kind) ScalarFunc {
	switch {
	case a == sqltype.KindDate && b == sqltype.KindInt32:
		return Func2(func(_ *Heap, d, n int32) (int32, error) { return sqltype.AddDays(d, -int64(n)) })
	case a == sqltype.KindDate && b == sqltype.KindDate:
		return Pure2(func(d, e int32) int32 { return d - e })
	case a == sqltype.KindDate && b == sqltype.KindTime:
		return Func2(func(_ *Heap, d int32, t int64) (int64, error) {
			return sqltype.AddInterval(sqltype.DateToTimestamp(d), sqltype.Span{Micros: -t})
		})
	case a == sqltype.KindDate && b == sqltype.KindInterval:
		return Func2(func(_ *Heap, d int32, v sqltype.Span) (int64, error) {
			return subInterval(sqltype.DateToTimestamp(d), v)
		})
	case (a == sqltype.KindTimestamp || a == sqltype.KindTimestampTZ) && b == sqltype.KindInterval:
		return Func2(func(_ *Heap, t int64, v sqltype.Span) (int64, error) { return subInterval(t, v) })
	case a == sqltype.KindTime && b == sqltype.KindInterval:
		return Pure2(func(t int64, v sqltype.Span) int64 { return sqltype.AddTime(t, backwards(v)) })
	case a == sqltype.KindTimeTZ && b == sqltype.KindInterval:
		return Pure2(func(t int64, v sqltype.Span) int64 { return sqltype.AddTimeTZ(t, backwards(v)) })
	case a == sqltype.KindInterval && b == sqltype.KindInterval:
		return Func2(func(_ *Heap, u, v sqltype.Span) (sqltype.Span, error) {
			v, err := v.Neg()
			if err != nil {
				return v, err
			}
			return u.Add(v)
		})
	case a == b && a == sqltype.KindTime:
		return Pure2(func(t, u int64) sqltype.Span { return sqltype.Span{Micros: t - u} })
	case a == b && (a == sqltype.KindTimestamp || a == sqltype.KindTimestampTZ):
		return Pure2(sqltype.SubTimestamps)
	}
	return nil
}

// backwards is the time of v within a day, negated. The day goes out of v first: the
// opposite of the least value has no room.
func backwards(v sqltype.Span) sqltype.Span {
	return sqltype.Span{Micros: -(v.Micros % sqltype.MicrosPerDay)}
}

func subInterval(t int64, v sqltype.Span) (int64, error) {
	v, err := v.Neg()
	if err != nil {
		return 0, err
	}
	return sqltype.AddInterval(t, v)
}

func mulSpan(_ *Heap, v sqltype.Span, f float64) (sqltype.Span, error) { return v.Mul(f) }

func divSpan(_ *Heap, v sqltype.Span, f float64) (sqltype.Span, error) {
	if f == 0 {
		return v, divisionByZero(0)
	}
	return v.Div(f)
}
