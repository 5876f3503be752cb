package metamorphic

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// sqlEngine is an engine behind database/sql, one connection of it.
type sqlEngine struct {
	name    string
	db      *sql.DB
	conn    *sql.Conn
	dialect *strings.Replacer
}

// Way is a way to open an engine.
type Way struct {
	Name, Driver, DSN string
	Setup             []string          // statements that prepare the connection
	Dialect           *strings.Replacer // rewrites every statement; nil: as they are
}

// Open opens an empty database.
func (w *Way) Open() (Engine, error) {
	db, err := sql.Open(w.Driver, w.DSN)
	if err != nil {
		return nil, err
	}
	e := &sqlEngine{name: w.Name, db: db, dialect: w.Dialect}
	if e.conn, err = db.Conn(context.Background()); err == nil {
		for _, s := range w.Setup {
			if err = e.Run(s); err != nil {
				break
			}
		}
	}
	if err != nil {
		db.Close() //nolint:errcheck // there is an error already
		return nil, fmt.Errorf("%s: %w", w.Name, err)
	}
	return e, nil
}

// Pair opens two engines.
func Pair(left, right *Way) Opener {
	return func() (a, b Engine, err error) {
		if a, err = left.Open(); err != nil {
			return nil, nil, err
		}
		if b, err = right.Open(); err != nil {
			a.Close() //nolint:errcheck // there is an error already
			return nil, nil, err
		}
		return a, b, nil
	}
}

func (e *sqlEngine) Name() string { return e.name }

func (e *sqlEngine) Close() error {
	if err := e.conn.Close(); err != nil {
		return err
	}
	return e.db.Close()
}

func (e *sqlEngine) text(s string) string {
	if e.dialect == nil {
		return s
	}
	return e.dialect.Replace(s)
}

func (e *sqlEngine) Run(s string) error {
	_, err := e.conn.ExecContext(context.Background(), e.text(s))
	return err
}

// patience is how long a query may take: one in a hundred thousand joins all
// it has with all of it, and no engine ends it.
const patience = 5 * time.Second

func (e *sqlEngine) Query(s string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	rows, err := e.conn.QueryContext(ctx, e.text(s))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, to := make([]any, len(cols)), make([]any, len(cols))
	for i := range values {
		to[i] = &values[i]
	}
	var out []string
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		var b strings.Builder
		for i, v := range values {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(canonical(v))
		}
		out = append(out, b.String())
	}
	return out, rows.Err()
}

// canonical is one text for a value that engines give in different forms.
func canonical(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		if v {
			return "1"
		}
		return "0"
	case float64:
		if v == 0 {
			v = 0 // -0
		}
		return strconv.FormatFloat(v, 'g', 9, 64)
	case []byte:
		return plain(string(v))
	case string:
		return plain(v)
	case time.Time:
		return v.Format("2006-01-02 15:04:05.999999")
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = canonical(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case fmt.Stringer:
		return plain(v.String())
	}
	return fmt.Sprint(v)
}

// plain is a text; of a number with a point, without the zeros at its end.
func plain(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
