// Command differential asks gpusql and another engine the same random queries,
// and prints each disagreement as a small script.
//
//	go run . -peer duckdb -cases 100000 -seed 1
//	go run . -peer sqlite
//	go run . -peer self          gpusql against itself, and the metamorphic oracles
//	go run . -peer self:6,duckdb:2,sqlite:1 -small -cases 0 -for 8m -workers 16 -out found
//
//	tests/metamorphic.Soak ─┬─▶ gpusql
//	                        └─▶ duckdb (needs cgo) | sqlite | gpusql in other settings
//
// It is a module of its own, so that the peers are nobody's dependency.
//
// Invariants:
//
//  1. The last lines say how many queries were asked and how many disagreed, and
//     the exit code is 1 if any did.
//  2. What engines mean differently is not generated (Features) or is rewritten
//     (dialect), and is listed in peers.go with its reason.
package main
