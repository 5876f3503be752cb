package storage_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/btree"
	"github.com/gpusql/gpusql/index/lsm"
	"github.com/gpusql/gpusql/index/mvcc"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/storage"
)

// looked is a device that shows what its streams are given.
type looked struct {
	device.Device
	look func(w device.Work)
}

func (d *looked) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return &lookedStream{s, d}, err
}

type lookedStream struct {
	device.Stream
	dev *looked
}

func (s *lookedStream) Submit(w device.Work) error {
	s.dev.look(w)
	return s.Stream.Submit(w)
}

// longRows is far more rows than a launch has on a device of small batches.
const longRows = 5000

// longWork is a kind of statement over many rows.
type longWork struct {
	on   []*catalog.Index // the table's
	rows int              // that are in the table
	run  func(ctx context.Context, x *storage.Tx, s *storage.Statement, t *catalog.Table) error
}

func longWorks(d *db) map[string]longWork {
	all := map[string]longWork{}
	values := make([]string, longRows)
	for i := range values {
		values[i] = fmt.Sprintf("%d,the text number %d of some", (i*7919+longRows)%20011, i*31%2500)
	}
	insert := func(ctx context.Context, _ *storage.Tx, s *storage.Statement, t *catalog.Table) error {
		b := d.batch(t, values...)
		defer b.Release()
		_, err := s.Insert(ctx, nil, t, &b.Batch)
		if err == nil {
			err = s.Flush(ctx)
		}
		return err
	}
	all["insert"] = longWork{nil, 3, insert}
	all["insert into two"] = longWork{[]*catalog.Index{primary(), {Name: "i", Keys: []catalog.IndexKey{{Column: 1}}}}, 3, insert}
	for _, kind := range []string{"btree", "lsm", "mvcc"} {
		for c, name := range []string{"integers", "text"} {
			keys := []catalog.IndexKey{{Column: c}}
			all[kind+" of "+name] = longWork{nil, longRows, func(ctx context.Context, x *storage.Tx, _ *storage.Statement, t *catalog.Table) error {
				_, err := x.CreateIndex(ctx, t, catalog.Index{Name: "made", Kind: kind, Unique: c == 0, Keys: keys})
				return err
			}}
		}
	}
	return all
}

// TestCancel runs statements over many rows: no launch of theirs has work
// without bound, and one that is cancelled during a launch leaves everything as
// it was, without a further one of the statement.
func TestCancel(t *testing.T) {
	cpu := device.NewCPU(device.CPUOptions{Streams: 1, BatchRows: 64})
	dev := &looked{Device: cpu, look: func(device.Work) {}}
	d := &db{t, dev, storage.Open(dev, storage.Options{Device: dev, Kinds: []index.Kind{btree.Kind(), lsm.Kind(), mvcc.Kind()}})}
	s, err := dev.NewStream()
	require.NoError(t, err)
	most := kernels.PieceItems(s)
	require.NoError(t, s.Close())
	n := 0
	for name, work := range longWorks(d) {
		n++
		tab := d.table(fmt.Sprint("t", n), work.on...)
		before := make([]string, work.rows)
		for i := range before {
			before[i] = fmt.Sprintf("%d,the old text number %d of some", 50000+i*7919%20011, i*31%2500)
		}
		x := d.Begin()
		require.NoError(t, d.insert(x, tab, before...))
		require.NoError(t, x.Commit())
		t.Run(name, func(t *testing.T) { cancelled(t, d, dev, tab, work, most) })
	}
	require.NoError(t, d.Close())
	require.NoError(t, cpu.Close())
}

func cancelled(t *testing.T, d *db, dev *looked, tab *catalog.Table, work longWork, most int) {
	defer func() { dev.look = func(device.Work) {} }()
	try := func(ctx context.Context, look func(calls int, w device.Work), then func(x *storage.Tx, err error)) int {
		calls := 0
		x := d.Begin()
		defer x.Rollback()
		s := x.Statement()
		dev.look = func(w device.Work) {
			calls++
			look(calls, w)
		}
		err := work.run(ctx, x, s, tab)
		dev.look = func(device.Work) {}
		if err != nil {
			s.Undo()
		} else {
			require.NoError(t, s.End(ctx))
		}
		then(x, err)
		return calls
	}
	rows := func(x *storage.Tx) int {
		lines, _ := d.scan(x, tab)
		return len(lines)
	}
	all := try(ctx, func(_ int, w device.Work) {
		if bytes := w.Name() == "copy" || w.Name() == "zero" || w.Name() == "fill"; !bytes {
			require.LessOrEqual(t, w.Items(), most, w.Name())
		}
	}, func(_ *storage.Tx, err error) { require.NoError(t, err) })
	for at := 1; at < all; at += 1 + all/20 {
		sub, cancel := context.WithCancel(ctx)
		last := try(sub, func(calls int, _ device.Work) {
			if calls == at {
				cancel()
			}
		}, func(x *storage.Tx, err error) {
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, work.rows, rows(x))
			require.NoError(t, x.Check())
		})
		require.Equal(t, at, last, "launches")
		cancel()
	}
	try(ctx, func(int, device.Work) {}, func(x *storage.Tx, err error) {
		require.NoError(t, err, "the next one works")
		require.NoError(t, x.Check())
	})
}
