package storage

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/storage/arrow"
)

// tableIndex is an index of a table.
//
//	rows ─ load ─▶ batch ─ apply ─▶ idx ◀─ askers: Seek, Probe, uniqueness
//	                 └──▶ owed: deletions that there was no memory for; they are
//	                      made before anything is inserted
type tableIndex struct {
	id      catalog.IndexID
	name    string
	unique  bool
	since   uint64        // the version that it was filled at
	keeps   time.Duration // for how long an index with history keeps what it was
	columns []int         // the keys' column ids
	carried []int         // those of the columns that are only read back
	names   []string      // of the columns, for errors
	codec   *index.Codec
	store   *Store
	home    Home
	idx     index.Index

	mu     sync.Mutex      // of what follows; held while idx changes
	stream *device.Watched // asks a statement that may be cancelled, see watched
	batch  *index.Batch
	owed   []*index.Batch
	notes  bool     // it stands in for one that is built, and notes what it is given
	log    []logged // that

	askers sync.Mutex // of idle
	idle   []*asker
}

// largeBatch is the most entries of a batch whose memory is kept for the next.
const largeBatch = 1 << 16

// newTableIndex makes an empty index by its definition.
func (s *Store) newTableIndex(t *catalog.Table, def *catalog.Index) (*tableIndex, error) {
	home, err := s.home(def.Device)
	if err != nil {
		return nil, err
	}
	x := &tableIndex{id: def.ID, name: def.Name, unique: def.Unique, keeps: def.Retention, store: s, home: home}
	var keys []index.KeyColumn
	for _, k := range def.Keys {
		c := t.Columns[k.Column]
		x.columns = append(x.columns, c.ID)
		x.names = append(x.names, c.Name)
		keys = append(keys, index.KeyColumn{Type: c.Type, NotNull: c.NotNull, Desc: k.Desc, NullsFirst: k.NullsFirst,
			Fold: c.NoCase && c.Type.Kind.IsString()})
	}
	for _, at := range def.Include {
		c := t.Columns[at]
		x.carried = append(x.carried, c.ID)
		keys = append(keys, index.KeyColumn{Type: c.Type, NotNull: c.NotNull, Carried: true})
	}
	x.codec = index.NewCodec(keys)
	x.batch = index.NewBatch(home.Memory, x.codec.Format())
	stream, err := home.Device.NewStream()
	if err != nil {
		return nil, err
	}
	x.stream = &device.Watched{Stream: stream}
	kind, _ := home.kind(def.Kind)
	if x.idx, err = kind.New(home.Memory, x.codec.Format()); err != nil {
		_ = x.stream.Close()
		return nil, err
	}
	return x, nil
}

// kind is the kind of index that is made for USING name, and what it is called:
// an index never claims to be of a kind that it is not.
func (h Home) kind(name string) (k index.Kind, called string) {
	name, _, _ = strings.Cut(strings.ToLower(name), " ")
	for _, k := range h.Kinds {
		if name == k.Name {
			return k, k.Name
		}
	}
	k = h.Kinds[0]
	if name == "" {
		return k, k.Name
	}
	return k, fmt.Sprintf("%s (for %s)", k.Name, name)
}

// close gives the index's memory back. Nobody uses it any more.
func (x *tableIndex) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range x.idle {
		a.close()
	}
	x.idle = nil
	x.batch.Release()
	for _, b := range x.owed {
		b.Release()
	}
	_ = x.idx.Close()
	_ = x.stream.Close()
}

// loadRows is the most rows whose keys are made between two looks at the context.
const loadRows = 1 << 14

// load makes the batch of the entries of some rows; x.mu is held. nulls, if not
// nil, says which keys have a NULL.
func (x *tableIndex) load(ctx context.Context, spans []arrow.Span) (nulls []bool, err error) {
	x.batch.Reset()
	for _, p := range spans {
		columns := x.columnsOf(p.Segment)
		for lo := p.Lo; lo < p.Hi; lo += loadRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			from, hi := x.batch.Len(), min(p.Hi, lo+loadRows)
			some := addKeys(x.batch, x.codec, columns, lo, hi)
			if some != nil {
				nulls = append(append(nulls, make([]bool, from-len(nulls))...), some...)
			}
			for i := lo; i < hi; i++ {
				x.batch.Rows = append(x.batch.Rows, uint64(arrow.RowID(p.Segment.ID(), i)))
			}
		}
	}
	if nulls != nil {
		nulls = append(nulls, make([]bool, x.batch.Len()-len(nulls))...)
	}
	return nulls, nil
}

