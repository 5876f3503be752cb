// Package tpch makes TPC-H's data as the official generator does, value for
// value, or as DuckDB's edition of it does, as Arrow records, and says what its
// tables look like.
//
//	streams (rand.go) ─┐
//	word lists (words.go) ─▶ text pool (text.go) ─▶ rows (tables.go) ─▶ records (gen.go)
//
// Invariants:
//
//  1. Every column draws from a random stream of its own, and every row takes
//     the same number of draws from each stream, used or not: so a row does
//     not depend on how the ones before it came out.
//  2. A scale below 1 shrinks the tables and nothing else, as the official
//     generator does.
//  3. Nothing here is part of the engine.
package tpch
