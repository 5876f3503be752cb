// Command reference writes docs/functions.md: every function of the catalogue with
// its description, and what its example gives when it is run.
//
//	catalog.Reference() ─┐
//	                     ├─▶ docs/functions.md
//	gpusql, each example ┘
//
// Invariants:
//
//  1. What is written depends on the source alone: of a function that varies the
//     example runs, and its result is not written.
//  2. A function without a description, or whose example fails, is an error.
package main

//go:generate go run . -o ../../docs/functions.md
