package gpusql

import (
	"context"
	"errors"
	"sync"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// DB is a database. It is safe for concurrent use.
type DB struct {
	device   device.Device // the CPU, where tables lie
	devices  *devices
	memory   *device.Scope // all that the database holds
	store    *storage.Store
	settings settings // every connection's first ones
	resolve  func(string) string
	temp     temporary

	mu     sync.Mutex
	idle   []*Conn // connections of Exec and Query, to be used again
	open   map[*Conn]struct{}
	closed bool
}

// Result is what a statement without rows did.
type Result struct {
	RowsAffected int64
}

// Open makes a database in memory: dsn is "" or ":memory:". Settings may
// follow a question mark, as in ":memory:?memory_limit=2GB&threads=4".
func Open(dsn string, opts ...Option) (*DB, error) {
	path, o, err := parseDSN(dsn, opts)
	if err != nil {
		return nil, wrapError(err, "")
	}
	if path != "" {
		return nil, wrapError(sqltype.Errorf(sqltype.CodeNotSupported,
			"cannot open %q: a database lives in memory; use \":memory:\"", path), "")
	}
	first := defaultSettings()
	for _, s := range o.settings {
		if err := first.change(s[0], s[1]); err != nil {
			return nil, wrapError(err, "")
		}
	}
	db := &DB{settings: first, resolve: o.resolve, open: map[*Conn]struct{}{}}
	db.device = device.NewCPU(device.CPUOptions{})
	db.devices = &devices{cpu: db.device, library: o.library, compile: o.compile, limit: first.gpuMemory}
	db.memory = device.NewScope(db.device, device.ScopeOptions{Name: "database", Limit: first.memoryLimit, Setting: "memory_limit"})
	db.temp.limit = first.maxTempSize
	db.store = storage.Open(db.memory, storage.Options{Device: db.device, Kinds: indexKinds(), GPU: db.devices.indexHome})
	db.store.Retain(first.retention)
	if _, err := db.devices.open(first.device); err != nil {
		db.Close() //nolint:errcheck // there is an error already
		return nil, wrapError(err, "")
	}
	return db, nil
}

// Close ends the database. Its connections are closed with it, their
// transactions rolled back.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	conns := make([]*Conn, 0, len(db.open))
	for c := range db.open {
		conns = append(conns, c)
	}
	db.idle = nil
	db.mu.Unlock()
	for _, c := range conns {
		c.Close() //nolint:errcheck // closing a connection rolls back, which does not fail
	}
	swept := db.store.Close()
	db.memory.Close()
	db.temp.close()
	return errors.Join(swept, db.devices.close())
}

// Conn makes a connection: a session with settings and transactions of its own.
func (db *DB) Conn(context.Context) (*Conn, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, ErrClosed
	}
	stream, err := db.device.NewStream()
	if err != nil {
		return nil, wrapError(err, "")
	}
	c := &Conn{db: db, settings: db.settings, stream: stream, names: db.store.NewSession(), current: map[catalog.SequenceID]int64{}}
	db.open[c] = struct{}{}
	return c, nil
}

// borrow takes a connection for one call.
func (db *DB) borrow(ctx context.Context) (*Conn, error) {
	db.mu.Lock()
	if n := len(db.idle); n > 0 {
		c := db.idle[n-1]
		db.idle = db.idle[:n-1]
		db.mu.Unlock()
		return c, nil
	}
	db.mu.Unlock()
	return db.Conn(ctx)
}

// giveBack keeps a borrowed connection for the next call, as good as new. A
// transaction that was left open is rolled back, which is an error: nothing
// could end it.
func (db *DB) giveBack(c *Conn) error {
	var err error
	if c.InTransaction() {
		c.rollback()
		err = wrapError(sqltype.Errorf(sqltype.CodeActiveTx,
			"BEGIN without COMMIT was rolled back: use DB.Begin or a Conn for transactions"), "")
	}
	if c.settings.plan != db.settings.plan || len(c.prepared) > 0 {
		c.settings, c.prepared = db.settings, nil
		c.plans = planCache{}
		c.names.SetPath(c.settings.path)
	}
	c.dropTemporary()
	db.mu.Lock()
	keep := !db.closed
	if keep {
		db.idle = append(db.idle, c)
	}
	db.mu.Unlock()
	if !keep {
		c.Close() //nolint:errcheck // the database closes too
	}
	return err
}

// Exec runs the statements of a text and returns what the last one did. Only
// the last may have arguments.
func (db *DB) Exec(ctx context.Context, sql string, args ...any) (Result, error) {
	c, err := db.borrow(ctx)
	if err != nil {
		return Result{}, err
	}
	r, err := c.Exec(ctx, sql, args...)
	if berr := db.giveBack(c); err == nil {
		err = berr
	}
	return r, err
}

// Query runs the statements of a text and returns the rows of the last one.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	c, err := db.borrow(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		db.giveBack(c) //nolint:errcheck // there is an error already
		return nil, err
	}
	rows.onEnd(func() error { return db.giveBack(c) })
	return rows, nil
}

// Prepare plans a statement, to be run many times. The Stmt has a connection
// of its own.
func (db *DB) Prepare(ctx context.Context, sql string) (*Stmt, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.Prepare(ctx, sql)
	if err != nil {
		c.Close() //nolint:errcheck // there is an error already
		return nil, err
	}
	s.owned = true
	return s, nil
}

// Begin starts a transaction on a connection of its own.
func (db *DB) Begin(ctx context.Context) (*Tx, error) { return db.BeginTx(ctx, TxOptions{}) }

// BeginTx starts a transaction with options on a connection of its own.
func (db *DB) BeginTx(ctx context.Context, o TxOptions) (*Tx, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := c.BeginTx(ctx, o)
	if err != nil {
		c.Close() //nolint:errcheck // there is an error already
		return nil, err
	}
	tx.owned = true
	return tx, nil
}
