// Package faulty is a file system for temporary files that fails on request, for
// tests that let every call fail once.
//
//	spill.Space ──▶ FS ──▶ files in memory
//	                │
//	                └── call i: an error, half a write, bytes that changed
//
// Invariants:
//
//  1. The calls that count are Create, WriteAt, ReadAt and Map, over all files.
//  2. A write that fails has written a part of its bytes; others do nothing.
package faulty
