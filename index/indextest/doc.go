// Package indextest is the contract of package index as a test, for every kind
// of index, every format of keys and every device.
//
//	random batches ──▶ Index and a sorted slice ──▶ the same answers, and Check after each
//	      seed              rig                        to every kind of question
//
//	for each format    narrow  words1  words2  words3  long1  long2
//	  sizes            about a node's, built, halved, emptied; memory goes back
//	  random           mixed batches; the edges of keys and rows among them
//	  snapshots        many held at once, over many batches, released in any order
//	  versions         of kinds with history: any version that is not pruned
//	  faults           each device call of each method fails once: nothing is lost
//	  concurrent       readers beside a writer see batches whole or not at all
//	for the host       held: snapshots over millions of updates
//	                   linear: histories of batches and scans, checked by porcupine
//
// Invariants:
//
//  1. A failure names the rule of package index that was broken, or the question.
//  2. Random operations come from a seed that the test's name has.
package indextest
