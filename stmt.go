package gpusql

import (
	"context"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/planner"
)

// Stmt is a prepared statement: it is parsed and planned once, and planned
// again when the catalogue or a setting of its connection has changed.
type Stmt struct {
	conn   *Conn
	plan   *prepared
	owned  bool // the connection is this statement's own
	closed bool
}

// prepared is a statement with its plan and what that was made for.
type prepared struct {
	parsed   parser.Parsed
	text     string // the whole text that positions refer to
	plan     *planner.Plan
	reader   catalog.Reader // the version of the catalogue
	settings int            // settings.plan
	files    files          // what its files are read as, for COPY and Appender
}

// NumInput is the number of parameters.
func (s *Stmt) NumInput() int { return s.plan.parsed.Params }

// Exec runs the statement and returns what it did.
func (s *Stmt) Exec(ctx context.Context, args ...any) (Result, error) {
	rows, err := s.Query(ctx, args...)
	if err != nil {
		return Result{}, err
	}
	err = rows.drain()
	return Result{RowsAffected: rows.affected}, err
}

// Query runs the statement and returns its rows.
func (s *Stmt) Query(ctx context.Context, args ...any) (*Rows, error) {
	if s.closed {
		return nil, ErrClosed
	}
	values, err := toValues(s.plan.parsed.Names, args)
	if err != nil {
		return nil, wrapError(err, s.plan.text)
	}
	return s.conn.runPrepared(ctx, s.plan, values)
}

// Close ends the statement, and rows of it that are open.
func (s *Stmt) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.owned {
		return s.conn.Close()
	}
	return nil
}
