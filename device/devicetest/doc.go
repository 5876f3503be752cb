// Package devicetest runs a test on every device there is.
//
//	TestX ──▶ Each ──▶ TestX/cpu    a fresh device, closed at the end: nothing may be left in use
//	               ├─▶ TestX/simt   CUDA code on the processor; skipped without a C++ compiler
//	               └─▶ TestX/cuda   skipped without a GPU
//
// Invariants:
//
//  1. A device is the test's own, and closing it must find nothing in use.
//  2. A missing GPU skips, and says so; with GPUSQL_REQUIRE_CUDA set it fails.
package devicetest
