package exectest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/btree"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
	"github.com/gpusql/gpusql/storage/arrow"
)

// Row is one row of a table or a result.
type Row = []sqltype.Datum

// DB is a store on a device, for one test.
type DB struct {
	T     testing.TB
	CPU   device.Device // where tables lie
	Dev   device.Device // where queries run: the same, or one that fails
	Store *storage.Store
	next  planner.ColumnID
}

// Open makes an empty database with small segments. What it holds at the
// test's end fails the test.
func Open(t testing.TB) *DB {
	d := device.NewCPU(device.CPUOptions{Streams: 2})
	db := &DB{T: t, CPU: d, Dev: d, Store: storage.Open(d, storage.Options{Device: d, Kinds: []index.Kind{btree.Kind()}, SegmentRows: 128})}
	t.Cleanup(func() {
		require.NoError(t, db.Store.Close())
		require.NoError(t, d.Close())
	})
	return db
}

// Table is a table's definition and what rows the model has for it.
type Table struct {
	*catalog.Table
	Rows []Row
}

// Create makes a table of columns c0, c1, ...
func (db *DB) Create(name string, types []sqltype.Type, indexes ...*catalog.Index) *Table {
	def := catalog.Table{Name: name, Indexes: indexes}
	for i, t := range types {
		def.Columns = append(def.Columns, catalog.Column{Name: fmt.Sprintf("c%d", i), Type: t})
	}
	x := db.Store.Begin()
	t, err := x.CreateTable(context.Background(), def)
	require.NoError(db.T, err)
	require.NoError(db.T, x.Commit())
	return &Table{Table: t}
}

// Fill inserts rows.
func (db *DB) Fill(t *Table, rows []Row) {
	types := make([]sqltype.Type, len(t.Columns))
	for i, c := range t.Columns {
		types[i] = c.Type
	}
	b, err := arrow.FromDatums(db.CPU, types, rows)
	require.NoError(db.T, err)
	defer b.Release()
	x := db.Store.Begin()
	s := x.Statement()
	_, err = s.Insert(context.Background(), nil, t.Table, &b.Batch)
	require.NoError(db.T, err)
	require.NoError(db.T, s.End(context.Background()))
	require.NoError(db.T, x.Commit())
	t.Rows = append(t.Rows, rows...)
}

// Scan is a new node that reads all columns of a table.
func (db *DB) Scan(t *Table) *planner.Scan {
	n := &planner.Scan{Table: t.Table}
	for i, c := range t.Columns {
		n.Columns = append(n.Columns, db.Col(c.Type))
		n.Source = append(n.Source, i)
	}
	return n
}

// Col is a new column.
func (db *DB) Col(t sqltype.Type) planner.ColDef {
	db.next++
	return planner.ColDef{ID: db.next, Name: fmt.Sprintf("x%d", db.next), Type: t}
}

// Ref names column i of a node.
func Ref(n planner.Node, i int) *planner.Col {
	c := n.Cols()[i]
	return &planner.Col{ID: c.ID, Name: c.Name, T: c.Type}
}

// Int is a BIGINT constant.
func Int(v int64) planner.Expr { return &planner.Const{Value: sqltype.NewInt64(v)} }

// Config is how a plan is run.
type Config struct {
	Batch, Workers int
	HashZero       bool
}

// Configs are those that a plan should give the same rows in. Small batches
// make small tables large enough for two workers.
var Configs = []Config{{3, 1, false}, {3, 2, false}, {3, 2, true}, {64, 2, false}, {0, 1, false}, {0, 2, true}}

// Run runs a plan as a statement of its own, and commits it.
func (db *DB) Run(c Config, n planner.Node) ([]Row, error) {
	return db.RunContext(context.Background(), c, n)
}

// RunContext is Run with a context.
func (db *DB) RunContext(ctx context.Context, c Config, n planner.Node) ([]Row, error) {
	db.T.Helper()
	x := db.Store.Begin()
	s := x.Statement()
	rows, err := db.query(ctx, c, n, s)
	if err == nil {
		err = s.End(ctx)
	} else {
		s.Undo()
	}
	require.NoError(db.T, x.Check())
	require.NoError(db.T, x.Commit())
	return rows, err
}

func (db *DB) query(ctx context.Context, c Config, n planner.Node, s *storage.Statement) (rows []Row, err error) {
	db.T.Helper()
	mem := device.NewScope(db.Dev, device.ScopeOptions{Name: "query"})
	defer mem.Close()
	defer func() {
		var e *sqltype.Error
		if errors.As(err, &e) && e.Code == sqltype.CodeInternal {
			return // what a panic left goes with the scope
		}
		require.Zero(db.T, mem.Used(), "memory is left")
	}()
	env := &exec.Env{Device: db.Dev, Memory: mem, Data: tables{s}, Workers: c.Workers, BatchRows: c.Batch,
		HashZero: c.HashZero, Now: time.Unix(0, 0), Zone: time.UTC, Stats: &exec.Stats{}}
	op, err := exec.Open(env, &planner.Plan{Root: n})
	if err != nil {
		return nil, err
	}
	defer func() {
		require.NoError(db.T, op.Close())
		require.NoError(db.T, op.Close(), "closed again")
	}()
	limit := c.Batch
	if limit == 0 {
		limit = db.Dev.Traits().BatchRows
	}
	for {
		b, err := op.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			b, err = op.Next(context.Background()) // ctx may have ended
			require.NoError(db.T, err)
			require.Nil(db.T, b, "rows after the end")
			return rows, nil
		}
		require.Positive(db.T, b.Rows)
		require.Len(db.T, b.Columns, len(n.Cols()))
		switch n.(type) { // RETURNING comes whole
		case *planner.Insert, *planner.Update, *planner.Delete:
		default:
			require.LessOrEqual(db.T, b.Rows, (limit+63)&^63)
		}
		for k, col := range n.Cols() {
			require.Equal(db.T, col.Type.Phys(), b.Columns[k].Type.Phys())
		}
		for i := range b.Rows {
			row := make(Row, len(b.Columns))
			for k := range b.Columns {
				row[k] = b.Columns[k].Datum(i)
			}
			rows = append(rows, row)
		}
	}
}

// tables is a statement as exec.Data: there are no files.
type tables struct{ *storage.Statement }

// Data is what a statement sees, for a test that runs a plan itself.
func Data(s *storage.Statement) exec.Data { return tables{s} }

// AsOf implements exec.Data.
func (t tables) AsOf(at int64, _ exec.Moment) (exec.Data, error) {
	past, err := t.Statement.At(uint64(at))
	return tables{past}, err
}

// File implements exec.Data.
func (tables) File(context.Context, *planner.FileScan, int) (exec.FileReader, error) {
	return nil, errors.New("exectest: no files")
}
