package parser

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// dump writes a tree with a line a node, for tests: positions and the text of
// constants, checks and views are left out, and so is what is zero.
func dump(v any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(v), "", 0)
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value, label string, indent int) {
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
	case Ident:
		if x.Name != "" {
			fmt.Fprintf(b, "%s%s\n", pad, identText(x))
		}
		return
	case Name:
		parts := make([]string, len(x.Parts))
		for i, p := range x.Parts {
			parts[i] = identText(p)
		}
		if parts != nil {
			fmt.Fprintf(b, "%s%s\n", pad, strings.Join(parts, "."))
		}
		return
	case TypeName:
		fmt.Fprintf(b, "%s%s %s%s\n", pad, x.Type, x.Text, strings.Repeat("[]", x.List))
		return
	case sqltype.Datum:
		fmt.Fprintf(b, "%s%s null=%v i=%d hi=%d f=%v s=%q\n", pad, x.Type, x.Null, x.I, x.Hi, x.F, x.S)
		return
	case Pos:
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		fmt.Fprintf(b, "%s%s\n", pad, v.Type().Name())
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if name != "Text" {
				dumpValue(b, v.Field(i), name, indent+1)
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		fmt.Fprintf(b, "%s%d\n", pad, v.Len())
		for i := range v.Len() {
			dumpValue(b, v.Index(i), "-", indent+1)
		}
	default:
		if !v.IsZero() {
			fmt.Fprintf(b, "%s%v\n", pad, v.Interface())
		}
	}
}

func identText(id Ident) string {
	if id.Quoted {
		return fmt.Sprintf("%q", id.Name)
	}
	return id.Name
}
