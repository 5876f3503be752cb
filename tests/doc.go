// Package tests runs SQL scripts in sqllogictest form against gpusql.
//
//	script text ─ ParseFile ─▶ []Record ─ Run ─▶ Session (one fresh database a file)
//	                                       │
//	                                       ├─ render (value.go)  ─ compare (compare.go)
//	                                       └─▶ Report: passed, failed, skipped, Failure a record
//
// The script language. A script is records separated by blank lines; a line
// that begins with # is a comment.
//
//	statement ok | error [regexp] | count N
//	<SQL>                               until a blank line; after ---- an error's expected text
//
//	query TYPES [nosort|rowsort|valuesort] [LABEL]
//	<SQL>
//	----
//	<values>                            one value a line, or one row a line, or
//	                                    "N values hashing to MD5"
//
//	query error [regexp]                the same as statement error
//	onlyif NAME | skipif NAME           before a record: NAME is gpusql, or mysql in that dialect
//	hash-threshold N                    results of more than N values are given by their hash
//	halt                                the rest of the file is not run
//	include PATH                        records of another file, relative to this one
//
// TYPES has a letter a column, or one letter whatever the columns: T text, I integer (reals are truncated), R real
// (three decimals in a hash). NULL is NULL, the empty string (empty), and
// control characters are @. With no ---- only success is asked for.
//
// Invariants:
//
//  1. Each file runs on a database of its own; a file whose name begins with _
//     runs only where it is included.
//  2. Values that read as numbers are equal when they are within 1e-6 of each
//     other, relatively; all other values are compared as text.
//  3. A record that could not be run counts as failed, never as skipped; a
//     record is skipped only by a condition or a halt.
//  4. A label stands for one result: every record with it must give the same.
package tests
