package kernels

import (
	"slices"

	"github.com/gpusql/gpusql/sqltype"
)

// mapFuncs are the functions over maps, which are lists of entries. A key is
// found by the bytes that it is.
func mapFuncs(name string, args []sqltype.Type, result sqltype.Type, _ []*sqltype.Datum) (ScalarFunc, bool) {
	switch name {
	case "map":
		return mapMaker(func(c *Call, i int, entry sqltype.Type) (entries []sqltype.Datum, err error) {
			if len(c.Args) == 0 {
				return nil, nil
			}
			keys, values := c.elements(0, i), c.elements(1, i)
			for keys.Next() {
				if !values.Next() {
					return nil, errMapLengths()
				}
				entries = append(entries, sqltype.NewNested(entry, []sqltype.Datum{keys.Datum(), values.Datum()}))
			}
			if values.Next() {
				return nil, errMapLengths()
			}
			return entries, nil
		}), true
	case "map_from_entries":
		return mapMaker(func(c *Call, i int, entry sqltype.Type) (entries []sqltype.Datum, _ error) {
			for e := c.elements(0, i); e.Next(); {
				d := e.Datum()
				d.Type = entry
				entries = append(entries, d)
			}
			return entries, nil
		}), true
	case "list_histogram":
		return mapMaker(countedElements), true
	case "map_concat":
		return mapMaker(joinedMaps), true
	case "map_entries":
		return FuncRow(func(c *Call, i int) (View, error) { return c.Heap.String(ArgAt[string](c, 0, i)) }), true
	case "map_keys", "map_values":
		return makeList(func(c *Call, i int, out []byte) ([]byte, error) {
			for e := c.elements(0, i); e.Next(); {
				part := e.Datum().Elements()
				if part.Next(); name == "map_values" {
					part.Next()
				}
				out = append(out, part.Raw()...)
			}
			return out, nil
		}), true
	case "map_contains":
		return FuncRow(func(c *Call, i int) (bool, error) { _, ok := c.mapValue(i); return ok, nil }), true
	case "map_extract":
		return makeList(func(c *Call, i int, out []byte) ([]byte, error) {
			if v, ok := c.mapValue(i); ok {
				out = append(out, v.Raw()...)
			}
			return out, nil
		}), true
	case "map_extract_value":
		return datumFunc(result, func(c *Call, i int) (sqltype.Datum, error) {
			if v, ok := c.mapValue(i); ok {
				return v.Datum(), nil
			}
			return sqltype.NullOf(result), nil
		}), true
	}
	return nil, false
}

func errMapLengths() error {
	return sqltype.Errorf(sqltype.CodeInvalidParameter, "a map has as many keys as values")
}

// mapMaker makes maps of the entries that f gives.
func mapMaker(f func(c *Call, i int, entry sqltype.Type) ([]sqltype.Datum, error)) ScalarFunc {
	return FuncRow(func(c *Call, i int) (View, error) {
		entries, err := f(c, i, c.Result.Elem())
		if err != nil {
			return View{}, err
		}
		m, err := sqltype.NewMap(c.Result, entries)
		if err != nil {
			return View{}, err
		}
		return c.Heap.String(m.S)
	})
}

// countedElements is list_histogram: the values of a list in order, and how often
// each comes. NULLs are left out.
func countedElements(c *Call, i int, entry sqltype.Type) (entries []sqltype.Datum, _ error) {
	raw := rawElements(c.elements(0, i))
	slices.Sort(raw)
	for k := 0; k < len(raw); {
		n := 1
		for k+n < len(raw) && raw[k+n] == raw[k] {
			n++
		}
		if raw[k][0] != nullMark {
			key := sqltype.DecodeElement(c.Args[0].Type.Elem(), raw[k])
			entries = append(entries, sqltype.NewNested(entry, []sqltype.Datum{key, sqltype.NewInt64(int64(n))}))
		}
		k += n
	}
	return entries, nil
}

// joinedMaps is map_concat: of a key that comes again the last value.
func joinedMaps(c *Call, i int, _ sqltype.Type) (entries []sqltype.Datum, _ error) {
	at := map[string]int{}
	for k := range c.Args {
		if c.Args[k].IsNull(i) {
			continue
		}
		for e := c.elements(k, i); e.Next(); {
			part := e.Datum().Elements()
			part.Next()
			if old, ok := at[part.Raw()]; ok {
				entries[old] = e.Datum()
				continue
			}
			at[part.Raw()] = len(entries)
			entries = append(entries, e.Datum())
		}
	}
	return entries, nil
}

// mapValue walks to the value of the key that is argument 1.
func (c *Call) mapValue(i int) (sqltype.Elements, bool) {
	key := string(c.element(nil, 1, i))
	for e := c.elements(0, i); e.Next(); {
		part := e.Datum().Elements()
		if part.Next(); part.Raw() == key {
			part.Next()
			return part, true
		}
	}
	return sqltype.Elements{}, false
}
