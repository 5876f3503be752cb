// Package metamorphic makes random databases and queries, and asks of gpusql
// questions whose answers must agree whatever they are.
//
//	seed ─▶ NewDatabase ─▶ CREATE, INSERT, CREATE INDEX
//	          │
//	          └─▶ Generator.Query ─▶ tree ─▶ SQL ─▶ oracles: Partition (TLP), Count (NoREC),
//	                                  │              Fold (a subquery by its value), Same (two sessions)
//	                                  └─ Reduce: the smallest tree and data that still fail, as a script
//
// tests/differential asks the same queries of other engines too.
//
// Invariants:
//
//  1. All comes from the seed: the same seed makes the same database and queries.
//  2. A query has one right answer as a multiset of rows: LIMIT comes only with an
//     order over all columns, sums are exact, averages are not compared in conditions.
//  3. No expression divides by zero or leaves 64 bits, so that an error is a finding.
//  4. Reduce keeps what failed: a query that disagreed still disagrees, one that
//     was refused is still refused.
package metamorphic
