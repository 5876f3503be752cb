package arrow

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// SegmentRows is the most rows of a segment, unless one batch is larger.
const SegmentRows = 131072

// ErrConflict: a row was changed by a transaction that the snapshot does not
// see. The first to write wins.
var ErrConflict = errors.New("row was changed by another transaction")

// Table is the rows of a base table, in host memory: the master copy, from
// which a device that cannot reach host memory keeps its own.
//
// Readers take Segments and ask no lock. Changes take one, for as long as a
// batch is copied. Which transaction may change what is package storage's
// business.
type Table struct {
	mem         device.Allocator
	segmentRows int
	workers     int

	mu       sync.Mutex
	types    []sqltype.Type
	segments atomic.Pointer[[]*Segment]
	nextID   uint32
	retired  []*device.Buffer
	extra    atomic.Pointer[addedColumns]
	closed   bool
}

// TableOptions adapt a table; the zero value is what a table should have.
type TableOptions struct {
	SegmentRows int // fewer rows a segment, for tests
	Workers     int // the most goroutines that write columns of a batch; 0: one
}

// NewTable returns an empty table whose memory comes from m, which must give
// host memory.
func NewTable(m device.Allocator, types []sqltype.Type, o TableOptions) *Table {
	if o.SegmentRows <= 0 {
		o.SegmentRows = SegmentRows
	}
	t := &Table{mem: m, segmentRows: o.SegmentRows, workers: o.Workers, types: slices.Clone(types)}
	t.segments.Store(&[]*Segment{})
	t.extra.Store(&addedColumns{})
	return t
}

// Types are the types of the columns, by column id.
func (t *Table) Types() []sqltype.Type {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.types)
}

// Segments are the table's segments by ID, ascending. The slice is never changed.
func (t *Table) Segments() []*Segment { return *t.segments.Load() }

// Snap is the table at a version, with the own writes of the statement stamped own.
func (t *Table) Snap(version, own uint64) Snap {
	return Snap{Version: version, Own: own, Segments: t.Segments()}
}

// Span is rows that one call appended.
type Span struct {
	Segment *Segment
	Lo, Hi  int
}

// FirstRow is the id of the span's first row; the others follow.
func (p Span) FirstRow() int64 { return RowID(p.Segment.id, p.Lo) }

// Commit makes the rows of a span be born at version. The version's snapshots
// must not be given out before that.
func (t *Table) Commit(p Span, version uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := p.Segment
	s.maxBirth.Store(max(s.maxBirth.Load(), version))
	if b := s.births.Load(); b != nil {
		for i := p.Lo; i < p.Hi; i++ {
			b.store(i, version)
		}
	} else {
		s.birth.Store(version)
	}
	s.pending.Add(int64(p.Lo - p.Hi))
}

// Undo takes the rows of a span back: the room is used again when nothing
// comes after them.
func (t *Table) Undo(p Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := p.Segment
	n := int64(p.Hi - p.Lo)
	switch b := s.births.Load(); {
	case s.Rows() == p.Hi:
		s.cut.Store(true) // readers may have counted the rows
		s.rows.Store(int64(p.Lo))
	case b != nil:
		for i := p.Lo; i < p.Hi; i++ {
			b.store(i, Never)
		}
		s.undone.Add(n)
	default:
		panic("arrow: undo of rows in the middle of one statement's")
	}
	s.pending.Add(-n)
	if all := t.Segments(); s.Rows() == 0 && all[len(all)-1] == s {
		rest := all[: len(all)-1 : len(all)-1]
		t.segments.Store(&rest)
		t.retired = append(t.retired, s.buffers()...)
	}
}

