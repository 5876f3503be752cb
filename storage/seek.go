package storage

import (
	"context"
	"errors"
	"slices"
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

	found *index.Found // where rows go that are in seen
	seen  arrow.Snap
	whole bool // all are
}

// idleAskers is how many an index keeps, and idleRows the most rows of theirs.
const (
	idleAskers = 8
	idleRows   = 1 << 16
)

// ask takes a snapshot of the index at a version, or the latest if that one is not
// kept, for work that ends with the context. done must follow.
func (x *tableIndex) ask(ctx context.Context, v index.Version) (*asker, error) {
	a, err := x.asker()
	if err != nil {
		return nil, err
	}
	if a.snap, err = x.idx.Snapshot(v); errors.Is(err, index.ErrVersion) {
		a.snap, err = x.idx.Snapshot(index.Latest)
	}
	if err != nil {
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
	a.found, a.seen, a.whole = nil, arrow.Snap{}, false
	a.x.askers.Lock()
	defer a.x.askers.Unlock()
	if len(a.x.idle) < idleAskers && cap(a.rows) <= idleRows && cap(a.keys) <= 8*idleRows && cap(a.offsets) <= idleRows {
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

// readKeys brings the keys of the answer to the host.
func (a *asker) readKeys() error {
	a.keys = grown(a.keys, a.x.codec.Format().Size()*len(a.rows))
	if len(a.keys) == 0 {
		return nil
	}
	return a.stream.Download(a.keys, a.answer.Keys())
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
	for {
		if err := a.snap.Scan(a.stream, q, o, a.answer); err != nil {
			return err
		}
		if err := a.read(); err != nil {
			return err
		}
		if keys {
			if err := a.readKeys(); err != nil {
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

// Seek appends the rows whose keys lie in each of the ranges, one range after the
// other, in key order, of each at most its Limit if that is above 0.
func (s *Statement) Seek(ctx context.Context, _ device.Stream, t *catalog.Table, ix *catalog.Index, ranges []index.Range, found *index.Found) error {
	d, x, err := s.indexOf(t, ix)
	if err != nil {
		return err
	}
	a, err := s.askFor(ctx, d, x, found)
	if err != nil {
		return err
	}
	defer a.done(d)
	for i := 0; i < len(ranges) && err == nil; {
		n := x.points(ranges[i:])
		switch {
		case n == 0:
			n = 1
			err = a.seekRange(ctx, &ranges[i])
		case x.codec.Carries():
			err = a.seekPrefixes(ranges[i : i+n])
		default:
			err = a.seekPoints(ranges[i : i+n])
		}
		i += n
	}
	return err
}

// moment is the version of an index that a statement asks. One of the past asks
// what the index was then, if it has history: that has no entries of later rows.
// All that the statement sees are in the latest one, too.
func (s *Statement) moment(x *tableIndex) index.Version {
	if s.past && s.snap.Version >= x.since {
		return s.snap.Version
	}
	return index.Latest
}

// askFor is ask for rows that the statement sees, which go to found. Where their
// keys do too, nothing of the table is looked at if all entries are of such rows.
func (s *Statement) askFor(ctx context.Context, d *table, x *tableIndex, found *index.Found) (a *asker, err error) {
	whole := false
	if found.Keys {
		found.Codec = x.codec
		a, whole, err = s.askWhole(ctx, d, x)
	} else {
		a, err = x.ask(ctx, s.moment(x))
	}
	if err != nil {
		return nil, err
	}
	a.found, a.whole = found, whole
	a.seen = d.rows.Snap(s.snap.Version, s.snap.Own)
	return a, nil
}

// give adds row i of the answer to what was found, if it is seen.
func (a *asker) give(i int) bool {
	if !a.whole && !a.sees(&a.seen, a.rows[i]) {
		return false
	}
	if a.found.Keys {
		a.found.Add(a.rows[i], unsafe.Pointer(&a.keys[i*a.x.codec.Format().Size()]))
	} else {
		a.found.Rows = append(a.found.Rows, a.rows[i])
	}
	return true
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

// points is how many of the first ranges are single keys. Where entries of a key
// differ in more than their rows, only unique keys are worth a batch.
func (x *tableIndex) points(ranges []index.Range) int {
	for i := range ranges {
		r := &ranges[i]
		if len(r.Prefix) < len(x.columns) || hasNull(r.Prefix) || x.codec.Carries() && (!x.unique || r.Limit > 0) {
			return i
		}
	}
	return len(ranges)
}

// seekPoints looks single keys up, all in one batch.
func (a *asker) seekPoints(ranges []index.Range) error {
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
		return err
	}
	if err := a.lookup(e.Keys); err != nil {
		return err
	}
	if a.found.Keys {
		a.copyKeys(e.Keys)
	}
	for i := range ranges {
		r, left := &ranges[i], ranges[i].Limit
		from, to := int(a.offsets[i]), int(a.offsets[i+1])
		for j := from; j < to; j++ {
			at := j
			if r.Reverse {
				at = from + to - 1 - j
			}
			if !a.give(at) {
				continue
			}
			if left--; left == 0 {
				break
			}
		}
	}
	return nil
}

// copyKeys makes a.keys of the keys that were looked up.
func (a *asker) copyKeys(k index.Keys) {
	size := a.x.codec.Format().Size()
	asked := device.View[byte](k.Data, k.N*size)
	a.keys = grown(a.keys, size*len(a.rows))
	for i := range k.N {
		for j := a.offsets[i]; j < a.offsets[i+1]; j++ {
			copy(a.keys[int(j)*size:], asked[i*size:(i+1)*size])
		}
	}
}

// seekPrefixes looks the beginnings of keys up, all in one batch.
func (a *asker) seekPrefixes(ranges []index.Range) error {
	ivs := make([]index.Interval, len(ranges))
	for i := range ranges {
		ivs[i] = a.x.codec.Interval(&ranges[i])
	}
	if err := a.probeIntervals(ivs); err != nil {
		return err
	}
	for i := range a.rows {
		a.give(i)
	}
	return nil
}

// seekRange scans a range.
func (a *asker) seekRange(ctx context.Context, r *index.Range) error {
	o := index.Order{Limit: int(min(r.Limit, mostRows)), Keys: a.found.Keys}
	if r.Reverse {
		o.Direction = index.Backward
	}
	left := r.Limit
	return a.scan(a.x.codec.Interval(r), o, func(ids []int64) (bool, error) {
		for i := range ids {
			if !a.give(i) {
				continue
			}
			if left--; left == 0 {
				return false, nil
			}
		}
		return true, ctx.Err()
	})
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
// appends for each match the key's number and the row. A NULL has none.
func (s *Statement) Probe(ctx context.Context, _ device.Stream, t *catalog.Table, ix *catalog.Index, keys []arrow.Column, n int, probe []uint32, found *index.Found) ([]uint32, error) {
	d, x, err := s.indexOf(t, ix)
	if err != nil {
		return probe, err
	}
	a, err := s.askFor(ctx, d, x, found)
	if err != nil {
		return probe, err
	}
	defer a.done(d)
	nulls, err := a.probe(keys, n)
	if err != nil {
		return probe, err
	}
	for i := range n {
		if nulls != nil && nulls[i] {
			continue
		}
		for j := a.offsets[i]; j < a.offsets[i+1]; j++ {
			if a.give(int(j)) {
				probe = append(probe, uint32(i))
			}
		}
	}
	return probe, ctx.Err()
}

// probe asks for keys of the index's first columns: for whole ones as a batch
// of lookups, for others as one of ranges.
func (a *asker) probe(keys []arrow.Column, n int) (nulls []bool, err error) {
	a.lo.Reset()
	if len(keys) == len(a.x.columns) && !a.x.codec.Carries() {
		nulls = addKeys(a.lo, a.x.codec, keys, 0, n)
		e, err := a.lo.Upload(a.stream)
		if err != nil {
			return nil, err
		}
		if err := a.lookup(e.Keys); err != nil {
			return nil, err
		}
		if a.found.Keys {
			a.copyKeys(e.Keys)
		}
		return nulls, nil
	}
	ivs := make([]index.Interval, n)
	nulls = make([]bool, n)
	var r index.Range
	for i := range n {
		r.Prefix = r.Prefix[:0]
		for c := range keys {
			r.Prefix = append(r.Prefix, keys[c].Datum(i))
		}
		ivs[i] = a.x.codec.Interval(&r)
		nulls[i] = ivs[i].Empty
	}
	return nulls, a.probeIntervals(ivs)
}

// probeIntervals asks for intervals, all at once if each has an end.
func (a *asker) probeIntervals(ivs []index.Interval) error {
	if slices.ContainsFunc(ivs, func(iv index.Interval) bool { return iv.NoHi }) {
		return a.probeEach(ivs)
	}
	a.lo.Reset()
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
	keys := a.found != nil && a.found.Keys
	if err := a.snap.Scan(a.stream, q, index.Order{Keys: keys}, a.answer); err != nil {
		return err
	}
	if err := a.read(); err != nil || !keys {
		return err
	}
	return a.readKeys()
}

// probeEach asks for intervals one after the other.
func (a *asker) probeEach(ivs []index.Interval) error {
	offsets, all, keys := []uint64{0}, []int64{}, []byte{}
	o := index.Order{Keys: a.found != nil && a.found.Keys}
	for _, iv := range ivs {
		err := a.scan(iv, o, func(rows []int64) (bool, error) {
			all = append(all, rows...)
			if o.Keys {
				keys = append(keys, a.keys...)
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		offsets = append(offsets, uint64(len(all)))
	}
	a.offsets, a.rows, a.keys = offsets, all, keys
	return nil
}
