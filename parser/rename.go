package parser

import "reflect"

// The walks below go over any tree by reflection: they serve definitions, where
// speed is nothing, and miss no kind of expression.

// NamesColumn reports that an expression names a column, with or without its
// table.
func NamesColumn(e Expr, column string) bool {
	found := false
	eachColumn(reflect.ValueOf(e), func(r *ColumnRef) {
		found = found || r.Name.Parts[len(r.Name.Parts)-1].Name == column
	})
	return found
}

// RenameColumn gives a column another name wherever an expression names it. The
// expression is changed in place.
func RenameColumn(e Expr, from, to string) Expr {
	eachColumn(reflect.ValueOf(e), func(r *ColumnRef) {
		if last := &r.Name.Parts[len(r.Name.Parts)-1]; last.Name == from {
			last.Name, last.Quoted = to, true
		}
	})
	return e
}

func eachColumn(v reflect.Value, f func(*ColumnRef)) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if r, ok := v.Interface().(*ColumnRef); ok {
			f(r)
			return
		}
		eachColumn(v.Elem(), f)
	case reflect.Interface:
		if !v.IsNil() {
			eachColumn(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachColumn(v.Field(i), f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachColumn(v.Index(i), f)
		}
	}
}