// columnsOf are the key columns of a segment, and the carried ones.
func (x *tableIndex) columnsOf(s *arrow.Segment) []arrow.Column {
	columns := make([]arrow.Column, 0, len(x.columns)+len(x.carried))
	for _, id := range x.columns {
		columns = append(columns, s.Column(id))
	}
	for _, id := range x.carried {
		columns = append(columns, s.Column(id))
	}
	return columns
}

// apply brings the batch into the index; x.mu is held. With an error nothing is
// changed. The entries are valid until the batch is loaded again.
func (x *tableIndex) apply(op index.Op) (index.Entries, error) {
	if x.notes {
		if x.batch.Len() > 0 {
			x.log = append(x.log, logged{x.batch, op})
			x.batch = index.NewBatch(x.home.Memory, x.codec.Format())
		}
		return index.Entries{}, nil
	}
	e, err := x.batch.Upload(x.stream)
	if err != nil {
		return e, err
	}
	e.Op = op
	v := x.next()
	if err := x.idx.Apply(x.stream, v, e); err != nil {
		return e, err
	}
	horizon := v
	if x.keeps > 0 {
		horizon = x.store.manager.Ago(x.keeps)
	}
	_ = x.idx.Prune(x.stream, horizon) // what is not cleaned up now is the next time
	return e, nil
}

// next is the first version that may see what is applied now.
func (x *tableIndex) next() index.Version { return x.store.manager.Clock() + 1 }

// insert brings the entries of rows in. With an error nothing is changed.
func (x *tableIndex) insert(ctx context.Context, spans []arrow.Span) (e index.Entries, nulls []bool, err error) {
	x.stream.Ask = ctx.Err
	defer func() { x.stream.Ask = nil }()
	// A row that is owed may have its place used again by one that comes now.
	if err := x.pay(); err != nil {
		return e, nil, err
	}
	if nulls, err = x.load(ctx, spans); err == nil {
		e, err = x.apply(index.Insert)
	}
	return e, nulls, err
}

// erase deletes the entries of rows, or owes it. Nothing stops it.
func (x *tableIndex) erase(spans []arrow.Span) {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer x.trim()
	_, _ = x.load(context.Background(), spans)
	if x.batch.Len() == 0 {
		return
	}
	if _, err := x.apply(index.Delete); err != nil {
		x.batch.Release()
		x.owed = append(x.owed, x.batch)
		x.batch = index.NewBatch(x.home.Memory, x.codec.Format())
		return
	}
	_ = x.pay() // or later
}

// pay makes the deletions that are owed.
func (x *tableIndex) pay() error {
	kept := x.batch
	defer func() { x.batch = kept }()
	for len(x.owed) > 0 {
		x.batch = x.owed[len(x.owed)-1]
		if _, err := x.apply(index.Delete); err != nil {
			x.batch.Release()
			return err
		}
		x.batch.Release()
		x.owed = x.owed[:len(x.owed)-1]
	}
	return nil
}

// trim gives back the memory of a large batch.
func (x *tableIndex) trim() {
	if x.batch.Len() > largeBatch {
		x.batch.Release()
		x.batch = index.NewBatch(x.home.Memory, x.codec.Format())
	}
}

// keyOf is the key of a row for an error: (a, b)=(1, x).
func (x *tableIndex) keyOf(t *table, row int64) string {
	s, i := t.rows.At(row)
	var values []string
	for _, id := range x.columns {
		c := s.Column(id)
		values = append(values, c.Datum(i).String())
	}
	return "(" + strings.Join(x.names, ", ") + ")=(" + strings.Join(values, ", ") + ")"
}

// spansOf are rows by id as spans, of those that are there still.
func (t *table) spansOf(rows []int64) (spans []arrow.Span) {
	for _, id := range rows {
		s, i := t.rows.At(id)
		if s == nil {
			continue
		}
		if n := len(spans); n > 0 && spans[n-1].Segment == s && spans[n-1].Hi == i {
			spans[n-1].Hi++
			continue
		}
		spans = append(spans, arrow.Span{Segment: s, Lo: i, Hi: i + 1})
	}
	return spans
}

// Check verifies the indexes of all tables that the transaction sees, for tests.
func (x *Tx) Check() error {
	for _, e := range x.version.tables {
		if err := e.data.check(); err != nil {
			return err
		}
	}
	return nil
}

// check holds what keeps an index that is dropped from going meanwhile.
func (t *table) check() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.list() {
		if err := x.check(); err != nil {
			return fmt.Errorf("index %s: %w", x.name, err)
		}
	}
	return nil
}

func (x *tableIndex) check() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.idx.Check(x.stream)
}
