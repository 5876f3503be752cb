package storage

import (
	"context"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// An index is built while others go on changing its table:
//
//	committed rows ─────────── load, sort, build ─────────────▶ index
//	rows that are not yet ─▶ log ── a part at a time, the last ──▲
//	what changes meanwhile ──▲      while nobody changes the table
//
// Committed rows stay as they are, so that they are read without a lock. All else
// reaches the log in the order in which it happens: a stand-in is among the
// table's indexes, and notes the entries it is given.
type building struct {
	data    *table
	made    *tableIndex
	standIn *tableIndex
}

// logged is entries that a stand-in was given.
type logged struct {
	batch *index.Batch
	op    index.Op
}

// fill makes an index of the rows that are there, and adds it to the storage.
func (x *Tx) fill(ctx context.Context, data *table, def *catalog.Table, d *catalog.Index) error {
	made, err := x.store.newTableIndex(def, d)
	if err != nil {
		return err
	}
	noted, err := x.store.newTableIndex(def, d)
	if err != nil {
		made.close()
		return err
	}
	noted.notes, noted.unique = true, false
	b := building{data, made, noted}
	if err := b.run(ctx, x, def); err != nil {
		made.close()
		return err
	}
	x.tx.Log(indexed{data, d.ID})
	return nil
}

// run builds the index, and puts it into its stand-in's place.
func (b *building) run(ctx context.Context, x *Tx, def *catalog.Table) error {
	committed, err := b.begin(ctx)
	if err == nil {
		err = b.made.addAll(ctx, committed)
	}
	if err == nil {
		err = b.follow(ctx)
	}
	b.data.mu.Lock()
	defer b.data.mu.Unlock()
	if err == nil {
		err = b.made.replay(ctx, b.standIn.takeLog())
	}
	if err == nil && b.made.unique {
		err = b.unique(ctx, x, def)
	}
	b.data.remove(b.standIn.id)
	if err == nil {
		b.made.since = b.made.next()
		b.data.add(b.made)
	}
	return err
}

// begin puts the stand-in up, and returns the rows that are committed. It is
// given the others, which may be taken back.
func (b *building) begin(ctx context.Context) (committed []arrow.Span, err error) {
	b.data.mu.Lock()
	defer b.data.mu.Unlock()
	var others []arrow.Span
	for _, g := range b.data.rows.Segments() {
		if rows, settled := g.Settled(); settled {
			committed = append(committed, arrow.Span{Segment: g, Lo: 0, Hi: rows})
			continue
		}
		for lo, end := 0, g.Rows(); lo < end; {
			open := g.Born(lo) >= arrow.Uncommitted
			hi := lo + 1
			for hi < end && g.Born(hi) >= arrow.Uncommitted == open {
				hi++
			}
			span := arrow.Span{Segment: g, Lo: lo, Hi: hi}
			if open {
				others = append(others, span)
			} else {
				committed = append(committed, span)
			}
			lo = hi
		}
	}
	b.data.add(b.standIn)
	return committed, b.standIn.addAll(ctx, others)
}

// addAll brings the entries of rows into an index of which nothing is asked yet.
func (x *tableIndex) addAll(ctx context.Context, spans []arrow.Span) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer x.trim()
	_, _, err := x.insert(ctx, spans)
	return err
}

// follows is how often the log is followed before its rest must wait until nobody
// changes the table: each time there is less of it, if writers are slower than
// the index.
const follows = 8

// follow brings what was noted into the index, while more is.
func (b *building) follow(ctx context.Context) error {
	for range follows {
		log := b.standIn.takeLog()
		if err := b.made.replay(ctx, log); err != nil {
			return err
		}
		entries := 0
		for _, l := range log {
			entries += l.batch.Len()
		}
		if entries < bulkRows {
			break
		}
	}
	return nil
}

// takeLog is what was noted since it was asked the last time.
func (x *tableIndex) takeLog() []logged {
	x.mu.Lock()
	defer x.mu.Unlock()
	log := x.log
	x.log = nil
	return log
}

// replay brings noted entries in, in their order.
func (x *tableIndex) replay(ctx context.Context, log []logged) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	kept := x.batch
	defer func() { x.batch = kept }()
	for _, l := range log {
		if err := ctx.Err(); err != nil {
			return err
		}
		x.batch = l.batch
		_, err := x.apply(l.op)
		l.batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// unique checks that no two rows that live have the same key, now: a row that
// was replaced while the index was built is dead, whatever the transaction sees.
func (b *building) unique(ctx context.Context, t *Tx, def *catalog.Table) error {
	open := t.open
	s := t.Statement()
	t.open = open
	s.snap.Version = t.store.manager.Clock()
	x := b.made
	x.mu.Lock()
	defer x.mu.Unlock()
	a, err := x.ask(ctx, index.Latest)
	if err != nil {
		return err
	}
	defer a.done(b.data)
	return a.runs(b.data, func(rows []int64) error {
		switch id, one, two := s.living(b.data, rows); {
		case one == alive && two == alive:
			return sqltype.Errorf(sqltype.CodeUnique, "could not create unique index \"%s\": key %s is duplicated", x.name, x.keyOf(b.data, id))
		case one != gone && two != gone:
			return errConflict(def)
		}
		return nil
	})
}
