package storage

import (
	"context"
	"unsafe"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/storage/arrow"
)

// asker asks an index, on a stream of its own, of the device in whose memory the
// index lies, whatever device the query runs on. An index keeps some for the next
// questions.
type asker struct {
	x      *tableIndex
	stream *device.Watched
	lo, hi *index.Batch
	answer *index.Answer
	last   *device.Buffer // the key where a scan goes on
	snap   index.Snapshot
	unseen int // entries met whose rows the snapshot does not see

	offsets []uint64
	rows    []int64
	keys    []byte
}

// idleAskers is how many an index keeps, and idleRows the most rows of theirs.
const (
	idleAskers = 8
	idleRows   = 1 << 16
)

// ask takes a snapshot of the index, for work that ends with the context. done
// must follow.
func (x *tableIndex) ask(ctx context.Context) (*asker, error) {
	a, err := x.asker()
	if err != nil {
		return nil, err
	}
	if a.snap, err = x.idx.Snapshot(index.Latest); err != nil {
		a.close()
		return nil, err
	}
	a.stream.Ask = ctx.Err
	return a, nil
}

func (x *tableIndex) asker() (*asker, error) {
	x.askers.Lock()
	defer x.askers.Unlock()
	if n := len(x.idle); n > 0 {
		a := x.idle[n-1]
		x.idle = x.idle[:n-1]
		return a, nil
	}
	m, f := x.home.Memory, x.codec.Format()
	s, err := x.home.Device.NewStream()
	if err != nil {
		return nil, err
	}
	return &asker{x: x, stream: &device.Watched{Stream: s}, lo: index.NewBatch(m, f), hi: index.NewBatch(m, f), answer: index.NewAnswer(m)}, nil
}

// done ends the snapshot of an index of d and keeps the asker for others.
func (a *asker) done(d *table) {
	d.met(a.unseen)
	a.snap.Release()
	a.snap, a.stream.Ask, a.unseen = nil, nil, 0
	a.x.askers.Lock()
	defer a.x.askers.Unlock()
	if len(a.x.idle) < idleAskers && cap(a.rows) <= idleRows && cap(a.offsets) <= idleRows {
		a.x.idle = append(a.x.idle, a)
		return
	}
	a.close()
}

func (a *asker) close() {
	a.lo.Release()
	a.hi.Release()
	a.answer.Release()
	a.last.Release()
	_ = a.stream.Close()
}

// read brings the answer to the host.
func (a *asker) read() error {
	a.offsets = grown(a.offsets, a.answer.N+1)
	a.rows = grown(a.rows, a.answer.Total)
	if err := a.stream.Download(bytesOf(a.offsets), a.answer.Offsets()); err != nil {
		return err
	}
	if len(a.rows) == 0 {
		return nil
	}
	return a.stream.Download(bytesOf(a.rows), a.answer.Rows())
}

// grown is a slice of n values whose contents do not matter.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n+n/4)
	}
	return s[:n]
}

func bytesOf[T uint64 | int64](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}

// lookup asks for keys, and reads the rows of each.
func (a *asker) lookup(k index.Keys) error {
	if err := a.snap.Lookup(a.stream, k, a.answer); err != nil {
		return err
	}
	return a.read()
}

// of are the rows of answer i.
func (a *asker) of(i int) []int64 { return a.rows[a.offsets[i]:a.offsets[i+1]] }

// A scan that may be stopped asks for firstRows entries, then for more and more.
const (
	firstRows = 1 << 8
	mostRows  = 1 << 17
)

// scan calls yield with the rows of an interval, some at a time, until it
// returns false. a.keys are their keys, if they are asked for.
func (a *asker) scan(iv index.Interval, o index.Order, yield func(rows []int64) (bool, error)) error {
	if iv.Empty {
		return nil
	}
	q, err := a.bounds(iv)
	if err != nil {
		return err
	}
	keys := o.Keys
	o.Limit, o.Keys = max(o.Limit, firstRows), true
	size := a.x.codec.Format().Size()
	for {
		if err := a.snap.Scan(a.stream, q, o, a.answer); err != nil {
			return err
		}
		if err := a.read(); err != nil {
			return err
		}
		if a.keys = grown(a.keys, size*len(a.rows)); keys && len(a.rows) > 0 {
			if err := a.stream.Download(a.keys, a.answer.Keys()); err != nil {
				return err
			}
		}
		more, err := yield(a.rows)
		if err != nil || !more || len(a.rows) < o.Limit {
			return err
		}
		if err := a.goOn(&q, o.Direction); err != nil {
			return err
		}
		o.Limit = min(8*o.Limit, mostRows)
	}
}