// Delete stamps the death of a row that snapshot p sees, and reports whether
// there was one. A row that died otherwise is ErrConflict.
func (t *Table) Delete(p *Snap, row int64, stamp uint64) (bool, error) {
	id, i := SplitRowID(row)
	s := p.Segment(id)
	if s == nil || i >= s.Rows() || !p.sees(s.Born(i)) {
		return false, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	died := s.Died(i)
	switch {
	case died == stamp || p.sees(died):
		return false, nil // by this statement already, or before it
	case died != Never:
		return false, ErrConflict
	}
	block := s.deaths[i/deathBlock].Load()
	if block == nil {
		var err error
		if block, err = newWords(t.mem, min(deathBlock, s.max), Never); err != nil {
			return false, err
		}
		s.deaths[i/deathBlock].Store(block)
	}
	s.dead.Add(1)
	block.store(i%deathBlock, stamp)
	return true, nil
}

// CommitDeletes makes deleted rows be dead at version.
func (t *Table) CommitDeletes(rows []int64, version uint64) { t.restamp(rows, version) }

// UndoDeletes makes deleted rows live again.
func (t *Table) UndoDeletes(rows []int64) { t.restamp(rows, Never) }

func (t *Table) restamp(rows []int64, stamp uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var s *Segment
	for _, row := range rows {
		id, i := SplitRowID(row)
		if s == nil || s.id != id {
			s = t.segment(id)
		}
		s.deaths[i/deathBlock].Load().store(i%deathBlock, stamp)
		if stamp == Never {
			s.dead.Add(-1)
		}
	}
}

func (t *Table) segment(id uint32) *Segment {
	p := Snap{Segments: t.Segments()}
	return p.Segment(id)
}

// At finds the segment and offset of a row id; nil when the segment is gone.
func (t *Table) At(row int64) (*Segment, int) {
	id, i := SplitRowID(row)
	return t.segment(id), i
}

// Retired hands over memory that no new reader can reach. The caller releases
// it when the readers of now have gone.
func (t *Table) Retired() []*device.Buffer {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.retired
	t.retired = nil
	return r
}

// DropDead takes segments out in which no row lives at horizon or later, and
// hands them over as Retired does. The last segment stays.
func (t *Table) DropDead(horizon uint64) []*Segment {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.Segments()
	var gone []*Segment
	keep := make([]*Segment, 0, len(all))
	for i, s := range all {
		if i < len(all)-1 && s.deadAt(horizon) {
			gone = append(gone, s)
		} else {
			keep = append(keep, s)
		}
	}
	if len(gone) > 0 {
		t.segments.Store(&keep)
	}
	return gone
}

func (s *Segment) deadAt(horizon uint64) bool {
	n := s.Rows()
	if s.pending.Load() > 0 || int(s.dead.Load()+s.undone.Load()) < n {
		return false
	}
	for i := range n {
		if s.Born(i) != Never && s.Died(i) > horizon {
			return false
		}
	}
	return true
}

// Bytes is the device memory that the table's rows take.
func (t *Table) Bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := int64(0)
	for _, s := range t.Segments() {
		for _, b := range s.buffers() {
			n += int64(b.Len())
		}
	}
	return n
}

// Close gives all memory back. No reader may be left.
func (t *Table) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.closed = true
	for _, s := range t.Segments() {
		s.Release()
	}
	for _, b := range t.retired {
		b.Release()
	}
	t.extra.Load().release()
	t.retired = nil
	t.segments.Store(&[]*Segment{})
}

// addedColumns are columns that older segments do not have: constants, as
// dictionaries of one value that all share their codes.
type addedColumns struct {
	first   int // the id of columns[0]
	columns []Column
	memory  []*device.Buffer
}

func (a *addedColumns) release() {
	for _, b := range a.memory {
		b.Release()
	}
}

func (t *Table) added(i int) Column {
	a := t.extra.Load()
	return a.columns[i-a.first]
}

// AddColumn adds a column, and returns its id. Rows that are there have value
// d in it.
func (t *Table) AddColumn(typ sqltype.Type, d sqltype.Datum) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.extra.Load()
	a := &addedColumns{first: old.first, columns: slices.Clone(old.columns), memory: slices.Clone(old.memory)}
	if len(a.columns) == 0 {
		a.first = len(t.types)
	}
	// Codes and, for NULL, validity: zeros for the largest segment.
	rows := t.segmentRows
	for _, s := range t.Segments() {
		rows = max(rows, s.max)
	}
	zeros, err := zeroed(t.mem, rows*4)
	if err != nil {
		return 0, err
	}
	value, err := zeroed(t.mem, 16+len(d.S))
	if err != nil {
		zeros.Release()
		return 0, err
	}
	a.memory = append(a.memory, zeros, value)
	c := Column{Type: typ, Vec: kernels.Vec{Data: zeros.Ptr(), Dict: value.Ptr(), DictLen: 1}}
	if d.Null {
		c.Vec.Valid = zeros.Ptr()
	} else {
		PutDatum(typ, value.Ptr(), 0, d, value.Ptr()+16)
	}
	a.columns = append(a.columns, c)
	t.extra.Store(a)
	t.types = append(t.types, typ)
	t.seal() // the open segment lacks the column
	return len(t.types) - 1, nil
}

func zeroed(m device.Allocator, n int) (*device.Buffer, error) {
	b, err := m.Alloc(n)
	if err != nil {
		return nil, err
	}
	clear(device.View[byte](b.Ptr(), n))
	return b, nil
}

// seal closes the last segment to further rows. t.mu is held.
func (t *Table) seal() {
	if all := t.Segments(); len(all) > 0 {
		all[len(all)-1].sealed = true
	}
}
