package kernels

import (
	"math"
	"slices"

	"github.com/gpusql/gpusql/sqltype"
)

// vectorFuncs are the functions over two lists of numbers of one length.
var vectorFuncs = map[string]func(x, y []float64) float64{
	"list_distance": func(x, y []float64) float64 {
		sum := 0.0
		for i := range x {
			sum += (x[i] - y[i]) * (x[i] - y[i])
		}
		return math.Sqrt(sum)
	},
	"list_inner_product": innerProduct,
	"list_cosine_similarity": func(x, y []float64) float64 {
		return innerProduct(x, y) / math.Sqrt(innerProduct(x, x)*innerProduct(y, y))
	},
}

func innerProduct(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// onVectors makes a ScalarFunc of a function over two vectors.
func onVectors(f func(x, y []float64) float64) ScalarFunc {
	return FuncRow(func(c *Call, i int) (float64, error) {
		var v [2][]float64
		for k := range v {
			for e := c.elements(k, i); e.Next(); {
				d := e.Datum()
				if d.Null {
					return 0, ErrNull
				}
				v[k] = append(v[k], d.F)
			}
		}
		if len(v[0]) != len(v[1]) {
			return 0, sqltype.Errorf(sqltype.CodeInvalidParameter, "the lists have %d and %d elements, and must have as many", len(v[0]), len(v[1]))
		}
		return f(v[0], v[1]), nil
	})
}

// whereList is list_where(l, conditions): the elements whose condition holds.
func whereList(c *Call, i int, out []byte) ([]byte, error) {
	cond := c.elements(1, i)
	for e := c.elements(0, i); e.Next() && cond.Next(); {
		if d := cond.Datum(); !d.Null && d.Bool() {
			out = append(out, e.Raw()...)
		}
	}
	return out, nil
}

// selectedList is list_select(l, places): NULL where there is no such place.
func selectedList(c *Call, i int, out []byte) ([]byte, error) {
	raw := rawElements(c.elements(0, i))
	for e := c.elements(1, i); e.Next(); {
		at := e.Datum()
		if n := placeIn(at.I, len(raw)); !at.Null && n >= 0 && n < int64(len(raw)) {
			out = append(out, raw[n]...)
		} else {
			out = append(out, nullMark)
		}
	}
	return out, nil
}

// gradedList is list_grade_up(l): the places of the elements in their order.
func gradedList(c *Call, i int, out []byte) ([]byte, error) {
	raw := rawElements(c.elements(0, i))
	at := make([]int, len(raw))
	for k := range at {
		at[k] = k
	}
	slices.SortStableFunc(at, func(a, b int) int { return ordered(raw[a], raw[b]) })
	for _, k := range at {
		out = sqltype.AppendElement(out, sqltype.NewInt64(int64(k+1)))
	}
	return out, nil
}

// steppedList is l[lo:hi:step], from its end where step is negative.
func steppedList(c *Call, i int, out []byte) ([]byte, error) {
	part, err := sliceList(c, i, nil)
	if err != nil || c.Args[3].IsNull(i) {
		return nil, ErrNull
	}
	step := ArgAt[int64](c, 3, i)
	if step == 0 {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "the step of a slice must not be 0")
	}
	raw := rawElements(sqltype.ElementsOf(c.Args[0].Type, string(append(part, sqltype.EndOfElements))))
	if step < 0 {
		slices.Reverse(raw)
		step = -max(step, -int64(len(raw)+1))
	}
	for k := int64(0); k < int64(len(raw)); k += min(step, int64(len(raw))) {
		out = append(out, raw[k]...)
	}
	return out, nil
}
