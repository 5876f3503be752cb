package storage_test

import (
	"fmt"
	"testing"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
	"github.com/gpusql/gpusql/storage/arrow"
)

// keyed makes a table with n rows and a primary key.
func keyed(b *testing.B, n int) (*db, *catalog.Table) {
	d := open(b, 0)
	tab := d.table("t", primary())
	x := d.Begin()
	if err := d.load(x, tab, 0, n); err != nil {
		b.Fatal(err)
	}
	if err := x.Commit(); err != nil {
		b.Fatal(err)
	}
	return d, tab
}

// load inserts rows lo to hi in one statement, in batches of 16384.
func (d *db) load(x *storage.Tx, t *catalog.Table, lo, hi int) error {
	return do(x, func(s *storage.Statement) error {
		for ; lo < hi; lo += 16384 {
			var rows [][]sqltype.Datum
			for i := lo; i < min(hi, lo+16384); i++ {
				rows = append(rows, []sqltype.Datum{sqltype.NewInt32(int32(i * 7919)), sqltype.NewString("value")})
			}
			b, err := arrow.FromDatums(d.mem, []sqltype.Type{sqltype.Int32, sqltype.Varchar}, rows)
			if err != nil {
				return err
			}
			_, err = s.Insert(ctx, nil, t, &b.Batch)
			b.Release()
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkSeek(b *testing.B) {
	d, tab := keyed(b, 1_000_000)
	var found index.Found
	i := 0
	for b.Loop() {
		i = (i + 7919) % 1_000_000
		x := d.Begin()
		s := x.Statement()
		key := sqltype.NewInt32(int32(i * 7919))
		found.Reset()
		err := s.Seek(ctx, nil, tab, tab.Indexes[0], []index.Range{{Prefix: []sqltype.Datum{key}}}, &found)
		if err != nil || len(found.Rows) != 1 {
			b.Fatal(err, len(found.Rows))
		}
		if err := s.End(ctx); err != nil {
			b.Fatal(err)
		}
		if err := x.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInsertOne(b *testing.B) {
	d, tab := keyed(b, 1_000_000)
	i := 1_000_000
	for b.Loop() {
		x := d.Begin()
		if err := d.insert(x, tab, fmt.Sprintf("%d,x", int32(i*7919))); err != nil {
			b.Fatal(err)
		}
		if err := x.Commit(); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkLoad(b *testing.B) {
	d := open(b, 0)
	tab := d.table("t", primary())
	for b.Loop() {
		x := d.Begin()
		if err := d.load(x, tab, 0, 1_000_000); err != nil {
			b.Fatal(err)
		}
		x.Rollback()
	}
}
