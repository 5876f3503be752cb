package arrow

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
)

// Segment is a run of a table's rows, appended and never moved.
//
// Readers need no lock: Rows is read first, and what it counts is complete.
// Columns, births and deaths are written by Table, which holds its lock.
type Segment struct {
	id    uint32
	table *Table
	max   int // rows it may grow to

	rows    atomic.Int64           // published
	columns atomic.Pointer[layout] // replaced when it grows, when a first NULL comes, or when it is encoded

	// Births: one stamp for all rows while they share it, else one each.
	birth    atomic.Uint64
	births   atomic.Pointer[words]
	pending  atomic.Int64  // rows with an uncommitted birth
	undone   atomic.Int64  // rows whose birth was rolled back
	cut      atomic.Bool   // rows were taken off the end: counts of births do not speak of who saw them
	maxBirth atomic.Uint64 // the latest committed birth

	// Deaths: words for deathBlock rows each, made when the first of them dies.
	deaths []atomic.Pointer[words]
	dead   atomic.Int64 // rows with a death, committed or not

	statMu    sync.Mutex
	stats     []columnStats
	forgotten atomic.Int64 // dead rows that the statistics for estimates leave out
	sealed    bool         // no more rows; Table's lock

	goneMu sync.Mutex
	gone   []func() // what Release calls
}

// deathBlock is the rows that share a block of death stamps.
const deathBlock = 2048

// words are stamps in device memory.
type words struct {
	buf *device.Buffer
	at  []uint64
}

func newWords(m device.Allocator, n int, fill uint64) (*words, error) {
	b, err := m.Alloc(n * 8)
	if err != nil {
		return nil, err
	}
	w := &words{b, device.View[uint64](b.Ptr(), n)}
	for i := range w.at {
		w.at[i] = fill
	}
	return w, nil
}

func (w *words) load(i int) uint64     { return atomic.LoadUint64(&w.at[i]) }
func (w *words) store(i int, v uint64) { atomic.StoreUint64(&w.at[i], v) }

// layout is where a segment's columns lie.
type layout struct {
	capacity int
	columns  []Column
	owned    []columnMemory
}

// columnMemory is what a column owns.
type columnMemory struct {
	data, valid, dict *device.Buffer
	heap              []*device.Buffer // bytes of long strings
	heapUsed          int              // of the last of them
}

func (c *columnMemory) release() {
	c.data.Release()
	c.valid.Release()
	c.dict.Release()
	for _, h := range c.heap {
		h.Release()
	}
	*c = columnMemory{}
}

// ID is the segment's number within its table.
func (s *Segment) ID() uint32 { return s.id }

// Rows is the number of rows that are complete now. Read it once per scan, and
// before the columns.
func (s *Segment) Rows() int { return int(s.rows.Load()) }

// Dead is the number of rows that have died or were taken back, seen or not.
func (s *Segment) Dead() int { return int(s.dead.Load() + s.undone.Load()) }

// Column is column i, from row 0 on. A column that was added to the table
// after the segment was written is its default, as a dictionary of one value.
func (s *Segment) Column(i int) Column {
	l := s.columns.Load()
	if i < len(l.columns) {
		return l.columns[i]
	}
	return s.table.added(i)
}

// Visible says which of the rows lo to hi (exclusive) the snapshot sees, and
// how many they are. When that is all of them out is left alone; otherwise bit
// i of the bitmap at out, of kernels.BitmapBytes(hi-lo) bytes, is row lo+i.
func (s *Segment) Visible(p Snap, lo, hi int, out device.Ptr) int {
	return s.VisibleBits(p, lo, hi, device.View[uint64](out, kernels.BitmapBytes(max(hi-lo, 0))/8))
}

// VisibleBits is Visible with a bitmap that need not be in a device's memory.
func (s *Segment) VisibleBits(p Snap, lo, hi int, bitmap []uint64) int {
	n := hi - lo
	allBorn, noneBorn := s.bornAtOnce(&p)
	if noneBorn || n <= 0 {
		return 0
	}
	if allBorn && s.dead.Load() == 0 {
		return n
	}
	births := s.births.Load()
	if births == nil {
		allBorn = true // one birth for all, and it is seen
	}
	count := 0
	for w := range bitmap {
		from := lo + w*64
		k := min(64, hi-from)
		m := ^uint64(0) >> (64 - k)
		if !allBorn {
			m = 0
			for j := range k {
				if p.sees(births.load(from + j)) {
					m |= 1 << j
				}
			}
		}
		bitmap[w] = s.withoutDead(&p, m, from, k)
		count += bits.OnesCount64(bitmap[w])
	}
	return count
}

