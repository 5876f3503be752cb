package kernels

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// listFuncs are the functions over lists and structs. An element is looked at
// as the bytes that it is in the list, whose equality and order are SQL's: few
// of them ever read a value.
func listFuncs(name string, args []sqltype.Type, result sqltype.Type, consts []*sqltype.Datum) (ScalarFunc, bool) {
	if name == "struct_extract" {
		return structField(args[0], consts)
	}
	if f, ok := listSearches[name]; ok {
		return f, true
	}
	if f, ok := listMakers[name]; ok {
		return makeList(f), true
	}
	switch {
	case name == "length" && args[0].Kind == sqltype.KindList:
		return FuncRow(func(c *Call, i int) (int32, error) { return countElements(c.elements(0, i)), nil }), true
	case name == "list_extract":
		return elementAt(result), true
	case name == "regexp_split_to_array":
		return splitByPattern, true
	case name == "regexp_match":
		return matchGroups, true
	}
	return nil, false
}

// elements are those of argument k at row i.
func (c *Call) elements(k, i int) sqltype.Elements {
	return sqltype.ElementsOf(c.Args[k].Type, ArgAt[string](c, k, i))
}

// element adds argument k at row i to a list.
func (c *Call) element(dst []byte, k, i int) []byte {
	a := &c.Args[k]
	if a.IsNull(i) {
		return sqltype.AppendElement(dst, sqltype.NullOf(a.Type))
	}
	return sqltype.AppendElement(dst, a.datum(i))
}

// datum is the argument's value at row i, which is not NULL.
func (a *Arg) datum(i int) sqltype.Datum {
	if a.Const {
		i = 0
	}
	w := a.Type.Phys().Width()
	return loadDatum(unsafe.Pointer(&device.View[byte](a.Data+device.Ptr(i*w), 1)[0]), a.Type)
}

// makeList makes a ScalarFunc of a function that appends the elements of the
// list of row i.
func makeList(f func(c *Call, i int, out []byte) ([]byte, error)) ScalarFunc {
	return func(c *Call) error {
		var buf []byte
		return funcRows(c, func(i int) (View, error) {
			b, err := f(c, i, buf[:0])
			if err != nil {
				return View{}, err
			}
			if len(b) > maxString {
				return View{}, errListLength()
			}
			buf = append(b, sqltype.EndOfElements)
			return c.Heap.Bytes(buf)
		})
	}
}

// listMakers are the functions that give a list or struct, made of elements.
var listMakers = map[string]func(c *Call, i int, out []byte) ([]byte, error){
	"list_value":  packElements,
	"struct_pack": packElements,
	"list_append": func(c *Call, i int, out []byte) ([]byte, error) {
		return c.element(c.list(out, 0, i), 1, i), nil
	},
	"list_prepend": func(c *Call, i int, out []byte) ([]byte, error) {
		return c.list(c.element(out, 0, i), 1, i), nil
	},
	"list_concat": concatLists,
	"list_slice": func(c *Call, i int, out []byte) ([]byte, error) {
		if len(c.Args) == 4 {
			return steppedList(c, i, out)
		}
		return sliceList(c, i, out)
	},
	"list_where":      whereList,
	"list_select":     selectedList,
	"list_grade_up":   gradedList,
	"array_remove":    replaceIn,
	"array_replace":   replaceIn,
	"array_positions": arrayPositions,
	"list_sort":       sortedList,
	"list_reverse": func(c *Call, i int, out []byte) ([]byte, error) {
		raw := rawElements(c.elements(0, i))
		slices.Reverse(raw)
		return appendRaw(out, raw), nil
	},
	"list_distinct":   distinctElements,
	"list_intersect":  commonElements,
	"flatten":         flattened,
	"list_zip":        zipped,
	"list_resize":     resized,
	"string_to_array": splitString,
	"array_fill":      filledList,
	"trim_array":      trimmedList,
	"generate_series": seriesList(false),
	"range":           seriesList(true),
}

