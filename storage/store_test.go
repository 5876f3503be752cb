package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/btree"
	"github.com/gpusql/gpusql/index/lsm"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
	"github.com/gpusql/gpusql/storage/arrow"
)

var ctx = context.Background()

// db is a store with the calls that the tests make most.
type db struct {
	t   testing.TB
	mem device.Allocator
	*storage.Store
}

func open(t testing.TB, segmentRows int) *db {
	d := devicetest.CPU(t)
	s := storage.Open(d, options(d, segmentRows))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &db{t, d, s}
}

// options are for a store over a device.
func options(d device.Device, segmentRows int) storage.Options {
	return storage.Options{Device: d, Kinds: []index.Kind{btree.Kind(), lsm.Kind()}, SegmentRows: segmentRows}
}

// table makes t(a INTEGER, b VARCHAR) with a primary key on a unless plain.
func (d *db) table(name string, indexes ...*catalog.Index) *catalog.Table {
	x := d.Begin()
	t, err := x.CreateTable(ctx, catalog.Table{Name: name, Columns: []catalog.Column{
		{Name: "a", Type: sqltype.Int32}, {Name: "b", Type: sqltype.Varchar},
	}, Indexes: indexes})
	require.NoError(d.t, err)
	require.NoError(d.t, x.Commit())
	return t
}

func primary() *catalog.Index {
	return &catalog.Index{Unique: true, Primary: true, Keys: []catalog.IndexKey{{Column: 0}}}
}

// do runs one statement.
func do(x *storage.Tx, f func(s *storage.Statement) error) error {
	s := x.Statement()
	if err := f(s); err != nil {
		s.Undo()
		return err
	}
	return s.End(ctx)
}

func (d *db) batch(t *catalog.Table, rows ...string) *arrow.Kept {
	var types []sqltype.Type
	for _, c := range t.Columns {
		types = append(types, c.Type)
	}
	var data [][]sqltype.Datum
	for _, r := range rows {
		var row []sqltype.Datum
		for i, f := range strings.Split(r, ",") {
			v := sqltype.NullOf(types[i])
			if f != "NULL" {
				var err error
				v, err = sqltype.ParseDatum(f, types[i])
				require.NoError(d.t, err)
			}
			row = append(row, v)
		}
		data = append(data, row)
	}
	b, err := arrow.FromDatums(d.mem, types, data)
	require.NoError(d.t, err)
	return b
}

func (d *db) insert(x *storage.Tx, t *catalog.Table, rows ...string) error {
	b := d.batch(t, rows...)
	defer b.Release()
	return do(x, func(s *storage.Statement) error {
		_, err := s.Insert(ctx, nil, t, &b.Batch)
		return err
	})
}

// scan reads the rows that a new statement sees, with their ids.
func (d *db) scan(x *storage.Tx, t *catalog.Table) (rows []string, ids []int64) {
	s := x.Statement()
	snap, err := s.Snap(t)
	require.NoError(d.t, err)
	for _, g := range snap.Segments {
		n := g.Rows()
		bits, err := d.mem.Alloc((n + 63) / 64 * 8)
		require.NoError(d.t, err)
		seen := g.Visible(snap, 0, n, bits.Ptr())
		words := device.View[uint64](bits.Ptr(), (n+63)/64)
		for i := range n {
			if seen != n && (seen == 0 || words[i/64]>>(i%64)&1 == 0) {
				require.False(d.t, g.Sees(&snap, i))
				continue
			}
			require.True(d.t, g.Sees(&snap, i))
			rows = append(rows, text(t, g, i))
			ids = append(ids, arrow.RowID(g.ID(), i))
		}
		bits.Release()
	}
	require.NoError(d.t, s.End(ctx))
	return rows, ids
}

func text(t *catalog.Table, g *arrow.Segment, i int) string {
	var f []string
	for _, c := range t.Columns {
		col := g.Column(c.ID)
		v := col.Datum(i)
		f = append(f, v.String())
	}
	return strings.Join(f, ",")
}

func (d *db) rows(t *catalog.Table) []string {
	x := d.Begin()
	defer x.Rollback()
	rows, _ := d.scan(x, t)
	slices.Sort(rows)
	return rows
}

// ids of the rows of which the text has a prefix.
func (d *db) ids(x *storage.Tx, t *catalog.Table, prefix string) []int64 {
	rows, ids := d.scan(x, t)
	var out []int64
	for i := range rows {
		if strings.HasPrefix(rows[i], prefix) {
			out = append(out, ids[i])
		}
	}
	return out
}