// bounds uploads an interval.
func (a *asker) bounds(iv index.Interval) (q index.Ranges, err error) {
	q.N = 1
	a.lo.Reset()
	a.lo.Add(iv.Lo)
	e, err := a.lo.Upload(a.stream)
	if err != nil {
		return q, err
	}
	q.Lo.Keys = e.Keys.Data
	if iv.NoHi {
		return q, nil
	}
	a.hi.Reset()
	a.hi.Add(iv.Hi)
	e, err = a.hi.Upload(a.stream)
	q.Hi.Keys = e.Keys.Data
	return q, err
}

// goOn moves one end of a range to behind the last entry of the answer.
func (a *asker) goOn(q *index.Ranges, d index.Direction) error {
	size := a.x.codec.Format().Size()
	if a.last == nil {
		var err error
		if a.last, err = a.x.home.Memory.Alloc(size + 16); err != nil {
			return err
		}
	}
	n := len(a.rows)
	key, row := make([]byte, size), []int64{a.rows[n-1]}
	if err := a.stream.Download(key, a.answer.Keys()+device.Ptr((n-1)*size)); err != nil {
		return err
	}
	end := &q.Hi
	if d == index.Forward {
		end = &q.Lo
		row[0]++
	}
	end.Rows = a.last.Ptr()
	end.Keys = a.last.Ptr() + 8
	if err := a.stream.Upload(end.Rows, bytesOf(row)); err != nil {
		return err
	}
	return a.stream.Upload(end.Keys, key)
}

// Seek appends the ids of the rows whose keys lie in each of the ranges, one
// range after the other, in key order, of each at most its Limit if that is
// above 0.
func (s *Statement) Seek(ctx context.Context, _ device.Stream, t *catalog.Table, ix *catalog.Index, ranges []index.Range, rows []int64) ([]int64, error) {
	d, x, err := s.indexOf(t, ix)
	if err != nil {
		return rows, err
	}
	a, err := x.ask(ctx)
	if err != nil {
		return rows, err
	}
	defer a.done(d)
	snap := d.rows.Snap(s.snap.Version, s.snap.Own)
	for i := 0; i < len(ranges); {
		n := x.points(ranges[i:])
		if n > 0 {
			rows, err = a.seekPoints(&snap, ranges[i:i+n], rows)
		} else {
			n = 1
			rows, err = a.seekRange(ctx, &snap, &ranges[i], rows)
		}
		if err != nil {
			return rows, err
		}
		i += n
	}
	return rows, nil
}

// indexOf is an index of a table as the transaction sees it.
func (s *Statement) indexOf(t *catalog.Table, ix *catalog.Index) (*table, *tableIndex, error) {
	d, err := s.data(t)
	if err != nil {
		return nil, nil, err
	}
	x := d.index(ix.ID)
	if x == nil {
		return nil, nil, errNoIndex(ix.Name)
	}
	return d, x, nil
}

// points is how many of the first ranges are single keys.
func (x *tableIndex) points(ranges []index.Range) int {
	for i := range ranges {
		if r := &ranges[i]; len(r.Prefix) < len(x.columns) || hasNull(r.Prefix) {
			return i
		}
	}
	return len(ranges)
}

// seekPoints looks single keys up, all in one batch.
func (a *asker) seekPoints(snap *arrow.Snap, ranges []index.Range, rows []int64) ([]int64, error) {
	a.lo.Reset()
	var key []byte
	for i := range ranges {
		key = key[:0]
		for c := range ranges[i].Prefix {
			key = a.x.codec.Append(key, c, &ranges[i].Prefix[c])
		}
		a.lo.Add(key)
	}
	e, err := a.lo.Upload(a.stream)
	if err != nil {
		return rows, err
	}
	if err := a.lookup(e.Keys); err != nil {
		return rows, err
	}
	for i := range ranges {
		r, found := &ranges[i], a.of(i)
		from := len(rows)
		for j := range found {
			id := found[j]
			if r.Reverse {
				id = found[len(found)-1-j]
			}
			if a.sees(snap, id) {
				rows = append(rows, id)
			}
			if r.Limit > 0 && int64(len(rows)-from) == r.Limit {
				break
			}
		}
	}
	return rows, nil
}

