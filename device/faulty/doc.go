// Package faulty is a device that fails on request, for tests that let every
// device call fail once.
//
//	Sweep:  run 1: call 1 fails   run 2: call 2 fails   ...   run n: none fails
//	           │                     │                           │
//	           └── an error, nothing lost or left behind ──┘     └── done
//
// Invariants:
//
//  1. The calls that count are Alloc, NewStream, Upload, Download, Submit,
//     Wait, Mark and Record, over all streams. Release and Close never fail.
//  2. A call that fails does nothing else.
package faulty
