package storage

import (
	"bytes"
	"context"
	"slices"
	"unsafe"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// pending is rows of a table whose index entries wait for the statement's end.
type pending struct {
	data *table
	def  *catalog.Table
	rows []*inserted
}

func (p *pending) flush(ctx context.Context, s *Statement) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	return s.enter(ctx, p.data, p.def, p.rows)
}

// enter puts the entries of appended rows into all indexes of their table, and
// checks that unique ones stay so. Taking the rows back takes the entries out.
func (s *Statement) enter(ctx context.Context, d *table, t *catalog.Table, rows []*inserted) error {
	for _, x := range d.list() {
		if err := s.enterOne(ctx, d, t, x, rows); err != nil {
			return err
		}
	}
	return nil
}

func (s *Statement) enterOne(ctx context.Context, d *table, t *catalog.Table, x *tableIndex, rows []*inserted) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer x.trim()
	spans := make([]arrow.Span, len(rows))
	for i, c := range rows {
		spans[i] = c.span
	}
	e, nulls, err := x.insert(ctx, spans)
	if err != nil {
		return err
	}
	for _, c := range rows {
		c.lacks = slices.DeleteFunc(c.lacks, func(o *tableIndex) bool { return o == x })
	}
	if !x.unique {
		return nil
	}
	a, err := x.ask(ctx, index.Latest)
	if err != nil {
		return err
	}
	defer a.done(d)
	return a.shared(d, e, nulls, func(rows []int64) error {
		switch id, one, two := s.living(d, rows); {
		case one == alive && two == alive:
			return d.duplicate(x, id)
		case one != gone && two != gone:
			return errConflict(t)
		}
		a.unseen += len(rows) - 1
		return nil
	})
}

// living is the best fates of two rows of the same key, and one of them.
func (s *Statement) living(d *table, rows []int64) (id int64, one, two fate) {
	for _, row := range rows {
		f := s.fate(d, row)
		if f == alive && one != alive || f != gone && one == gone {
			id, one, two = row, f, one
		} else if f == alive || f != gone && two == gone {
			two = f
		}
		if two == alive {
			break
		}
	}
	return id, one, two
}

// sharedBatch is how many keys are looked up at a time, and sharedPart the part
// of an index's entries from which on all of them are rather read in order.
const (
	sharedBatch = 1 << 14
	sharedPart  = 8
)

// shared calls f with the rows of each key of e that more than one row has. Keys
// with NULLs are not among them.
func (a *asker) shared(d *table, e index.Entries, nulls []bool, f func(rows []int64) error) error {
	format := a.x.codec.Format()
	// What runs compares must be in the host's reach.
	tails := format.Long && !a.x.home.Device.Traits().HostBytes
	if n := int64(e.Keys.N); !tails && n > sharedBatch && n*sharedPart > a.x.idx.Stats().Entries {
		return a.runs(d, f)
	}
	if a.x.codec.Carries() {
		return a.sharedPrefixes(nulls, f)
	}
	size := format.Size()
	for from := 0; from < e.Keys.N; {
		if nulls != nil && nulls[from] {
			from++
			continue
		}
		to := from + 1
		for to < min(e.Keys.N, from+sharedBatch) && (nulls == nil || !nulls[to]) {
			to++
		}
		if err := a.lookup(index.Keys{Data: e.Keys.Data + device.Ptr(size*from), N: to - from}); err != nil {
			return err
		}
		for i := range to - from {
			if rows := a.of(i); len(rows) > 1 {
				if err := f(rows); err != nil {
					return err
				}
			}
		}
		from = to
	}
	return nil
}

// sharedPrefixes is shared for the entries of the index's batch, whose keys are the
// beginnings of what the index has.
func (a *asker) sharedPrefixes(nulls []bool, f func(rows []int64) error) error {
	b := a.x.batch
	for from := 0; from < b.Len(); from += sharedBatch {
		ivs := make([]index.Interval, 0, sharedBatch)
		for i := from; i < min(b.Len(), from+sharedBatch); i++ {
			iv := index.Interval{Empty: true}
			if nulls == nil || !nulls[i] {
				iv = b.Interval(a.x.codec, i)
			}
			ivs = append(ivs, iv)
		}
		if err := a.probeIntervals(ivs); err != nil {
			return err
		}
		for i := range ivs {
			if rows := a.of(i); len(rows) > 1 {
				if err := f(rows); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// runs calls f with the rows of each key without NULLs that more than one row has.
func (a *asker) runs(d *table, f func(rows []int64) error) error {
	c := a.x.codec
	size := c.Format().Size()
	one := index.Found{Keys: true, Codec: c}
	var key []byte
	var run []int64
	end := func() error {
		if len(run) < 2 || hasNull(keyAt(d, a.x.columns, run[0])) {
			return nil
		}
		return f(run)
	}
	err := a.scan(index.Interval{NoHi: true}, index.Order{Keys: true}, func(rows []int64) (bool, error) {
		for i, row := range rows {
			k := a.keys[i*size : (i+1)*size]
			same := false
			if c.Carries() {
				one.Reset()
				one.Add(row, unsafe.Pointer(&k[0]))
				k = one.KeyBytes(0)
				same = bytes.Equal(key, k)
			} else {
				same = run != nil && c.Format().Same(key, k)
			}
			if !same {
				if err := end(); err != nil {
					return false, err
				}
				key, run = append(key[:0], k...), run[:0]
			}
			run = append(run, row)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return end()
}

// fate is what becomes of a row, as far as a statement can tell.
type fate uint8

const (
	gone      fate = iota // it is dead for this transaction and all later ones
	alive                 // it lives, whether the statement's snapshot sees it or not
	contested             // that depends on a transaction which the snapshot does not see
)

func (s *Statement) fate(d *table, row int64) fate {
	g, i := d.rows.At(row)
	if g == nil {
		return gone
	}
	born, died := g.Born(i), g.Died(i)
	switch {
	case born == arrow.Never || died <= s.snap.Version:
		return gone
	case died != arrow.Never && sameTx(died, s.snap.Own):
		return gone
	case died != arrow.Never:
		return contested
	case born >= arrow.Uncommitted && !sameTx(born, s.snap.Own):
		return contested
	}
	return alive
}

// duplicate is the error for a row whose key is there already.
func (t *table) duplicate(x *tableIndex, row int64) error {
	return sqltype.Errorf(sqltype.CodeUnique,
		"duplicate key value violates unique constraint \"%s\": key %s already exists", x.name, x.keyOf(t, row))
}
