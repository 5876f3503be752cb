package storage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/btree"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// slowKind is a kind whose indexes call begun in their first Apply.
func slowKind(begun func()) index.Kind {
	var once sync.Once
	k := btree.Kind()
	return index.Kind{Name: "slow", New: func(mem device.Allocator, f index.Format) (index.Index, error) {
		x, err := k.New(mem, f)
		return slowIndex{x, func() { once.Do(begun) }}, err
	}}
}

type slowIndex struct {
	index.Index
	begun func()
}

func (x slowIndex) Apply(s device.Stream, v index.Version, e index.Entries) error {
	x.begun()
	return x.Index.Apply(s, v, e)
}

// TestBuildOnline changes a table while an index of it is built: what commits,
// what is taken back and what is open all the while is in the index as in the
// table.
func TestBuildOnline(t *testing.T) {
	mem := devicetest.CPU(t)
	var during func()
	o := options(mem, 64)
	o.Kinds = append(o.Kinds, slowKind(func() { during() }))
	d := &db{t, mem, storage.Open(mem, o)}
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	tab := d.table("t")
	commit := func(f func(x *storage.Tx)) {
		x := d.Begin()
		f(x)
		require.NoError(t, x.Commit())
	}
	var rows []string
	for i := range 300 {
		rows = append(rows, fmt.Sprintf("%d,text %d", i, i))
	}
	commit(func(x *storage.Tx) { require.NoError(t, d.insert(x, tab, rows...)) })
	before, open := d.Begin(), d.Begin()
	require.NoError(t, d.insert(before, tab, "1000,taken back", "1001,taken back"))
	require.NoError(t, d.insert(open, tab, "2000,open"))
	during = func() {
		before.Rollback()
		commit(func(x *storage.Tx) {
			require.NoError(t, d.insert(x, tab, "3000,new")) // where a row was that was taken back
			_, ids := d.scan(x, tab)
			require.NoError(t, do(x, func(s *storage.Statement) error {
				_, err := s.Delete(ctx, nil, tab, ids[:10])
				return err
			}))
		})
		x := d.Begin()
		require.NoError(t, d.insert(x, tab, "4000,taken back"))
		x.Rollback()
	}
	x := d.Begin()
	ix, err := x.CreateIndex(ctx, tab, catalog.Index{Kind: "slow", Unique: true, Keys: []catalog.IndexKey{{Column: 0}}})
	require.NoError(t, err)
	require.NoError(t, x.Commit())
	require.NoError(t, open.Commit())
	x = d.Begin()
	defer x.Rollback()
	require.NoError(t, x.Check())
	tab, _ = x.Reader().Table("", "t")
	_, want := d.scan(x, tab)
	slices.Sort(want)
	s := x.Statement()
	got, err := seek(s, tab, ix, []index.Range{{}})
	require.NoError(t, err)
	slices.Sort(got)
	require.Equal(t, want, got)
	require.Len(t, got, 300-10+2)
	require.NoError(t, s.End(ctx))
}

// TestBuildUnique finds a key twice that came while a unique index was built,
// and leaves the table without the index then.
func TestBuildUnique(t *testing.T) {
	mem := devicetest.CPU(t)
	var during func()
	o := options(mem, 64)
	o.Kinds = append(o.Kinds, slowKind(func() { during() }))
	d := &db{t, mem, storage.Open(mem, o)}
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	tab := d.table("t")
	x := d.Begin()
	require.NoError(t, d.insert(x, tab, "1,a", "2,b"))
	require.NoError(t, x.Commit())
	during = func() {
		x := d.Begin()
		require.NoError(t, d.insert(x, tab, "2,c"))
		require.NoError(t, x.Commit())
	}
	x = d.Begin()
	_, err := x.CreateIndex(ctx, tab, catalog.Index{Kind: "slow", Unique: true, Keys: []catalog.IndexKey{{Column: 0}}})
	require.Equal(t, sqltype.CodeUnique, code(err))
	x.Rollback()
	x = d.Begin()
	require.NoError(t, d.insert(x, tab, "2,d"), "no index is left")
	require.NoError(t, x.Commit())
}

// TestBuildBesideWriters builds indexes again and again while others write.
func TestBuildBesideWriters(t *testing.T) {
	d := open(t, 256)
	tab := d.table("t")
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range 3 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(w)))
			for n := w * 1_000_000; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				x := d.Begin()
				err := d.insert(x, tab, fmt.Sprintf("%d,text", n), fmt.Sprintf("%d,more", n+500_000))
				if err == nil && rnd.IntN(3) == 0 {
					_, ids := d.scan(x, tab)
					err = do(x, func(s *storage.Statement) error {
						_, err := s.Delete(ctx, nil, tab, ids[:rnd.IntN(len(ids))/4])
						return err
					})
				}
				if err != nil || rnd.IntN(3) == 0 {
					x.Rollback()
				} else {
					_ = x.Commit()
				}
			}
		})
	}
	for i := range 40 {
		x := d.Begin()
		name := fmt.Sprint("i", i)
		ix, err := x.CreateIndex(ctx, tab, catalog.Index{Name: name, Kind: []string{"btree", "lsm"}[i%2], Keys: []catalog.IndexKey{{Column: i / 2 % 2}}})
		require.NoError(t, err)
		require.NoError(t, x.Commit())
		x = d.Begin()
		require.NoError(t, x.Check())
		now, _ := x.Reader().Table("", "t")
		_, want := d.scan(x, now)
		slices.Sort(want)
		s := x.Statement()
		got, err := seek(s, now, ix, []index.Range{{}})
		require.NoError(t, err)
		slices.Sort(got)
		require.Equal(t, want, got, "index %d", i)
		require.NoError(t, s.End(ctx))
		require.NoError(t, x.DropIndex(ctx, "", name))
		require.NoError(t, x.Commit())
	}
	close(stop)
	wg.Wait()
}
