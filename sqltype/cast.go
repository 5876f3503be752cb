package sqltype

// ParseDatum reads SQL text as a value of type t.
func ParseDatum(text string, t Type) (Datum, error) {
	return CastDatum(NewString(text), t)
}

// String is the value as SQL text: what a cast to VARCHAR gives; NULL for NULL.
func (d Datum) String() string {
	if d.Null {
		return "NULL"
	}
	return d.S
}

// CastDatum converts a value to another type, as CAST does.
func CastDatum(d Datum, t Type) (Datum, error) {
	return d, nil
}