// SeenWhole reports that the snapshot sees all rows of the segment, and that
// none was taken back. It may say no where each row would be seen.
func (s *Segment) SeenWhole(p *Snap) bool {
	all, _ := s.bornAtOnce(p)
	return all && s.dead.Load() == 0 && s.undone.Load() == 0 && !s.cut.Load()
}

// bornAtOnce settles births for the whole segment where that can be done
// without looking at rows.
func (s *Segment) bornAtOnce(p *Snap) (all, none bool) {
	if s.births.Load() == nil {
		if b := s.birth.Load(); s.births.Load() == nil {
			return p.sees(b), !p.sees(b)
		}
	}
	// pending is raised before rows are published and lowered after maxBirth,
	// undone or cut were raised, so these reads are enough.
	if s.pending.Load() == 0 && s.undone.Load() == 0 && !s.cut.Load() && s.maxBirth.Load() <= p.Version {
		return true, false
	}
	return false, false
}

// withoutDead clears the bits of rows from on whose death is seen.
func (s *Segment) withoutDead(p *Snap, m uint64, from, k int) uint64 {
	if s.dead.Load() == 0 {
		return m
	}
	for j := 0; j < k; {
		block := s.deaths[(from+j)/deathBlock].Load()
		end := min(k, j+deathBlock-(from+j)%deathBlock)
		if block == nil {
			j = end
			continue
		}
		for ; j < end; j++ {
			if m&(1<<j) != 0 && p.sees(block.load((from+j)%deathBlock)) {
				m &^= 1 << j
			}
		}
	}
	return m
}

// Sees reports whether the snapshot sees row i.
func (s *Segment) Sees(p *Snap, i int) bool {
	return i < s.Rows() && p.sees(s.Born(i)) && !p.sees(s.Died(i))
}

// Born is the stamp of row i's birth.
func (s *Segment) Born(i int) uint64 {
	if b := s.births.Load(); b != nil {
		return b.load(i)
	}
	one := s.birth.Load()
	if b := s.births.Load(); b != nil { // the rows stopped sharing it meanwhile
		return b.load(i)
	}
	return one
}

// Died is the stamp of row i's death, Never while it lives.
func (s *Segment) Died(i int) uint64 {
	if b := s.deaths[i/deathBlock].Load(); b != nil {
		return b.load(i % deathBlock)
	}
	return Never
}

// buffers are all that the segment owns.
func (s *Segment) buffers() []*device.Buffer {
	var all []*device.Buffer
	add := func(b *device.Buffer) {
		if b != nil {
			all = append(all, b)
		}
	}
	for _, m := range s.columns.Load().owned {
		add(m.data)
		add(m.valid)
		add(m.dict)
		all = append(all, m.heap...)
	}
	if b := s.births.Load(); b != nil {
		add(b.buf)
	}
	for i := range s.deaths {
		if b := s.deaths[i].Load(); b != nil {
			add(b.buf)
		}
	}
	return all
}

// Settled is the number of rows when all of them are committed or taken back:
// their values will not change any more. Without ok they may.
func (s *Segment) Settled() (rows int, ok bool) {
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	return s.Rows(), s.pending.Load() == 0
}

// OnRelease has f called when the segment's memory goes: what was copied of it
// is of no use then. f must not ask the table.
func (s *Segment) OnRelease(f func()) {
	s.goneMu.Lock()
	defer s.goneMu.Unlock()
	s.gone = append(s.gone, f)
}

// Release gives the memory back. The segment must be out of its table, and of
// every reader's sight.
func (s *Segment) Release() {
	s.goneMu.Lock()
	gone := s.gone
	s.gone = nil
	s.goneMu.Unlock()
	for _, f := range gone {
		f()
	}
	for _, b := range s.buffers() {
		b.Release()
	}
}
