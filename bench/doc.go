// Command bench compares gpusql with DuckDB and SQLite: the same data, the
// same queries, one after the other in one run, every answer compared.
//
//	go run . tpch  -sf 1        the 22 queries of TPC-H
//	go run . tpcds -sf 1        the 99 queries of TPC-DS
//	go run . hits -rows 10e6    43 queries of web analytics over one table
//	go run . groupby -rows 10e6 the group-by queries of db-benchmark
//	go run . join -rows 10e6    its joins
//	go run . point -rows 10e6   SELECT 1 and a prepared lookup by primary key
//	go run . scan  -sf 1        a scan of a Parquet file
//	go run . steps -gpu         a query of ten steps over 1,000 rows
//	go run . cold -sf 10        the first query of all, on a large Parquet file
//	go run . cancel -rows 5e6   how soon a cancelled query of gpusql's ends
//	go run . index -rows 10e6   the kinds of index and two other packages' trees
//	go run . keys -rows 10e6    what SQL has indexes for: keys, ranges, top-n, deletes
//	go run . curves FILE.md     pictures of a history's tables whose first column is N
//
//	tests/tpch, tests/tpcds ─▶ data/*.parquet ─▶ gpusql ─┐
//	                                          ─▶ DuckDB ─┼─▶ answers equal? ─▶ times, ratios
//	                                          ─▶ SQLite ─┘
//
// Invariants:
//
//  1. A time counts only when the answer was compared and agreed, or is a bound
//     (-limit) and printed as one.
//  2. Ratios are of medians of one run: machines are shared, so absolute
//     times mean little.
//  3. Figures worth keeping go to history/, with date, hardware and versions.
//
// It is a module of its own because DuckDB needs cgo and gpusql must not.
package main
