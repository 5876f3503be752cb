// Package sqltype is SQL's types and values: what they are, how they are
// compared, converted, read and shown.
//
//	'1999-01-08'  --ParseDatum-->  Datum{DATE, 10599}  --CastDatum-->  Datum{TIMESTAMP, ...}
//	     text    <----String-----                                        |
//	                                                              Compare: -1 0 1
//
//	Type ----Phys()----> how a column of it lies in memory: I32, I64, I128, Str, Span, ...
//	Type, Type ----CommonType----> the type in which they meet
//
// The functions over a single value (ParseDate, AppendDecimal, AddInterval, ...)
// are what the steps over columns call in their loops; a Datum is for the few
// values that a statement names.
//
// Invariants:
//
//  1. The package imports nothing of the module.
//  2. Every error is an *Error with an SQLSTATE; no text makes a function panic.
//  3. A number that does not fit its type is an error, never a wrapped number.
//  4. What String shows of a value, ParseDatum reads back as an equal value.
//  5. Compare is a total order in which NULL is last, NaN above all numbers and
//     -0 equal to 0.
//  6. A value lies in one place only: by Phys, see Datum. The unused fields are 0.
//  7. A DECIMAL's digits are within its precision; every DATE has a TIMESTAMP.
package sqltype
