package tests

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gpusql/gpusql"
)

// NewEngine is gpusql as an Engine, reading the named dialect.
func NewEngine(dialect string) (Engine, error) {
	switch dialect {
	case "gpusql":
		return engine{names: []string{"gpusql"}}, nil
	case "mysql":
		return engine{names: []string{"gpusql", "mysql"}, mysql: true}, nil
	}
	return nil, fmt.Errorf("no dialect %q: there are gpusql and mysql", dialect)
}

type engine struct {
	names []string
	mysql bool
}

func (e engine) Names() []string { return e.names }

func (e engine) Open(ctx context.Context, path string) (Session, error) {
	dir := filepath.Dir(path)
	options := []gpusql.Option{gpusql.WithFilePaths(func(name string) string { return resolve(dir, name) })}
	if e.mysql {
		options = append(options, gpusql.WithSetting("dialect", "mysql"))
	}
	db, err := gpusql.Open("", options...)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		db.Close() //nolint:errcheck // there is an error already
		return nil, err
	}
	return &session{db, conn}, nil
}

// resolve finds a file that a script names: from the working directory, then
// from the script's, then there with leading folders of the name taken off one
// by one. Scripts name their files from the root of a tree that they left.
func resolve(dir, name string) string {
	if filepath.IsAbs(name) || exists(name) {
		return name
	}
	for rest := filepath.ToSlash(name); ; {
		if p := filepath.Join(dir, filepath.FromSlash(rest)); exists(p) {
			return p
		}
		_, after, more := strings.Cut(rest, "/")
		if !more {
			return name
		}
		rest = after
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

type session struct {
	db   *gpusql.DB
	conn *gpusql.Conn
}

func (s *session) Exec(ctx context.Context, sql string) (int64, error) {
	r, err := s.conn.Exec(ctx, sql)
	return r.RowsAffected, err
}

func (s *session) Query(ctx context.Context, sql string) ([][]Cell, error) {
	rows, err := s.conn.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types := rows.Types()
	var result [][]Cell
	for rows.Next() {
		row := make([]Cell, len(types))
		for i := range row {
			row[i] = cell(rows.Value(i))
		}
		result = append(result, row)
	}
	return result, rows.Err()
}

func (s *session) Close() error {
	err := s.conn.Close()
	if cerr := s.db.Close(); err == nil {
		err = cerr
	}
	return err
}

func cell(v gpusql.Value) Cell {
	if v.Null {
		return Cell{Null: true}
	}
	c := Cell{Text: v.String()}
	switch k := v.Type.Kind; {
	case k == gpusql.KindBool:
		c.Class = Boolean
	case k == gpusql.KindTimestamp, k == gpusql.KindTimestampTZ:
		c.Class = Timestamp
	case k.IsInteger():
		c.Class = Integer
	case k.IsNumeric():
		c.Class = Real
	}
	return c
}
