// Package kernels is the steps that operators launch: loops over columns in a
// device's memory, written once for each device and knowing nothing of SQL
// statements.
//
//	exec operator ──▶ step (a func here) ──▶ device.Launch ──▶ Host body, rows lo..hi
//	     │
//	     └─ expressions ──▶ Builder ──▶ Program (data) ──▶ Evaluator, one a worker
//
// A column is a Vec: addresses and no ownership. An expression is a Program:
//
//	Inputs   Consts    Code, in order                          Out
//	col0 ─┐
//	col1 ─┼─ 1.00 ──▶  r3 = sub.i64 1.00, col1                  r5
//	      │            m4 = mask_true col2            rows
//	      └─────────▶  r5 = div.i64 col0, r3 where m4 ◀─┘
//
// The Evaluator takes a batch in chunks of chunkRows rows, each through all of
// the code, so that temporaries stay in the first cache. Before that, the part
// of the code that depends on one dictionary encoded column only is run on the
// dictionary's values, once for the batches in a row that have it.
//
// Invariants:
//
//  1. A step reads and writes memory that its caller owns; it keeps no address
//     after it returns. Only an Evaluator and the containers (Array,
//     StringHeap, Heap) own memory, all of it from the Allocator given.
//  2. A value under a NULL may be anything that is safe to read: a step
//     computes with it and never fails because of it.
//  3. Bits of a bitmap beyond the last row, and codes under a NULL, may be
//     anything.
//  4. A dictionary's address names its content within a batch only: who
//     remembers something about a dictionary looks at its content again.
//  5. A Program, its Sets and its functions never change and are shared by
//     workers; all that changes is in an Evaluator, which is one worker's.
//  6. An instruction is an error only for rows of its mask, and by rule 2 only
//     where no argument is NULL (unless a function asks to see NULLs). Values
//     outside the mask are unspecified; strings there are not followed.
//  7. A register is written by one instruction, before any that reads it.
//  8. The results of a Program have the form of their type, whatever form they
//     were computed in; a Speculative instruction never gives a wrong value, it
//     gives the batch to Program.Wide.
//  9. A launch works on a few batches at most. A step that is given rows without
//     bound is a loop of launches (see pieces), so that a stream that is watched
//     can end it.
//  10. NaN equals NaN and is above all numbers, -0 equals 0, strings compare by
//     bytes, intervals by their length with months of 30 days.
package kernels
