// Package lsm is the room for the LSM index. It has no code yet: CREATE INDEX
// ... USING lsm makes an index of package btree, and SHOW INDEXES and EXPLAIN
// name it as that, "btree (for lsm)".
//
//	CREATE INDEX i ON t USING lsm (a) ──▶ index.Index ──▶ btree, for now
//
// Invariants:
//
//  1. An index never claims to be of a kind that it is not.
package lsm
