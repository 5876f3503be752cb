package sqltype

// Span is an INTERVAL: three counts that do not convert into one another,
// since a month has no fixed days and a day no fixed hours. Its memory layout
// is that of PhysSpan.
type Span struct {
	Months, Days int32
	Micros       int64
}

// Compare orders spans by their length with a month of 30 days and a day of 24
// hours, as PostgreSQL does.
func (s Span) Compare(o Span) int { return s.length().Cmp(o.length()) }

// length is the microseconds of s by that rule; it needs more than 64 bits.
func (s Span) length() Int128 {
	days := int64(s.Months)*30 + int64(s.Days)
	return MulInt64(days, MicrosPerDay).AddInt64(s.Micros)
}
