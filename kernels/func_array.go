package kernels

import (
	"strconv"

	"github.com/gpusql/gpusql/sqltype"
)

const codeArrayElement = "2202E"

// arrayDimensions is array_ndims: NULL of an empty list.
var arrayDimensions = FuncRow(func(c *Call, i int) (int32, error) {
	n := int64(0)
	for lengthAt(c.elements(0, i), n+1) > 0 {
		n++
	}
	if n == 0 {
		return 0, ErrNull
	}
	return int32(n), nil
})

// arrayBounds is array_dims: [1:2][1:3].
var arrayBounds = FuncRow(func(c *Call, i int) (View, error) {
	var dst []byte
	for dim := int64(1); ; dim++ {
		n := lengthAt(c.elements(0, i), dim)
		if n == 0 {
			break
		}
		dst = strconv.AppendInt(append(dst, "[1:"...), int64(n), 10)
		dst = append(dst, ']')
	}
	if dst == nil {
		return View{}, ErrNull
	}
	return c.Heap.Bytes(dst)
})

// filledList is array_fill(x, array[n]).
func filledList(c *Call, i int, out []byte) ([]byte, error) {
	if c.Args[1].IsNull(i) {
		return nil, ErrNull
	}
	if countElements(c.elements(1, i)) != 1 {
		return nil, sqltype.Errorf(sqltype.CodeNotSupported, "array_fill makes lists of one dimension")
	}
	sizes := c.elements(1, i)
	sizes.Next()
	n := sizes.Datum()
	one := c.element(nil, 0, i)
	if n.Null || n.I < 0 || n.I > maxString/int64(len(one)) {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "array_fill takes no size %s", n.String())
	}
	for range n.I {
		out = append(out, one...)
	}
	return out, nil
}

// trimmedList is trim_array(l, n): without the last n elements.
func trimmedList(c *Call, i int, out []byte) ([]byte, error) {
	raw := rawElements(c.elements(0, i))
	n := ArgAt[int64](c, 1, i)
	if n < 0 || n > int64(len(raw)) {
		return nil, sqltype.Errorf(codeArrayElement, "number of elements to trim must be between 0 and %d", len(raw))
	}
	return appendRaw(out, raw[:len(raw)-int(n)]), nil
}

// matchGroups is regexp_match: the groups of the first match, or all of it when
// the pattern has none.
var matchGroups = makeList(func(c *Call, i int, out []byte) ([]byte, error) {
	flags := ""
	if len(c.Args) > 2 {
		flags = ArgAt[string](c, 2, i)
	}
	re, err := regexpOf(ArgAt[string](c, 1, i), flags)
	if err != nil {
		return nil, err
	}
	s := ArgAt[string](c, 0, i)
	m := re.FindStringSubmatchIndex(s)
	if m == nil {
		return nil, ErrNull
	}
	if len(m) > 2 {
		m = m[2:]
	}
	for ; len(m) > 0; m = m[2:] {
		if m[0] < 0 {
			out = sqltype.AppendElement(out, sqltype.NullOf(sqltype.Varchar))
		} else {
			out = sqltype.AppendElement(out, sqltype.NewString(s[m[0]:m[1]]))
		}
	}
	return out, nil
})
