// Package exectest runs plans that a test makes by hand over tables in a store,
// and says what they should give.
//
//	               ┌── DB.Run ──> exec.Open over storage, by batch size, workers, ...
//	planner.Node ──┤                                    ║ the same rows
//	               └── Model.Rows ──> loops over datums ╝
//
// Invariants:
//
//  1. A run that ends, with an error or without, holds no memory: Run fails the
//     test otherwise. After a panic it is the scope that gives it back.
//  2. A statement that fails is undone.
//  3. The model shares no code with the operators or the steps: it knows
//     sqltype's datums and planner's nodes.
package exectest