// listSearches are the functions that look for something in lists.
var listSearches = map[string]ScalarFunc{
	"list_contains": FuncRow(func(c *Call, i int) (bool, error) { return findElement(c, i) > 0, nil }),
	"list_position": FuncRow(func(c *Call, i int) (int32, error) {
		if at := findElement(c, i); at > 0 {
			return at, nil
		}
		return 0, ErrNull
	}),
	"list_has_any": FuncRow(func(c *Call, i int) (bool, error) {
		among := elementSet(c.elements(1, i))
		return slices.ContainsFunc(rawElements(c.elements(0, i)), func(s string) bool { return among[s] && s[0] != nullMark }), nil
	}),
	"list_has_all": FuncRow(func(c *Call, i int) (bool, error) {
		among := elementSet(c.elements(0, i))
		return !slices.ContainsFunc(rawElements(c.elements(1, i)), func(s string) bool { return !among[s] || s[0] == nullMark }), nil
	}),
	"list_unique": FuncRow(func(c *Call, i int) (int64, error) {
		set := elementSet(c.elements(0, i))
		delete(set, string([]byte{nullMark}))
		return int64(len(set)), nil
	}),
	"cardinality": FuncRow(func(c *Call, i int) (int32, error) {
		if c.Args[0].Type.Kind == sqltype.KindMap {
			return countElements(c.elements(0, i)), nil
		}
		return leaves(c.Args[0].Type, ArgAt[string](c, 0, i)), nil
	}),
	"array_length": FuncRow(func(c *Call, i int) (int32, error) {
		if len(c.Args) == 1 {
			return countElements(c.elements(0, i)), nil
		}
		n := lengthAt(c.elements(0, i), ArgAt[int64](c, 1, i))
		if n == 0 {
			return 0, ErrNull
		}
		return n, nil
	}),
	"array_ndims": arrayDimensions,
	"array_dims":  arrayBounds,
	"array_lower": FuncRow(func(c *Call, i int) (int32, error) {
		if lengthAt(c.elements(0, i), ArgAt[int64](c, 1, i)) == 0 {
			return 0, ErrNull
		}
		return 1, nil
	}),
	"array_to_string": FuncRow(func(c *Call, i int) (View, error) {
		if c.Args[0].IsNull(i) || c.Args[1].IsNull(i) {
			return View{}, ErrNull
		}
		sep, null := ArgAt[string](c, 1, i), ""
		nulls := len(c.Args) == 3 && !c.Args[2].IsNull(i)
		if nulls {
			null = ArgAt[string](c, 2, i)
		}
		b, _ := joinElements(nil, c.elements(0, i), sep, null, nulls, false)
		return c.Heap.Bytes(b)
	}),
}

// nullMark is the one byte of a NULL element.
var nullMark = sqltype.AppendElement(nil, sqltype.NullOf(sqltype.Null))[0]

// list adds the elements of argument k, none of NULL.
func (c *Call) list(out []byte, k, i int) []byte {
	if c.Args[k].IsNull(i) {
		return out
	}
	s := ArgAt[string](c, k, i)
	return append(out, s[:max(len(s)-1, 0)]...)
}

func packElements(c *Call, i int, out []byte) ([]byte, error) {
	for k := range c.Args {
		out = c.element(out, k, i)
	}
	return out, nil
}

// concatLists passes over NULLs; only NULLs give NULL.
func concatLists(c *Call, i int, out []byte) ([]byte, error) {
	some := false
	for k := range c.Args {
		some = some || !c.Args[k].IsNull(i)
		out = c.list(out, k, i)
	}
	if !some {
		return nil, ErrNull
	}
	return out, nil
}

func countElements(e sqltype.Elements) (n int32) {
	for e.Next() {
		n++
	}
	return n
}

// lengthAt is the length of a list in a dimension, 0 when there is none: that
// of its first list, and so on.
func lengthAt(e sqltype.Elements, dim int64) int32 {
	for ; dim > 1; dim-- {
		if !e.Next() {
			return 0
		}
		first := e.Datum()
		if first.Type.Kind != sqltype.KindList {
			return 0
		}
		e = first.Elements()
	}
	if dim < 1 {
		return 0
	}
	return countElements(e)
}

// leaves counts the elements that are not lists themselves.
func leaves(t sqltype.Type, s string) (n int32) {
	for e := sqltype.ElementsOf(t, s); e.Next(); {
		if t.Elem().Kind != sqltype.KindList {
			n++
		} else if !e.IsNull() {
			n += leaves(t.Elem(), e.Datum().S)
		}
	}
	return n
}

func rawElements(e sqltype.Elements) (raw []string) {
	for e.Next() {
		raw = append(raw, e.Raw())
	}
	return raw
}

func appendRaw(out []byte, raw []string) []byte {
	for _, s := range raw {
		out = append(out, s...)
	}
	return out
}

func elementSet(e sqltype.Elements) map[string]bool {
	set := map[string]bool{}
	for e.Next() {
		set[e.Raw()] = true
	}
	return set
}

// findElement is the place from 1 of argument 1 in the list, 0 when it is not
// there. NULL is found by list_position only.
func findElement(c *Call, i int) int32 {
	var buf [64]byte
	want := c.element(buf[:0], 1, i)
	at := int32(0)
	for e := c.elements(0, i); e.Next(); {
		if at++; e.Raw() == string(want) {
			return at
		}
	}
	return 0
}

