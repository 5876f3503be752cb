package parser

import "reflect"

// The walks below go over any tree by reflection: they serve definitions, where
// speed is nothing, and miss no kind of expression.

// NamesColumn reports that an expression names a column, with or without its
// table.
func NamesColumn(e Expr, column string) bool {
	found := false
	each(reflect.ValueOf(e), func(r *ColumnRef) {
		found = found || r.Name.Parts[len(r.Name.Parts)-1].Name == column
	})
	return found
}

// RenameColumn gives a column another name wherever an expression names it. The
// expression is changed in place.
func RenameColumn(e Expr, from, to string) Expr {
	each(reflect.ValueOf(e), func(r *ColumnRef) {
		if last := &r.Name.Parts[len(r.Name.Parts)-1]; last.Name == from {
			last.Name, last.Quoted = to, true
		}
	})
	return e
}

// CopyExpr copies an expression, and has f see each call of the copy.
func CopyExpr(e Expr, f func(*Call)) Expr {
	c := copyOf(reflect.ValueOf(&e).Elem()).Interface().(Expr)
	each(reflect.ValueOf(c), f)
	return c
}

func copyOf(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(copyOf(v.Elem()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(copyOf(v.Elem()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(copyOf(v.Field(i)))
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(copyOf(v.Index(i)))
			}
		}
	}
	return out
}

// each has f see the nodes of a type.
func each[T any](v reflect.Value, f func(*T)) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if r, ok := v.Interface().(*T); ok {
			f(r)
		}
		each(v.Elem(), f)
	case reflect.Interface:
		if !v.IsNil() {
			each(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				each(v.Field(i), f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), f)
		}
	}
}
