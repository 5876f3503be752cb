// Package metamorphic makes random databases and queries, and asks of gpusql
// questions whose answers must agree whatever they are.
//
//	seed ─▶ NewDatabase ─▶ CREATE TABLE, INSERT, CREATE INDEX, CREATE VIEW
//	          │
//	          └─▶ Generator ─▶ tree ─▶ SQL ─▶ oracles: Same (two engines), Partition (TLP), Count (NoREC),
//	                            │             Named (WITH), Fold (CODDTest: a subquery by its value),
//	                            │             Changes (statements, transactions, what tables hold at the end)
//	                            └─ Reduce: the smallest tree and data that still fail, as a script
//
// tests/differential asks the same queries of other engines too.
//
// Invariants:
//
//  1. All comes from the seed: the same seed makes the same database and queries.
//  2. A query has one right answer as a multiset of rows: LIMIT comes only with an
//     order over all columns, sums are exact, averages are not compared in conditions,
//     and of a SELECT's windows one at most tells equal rows apart.
//  3. No expression divides by zero or leaves 64 bits, so that an error is a finding.
//  4. Reduce keeps what failed: a query that disagreed still disagrees, one that
//     was refused is still refused.
//  5. A query that one side cancels, for it took too long, is a finding only when
//     the other needed less than a tenth of that.
package metamorphic
