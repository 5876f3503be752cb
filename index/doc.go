// Package index is the contract of ordered indexes, and the encoding of keys.
//
//	rows' values ── Codec ──▶ keys: memcmp order is SQL order ──▶ Index (btree, ...)
//	                                                                │ Snapshot
//	         row ids, in (key, row) order  ◀── Lookup, Scan ────────┘
//
// Invariants:
//
//  1. Entries order by key and then by row id; a (key, row) pair is there once.
//     Equal keys are legal: uniqueness is for who applies.
//  2. Apply does all of its batch or none of it. Within a batch all deletions
//     come before all insertions. Deleting what is not there, and inserting what
//     is, change nothing.
//  3. One goroutine applies at a time; snapshots are taken and read by many
//     meanwhile, and never wait for it.
//  4. A snapshot does not change. It answers for what was applied when it was
//     taken, dead rows included: the caller asks the table which rows are seen.
//  5. All keys of an index come from one Codec: all words, or all bytes.
package index
