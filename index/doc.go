// Package index is the contract of ordered indexes, and the encoding of keys.
//
//	rows' values ─ Codec ─▶ bytes: memcmp order is SQL order
//	                          │ Batch              (host to device)
//	                          ▼
//	                 keys in a Format, row ids, ops, in a device's memory
//	                          │ Apply(version)     all or nothing, one at a time
//	                          ▼
//	                        Index ── Snapshot(version) ─▶ Lookup, Scan, Count ─▶ Answer
//	                      btree lsm mvcc                  beside writers          │
//	                                              row ids (and keys), a slice a question
//
// Invariants:
//
//  1. Entries order by key and then by row id, an unsigned number; a (key, row)
//     pair is there once. Equal keys are legal: uniqueness is for who applies.
//     No key and no row id is reserved.
//  2. Apply does all of its batch or, with an error, none of it: out of memory
//     is such an error. A batch means what its entries would one after the
//     other, so the last one of a (key, row) pair wins.
//  3. One goroutine applies at a time; snapshots are taken and read by many
//     meanwhile. A held snapshot never waits.
//  4. A snapshot does not change until its Release, whatever is applied or
//     pruned: scans are linearizable, at the moment the snapshot was taken or,
//     of a kind with history, at its version. It answers dead rows too: where a
//     kind has no history the caller asks the table which rows are seen.
//  5. All keys of an index have one Format. Data that a caller passes is the
//     caller's, an Answer too; tails of keys in an Answer are the snapshot's.
//  6. All memory of an index is the allocator's that it was made with, and none
//     is in use after Close. Deleting gives memory back.
//  7. An error leaves index, snapshot and answer usable.
//
// Who asks for what: a point query and a join probe Lookup, IN lists as one
// batch; ranges, ORDER BY ... LIMIT, min, max, the next and the one before are
// Scan with a Limit (type Ranges has the table); a query that wants some rows at
// a time asks with a Limit and goes on behind the last key and row it got.
package index