// seekRange scans a range.
func (a *asker) seekRange(ctx context.Context, snap *arrow.Snap, r *index.Range, rows []int64) ([]int64, error) {
	o := index.Order{Limit: int(min(r.Limit, mostRows))}
	if r.Reverse {
		o.Direction = index.Backward
	}
	left := r.Limit
	err := a.scan(a.x.codec.Interval(r), o, func(ids []int64) (bool, error) {
		for _, id := range ids {
			if !a.sees(snap, id) {
				continue
			}
			rows = append(rows, id)
			if left--; left == 0 {
				return false, nil
			}
		}
		return true, ctx.Err()
	})
	return rows, err
}

// sees reports whether a snapshot sees a row whose entry was met.
func (a *asker) sees(p *arrow.Snap, row int64) bool {
	id, i := arrow.SplitRowID(row)
	if g := p.Segment(id); g != nil && g.Sees(p, i) {
		return true
	}
	a.unseen++
	return false
}

// Probe looks up rows 0 to n of keys, columns for the first of the index, and
// appends for each match the key's number and the row's id. A NULL has none.
func (s *Statement) Probe(ctx context.Context, _ device.Stream, t *catalog.Table, ix *catalog.Index, keys []arrow.Column, n int, probe []uint32, rows []int64) ([]uint32, []int64, error) {
	d, x, err := s.indexOf(t, ix)
	if err != nil {
		return probe, rows, err
	}
	a, err := x.ask(ctx)
	if err != nil {
		return probe, rows, err
	}
	defer a.done(d)
	nulls, err := a.probe(keys, n)
	if err != nil {
		return probe, rows, err
	}
	snap := d.rows.Snap(s.snap.Version, s.snap.Own)
	for i := range n {
		if nulls != nil && nulls[i] {
			continue
		}
		for _, id := range a.of(i) {
			if a.sees(&snap, id) {
				probe, rows = append(probe, uint32(i)), append(rows, id)
			}
		}
	}
	return probe, rows, ctx.Err()
}

// probe asks for keys of the index's first columns: for all of them as a batch
// of lookups, for fewer as one of ranges.
func (a *asker) probe(keys []arrow.Column, n int) (nulls []bool, err error) {
	a.lo.Reset()
	if len(keys) == len(a.x.columns) {
		nulls = addKeys(a.lo, a.x.codec, keys, 0, n)
		e, err := a.lo.Upload(a.stream)
		if err != nil {
			return nil, err
		}
		return nulls, a.lookup(e.Keys)
	}
	ivs := make([]index.Interval, n)
	nulls = make([]bool, n)
	open := false // a range has nothing above it
	var r index.Range
	for i := range n {
		r.Prefix = r.Prefix[:0]
		for c := range keys {
			r.Prefix = append(r.Prefix, keys[c].Datum(i))
		}
		ivs[i] = a.x.codec.Interval(&r)
		nulls[i], open = ivs[i].Empty, open || ivs[i].NoHi
	}
	if open {
		return nulls, a.probeEach(ivs)
	}
	return nulls, a.probeRanges(ivs)
}

// probeRanges asks for ranges that end, all at once.
func (a *asker) probeRanges(ivs []index.Interval) error {
	a.hi.Reset()
	for _, iv := range ivs {
		a.lo.Add(iv.Lo) // an empty one goes from the least key to the same
		a.hi.Add(iv.Hi)
	}
	lo, err := a.lo.Upload(a.stream)
	if err != nil {
		return err
	}
	hi, err := a.hi.Upload(a.stream)
	if err != nil {
		return err
	}
	q := index.Ranges{N: len(ivs), Lo: index.Bound{Keys: lo.Keys.Data}, Hi: index.Bound{Keys: hi.Keys.Data}}
	if err := a.snap.Scan(a.stream, q, index.Order{}, a.answer); err != nil {
		return err
	}
	return a.read()
}

// probeEach asks for ranges one after the other.
func (a *asker) probeEach(ivs []index.Interval) error {
	offsets, all := []uint64{0}, []int64{}
	for _, iv := range ivs {
		err := a.scan(iv, index.Order{}, func(rows []int64) (bool, error) {
			all = append(all, rows...)
			return true, nil
		})
		if err != nil {
			return err
		}
		offsets = append(offsets, uint64(len(all)))
	}
	a.offsets, a.rows = offsets, all
	return nil
}
