package gpusql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"reflect"
	"time"

	"github.com/gpusql/gpusql/sqltype"
)

// Driver is gpusql for database/sql. Every sql.DB that is opened by name has a
// database of its own; all its connections share it.
type Driver struct{}

// Open implements driver.Driver: a database with one connection.
func (Driver) Open(dsn string) (driver.Conn, error) {
	c, err := Driver{}.OpenConnector(dsn)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

// OpenConnector implements driver.DriverContext.
func (Driver) OpenConnector(dsn string) (driver.Connector, error) {
	db, err := Open(dsn)
	if err != nil {
		return nil, err
	}
	return &connector{db: db}, nil
}

// NewConnector opens a database for sql.OpenDB; sql.DB.Close closes it.
func NewConnector(dsn string, opts ...Option) (driver.Connector, error) {
	db, err := Open(dsn, opts...)
	if err != nil {
		return nil, err
	}
	return &connector{db: db}, nil
}

// connector is a database as a driver.Connector.
type connector struct{ db *DB }

func (c *connector) Driver() driver.Driver { return Driver{} }
func (c *connector) Close() error          { return c.db.Close() }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &driverConn{conn: conn}, nil
}

// driverConn is a Conn for database/sql.
type driverConn struct{ conn *Conn }

func (d *driverConn) Close() error { return d.conn.Close() }

func (d *driverConn) Prepare(query string) (driver.Stmt, error) {
	return d.PrepareContext(context.Background(), query)
}

func (d *driverConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := d.conn.Prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return driverStmt{s}, nil
}

func (d *driverConn) Begin() (driver.Tx, error) {
	return d.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx accepts the levels that snapshot isolation gives.
func (d *driverConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	// sql.LevelSerializable is 6 and sql.LevelLinearizable 7.
	if o.Isolation > 5 {
		return nil, wrapError(sqltype.Errorf(sqltype.CodeNotSupported, "transactions have snapshot isolation, nothing stronger"), "")
	}
	return d.conn.BeginTx(ctx, TxOptions{ReadOnly: o.ReadOnly})
}

// ResetSession readies the connection for its next user.
func (d *driverConn) ResetSession(context.Context) error {
	d.conn.rollback()
	return nil
}

func (d *driverConn) IsValid() bool                  { return !d.conn.closed }
func (d *driverConn) Ping(ctx context.Context) error { return ctx.Err() }

// CheckNamedValue takes all that toValue takes.
func (d *driverConn) CheckNamedValue(v *driver.NamedValue) error { return checkNamedValue(v) }

func checkNamedValue(v *driver.NamedValue) error {
	if valuer, ok := v.Value.(driver.Valuer); ok {
		inner, err := valuer.Value()
		if err != nil {
			return err
		}
		v.Value = inner
	}
	value, err := toValue(v.Value)
	if err != nil {
		return wrapError(err, "")
	}
	v.Value = value
	return nil
}

func (d *driverConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	r, err := d.conn.Exec(ctx, query, plainArguments(args)...)
	return driverResult{r}, err
}

func (d *driverConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := d.conn.Query(ctx, query, plainArguments(args)...)
	if err != nil {
		return nil, err
	}
	return &driverRows{rows: rows}, nil
}

func plainArguments(args []driver.NamedValue) []any {
	plain := make([]any, len(args))
	for i, a := range args {
		plain[i] = a.Value
		if a.Name != "" {
			plain[i] = Named{a.Name, a.Value}
		}
	}
	return plain
}

// driverStmt is a Stmt for database/sql.
type driverStmt struct{ stmt *Stmt }

func (s driverStmt) Close() error                               { return s.stmt.Close() }
func (s driverStmt) NumInput() int                              { return s.stmt.NumInput() }
func (s driverStmt) CheckNamedValue(v *driver.NamedValue) error { return checkNamedValue(v) }

func (s driverStmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

func (s driverStmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func named(args []driver.Value) []driver.NamedValue {
	list := make([]driver.NamedValue, len(args))
	for i, a := range args {
		list[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return list
}

func (s driverStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.stmt.Exec(ctx, plainArguments(args)...)
	return driverResult{r}, err
}

func (s driverStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.stmt.Query(ctx, plainArguments(args)...)
	if err != nil {
		return nil, err
	}
	return &driverRows{rows: rows}, nil
}

// driverResult is a Result for database/sql.
type driverResult struct{ result Result }

func (r driverResult) RowsAffected() (int64, error) { return r.result.RowsAffected, nil }

// LastInsertId is not known: there are no automatic numbers.
func (r driverResult) LastInsertId() (int64, error) {
	return 0, errors.New("gpusql: no LastInsertId; use INSERT ... RETURNING")
}

// driverRows are Rows for database/sql.
type driverRows struct{ rows *Rows }

func (r *driverRows) Columns() []string { return r.rows.Columns() }
func (r *driverRows) Close() error      { return r.rows.Close() }

func (r *driverRows) Next(dest []driver.Value) error {
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	for i := range dest {
		dest[i] = goValue(r.rows.Value(i))
	}
	return nil
}

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName.
func (r *driverRows) ColumnTypeDatabaseTypeName(i int) string {
	return r.rows.columns[i].Type.Kind.String()
}

// ColumnTypeNullable implements driver.RowsColumnTypeNullable.
func (r *driverRows) ColumnTypeNullable(i int) (nullable, ok bool) {
	return !r.rows.columns[i].NotNull, true
}

// ColumnTypePrecisionScale implements driver.RowsColumnTypePrecisionScale.
func (r *driverRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	t := r.rows.columns[i].Type
	return int64(t.Precision), int64(t.Scale), t.Kind == sqltype.KindDecimal
}

// ColumnTypeScanType implements driver.RowsColumnTypeScanType.
func (r *driverRows) ColumnTypeScanType(i int) reflect.Type {
	switch k := r.rows.columns[i].Type.Kind; {
	case k == sqltype.KindBool:
		return reflect.TypeFor[bool]()
	case k == sqltype.KindUint64:
		return reflect.TypeFor[uint64]()
	case k.IsInteger():
		return reflect.TypeFor[int64]()
	case k.IsFloat():
		return reflect.TypeFor[float64]()
	case k == sqltype.KindBlob:
		return reflect.TypeFor[[]byte]()
	case k == sqltype.KindDate, k == sqltype.KindTimestamp, k == sqltype.KindTimestampTZ:
		return reflect.TypeFor[time.Time]()
	case k == sqltype.KindList:
		return reflect.TypeFor[[]any]()
	case k == sqltype.KindStruct, k == sqltype.KindMap:
		return reflect.TypeFor[map[string]any]()
	}
	return reflect.TypeFor[string]()
}
