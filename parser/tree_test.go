package parser_test

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// dump writes a tree with a line a node: positions and the text of constants,
// checks and views are left out, and so is what is zero.
func dump(v any) string { return dumpBy(v, func(n any) any { return n }) }

// dumpBy is dump with every node replaced by what rewrite makes of it.
func dumpBy(v any, rewrite func(any) any) string {
	d := dumper{rewrite: rewrite}
	d.value(reflect.ValueOf(v), "", 0)
	return d.String()
}

type dumper struct {
	strings.Builder
	rewrite func(any) any
}

func (b *dumper) value(v reflect.Value, label string, indent int) {
	if v.CanInterface() && v.IsValid() {
		v = reflect.ValueOf(b.rewrite(v.Interface()))
		if !v.IsValid() {
			return
		}
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Bool {
			fmt.Fprintf(b, "%s%s: %v\n", strings.Repeat("  ", indent), label, v.Elem().Bool())
			return
		}
		v = v.Elem()
	}
	pad := strings.Repeat("  ", indent)
	if label != "" {
		pad += label + ": "
	}
	switch x := v.Interface().(type) {
	case parser.Ident:
		if x.Name != "" {
			fmt.Fprintf(b, "%s%s\n", pad, identText(x))
		}
		return
	case parser.Name:
		parts := make([]string, len(x.Parts))
		for i, p := range x.Parts {
			parts[i] = identText(p)
		}
		fmt.Fprintf(b, "%s%s\n", pad, strings.Join(parts, "."))
		return
	case parser.TypeName:
		fmt.Fprintf(b, "%s%s %s%s\n", pad, x.Type, x.Text, strings.Repeat("[]", x.List))
		return
	case sqltype.Datum:
		fmt.Fprintf(b, "%s%s null=%v i=%d hi=%d f=%v s=%q\n", pad, x.Type, x.Null, x.I, x.Hi, x.F, x.S)
		return
	case parser.Pos:
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		fmt.Fprintf(b, "%s%s\n", pad, v.Type().Name())
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if name != "Text" {
				b.value(v.Field(i), name, indent+1)
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		fmt.Fprintf(b, "%s%d\n", pad, v.Len())
		for i := range v.Len() {
			b.value(v.Index(i), "-", indent+1)
		}
	default:
		if !v.IsZero() {
			fmt.Fprintf(b, "%s%v\n", pad, v.Interface())
		}
	}
}

func identText(id parser.Ident) string {
	if id.Quoted {
		return fmt.Sprintf("%q", id.Name)
	}
	return id.Name
}
