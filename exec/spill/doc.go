// Package spill is where the rows of a query go that memory has no room for:
// temporary files of frames, and memory that is a file.
//
//	Space   one a temporary directory, for all queries
//	  │
//	  └─ Area     what one query has there: a limit, files, mapped memory
//	       ├─ File ◀── Writer ◀── rows, picked out of columns
//	       │    │  frame │ frame │ frame │ ...       frames of several runs
//	       │    └───▶ Run: which frames ──▶ Reader ──▶ columns, a frame at a time
//	       └─ Alloc: a file that is mapped, as memory
//
// A frame is some rows of some columns, as they lie in memory:
//
//	OFFSET SIZE DESCRIPTION
//	     0    4 "gqsf"
//	     4    4 CRC-32C of all that follows
//	     8    8 the frame's place in the file
//	    16    4 rows
//	    20    4 columns
//	    24    8 size of the frame
//	    32    1 a column: 1 when it has a bitmap
//	            each column at a multiple of 64: its values, and at the next
//	            multiple its bitmap; last, at one more, the bytes of long texts,
//	            whose views have offsets in place of addresses
//
// A frame that is read is columns at once: only the views of long texts are
// written over.
//
// Files have a name for as long as it takes to open them: the system gives them
// back when the process ends in whatever way. Where an open file cannot be
// removed, the next process does it (see Space.sweep). A few are kept open and
// empty for the next query, and some megabytes of mappings (see system).
//
// Invariants:
//
//  1. All that is on disk is counted by the Area's Scope before it is written, and
//     refused when that is full.
//  2. Area.Close leaves nothing behind, whatever was not closed before.
//  3. A frame that does not have the bytes that were written is an error, and
//     nothing of it is used.
//  4. Every call of the file system may fail, and the error is an *Error.
//  5. A File is written by one goroutine; what was written may be read by any.
//  6. Columns lie in memory that the host sees.
package spill
