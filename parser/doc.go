// Package parser reads SQL text into trees and writes trees as SQL text.
//
//	text ─ lexer ─▶ []token ─ parser ─▶ Statement ─ Format ─▶ text
//	                 token.go   statement.go   (ast.go: the closed set)
//	                 keyword.go query.go from.go change.go create.go alter.go copy.go
//	                 literal.go expr.go operand.go call.go typename.go
//
// The dialect is PostgreSQL's, with what DuckDB and SQLite add and does not
// contradict it. Statements are read by recursive descent, expressions by
// operator precedence. Special syntax ends here: the planner sees plain calls.
//
// Invariants:
//
//  1. Parse(Format(s)) is s again, but for positions and the text of constants,
//     checks and views. FuzzParse and the shared scripts hold it.
//  2. No text makes the parser panic, recurse without bound or work more than
//     about linear time: nesting ends at 1,000 levels, flat chains of operators
//     at 200,000 terms, each with error 54001. Chains are read and written in
//     loops.
//  3. Every error is a *sqltype.Error with a position; a syntax error names the
//     token and, where one thing could have been meant, what was expected.
//  4. Nothing that was written is dropped in silence, except what changes no
//     answer: hints, comments, and words like RESTRICT that say the default.
//  5. Names are folded to lower case unless quoted; that is the only folding.
//  6. The lexer cannot fail: an unreadable token is an error when the grammar
//     reaches it.
package parser
