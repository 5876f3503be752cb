// Package mysql is the door for MySQL's dialect: it reads queries and data
// changes with github.com/xwb1989/sqlparser and turns that tree into ours.
//
//	text ─ split at ; ─┬─ SELECT INSERT UPDATE DELETE REPLACE ─ sqlparser ─ converter ─┐
//	                   └─ all other statements ─ parser.Parse ─────────────────────────┴─▶ []parser.Parsed
//
// What sqlparser reads otherwise than our grammar, and MySQL means so, is kept:
// || is OR, "x" is a string, a DIV b is //, a / b is a division of doubles, x^y
// is exclusive or, division by zero is NULL, a truth value used as a value is 0
// or 1, NULL sorts first ascending and last descending.
//
// Invariants:
//
//  1. Nothing that was written is dropped in silence, but for hints, comments and
//     the lengths of a key's prefix (our keys hold whole values): what our tree
//     cannot say is refused with an error.
//  2. sqlparser reads no definitions: it drops the columns of CREATE INDEX and
//     the bodies of CREATE VIEW and EXPLAIN. They are ours, and the query inside
//     them comes back here.
//  3. A panic of sqlparser is a syntax error of the statement.
//  4. sqlparser's one set operator is UNION: EXCEPT and INTERSECT go through it
//     as marked UNIONs, and the converter gives INTERSECT its tighter binding.
//  5. Positions are known only for syntax errors: sqlparser's tree has none.
package mysql
