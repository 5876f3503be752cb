package sqltype

import "strings"

// A LIST, STRUCT or MAP value is bytes: its elements or fields one after the other,
// each behind a mark, and an end.
//
//	0                        the end: a list is below those that it is the beginning of
//	1 and the ordered value  an element (see AppendOrdered); a nested one is its own bytes;
//	                         an INTERVAL's parts follow, which its order does not tell
//	2                        NULL, above all elements
//
// So the order of the bytes is the order of the values, and whatever compares,
// hashes, sorts or groups strings does so with lists.
const (
	EndOfElements = 0
	isElement     = 1
	isNullElement = 2
)

// BeginElement adds the mark of an element that is nested; its bytes follow.
func BeginElement(dst []byte) []byte { return append(dst, isElement) }

// AppendElement adds an element to the bytes of a list.
func AppendElement(dst []byte, d Datum) []byte {
	if d.Null || d.Type.Kind == KindNull {
		return append(dst, isNullElement)
	}
	dst = append(dst, isElement)
	switch d.Type.Kind {
	case KindList, KindStruct, KindMap:
		return append(dst, d.S...)
	case KindInterval:
		dst = AppendOrdered(dst, &d)
		return appendSpan(dst, d.Span())
	}
	return AppendOrdered(dst, &d)
}

// NewNested is the value of a LIST or STRUCT type with these parts, which are of
// the types that it says.
func NewNested(t Type, parts []Datum) Datum {
	var b []byte
	for _, p := range parts {
		b = AppendElement(b, p)
	}
	return Datum{Type: t, S: string(append(b, EndOfElements))}
}

// NewMap is the value of a MAP type with these entries, of which no two have the
// same key and none has NULL for one.
func NewMap(t Type, entries []Datum) (Datum, error) {
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		parts := e.Elements()
		if !parts.Next() || parts.IsNull() {
			return Datum{}, Errorf(CodeInvalidParameter, "a map key must not be NULL")
		}
		if seen[parts.Raw()] {
			return Datum{}, Errorf(CodeInvalidParameter, "map keys must be unique: %s comes twice", parts.Datum())
		}
		seen[parts.Raw()] = true
	}
	return NewNested(t, entries), nil
}

// Elements walks over the elements of a LIST or the fields of a STRUCT:
//
//	for e := d.Elements(); e.Next(); { ... e.Datum() ... }
type Elements struct {
	rest, raw string
	kind      Kind
	next      part
	field     Field
}

// Elements are the parts of a LIST or STRUCT; a NULL one has none.
func (d Datum) Elements() Elements {
	if d.Null {
		return Elements{}
	}
	return ElementsOf(d.Type, d.S)
}

// ElementsOf are the parts of a value of type t by its bytes.
func ElementsOf(t Type, bytes string) Elements {
	return Elements{rest: bytes, kind: t.Kind, next: t.Parts.Value()}
}

// Next goes to the next part, and reports false at the end.
func (e *Elements) Next() bool {
	if len(e.rest) == 0 || e.rest[0] == EndOfElements {
		return false
	}
	e.field = e.next.field
	if e.kind == KindStruct && e.next.more {
		e.next = e.next.next.Value()
	}
	n := 1
	if e.rest[0] == isElement {
		n += elementLen(e.field.Type, e.rest[1:])
	}
	e.raw, e.rest = e.rest[:n], e.rest[n:]
	return true
}

// Raw is the part as bytes with its mark: what AppendElement made of it. Parts
// of one type are equal, and in order, as these are.
func (e *Elements) Raw() string { return e.raw }

// IsNull reports a NULL part.
func (e *Elements) IsNull() bool { return e.raw[0] == isNullElement }

// Name is a field's name.
func (e *Elements) Name() string { return e.field.Name }

// Datum is the part as a value. Its text may view the bytes walked over.
func (e *Elements) Datum() Datum { return DecodeElement(e.field.Type, e.raw) }

// DecodeElement is the value that Raw stands for.
func DecodeElement(t Type, raw string) Datum {
	if raw[0] == isNullElement {
		return NullOf(t)
	}
	raw = raw[1:]
	switch {
	case t.Kind.IsNested():
		return Datum{Type: t, S: raw}
	case t.Kind == KindInterval:
		return NewInterval(readSpan(raw[t.Phys().Width():]))
	}
	return ReadOrdered(t, raw)
}

// elementLen is the length of an element that s begins with, its mark left out.
func elementLen(t Type, s string) int {
	switch {
	case t.Kind.IsNested():
		e := ElementsOf(t, s)
		for e.Next() {
		}
		return min(len(s)-len(e.rest)+1, len(s))
	case t.Kind == KindInterval:
		return min(2*t.Phys().Width(), len(s))
	case t.Phys() == PhysStr:
		for i := 0; ; i += 2 {
			at := strings.IndexByte(s[i:], 0)
			if at < 0 || i+at+1 >= len(s) {
				return len(s)
			}
			if i += at; s[i+1] == 0 {
				return i + 2
			}
		}
	}
	return min(t.Phys().Width(), len(s))
}
