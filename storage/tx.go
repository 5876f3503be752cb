package storage

import (
	"context"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
	"github.com/gpusql/gpusql/txn"
)

// Tx is a transaction: snapshot isolation, and the first to write wins. It is
// for one goroutine at a time.
type Tx struct {
	store   *Store
	tx      *txn.Tx
	session *Session
	version *version // the catalogue that the transaction sees
	defines bool     // it holds the right to define things
	reads   bool     // it changes nothing but what is temporary
	open    *Statement
}

// ReadOnly has the transaction change nothing from now on but rows of temporary
// tables and numbers of temporary sequences.
func (x *Tx) ReadOnly() { x.reads = true }

// writes fails when the transaction is not to do something that changes things.
func (x *Tx) writes(what string, temp bool) error {
	if x.reads && !temp {
		return sqltype.Errorf(sqltype.CodeReadOnlyTx, "cannot %s in a read-only transaction", what)
	}
	return nil
}

// MayChange fails when the transaction is not to change rows of a table.
func (x *Tx) MayChange(t *catalog.Table) error {
	return x.writes("change table \""+t.Name+"\"", t.Temp)
}

// Reader is the catalogue as the transaction sees it.
func (x *Tx) Reader() catalog.Reader { return sight{x.version, x.session} }

// Commit ends the transaction; an open statement is ended first.
func (x *Tx) Commit() error {
	if x.open != nil {
		if err := x.open.End(context.Background()); err != nil {
			x.Rollback()
			return err
		}
	}
	_, err := x.tx.Commit()
	x.release()
	return err
}

// Rollback ends the transaction and takes back what it did. It does nothing
// when the transaction has ended.
func (x *Tx) Rollback() {
	x.open = nil
	x.tx.Rollback()
	x.release()
}

func (x *Tx) release() {
	if x.defines {
		x.defines = false
		x.store.defines <- struct{}{}
	}
}

// Savepoint is a place in a transaction to go back to.
type Savepoint struct {
	mark    int
	version *version
	defines bool
}

// Savepoint marks the present place. No statement may be open.
func (x *Tx) Savepoint() Savepoint { return Savepoint{x.tx.Mark(), x.version, x.defines} }

// RollbackTo takes back what was done since the savepoint.
func (x *Tx) RollbackTo(p Savepoint) {
	x.tx.UndoTo(p.mark)
	x.version = p.version
	if !p.defines {
		x.release() // or a later definition would start from a version that is not the last
	}
}

// Statement starts the transaction's next statement. Every statement, a
// reading one too, comes to its End or Undo before the next one changes things.
func (x *Tx) Statement() *Statement {
	n := x.tx.Statement()
	s := &Statement{tx: x, start: x.Savepoint(),
		snap: arrow.Snap{Version: x.tx.Version(), Own: stampOf(x.tx.ID(), n)}}
	x.open = s
	return s
}

// stampOf is the stamp of a transaction's statement.
func stampOf(tx, statement uint64) uint64 {
	return arrow.Uncommitted | tx<<arrow.StatementBits | statement&(1<<arrow.StatementBits-1)
}

// sameTx reports whether two stamps are of one transaction.
func sameTx(a, b uint64) bool { return a>>arrow.StatementBits == b>>arrow.StatementBits }

func errConflict(t *catalog.Table) error {
	return &sqltype.Error{Code: sqltype.CodeSerialization,
		Msg:  "could not serialize access to table \"" + t.Name + "\" due to concurrent update",
		Hint: "run the transaction again"}
}
