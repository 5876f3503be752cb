package storage_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/btree"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// Of a table whose other rows are left alone, one row is changed all the time:
// the entries of what it was are few, however large the table is, for its
// readers have to walk over them.
func TestEntriesOfOneKeyStayFew(t *testing.T) {
	const rows, changes = 20_000, 1_000
	var idx index.Index
	kind := btree.Kind()
	dev := devicetest.CPU(t)
	s := storage.Open(dev, storage.Options{Device: dev, Kinds: []index.Kind{{Name: kind.Name,
		New: func(m device.Allocator, f index.Format) (index.Index, error) {
			var err error
			idx, err = kind.New(m, f)
			return idx, err
		}}}})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	d := &db{t, dev, s}
	tab := d.table("t", primary())
	var all []string
	for i := range rows {
		all = append(all, fmt.Sprintf("%d,x", i))
	}
	x := d.Begin()
	require.NoError(t, d.insert(x, tab, all...))
	require.NoError(t, x.Commit())

	held := d.Begin() // until it ends nothing may go
	seven := []index.Range{{Prefix: []sqltype.Datum{sqltype.NewInt32(7)}}}
	change := func() {
		x := d.Begin()
		b := d.batch(tab, "7,y")
		defer b.Release()
		require.NoError(t, do(x, func(s *storage.Statement) error {
			ids, err := seek(s, tab, tab.Indexes[0], seven)
			require.NoError(t, err)
			require.Len(t, ids, 1)
			_, err = s.Update(ctx, nil, tab, ids, &b.Batch)
			return err
		}))
		require.NoError(t, x.Commit())
	}
	for range changes {
		change()
	}
	require.NoError(t, d.Settle(ctx))
	require.EqualValues(t, rows+changes, idx.Stats().Entries)
	held.Rollback()
	require.NoError(t, d.Settle(ctx))
	for range 2 * changes {
		change()
	}
	require.NoError(t, d.Settle(ctx))
	require.Less(t, idx.Stats().Entries, int64(rows+100))

	x = d.Begin()
	defer x.Rollback()
	require.NoError(t, x.Check())
}
