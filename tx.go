package gpusql

import (
	"context"

	"github.com/gpusql/gpusql/sqltype"
)

// Tx is a transaction of a connection. It reads one snapshot, sees its own
// changes, and fails at the first change of a row that another has changed
// since. After an error nothing but Rollback is accepted.
type Tx struct {
	conn  *Conn
	owned bool // the connection is this transaction's own
	done  bool
}

// Exec is Conn.Exec within the transaction.
func (t *Tx) Exec(ctx context.Context, sql string, args ...any) (Result, error) {
	if t.done {
		return Result{}, t.ended()
	}
	return t.conn.Exec(ctx, sql, args...)
}

// Query is Conn.Query within the transaction. Rows end with the transaction.
func (t *Tx) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	if t.done {
		return nil, t.ended()
	}
	return t.conn.Query(ctx, sql, args...)
}

// Commit makes the transaction's changes last.
func (t *Tx) Commit() error {
	if t.done {
		return t.ended()
	}
	return t.end(t.conn.commit())
}

// Rollback takes the transaction's changes back. It does nothing after Commit,
// so that it can be deferred.
func (t *Tx) Rollback() error {
	if t.done {
		return nil
	}
	t.conn.rollback()
	return t.end(nil)
}

func (t *Tx) end(err error) error {
	t.done = true
	if t.owned {
		t.conn.Close() //nolint:errcheck // the transaction's error is the one to know
	}
	return wrapError(err, "")
}

func (t *Tx) ended() error {
	return wrapError(sqltype.Errorf(sqltype.CodeNoActiveTx, "the transaction has ended"), "")
}
