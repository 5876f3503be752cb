package sqltype

import (
	"strings"
	"unique"
)

// Field is a field of a STRUCT; without a name when it was made by ROW.
type Field struct {
	Name string
	Type Type
}

// Parts are the types within a LIST (one, its element) or a STRUCT. The same
// parts are the same value, so that Type stays comparable; the zero Parts are none.
type Parts = unique.Handle[part]

// part is a field, and with more the fields after it.
type part struct {
	field Field
	more  bool
	next  Parts
}

// ListOf is the type of lists of a type. Lengths of text are not kept.
func ListOf(elem Type) Type { return nested(KindList, []Field{{Type: elem}}) }

// MapOf is the type of maps of keys to values. A map is kept as the list of its
// entries, structs of key and value, and differs from that list in its text and
// in what functions do with it.
func MapOf(key, value Type) Type {
	return nested(KindMap, []Field{{Type: StructOf([]Field{{Name: "key", Type: key}, {Name: "value", Type: value}})}})
}

// StructOf is the type of structs of these fields, one at least.
func StructOf(fields []Field) Type { return nested(KindStruct, fields) }

func nested(k Kind, fields []Field) Type {
	var p Parts
	for i := len(fields) - 1; i >= 0; i-- {
		f := fields[i]
		f.Type.Length = 0
		p = unique.Make(part{field: f, more: i < len(fields)-1, next: p})
	}
	return Type{Kind: k, Parts: p}
}

// Elem is the type of a LIST's elements, and of a MAP's entries.
func (t Type) Elem() Type { return t.Parts.Value().field.Type }

// Fields are the fields of a STRUCT.
func (t Type) Fields() []Field {
	var out []Field
	for p := t.Parts.Value(); ; p = p.next.Value() {
		out = append(out, p.field)
		if !p.more {
			return out
		}
	}
}

// Field is the place and the type of a STRUCT's field, ASCII case folded.
func (t Type) Field(name string) (int, Type, bool) {
	for i, f := range t.Fields() {
		if strings.EqualFold(f.Name, name) {
			return i, f.Type, true
		}
	}
	return 0, Null, false
}

// nestedName is how a nested type is written.
func (t Type) nestedName() string {
	switch t.Kind {
	case KindList:
		return t.Elem().String() + "[]"
	case KindMap:
		entry := t.Elem().Fields()
		return "MAP(" + entry[0].Type.String() + ", " + entry[1].Type.String() + ")"
	}
	var b strings.Builder
	b.WriteString("STRUCT(")
	for i, f := range t.Fields() {
		if i > 0 {
			b.WriteString(", ")
		}
		if f.Name != "" {
			b.WriteString(fieldName(f.Name) + " ")
		}
		b.WriteString(f.Type.String())
	}
	b.WriteByte(')')
	return b.String()
}

// fieldName is a name as it is written in a type: in quotes unless it is plain.
func fieldName(name string) string {
	for i := range len(name) {
		if c := name[i]; c != '_' && !('a' <= c && c <= 'z') && !(i > 0 && '0' <= c && c <= '9') {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}

// mapParts is a nested type whose parts are f of two types' parts; false when
// they have not the same number of parts or f says so. Names are those of a.
func mapParts(a, b Type, f func(a, b Type) (Type, bool)) (Type, bool) {
	x, y := a.Fields(), b.Fields()
	if a.Kind != b.Kind || len(x) != len(y) {
		return Null, false
	}
	for i := range x {
		t, ok := f(x[i].Type, y[i].Type)
		if !ok {
			return Null, false
		}
		if x[i].Type = t; x[i].Name == "" {
			x[i].Name = y[i].Name
		}
	}
	return nested(a.Kind, x), true
}

// castPlaces says which part of a value of type from each part of type to is
// made of: fields go by name if all are known by name, and else by place.
func castPlaces(from, to Type) ([]int, bool) {
	x, y := from.Fields(), to.Fields()
	if from.Kind != to.Kind || len(x) != len(y) {
		return nil, false
	}
	named := make([]int, len(y))
	places := make([]int, len(y))
	byName := true
	for i, f := range y {
		at, _, ok := from.Field(f.Name)
		byName = byName && ok && f.Name != ""
		named[i], places[i] = at, i
	}
	if byName {
		places = named
	}
	for i, at := range places {
		if !CanCast(x[at].Type, y[i].Type) {
			return nil, false
		}
	}
	return places, true
}

// castNested converts part by part.
func castNested(d Datum, t Type) (Datum, error) {
	if t.Kind != KindStruct {
		elem := t.Elem()
		var out []byte
		for e := d.Elements(); e.Next(); {
			v, err := CastDatum(e.Datum(), elem)
			if err != nil {
				return Datum{}, err
			}
			out = AppendElement(out, v)
		}
		return Datum{Type: t, S: string(append(out, EndOfElements))}, nil
	}
	places, ok := castPlaces(d.Type, t)
	if !ok {
		return Datum{}, Errorf(CodeCannotCast, "cannot cast type %s to %s", d.Type, t)
	}
	fields := t.Fields()
	parts := make([]Datum, len(fields))
	for i, e := 0, d.Elements(); i < len(fields); i++ {
		if parts[i] = NullOf(Null); e.Next() {
			parts[i] = e.Datum()
		}
	}
	out := make([]Datum, len(fields))
	for i, at := range places {
		v, err := CastDatum(parts[at], fields[i].Type)
		if err != nil {
			return Datum{}, err
		}
		out[i] = v
	}
	return NewNested(t, out), nil
}