func arrayPositions(c *Call, i int, out []byte) ([]byte, error) {
	want := string(c.element(nil, 1, i))
	at := int32(0)
	for e := c.elements(0, i); e.Next(); {
		if at++; e.Raw() == want {
			out = sqltype.AppendElement(out, sqltype.NewInt32(at))
		}
	}
	return out, nil
}

// replaceIn puts argument 2, or nothing, where argument 1 is.
func replaceIn(c *Call, i int, out []byte) ([]byte, error) {
	if c.Args[0].IsNull(i) {
		return nil, ErrNull
	}
	what := string(c.element(nil, 1, i))
	for e := c.elements(0, i); e.Next(); {
		switch {
		case e.Raw() != what:
			out = append(out, e.Raw()...)
		case len(c.Args) == 3:
			out = c.element(out, 2, i)
		}
	}
	return out, nil
}

// placeIn is a place counted from 1, or from the end when negative, as an
// offset that may be beyond the list.
func placeIn(at int64, n int) int64 {
	if at < 0 {
		return at + int64(n)
	}
	return at - 1
}

// elementAt is list_extract: NULL beyond the list.
func elementAt(result sqltype.Type) ScalarFunc {
	pick := func(c *Call, i int) (sqltype.Datum, error) {
		at := ArgAt[int64](c, 1, i)
		if at < 0 {
			at = placeIn(at, int(countElements(c.elements(0, i)))) + 1
		}
		e := c.elements(0, i)
		for n := int64(1); e.Next(); n++ {
			if n == at {
				return e.Datum(), nil
			}
		}
		return sqltype.NullOf(result), nil
	}
	return datumFunc(result, pick)
}

// structField is struct_extract(s, 'name') or (s, place).
func structField(t sqltype.Type, consts []*sqltype.Datum) (ScalarFunc, bool) {
	if t.Kind != sqltype.KindStruct || len(consts) != 2 || consts[1] == nil {
		return nil, false
	}
	at, ok := FieldPlace(t, consts[1])
	if !ok {
		return nil, false
	}
	return datumFunc(t.Fields()[at].Type, func(c *Call, i int) (sqltype.Datum, error) {
		e := c.elements(0, i)
		for n := 0; e.Next(); n++ {
			if n == at {
				return e.Datum(), nil
			}
		}
		return sqltype.NullOf(t), nil
	}), true
}

// FieldPlace is the field of a STRUCT that a name or a place from 1 means.
func FieldPlace(t sqltype.Type, which *sqltype.Datum) (int, bool) {
	switch {
	case which.Null:
		return 0, false
	case which.Type.Kind == sqltype.KindVarchar:
		at, _, ok := t.Field(which.S)
		return at, ok
	}
	at := which.I - 1
	return int(at), at >= 0 && at < int64(len(t.Fields()))
}

// datumFunc makes a ScalarFunc of a function that gives a value of any type.
func datumFunc(t sqltype.Type, f func(c *Call, i int) (sqltype.Datum, error)) ScalarFunc {
	return func(c *Call) error {
		width := t.Phys().Width()
		cells := device.View[byte](c.Out, c.N*width)
		clear(cells)
		for i := range c.N {
			if !c.Has(i) {
				continue
			}
			d, err := f(c, i)
			if err != nil {
				return err
			}
			if d.Null {
				c.SetNull(i)
				continue
			}
			var v View
			if t.Phys() == sqltype.PhysStr {
				if v, err = c.Heap.String(d.S); err != nil {
					return err
				}
			}
			storeDatum(unsafe.Pointer(&cells[i*width]), d, v)
		}
		return nil
	}
}

// sliceList is l[lo:hi], both ends within. Negative places count from the end;
// a NULL one is no bound.
func sliceList(c *Call, i int, out []byte) ([]byte, error) {
	if c.Args[0].IsNull(i) {
		return nil, ErrNull
	}
	raw := rawElements(c.elements(0, i))
	lo, hi := int64(0), int64(len(raw))-1
	if !c.Args[1].IsNull(i) {
		lo = max(placeIn(ArgAt[int64](c, 1, i), len(raw)), 0)
	}
	if !c.Args[2].IsNull(i) {
		hi = min(placeIn(ArgAt[int64](c, 2, i), len(raw)), hi)
	}
	if lo > hi {
		return out, nil
	}
	return appendRaw(out, raw[lo:hi+1]), nil
}

