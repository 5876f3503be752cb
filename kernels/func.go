package kernels

import (
	"errors"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// ScalarFunc is the code of a scalar function over vectors. It is made by
// LookupFunc and may hold what it learned from constant arguments (a compiled
// pattern); it never changes and may run on several goroutines.
//
// An error stops the evaluation. The adapters below (Pure1, Func1, Func2, Func3,
// FuncRow) make one from a function over values.
type ScalarFunc func(c *Call) error

// FuncLookup finds the code of the function of that canonical name for those
// argument types and that result; consts[i] is argument i when it is a
// constant, nil otherwise. False: this family does not have it.
type FuncLookup func(name string, args []sqltype.Type, result sqltype.Type, consts []*sqltype.Datum) (ScalarFunc, bool)

// LookupFunc asks the families of functions, in order. The operators that have
// instructions of their own (arithmetic, comparison) are not among them.
func LookupFunc(name string, args []sqltype.Type, result sqltype.Type, consts []*sqltype.Datum) (ScalarFunc, bool) {
	for _, family := range funcFamilies {
		if f, ok := family(name, args, result, consts); ok {
			return f, true
		}
	}
	return nil, false
}

// Arg is an argument of a Call: N values, or one for all rows when Const.
// It is never dictionary encoded.
type Arg struct {
	Vec
	Type  sqltype.Type
	Const bool
}

// Call is one call of a scalar function over N rows.
type Call struct {
	N    int
	Args []Arg
	Out  device.Ptr // N values of form Result.Phys()
	// Result is the declared type of the result.
	Result sqltype.Type
	// Rows are the rows to compute, a bitmap, nil for all: those active and,
	// unless the function is NullIn, without a NULL argument. The others must
	// be left, or given a readable value when the result is a string.
	Rows []uint64
	// Heap takes the bytes of new long strings.
	Heap *Heap

	nulls []uint64 // rows made NULL: zero bits; nil when there are none
	room  []uint64 // for nulls
}

// ErrNull is returned by a function over values to say: the result is NULL.
var ErrNull = errors.New("kernels: the result is NULL")

// SetNull makes row i of the result NULL.
func (c *Call) SetNull(i int) {
	if c.nulls == nil {
		c.nulls = c.room[:(c.N+63)/64]
		for w := range c.nulls {
			c.nulls[w] = ^uint64(0)
		}
	}
	c.nulls[i>>6] &^= 1 << (i & 63)
}

// Has reports that row i is to be computed.
func (c *Call) Has(i int) bool { return c.Rows == nil || c.Rows[i>>6]>>(i&63)&1 != 0 }

// IsNull reports that the argument is NULL at row i; for NullIn functions.
func (a *Arg) IsNull(i int) bool {
	if a.Valid == 0 {
		return false
	}
	if a.Const {
		i = 0
	}
	return device.View[uint64](a.Valid, i>>6+1)[i>>6]>>(i&63)&1 == 0
}

// Value is a Go type that a function over values may take or give:
//
//	bool int8..int64 uint8..uint64 float32 float64   the forms of those names
//	sqltype.Int128, sqltype.Span                     I128, Span
//	string                                           Str, as an argument: not to be kept
//	View                                             Str, as a result: made by the Heap
type Value interface {
	bool | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 |
		float32 | float64 | sqltype.Int128 | sqltype.Span | string | View
}

// Reader reads an argument's values as Go type T.
type Reader[T Value] struct {
	vals  []T
	views []View // T is string
	mask  int    // 0 for a constant, all ones otherwise
}

// Read makes a Reader of argument k of c.
func Read[T Value](c *Call, k int) Reader[T] {
	a := &c.Args[k]
	r := Reader[T]{mask: -1}
	n := c.N
	if a.Const {
		r.mask, n = 0, 1
	}
	if _, ok := any(*new(T)).(string); ok {
		r.views = device.View[View](a.Data, n)
	} else {
		r.vals = device.View[T](a.Data, n)
	}
	return r
}

// At is the value at row i.
func (r *Reader[T]) At(i int) T {
	i &= r.mask
	if r.views == nil {
		return r.vals[i]
	}
	s := r.views[i].Str()
	return *(*T)(unsafe.Pointer(&s)) // T is string, see Read
}

// funcRows runs body for every row to compute, storing what it gives.
func funcRows[R Value](c *Call, body func(i int) (R, error)) error {
	out := device.View[R](c.Out, c.N)
	var zero R
	for i := range out {
		if c.Rows != nil && c.Rows[i>>6]>>(i&63)&1 == 0 {
			out[i] = zero
			continue
		}
		v, err := body(i)
		if err != nil {
			if err != ErrNull {
				return err
			}
			c.SetNull(i)
			v = zero
		}
		out[i] = v
	}
	return nil
}

// Pure1 makes a ScalarFunc of a function that cannot fail.
func Pure1[A, R Value](f func(A) R) ScalarFunc {
	return func(c *Call) error {
		a := Read[A](c, 0)
		return funcRows(c, func(i int) (R, error) { return f(a.At(i)), nil })
	}
}

// Pure2 is Pure1 of two arguments.
func Pure2[A, B, R Value](f func(A, B) R) ScalarFunc {
	return func(c *Call) error {
		a, b := Read[A](c, 0), Read[B](c, 1)
		return funcRows(c, func(i int) (R, error) { return f(a.At(i), b.At(i)), nil })
	}
}

// Pure3 is Pure1 of three arguments.
func Pure3[A, B, D, R Value](f func(A, B, D) R) ScalarFunc {
	return func(c *Call) error {
		a, b, d := Read[A](c, 0), Read[B](c, 1), Read[D](c, 2)
		return funcRows(c, func(i int) (R, error) { return f(a.At(i), b.At(i), d.At(i)), nil })
	}
}

// Func0 makes a ScalarFunc of a function without arguments: random() and the like.
func Func0[R Value](f func(h *Heap) (R, error)) ScalarFunc {
	return func(c *Call) error {
		return funcRows(c, func(int) (R, error) { return f(c.Heap) })
	}
}

// Func1 makes a ScalarFunc of a function over values, which may fail, give
// ErrNull, or make a string on the heap.
func Func1[A, R Value](f func(h *Heap, a A) (R, error)) ScalarFunc {
	return func(c *Call) error {
		a := Read[A](c, 0)
		return funcRows(c, func(i int) (R, error) { return f(c.Heap, a.At(i)) })
	}
}

// Func2 is Func1 of two arguments.
func Func2[A, B, R Value](f func(h *Heap, a A, b B) (R, error)) ScalarFunc {
	return func(c *Call) error {
		a, b := Read[A](c, 0), Read[B](c, 1)
		return funcRows(c, func(i int) (R, error) { return f(c.Heap, a.At(i), b.At(i)) })
	}
}

// Func3 is Func1 of three arguments.
func Func3[A, B, D, R Value](f func(h *Heap, a A, b B, d D) (R, error)) ScalarFunc {
	return func(c *Call) error {
		a, b, d := Read[A](c, 0), Read[B](c, 1), Read[D](c, 2)
		return funcRows(c, func(i int) (R, error) { return f(c.Heap, a.At(i), b.At(i), d.At(i)) })
	}
}

// FuncRow makes a ScalarFunc of a function over row i of c: for those that
// take any number of arguments or see NULLs (with Read and Arg.IsNull).
func FuncRow[R Value](f func(c *Call, i int) (R, error)) ScalarFunc {
	return func(c *Call) error {
		return funcRows(c, func(i int) (R, error) { return f(c, i) })
	}
}

// ArgAt is argument k at row i, for FuncRow; Read is faster in a loop of one's own.
func ArgAt[T Value](c *Call, k, i int) T {
	r := Read[T](c, k)
	return r.At(i)
}

// funcFamilies are the functions, by the file that has them.
var funcFamilies = [...]FuncLookup{listFuncs, mapFuncs, jsonFuncs, textFuncs, bitFuncs, enumFuncs, spanFuncs, temporalFuncs, dateFuncs, stringFuncs, patternFuncs, mathFuncs, anyFuncs, uuidFuncs}
