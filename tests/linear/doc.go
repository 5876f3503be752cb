// Package linear checks histories of concurrent statements and transactions.
//
//	clients ─ SQL ─▶ one database, an index of each kind
//	   │
//	   ├─ statements ─▶ operations with begin and end ─▶ porcupine: is there an order?
//	   └─ transactions of appends and reads ─▶ History.Anomalies: does snapshot isolation allow it?
//
// A history of transactions is checked as Elle does (Kingsbury and Alvaro, VLDB
// 2020): what is read of a list tells the order of the appends to it, the orders
// tell what depends on what, and a cycle of dependencies is an anomaly unless two
// anti-dependencies follow each other in it, which snapshot isolation allows.
//
// Invariants:
//
//  1. A value is appended to a list once in a history, so that who wrote it is
//     known.
//  2. The checker is sound: what it names cannot happen under strong snapshot
//     isolation. Its tests plant each anomaly that it knows.
//  3. Runs are seeded: the statements of a run are the same each time, and their
//     interleaving is not. -histories makes there be more of them.
package linear
