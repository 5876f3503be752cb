// Package gpusql is an embedded SQL analytics engine in pure Go.
//
//	     DB ── Conn ── Exec, Query ──▶ parser ─▶ planner ─▶ exec ─▶ kernels ─▶ device
//	      │      ├── Prepare ─▶ Stmt   (plan kept until the catalogue changes)
//	      │      ├── Begin ───▶ Tx
//	      │      └── Appender          (rows and Arrow records in bulk)
//	      └─ Query ─▶ Rows ─▶ Scan, Value, or Records (Arrow, without copying)
//
//	db, err := gpusql.Open(":memory:")
//	rows, err := db.Query(ctx, "SELECT 1 + $1", 2)
//
// Through database/sql the same database is
//
//	db := sql.OpenDB(gpusql.NewConnector(":memory:"))
//
// or, with a blank import of github.com/gpusql/gpusql/driver,
//
//	db, err := sql.Open("gpusql", ":memory:")
//
// Invariants:
//
//  1. A statement that fails leaves the database as it was. Outside a
//     transaction it is all that is undone; inside one, nothing more is accepted
//     until ROLLBACK.
//  2. Every error that a statement causes is an *Error with an SQLSTATE, and no
//     panic crosses this package.
//  3. A statement reads one snapshot, from its start to the Close of its Rows.
//  4. A DB is safe for concurrent use; a Conn, and what was made from it, is for
//     one goroutine at a time.
//  5. Only this package knows which devices, index kinds and file formats exist.
package gpusql
