package gpusql

import (
	"context"
	"fmt"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/parser/mysql"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// Conn is a session: settings, prepared statements, and a transaction when one
// was begun. It is for one goroutine at a time.
type Conn struct {
	db       *DB
	names    *storage.Session
	settings settings
	stream   device.Stream // lent to one query at a time
	lent     bool
	prepared map[string]*prepared // by PREPARE
	plans    planCache
	tx       *storage.Tx // nil: every statement is a transaction
	failed   bool        // the transaction takes nothing but ROLLBACK
	points   []savepoint
	// current are the numbers that the session was given by nextval.
	current      map[catalog.SequenceID]int64
	lastSequence catalog.SequenceID
	variables    map[string]Value   // by SET VARIABLE
	keyDepth     int                // of statements that foreign keys ask for
	rows         map[*Rows]struct{} // results that are being read
	closed       bool
}

// savepoint is a SAVEPOINT of the transaction.
type savepoint struct {
	name string
	at   storage.Savepoint
}

// planCache keeps the statements of texts that were run lately. It is emptied
// when full: who has that many texts has as many misses with any better order.
type planCache struct{ byText map[string]*prepared }

const planCacheSize = 128

func (p *planCache) put(text string, s *prepared) {
	if p.byText == nil || len(p.byText) >= planCacheSize {
		p.byText = map[string]*prepared{}
	}
	p.byText[text] = s
}

// Close ends the session: results that are open end, a transaction is rolled back.
func (c *Conn) Close() error {
	if c.closed {
		return nil
	}
	c.endRows()
	c.rollback()
	c.dropTemporary()
	c.closed = true
	c.db.mu.Lock()
	delete(c.db.open, c)
	c.db.mu.Unlock()
	return c.stream.Close()
}

// dropTemporary drops the session's temporary objects. Their memory is the
// database's, and goes with it if this fails.
func (c *Conn) dropTemporary() {
	tx := c.beginTx()
	if err := tx.DropTemporary(context.Background()); err != nil {
		tx.Rollback()
		return
	}
	tx.Commit() //nolint:errcheck // there is nobody left to miss what could not be dropped
}

// endRows ends the results that are being read.
func (c *Conn) endRows() {
	for r := range c.rows {
		r.Close() //nolint:errcheck // the reader of the rows finds it in Err
	}
}

// InTransaction reports whether BEGIN has been said, and its end not.
func (c *Conn) InTransaction() bool { return c.tx != nil }

// Exec runs the statements of a text, separated by semicolons, and returns what
// the last one did. With arguments there may be only one.
func (c *Conn) Exec(ctx context.Context, sql string, args ...any) (Result, error) {
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		return Result{}, err
	}
	err = rows.drain()
	return Result{RowsAffected: rows.affected}, err
}

// Query runs the statements of a text and returns the rows of the last one. A
// statement without rows gives a Rows without columns.
func (c *Conn) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	if p := c.plans.byText[sql]; p != nil {
		values, err := toValues(p.parsed.Names, args)
		if err != nil {
			return nil, wrapError(err, sql)
		}
		return c.runPrepared(ctx, p, values)
	}
	list, err := c.parse(sql)
	if err != nil {
		return nil, wrapError(err, sql)
	}
	if len(list) == 0 {
		return doneRows("", 0), nil
	}
	if len(args) > 0 && len(list) > 1 {
		return nil, wrapError(sqltype.Errorf(sqltype.CodeSyntax, "only one statement can have arguments"), sql)
	}
	last := len(list) - 1
	values, err := toValues(list[last].Names, args)
	if err != nil {
		return nil, wrapError(err, sql)
	}
	for _, s := range list[:last] {
		rows, err := c.run(ctx, s, sql, nil)
		if err == nil {
			err = rows.drain()
		}
		if err != nil {
			return nil, err
		}
	}
	return c.run(ctx, list[last], sql, values)
}

// Script runs the statements of a text and hands the rows of each to visit,
// those without columns too. It stops at the first error, visit's included.
func (c *Conn) Script(ctx context.Context, sql string, visit func(*Rows) error) error {
	list, err := c.parse(sql)
	if err != nil {
		return wrapError(err, sql)
	}
	for _, s := range list {
		rows, err := c.run(ctx, s, sql, nil)
		if err != nil {
			return err
		}
		err = visit(rows)
		if cerr := rows.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Prepare plans a statement, to be run many times on this connection.
func (c *Conn) Prepare(ctx context.Context, sql string) (*Stmt, error) {
	list, err := c.parse(sql)
	if err != nil {
		return nil, wrapError(err, sql)
	}
	if len(list) != 1 {
		return nil, wrapError(sqltype.Errorf(sqltype.CodeSyntax, "one statement can be prepared, not %d", len(list)), sql)
	}
	p := &prepared{parsed: list[0], text: sql}
	if isPlanned(p.parsed.Statement) {
		if err := c.planNow(ctx, p); err != nil {
			return nil, wrapError(err, sql)
		}
	}
	return &Stmt{conn: c, plan: p}, nil
}

// Begin starts a transaction.
func (c *Conn) Begin(ctx context.Context) (*Tx, error) { return c.BeginTx(ctx, TxOptions{}) }

// TxOptions adapt a transaction; the zero value is what Begin starts.
type TxOptions struct {
	ReadOnly bool // what would change anything but temporary tables' rows is an error
}

// BeginTx starts a transaction with options.
func (c *Conn) BeginTx(_ context.Context, o TxOptions) (*Tx, error) {
	if c.closed {
		return nil, ErrClosed
	}
	if c.tx != nil {
		return nil, wrapError(sqltype.Errorf(sqltype.CodeActiveTx, "there is a transaction already"), "")
	}
	c.begin(o.ReadOnly)
	return &Tx{conn: c}, nil
}

func (c *Conn) begin(readOnly bool) {
	c.tx, c.failed, c.points = c.beginTx(), false, nil
	if readOnly {
		c.tx.ReadOnly()
	}
}

// beginTx starts a transaction of the store for this session.
func (c *Conn) beginTx() *storage.Tx { return c.db.store.BeginIn(c.names) }

// commit ends the transaction; one that failed is rolled back, which is an error.
func (c *Conn) commit() error {
	if c.tx == nil {
		return nil
	}
	if c.failed {
		c.rollback()
		return sqltype.Errorf(sqltype.CodeInFailedTx, "the transaction had failed and was rolled back")
	}
	c.endRows()
	tx := c.tx
	c.tx, c.points = nil, nil
	return tx.Commit()
}

func (c *Conn) rollback() {
	if c.tx == nil {
		return
	}
	c.endRows()
	c.tx.Rollback()
	c.tx, c.failed, c.points = nil, false, nil
}

// parse reads a text in the session's dialect.
func (c *Conn) parse(sql string) (_ []parser.Parsed, err error) {
	if c.closed {
		return nil, ErrClosed
	}
	defer caught(&err)
	switch c.settings.dialect {
	case dialectGPUSQL:
		return parser.Parse(sql)
	case dialectMySQL:
		return mysql.Parse(sql)
	default:
		panic(fmt.Sprintf("gpusql: no parser for dialect %s", c.settings.dialect))
	}
}

// Complete reports that a text ends with a whole statement, or has none: a
// prompt need not ask for more of it.
func Complete(sql string) bool { return parser.Complete(sql) }

// Keywords are the words of the language, upper case, sorted.
func Keywords() []string { return parser.Keywords() }
