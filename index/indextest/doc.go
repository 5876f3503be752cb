// Package indextest is the contract of package index as a test.
//
//	random batches ──▶ Index and a sorted slice ──▶ the same answers, and Check after each
//
// Invariants:
//
//  1. A test names the rule of package index that it is about.
//  2. Random operations come from a seed that the test's name has.
package indextest