func code(err error) string {
	var e *sqltype.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestTransactionSeesItsOwnWritesOnly(t *testing.T) {
	d := open(t, 64)
	tab := d.table("t")
	x, y := d.Begin(), d.Begin()
	require.NoError(t, d.insert(x, tab, "1,one", "2,NULL", "3,a string that is long"))
	rows, _ := d.scan(x, tab)
	require.Equal(t, []string{"1,one", "2,NULL", "3,a string that is long"}, rows)
	rows, _ = d.scan(y, tab)
	require.Empty(t, rows)
	require.NoError(t, x.Commit())
	rows, _ = d.scan(y, tab)
	require.Empty(t, rows, "a snapshot does not change")
	y.Rollback()
	require.Len(t, d.rows(tab), 3)
}

func TestStatementDoesNotSeeItself(t *testing.T) {
	d := open(t, 64)
	tab := d.table("t", primary())
	x := d.Begin()
	s := x.Statement()
	b := d.batch(tab, "1,a")
	defer b.Release()
	_, err := s.Insert(ctx, nil, tab, &b.Batch)
	require.NoError(t, err)
	snap, err := s.Snap(tab)
	require.NoError(t, err)
	require.Equal(t, 0, snap.Segments[0].Visible(snap, 0, 1, 0))
	one := sqltype.NewInt32(1)
	ids, err := seek(s, tab, tab.Indexes[0], []index.Range{{Prefix: []sqltype.Datum{one}}})
	require.NoError(t, err)
	require.Empty(t, ids)
	require.NoError(t, s.End(ctx))
	require.NoError(t, x.Commit())
	require.Equal(t, []string{"1,a"}, d.rows(tab))
}

func TestFailedStatementIsUndoneAlone(t *testing.T) {
	d := open(t, 64)
	tab := d.table("t", primary())
	x := d.Begin()
	require.NoError(t, d.insert(x, tab, "1,a"))
	err := d.insert(x, tab, "2,b", "1,c")
	require.Equal(t, sqltype.CodeUnique, code(err))
	require.EqualError(t, err, `duplicate key value violates unique constraint "t_pkey": key (a)=(1) already exists`)
	require.Equal(t, sqltype.CodeNotNull, code(d.insert(x, tab, "NULL,b")))
	require.Equal(t, sqltype.CodeUnique, code(d.insert(x, tab, "5,b", "5,c")))
	require.NoError(t, d.insert(x, tab, "2,d"))
	require.NoError(t, x.Commit())
	require.Equal(t, []string{"1,a", "2,d"}, d.rows(tab))
}

func TestUpdateSwapsUniqueKeys(t *testing.T) {
	d := open(t, 64)
	tab := d.table("t", primary())
	x := d.Begin()
	require.NoError(t, d.insert(x, tab, "1,a", "2,b"))
	require.NoError(t, x.Commit())
	x = d.Begin()
	_, ids := d.scan(x, tab)
	b := d.batch(tab, "2,a", "1,b", "7,never")
	defer b.Release()
	require.NoError(t, do(x, func(s *storage.Statement) error {
		n, err := s.Update(ctx, nil, tab, append(ids, ids[0]), &b.Batch)
		require.Equal(t, int64(2), n)
		return err
	}))
	require.NoError(t, x.Commit())
	require.Equal(t, []string{"1,b", "2,a"}, d.rows(tab))
}

func TestFirstWriterWins(t *testing.T) {
	d := open(t, 64)
	tab := d.table("t", primary())
	x := d.Begin()
	require.NoError(t, d.insert(x, tab, "1,a", "2,b"))
	require.NoError(t, x.Commit())

	x, y := d.Begin(), d.Begin()
	id := d.ids(x, tab, "1,")
	remove := func(x *storage.Tx) error {
		return do(x, func(s *storage.Statement) error {
			_, err := s.Delete(ctx, nil, tab, id)
			return err
		})
	}
	require.NoError(t, remove(x))
	require.Equal(t, sqltype.CodeSerialization, code(remove(y)), "deleted by a running transaction")
	require.Equal(t, sqltype.CodeSerialization, code(d.insert(y, tab, "1,z")), "the key is contested")
	require.NoError(t, d.insert(x, tab, "1,x"))
	require.NoError(t, d.insert(x, tab, "9,x"))
	require.Equal(t, sqltype.CodeSerialization, code(d.insert(y, tab, "9,y")))
	require.NoError(t, x.Commit())
	require.Equal(t, sqltype.CodeSerialization, code(remove(y)), "deleted after the snapshot")
	require.Equal(t, sqltype.CodeUnique, code(d.insert(y, tab, "9,y")))
	y.Rollback()

	x = d.Begin()
	id = d.ids(x, tab, "2,")
	require.NoError(t, remove(x))
	x.Rollback()
	x = d.Begin()
	require.NoError(t, remove(x), "a rolled back delete leaves nothing behind")
	require.NoError(t, x.Commit())
	require.Equal(t, []string{"1,x", "9,x"}, d.rows(tab))
}

func TestBulkInsertChecksAtTheEnd(t *testing.T) {
	for _, n := range []int{4095, 4096, 10000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			d := open(t, 0)
			tab := d.table("t", primary())
			rows := make([]string, n)
			for i := range rows {
				rows[i] = fmt.Sprintf("%d,%d", (i*7919)%n, i%10)
			}
			x := d.Begin()
			require.NoError(t, d.insert(x, tab, rows...))
			require.Equal(t, sqltype.CodeUnique, code(d.insert(x, tab, rows...)))
			require.NoError(t, x.Commit())
			require.Len(t, d.rows(tab), n)
			rows[n-1] = rows[0]
			x = d.Begin()
			require.NoError(t, x.Truncate(ctx, tab))
			require.Equal(t, sqltype.CodeUnique, code(d.insert(x, tab, rows...)))
			require.NoError(t, d.insert(x, tab, rows[:n-1]...))
			require.NoError(t, x.Commit())
			require.Len(t, d.rows(tab), n-1)
		})
	}
}

