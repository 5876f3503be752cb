// Package mvcc is the room for the MVCC index. It has no code yet: CREATE INDEX
// ... USING mvcc makes an index of package btree, and SHOW INDEXES and EXPLAIN
// name it as that, "btree (for mvcc)".
//
//	CREATE INDEX i ON t USING mvcc (a) ──▶ index.Index ──▶ btree, for now
//
// Invariants:
//
//  1. An index never claims to be of a kind that it is not.
package mvcc
