// Package arrow holds data in columns: batches on their way through a query,
// and the segments of tables at rest.
//
//	Table ─┬─ Segment 0 ─┬─ Column 0   values │ validity │ dictionary │ long strings
//	       ├─ Segment 1  ├─ Column 1   ...
//	       └─ Segment 2  ├─ births     one stamp, or one a row
//	        (open: rows  ├─ deaths     blocks of 2048 rows, made when a row dies
//	         are added)  └─ Stats      least, greatest, NULLs, different values
//
//	row id = segment << 32 | offset
//
//	File ─┬─ Parquet   row groups: pages ── codec ── levels, codes, values ┐
//	      ├─ CSV, JSON parts: records ── spans of text ── values           ├── batches
//	      └─ Arrow     record batches ── Importer                          ┘
//
// Invariants:
//
//  1. Rows are appended; a committed row's values never change and never move to
//     another id. UPDATE is a delete and an insert.
//  2. Segment.Rows counts complete rows: whoever reads it first, and then the
//     columns, sees every value of them.
//  3. Memory that a reader may hold is not released: what is replaced goes to
//     Table.Retired, and its owner waits for the readers of then to go.
//  4. A row has one birth and at most one death; both are stamps (see
//     Uncommitted). Rows that are not seen may hold anything.
//  5. The first transaction to stamp a row's death wins; the second gets
//     ErrConflict.
//  6. A table lies in host memory. Batches given to it do too.
//  7. A value under a NULL is readable; a string there is empty.
//  8. A batch owns nothing.
//  9. What is in a file is not trusted: every length is checked before it is used,
//     and what is wrong is an error that names the file and the place.
package arrow