func TestDefinitionsAreTransactional(t *testing.T) {
	d := open(t, 64)
	x := d.Begin()
	tab, err := x.CreateTable(ctx, catalog.Table{Name: "T1", Columns: []catalog.Column{{Name: "a", Type: sqltype.Int32}, {Name: "b", Type: sqltype.Varchar}}})
	require.NoError(t, err)
	require.NoError(t, d.insert(x, tab, "1,a"))
	_, ok := d.Reader(d.NewSession()).Table("", "t1")
	require.False(t, ok)
	x.Rollback()
	_, ok = d.Reader(d.NewSession()).Table("", "t1")
	require.False(t, ok)

	tab = d.table("t1", primary())
	x = d.Begin()
	require.NoError(t, d.insert(x, tab, "1,a", "2,b"))
	tab2, err := x.AddColumn(ctx, tab, catalog.Column{Name: "c", Type: sqltype.Int64}, sqltype.NewInt64(7))
	require.NoError(t, err)
	tab2, err = x.AddColumn(ctx, tab2, catalog.Column{Name: "e", Type: sqltype.Varchar}, sqltype.NullOf(sqltype.Varchar))
	require.NoError(t, err)
	require.NoError(t, d.insert(x, tab2, "3,c,8,x"))
	tab2, err = x.DropColumn(ctx, tab2, 1, storage.KeepThem)
	require.NoError(t, err)
	tab2, err = x.RenameColumn(ctx, tab2, 1, "cc")
	require.NoError(t, err)
	tab2, err = x.RenameTable(ctx, tab2, "t2")
	require.NoError(t, err)
	require.NoError(t, x.Commit())
	require.Equal(t, []string{"1,7,NULL", "2,7,NULL", "3,8,x"}, d.rows(tab2))
	_, ok = d.Reader(d.NewSession()).Table("MAIN", "T2")
	require.True(t, ok)
	require.Equal(t, []string{"t2"}, d.Reader(d.NewSession()).Names())

	x = d.Begin()
	_, err = x.CreateIndex(ctx, tab2, catalog.Index{Unique: true, Keys: []catalog.IndexKey{{Column: 1}}})
	require.Equal(t, sqltype.CodeUnique, code(err))
	ix, err := x.CreateIndex(ctx, tab2, catalog.Index{Kind: "lsm", Keys: []catalog.IndexKey{{Column: 1, Desc: true}}})
	require.NoError(t, err)
	require.Equal(t, "lsm", ix.Kind)
	require.Equal(t, "t2_cc_idx", ix.Name)
	tab2, _ = x.Reader().Table("", "t2")
	s := x.Statement()
	ids, err := seek(s, tab2, ix, []index.Range{{}})
	require.NoError(t, err)
	require.Len(t, ids, 3)
	lo := sqltype.NewInt64(8)
	ids, err = seek(s, tab2, ix, []index.Range{{Lo: &lo}})
	require.NoError(t, err)
	require.Len(t, ids, 1)
	require.NoError(t, s.End(ctx))
	require.NoError(t, x.Commit())
	x = d.Begin()
	require.NoError(t, x.DropIndex(ctx, "", "t2_cc_idx"))
	require.NoError(t, x.DropTable(ctx, "", "t2", storage.KeepThem))
	require.NoError(t, x.Commit())
	require.NoError(t, d.Settle(ctx))
	require.Zero(t, d.Bytes())
}

