package kernels

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// splitString is string_to_array(s, separator [, null]): a NULL separator cuts
// into characters, an empty one does not cut.
func splitString(c *Call, i int, out []byte) ([]byte, error) {
	if c.Args[0].IsNull(i) {
		return nil, ErrNull
	}
	s := ArgAt[string](c, 0, i)
	var parts []string
	switch {
	case s == "":
		return out, nil
	case c.Args[1].IsNull(i):
		parts = strings.Split(s, "")
	case ArgAt[string](c, 1, i) == "":
		parts = []string{s}
	default:
		parts = strings.Split(s, ArgAt[string](c, 1, i))
	}
	for _, p := range parts {
		d := sqltype.NewString(p)
		d.Null = len(c.Args) == 3 && !c.Args[2].IsNull(i) && p == ArgAt[string](c, 2, i)
		out = sqltype.AppendElement(out, d)
	}
	return out, nil
}

// splitByPattern is regexp_split_to_array(s, pattern [, flags]).
func splitByPattern(c *Call) error {
	var cache regexps
	return makeList(func(c *Call, i int, out []byte) ([]byte, error) {
		flags := ""
		if len(c.Args) == 3 {
			flags = ArgAt[string](c, 2, i)
		}
		re, err := cache.get(ArgAt[string](c, 1, i), flags)
		if err != nil {
			return nil, err
		}
		s, from := ArgAt[string](c, 0, i), 0
		for _, m := range re.FindAllStringIndex(s, -1) {
			if m[1] == 0 || m[0] == m[1] && m[0] == len(s) {
				continue // nothing was matched at an end
			}
			out = sqltype.AppendElement(out, sqltype.NewString(s[from:m[0]]))
			from = m[1]
		}
		return sqltype.AppendElement(out, sqltype.NewString(s[from:])), nil
	})(c)
}

// seriesList is generate_series as a list, or range, to which the end does not
// belong.
func seriesList(open bool) func(c *Call, i int, out []byte) ([]byte, error) {
	return func(c *Call, i int, out []byte) ([]byte, error) {
		if t := c.Result.Elem(); t.Kind != sqltype.KindInt64 {
			return timesList(c, i, out, t, open)
		}
		v, hi, step := ArgAt[int64](c, 0, i), ArgAt[int64](c, 1, i), ArgAt[int64](c, 2, i)
		if step == 0 {
			return nil, errStep()
		}
		// Told before the work: a list takes nine bytes an element.
		if seriesSteps(v, hi, step) > maxString/9 {
			return nil, errListLength()
		}
		for !beyond(v, hi, step < 0, open) {
			out = sqltype.AppendElement(out, sqltype.NewInt64(v))
			if next := v + step; next > v == (step > 0) {
				v = next
			} else {
				break // the last BIGINT
			}
		}
		return out, nil
	}
}

// seriesSteps is how many steps lead from v to the end, 0 if they lead away.
func seriesSteps(v, end, step int64) uint64 {
	switch {
	case step > 0 && end > v:
		return (uint64(end) - uint64(v)) / uint64(step)
	case step < 0 && end < v:
		return (uint64(v) - uint64(end)) / -uint64(step)
	}
	return 0
}

func errStep() error {
	return sqltype.Errorf(sqltype.CodeInvalidParameter, "step size cannot equal zero")
}

// beyond reports a value after the end of a series.
func beyond(v, end int64, backward, open bool) bool {
	switch {
	case v == end:
		return open
	case backward:
		return v < end
	}
	return v > end
}

// timesList is a series of times, each the one before it and the step.
func timesList(c *Call, i int, out []byte, t sqltype.Type, open bool) ([]byte, error) {
	v, end, step := ArgAt[int64](c, 0, i), ArgAt[int64](c, 1, i), ArgAt[sqltype.Span](c, 2, i)
	sign := step.Compare(sqltype.Span{})
	if sign == 0 {
		return nil, errStep()
	}
	for len(out) <= maxString && !beyond(v, end, sign < 0, open) {
		out = sqltype.AppendElement(out, sqltype.Datum{Type: t, I: v})
		next, err := sqltype.AddInterval(v, step)
		if err != nil {
			return nil, err
		}
		if sign < 0 == (next > v) || next == v {
			break // a step of days up and months down may turn back
		}
		v = next
	}
	return out, nil
}
