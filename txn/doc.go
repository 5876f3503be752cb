// Package txn is the order of transactions: one clock of versions, who reads
// at which of them, and what a transaction must stamp or take back at its end.
//
//	Begin ─▶ Tx{Version: clock} ─ Log(change) ... ─┬─ Commit:   Change.Commit(clock+1) for all, then clock+1
//	              │                                └─ Rollback: Change.Undo, last first
//	              └─ keeps the horizon at its Version until it ends
//
//	RetireAt(version, f): f runs when no transaction reads below version ┐
//	Retire(f): f runs when the transactions of now have ended            ┴─▶ the sweeper
//	Alone(f):  f runs with a transaction while there is no other         ──▶ a goroutine of its own
//
// Invariants:
//
//  1. A version is given out as a snapshot only when every change of it is stamped.
//  2. Commits are one after the other; the clock goes up by one with each that
//     changed something.
//  3. Changes are undone in the opposite order of their making, back to a mark
//     (a statement failed) or all of them.
//  4. The horizon is the least version that any transaction reads at; what was
//     retired at a version at or below it is out of every reader's sight.
//  5. What is retired runs in the order in which it fell due, on a goroutine of
//     the manager's own: whoever ends a transaction does not wait for it, a
//     cancelled query least of all. Settle waits.
//  6. A transaction belongs to one goroutine at a time.
//  7. Work that is alone waits for all others to end and never ends one; those
//     that want to begin wait for it, and then it for eight times as long.
package txn