// TestRandomChanges compares random transactions with a plain model.
func TestRandomChanges(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := open(t, 64)
			tab := d.table("t", primary(), &catalog.Index{Keys: []catalog.IndexKey{{Column: 1, Desc: true}, {Column: 0}}})
			rnd := rand.New(rand.NewPCG(seed, 1))
			model := map[string]string{}
			for range 60 {
				x, now := d.Begin(), cloneModel(model)
				for range rnd.IntN(4) {
					d.randomStatement(x, tab, rnd, now)
					rows, _ := d.scan(x, tab)
					slices.Sort(rows)
					require.Equal(t, modelRows(now), rows)
					d.checkIndexes(x, tab, rows)
				}
				if rnd.IntN(4) == 0 {
					x.Rollback()
				} else {
					require.NoError(t, x.Commit())
					model = now
				}
				require.Equal(t, modelRows(model), d.rows(tab))
			}
		})
	}
}

func cloneModel(m map[string]string) map[string]string {
	c := map[string]string{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

func modelRows(m map[string]string) []string {
	var rows []string
	for k, v := range m {
		rows = append(rows, k+","+v)
	}
	slices.Sort(rows)
	return rows
}

func (d *db) randomStatement(x *storage.Tx, t *catalog.Table, rnd *rand.Rand, model map[string]string) {
	key := func() string { return fmt.Sprint(rnd.IntN(60) - 20) }
	value := func() string {
		return []string{"NULL", "x", "a string that is long " + key(), "twelve bytes"}[rnd.IntN(4)]
	}
	switch rnd.IntN(3) {
	case 0:
		var rows []string
		now, clash := cloneModel(model), false
		for range 1 + rnd.IntN(5) {
			k, v := key(), value()
			if _, ok := now[k]; ok {
				clash = true
			}
			now[k] = v
			rows = append(rows, k+","+v)
		}
		err := d.insert(x, t, rows...)
		if clash {
			require.Equal(d.t, sqltype.CodeUnique, code(err))
			return
		}
		require.NoError(d.t, err)
		for k, v := range now {
			model[k] = v
		}
	case 1:
		k := key()
		ids := d.ids(x, t, k+",")
		require.NoError(d.t, do(x, func(s *storage.Statement) error {
			n, err := s.Delete(ctx, nil, t, append(ids, ids...))
			require.Equal(d.t, int64(len(ids)), n)
			return err
		}))
		delete(model, k)
	default: // turn every key around
		rows, ids := d.scan(x, t)
		var after []string
		clear(model)
		for _, r := range rows {
			k, v, _ := strings.Cut(r, ",")
			if k != "0" {
				k = strings.TrimPrefix("-"+k, "--")
			}
			after = append(after, k+","+v)
			model[k] = v
		}
		if len(rows) == 0 {
			return
		}
		b := d.batch(t, after...)
		defer b.Release()
		require.NoError(d.t, do(x, func(s *storage.Statement) error {
			_, err := s.Update(ctx, nil, t, ids, &b.Batch)
			return err
		}))
	}
}

// seek is Seek for row ids.
func seek(s *storage.Statement, t *catalog.Table, ix *catalog.Index, r []index.Range) ([]int64, error) {
	var found index.Found
	err := s.Seek(ctx, nil, t, ix, r, &found)
	return found.Rows, err
}

// checkIndexes reads the table through each of its indexes, both ways, and by Probe.
func (d *db) checkIndexes(x *storage.Tx, t *catalog.Table, rows []string) {
	s := x.Statement()
	snap, err := s.Snap(t)
	require.NoError(d.t, err)
	for _, ix := range t.Indexes {
		ids, err := seek(s, t, ix, []index.Range{{}})
		require.NoError(d.t, err)
		var found []string
		for _, id := range ids {
			g, i := arrow.SplitRowID(id)
			found = append(found, text(t, snap.Segment(g), i))
		}
		slices.Sort(found)
		require.Equal(d.t, rows, found)
		back, err := seek(s, t, ix, []index.Range{{Reverse: true}})
		require.NoError(d.t, err)
		slices.Reverse(back)
		require.Equal(d.t, ids, back)
		if len(ids) > 2 {
			few, err := seek(s, t, ix, []index.Range{{Limit: 2}})
			require.NoError(d.t, err)
			require.Equal(d.t, ids[:2], few)
		}
	}
	for i, r := range rows {
		k, _, _ := strings.Cut(r, ",")
		v, err := sqltype.ParseDatum(k, sqltype.Int32)
		require.NoError(d.t, err)
		b, err := arrow.FromDatums(d.mem, []sqltype.Type{sqltype.Int32}, [][]sqltype.Datum{{v}, {sqltype.NullOf(sqltype.Int32)}})
		require.NoError(d.t, err)
		var found index.Found
		probe, err := s.Probe(ctx, nil, t, t.Indexes[0], b.Columns, 2, nil, &found)
		require.NoError(d.t, err)
		require.Equal(d.t, []uint32{0}, probe)
		g, at := arrow.SplitRowID(found.Rows[0])
		require.Equal(d.t, rows[i], text(t, snap.Segment(g), at))
		b.Release()
	}
	require.NoError(d.t, s.End(ctx))
	require.NoError(d.t, x.Check())
}

// TestTransfers moves amounts between rows from several goroutines: the sum is
// the same in every snapshot.
func TestTransfers(t *testing.T) {
	d := open(t, 64)
	tab := d.table("t", primary())
	x := d.Begin()
	var rows []string
	for i := range 20 {
		rows = append(rows, fmt.Sprintf("%d,100", i))
	}
	require.NoError(t, d.insert(x, tab, rows...))
	require.NoError(t, x.Commit())
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 2))
			for range 50 {
				x := d.Begin()
				all, ids := d.scan(x, tab)
				sum := 0
				var from, to int
				for _, r := range all {
					var k, v int
					_, _ = fmt.Sscanf(r, "%d,%d", &k, &v)
					sum += v
				}
				if sum != 2000 || len(all) != 20 {
					t.Errorf("%d rows, sum %d", len(all), sum)
				}
				i, j := rnd.IntN(20), rnd.IntN(20)
				if i == j {
					x.Rollback()
					continue
				}
				var ki, kj int
				_, _ = fmt.Sscanf(all[i], "%d,%d", &ki, &from)
				_, _ = fmt.Sscanf(all[j], "%d,%d", &kj, &to)
				b := d.batch(tab, fmt.Sprintf("%d,%d", ki, from-1), fmt.Sprintf("%d,%d", kj, to+1))
				err := do(x, func(s *storage.Statement) error {
					_, err := s.Update(ctx, nil, tab, []int64{ids[i], ids[j]}, &b.Batch)
					return err
				})
				b.Release()
				if err != nil {
					if code(err) != sqltype.CodeSerialization {
						t.Error(err)
					}
					x.Rollback()
					continue
				}
				if err := x.Commit(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// A reader that ends late takes back nothing that came after it began.
func TestReaderEndsLate(t *testing.T) {
	d := open(t, 64)
	tab := d.table("t", primary())
	x := d.Begin()
	reader := x.Statement()
	require.NoError(t, d.insert(x, tab, "1,a"))
	reader.Undo()
	require.NoError(t, x.Commit())
	reader.Undo()
	require.NoError(t, reader.End(ctx))
	require.Equal(t, []string{"1,a"}, d.rows(tab))
}

// An index that is made while another transaction has rows uncommitted gets
// them, and loses those that are rolled back.
func TestIndexMadeMeanwhile(t *testing.T) {
	for _, n := range []int{5, 5000} {
		d := open(t, 0)
		tab := d.table("t")
		var rows []string
		for i := range n {
			rows = append(rows, fmt.Sprintf("%d,x", i))
		}
		keep, lose := d.Begin(), d.Begin()
		require.NoError(t, d.insert(keep, tab, rows...))
		s := lose.Statement()
		b := d.batch(tab, rows...)
		_, err := s.Insert(ctx, nil, tab, &b.Batch)
		require.NoError(t, err)

		x := d.Begin()
		_, err = x.CreateIndex(ctx, tab, catalog.Index{Name: "i", Unique: true, Keys: []catalog.IndexKey{{Column: 0}}})
		require.Equal(t, sqltype.CodeSerialization, code(err), "who wins is not known")
		ix, err := x.CreateIndex(ctx, tab, catalog.Index{Name: "i", Keys: []catalog.IndexKey{{Column: 0}}})
		require.NoError(t, err)
		require.NoError(t, x.Commit())

		lose.Rollback()
		b.Release()
		require.NoError(t, keep.Commit())
		x = d.Begin()
		s = x.Statement()
		ids, err := seek(s, tab, ix, []index.Range{{}})
		require.NoError(t, err)
		require.Len(t, ids, n)
		require.NoError(t, x.Check())
		x.Rollback()
	}
}