// sortedList is list_sort(l [, 'ASC'|'DESC' [, 'NULLS FIRST'|'NULLS LAST']]).
func sortedList(c *Call, i int, out []byte) ([]byte, error) {
	raw := rawElements(c.elements(0, i))
	option := func(k int, words ...string) (string, error) {
		if len(c.Args) <= k {
			return words[0], nil
		}
		s := strings.ToUpper(ArgAt[string](c, k, i))
		if !slices.Contains(words, s) {
			return "", sqltype.Errorf(sqltype.CodeInvalidParameter, "%q is not %s", s, strings.Join(words, " or "))
		}
		return s, nil
	}
	order, err := option(1, "ASC", "DESC")
	if err != nil {
		return nil, err
	}
	nulls, err := option(2, "NULLS LAST", "NULLS FIRST")
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(raw, func(a, b string) int {
		an, bn := a[0] == nullMark, b[0] == nullMark
		switch {
		case an != bn:
			if an == (nulls == "NULLS FIRST") {
				return -1
			}
			return 1
		case order == "DESC":
			return strings.Compare(b, a)
		}
		return strings.Compare(a, b)
	})
	return appendRaw(out, raw), nil
}

// distinctElements keeps the first of equal elements, and no NULL.
func distinctElements(c *Call, i int, out []byte) ([]byte, error) {
	seen := map[string]bool{string([]byte{nullMark}): true}
	for e := c.elements(0, i); e.Next(); {
		if !seen[e.Raw()] {
			seen[e.Raw()] = true
			out = append(out, e.Raw()...)
		}
	}
	return out, nil
}

// commonElements are the different elements of a list that another one has.
func commonElements(c *Call, i int, out []byte) ([]byte, error) {
	among := elementSet(c.elements(1, i))
	delete(among, string([]byte{nullMark}))
	for e := c.elements(0, i); e.Next(); {
		if among[e.Raw()] {
			delete(among, e.Raw())
			out = append(out, e.Raw()...)
		}
	}
	return out, nil
}

// flattened joins the lists of a list.
func flattened(c *Call, i int, out []byte) ([]byte, error) {
	for e := c.elements(0, i); e.Next(); {
		if !e.IsNull() {
			s := e.Datum().S
			out = append(out, s[:max(len(s)-1, 0)]...)
		}
	}
	return out, nil
}

// zipped makes structs of the elements at one place; a list that has ended
// gives NULL.
func zipped(c *Call, i int, out []byte) ([]byte, error) {
	raws := make([][]string, len(c.Args))
	most := 0
	for k := range c.Args {
		if !c.Args[k].IsNull(i) {
			raws[k] = rawElements(c.elements(k, i))
		}
		most = max(most, len(raws[k]))
	}
	elem := c.Result.Elem()
	for at := range most {
		var s []byte
		for _, raw := range raws {
			if at < len(raw) {
				s = append(s, raw[at]...)
			} else {
				s = append(s, nullMark)
			}
		}
		s = append(s, sqltype.EndOfElements)
		out = sqltype.AppendElement(out, sqltype.Datum{Type: elem, S: string(s)})
	}
	return out, nil
}

// resized is list_resize(l, n [, value]).
func resized(c *Call, i int, out []byte) ([]byte, error) {
	if c.Args[0].IsNull(i) {
		return nil, ErrNull
	}
	n := int64(0)
	if !c.Args[1].IsNull(i) {
		n = ArgAt[int64](c, 1, i)
	}
	if n < 0 || n > maxString {
		return nil, sqltype.Errorf(sqltype.CodeOutOfRange, "a list cannot have %d elements", n)
	}
	raw := rawElements(c.elements(0, i))
	out = appendRaw(out, raw[:min(n, int64(len(raw)))])
	fill := []byte{nullMark}
	if len(c.Args) == 3 {
		fill = c.element(nil, 2, i)
	}
	for at := int64(len(raw)); at < n; at++ {
		if out = append(out, fill...); len(out) > maxString {
			break
		}
	}
	return out, nil
}

// joinElements writes the elements' text, of inner lists too, with a separator
// between them; a NULL is left out unless nulls says how it is written.
func joinElements(dst []byte, e sqltype.Elements, sep, null string, nulls, begun bool) ([]byte, bool) {
	for e.Next() {
		d := e.Datum()
		switch {
		case d.Null && !nulls:
			continue
		case !d.Null && d.Type.Kind == sqltype.KindList:
			dst, begun = joinElements(dst, d.Elements(), sep, null, nulls, begun)
			continue
		}
		if begun {
			dst = append(dst, sep...)
		}
		begun = true
		if d.Null {
			dst = append(dst, null...)
		} else {
			dst = d.Append(dst)
		}
	}
	return dst, begun
}

func errListLength() error {
	return sqltype.Errorf(codeTooLong, "the list is longer than %d bytes", maxString)
}
