package storage_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/device/faulty"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// TestFaults lets every allocation of every kind of statement fail once: the
// statement fails whole, and the transaction goes on.
func TestFaults(t *testing.T) {
	dev := devicetest.CPU(t)
	var d *db
	var tab *catalog.Table
	var x *storage.Tx
	before := []string{"1,one", "2,a string that is long", "3,NULL"}
	statements := map[string]func() error{
		"insert": func() error { return d.insert(x, tab, "4,four", "5,NULL", "6,another string that is long") },
		"bulk": func() error {
			rows := make([]string, 5000)
			for i := range rows {
				rows[i] = fmt.Sprintf("%d,one of few strings, number %d", i+10, i%3)[:14]
			}
			return d.insert(x, tab, rows...)
		},
		"update": func() error {
			_, ids := d.scan(x, tab)
			b := d.batch(tab, "3,x", "2,y", "1,z")
			defer b.Release()
			return do(x, func(s *storage.Statement) error {
				_, err := s.Update(ctx, nil, tab, ids, &b.Batch)
				return err
			})
		},
		"delete": func() error {
			_, ids := d.scan(x, tab)
			return do(x, func(s *storage.Statement) error {
				_, err := s.Delete(ctx, nil, tab, ids)
				return err
			})
		},
		"define": func() error {
			_, err := x.AddColumn(ctx, tab, catalog.Column{Name: "c", Type: sqltype.Int64}, sqltype.NewInt64(1))
			if err != nil {
				return err
			}
			_, err = x.CreateIndex(ctx, tab, catalog.Index{Keys: []catalog.IndexKey{{Column: 1}}})
			return err
		},
	}
	for name, f := range statements {
		t.Run(name, func(t *testing.T) {
			faulty.Sweep(t, dev, func(fd device.Device) error {
				d = &db{t, dev, storage.Open(fd, options(fd, 64))}
				defer func() { require.NoError(t, d.Close()) }()
				fail := fd.(*faulty.Device)
				at := fail.FailingAt()
				fail.FailAt(0)
				tab = d.table("t", primary())
				x = d.Begin()
				defer x.Rollback()
				require.NoError(t, d.insert(x, tab, before...))
				fail.FailAt(at)
				mark := x.Savepoint()
				err := f()
				failed := fail.Failed()
				fail.FailAt(0)
				if err != nil {
					x.RollbackTo(mark)
					rows, _ := d.scan(x, tab)
					require.Equal(t, before, rows)
					d.checkIndexes(x, tab, rows)
					require.NoError(t, d.insert(x, tab, "4,four", "5,NULL"), "the transaction goes on")
				}
				require.NoError(t, x.Check())
				require.NoError(t, x.Commit())
				if failed {
					fail.FailAt(1)
					_, _ = fail.Alloc(1) // tells Sweep to go on
					if err == nil {
						require.Equal(t, "bulk", name, "only dictionaries may be done without")
						require.Len(t, d.rows(tab), len(before)+5000)
						err = faulty.ErrFault
					}
				}
				return err
			}, nil)
		})
	}
}

func TestMemoryLimit(t *testing.T) {
	dev := devicetest.CPU(t)
	scope := device.NewScope(dev, device.ScopeOptions{Name: "database", Limit: 256 << 10, Setting: "memory_limit"})
	defer scope.Close()
	s := storage.Open(scope, options(dev, 0))
	defer func() { require.NoError(t, s.Close()) }()
	d := &db{t, dev, s}
	tab := d.table("t", primary())
	var err error
	for i := 0; err == nil && i < 10000; i += 100 {
		rows := make([]string, 100)
		for j := range rows {
			rows[j] = fmt.Sprintf("%d,a string of some length", i+j)
		}
		x := d.Begin()
		if err = d.insert(x, tab, rows...); err == nil {
			require.NoError(t, x.Commit())
		} else {
			x.Rollback()
		}
	}
	require.ErrorIs(t, err, device.ErrNoMemory)
	require.ErrorContains(t, err, "memory_limit")
	require.NotZero(t, len(d.rows(tab)))
	require.Zero(t, len(d.rows(tab))%100)
	x := d.Begin()
	require.NoError(t, x.DropTable(ctx, "", "t", storage.KeepThem))
	require.NoError(t, x.Commit())
	require.NoError(t, s.Settle(ctx))
	require.Zero(t, s.Bytes())
}
