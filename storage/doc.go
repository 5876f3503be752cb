// Package storage is a database's state: its catalogue, the tables' rows, their
// indexes, and the transactions that change them.
//
//	Store ─┬─ version ──▶ schemas, tables, views, sequences, types, functions: immutable, replaced by a commit
//	       ├─ table ─┬─ arrow.Table   rows, with births and deaths
//	       │         └─ index.Index   keys of all rows that a reader may still see
//	       └─ txn.Manager
//
//	Tx ──▶ Statement ──▶ Seek, Probe, Insert, Update, Delete; then End, or Undo
//
// Invariants:
//
//  1. A transaction sees one version of the catalogue: that of its begin, with
//     its own definitions over it. One transaction at a time may define things.
//  2. A statement does all or nothing: Undo, and a failed End, take back what it
//     did and nothing else.
//  3. A row's entries are in every index of its table from its birth until no
//     reader can see it; readers ask the table which rows they see.
//  4. Among rows that are alive, a unique index has no two of the same key
//     without NULLs. Deletions of a statement come before its insertions.
//  5. What two transactions both want to change goes to the first; the second
//     fails with SQLSTATE 40001.
//  6. The memory of what was dropped is given back when its last reader ends.
//  7. A name is looked up for a Session: its temporary objects, which no other
//     one sees, then the schemas of its path.
//  8. The numbers of a sequence stay taken, whatever becomes of who took them.
//  9. At the end of a statement every foreign key of a row that it added names a
//     row that is alive, and no row that is alive needs a key that it removed.
//     Rows that a key asks to be changed are the caller's to change, before that.
//  10. A row keeps its id while a transaction runs. Between two, rows of segments of
//     which seven in eight are dead move to the table's end, and the segments go.
//
// A database lives in memory so far. The log and the segments on disk will
// stand beside the Store: a commit's changes are a list (txn.Change), and
// segments that are full never change, so the one will be written ahead and the
// other once.
package storage
