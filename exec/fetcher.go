package exec

import (
	"slices"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// fetcher gets rows of a table by id, in the order of the ids.
type fetcher struct {
	w    *worker
	cols []planner.ColDef
	ids  []int // table columns, or RowIDColumn
	g    gathered
	idx  arrow.Slab
	host []uint32

	places []int        // where they are among an index's columns, if that has all
	heaps  []arrow.Slab // bytes of strings that come of keys
}

// newFetcher fetches the columns of a scan: those it gives, then those its
// filter needs.
func newFetcher(w *worker, n *planner.Scan, cols []planner.ColDef) *fetcher {
	f := &fetcher{w: w, cols: cols, g: gathered{mem: w.q.env.Memory}}
	for _, src := range append(append([]int{}, n.Source...), n.FetchSource...) {
		if src != planner.RowIDColumn {
			src = n.Table.Columns[src].ID
		}
		f.ids = append(f.ids, src)
	}
	if n.Access != nil && n.Access.Covering {
		f.places = n.Places(n.Access.Index)
		f.heaps = make([]arrow.Slab, len(cols))
	}
	return f
}

// rows fetches n rows that were found, from one on: of their keys if the index
// has all columns. The batch is valid until the next call.
func (f *fetcher) rows(snap *arrow.Snap, found *index.Found, from, n int) (*arrow.Batch, error) {
	f.g.reset(len(f.cols), n)
	if f.places != nil {
		return f.read(found, from, n)
	}
	rows := found.Rows[from : from+n]
	for i, c := range f.cols {
		vec, err := f.g.room(i, arrow.Column{Type: c.Type, Vec: kernels.Vec{Valid: 1}}, n)
		if err != nil {
			return nil, err
		}
		f.g.out.Columns[i] = arrow.Column{Type: c.Type, Vec: vec}
	}
	f.host = f.host[:0]
	for _, r := range rows {
		_, at := arrow.SplitRowID(r)
		f.host = append(f.host, uint32(at))
	}
	idx, err := f.idx.Reserve(f.w.q.env.Memory, 4*n)
	if err != nil {
		return nil, err
	}
	if err := f.w.stream.Upload(idx, wordBytes(f.host)); err != nil {
		return nil, err
	}
	for from := 0; from < n; { // a run of rows of one segment at a time
		id, _ := arrow.SplitRowID(rows[from])
		to := from + 1
		for to < n && uint32(rows[to]>>32) == id {
			to++
		}
		if err := f.run(snap.Segment(id), rows, from, to, idx); err != nil {
			return nil, err
		}
		from = to
	}
	return &f.g.out, nil
}

// run fetches rows from to to, which are of one segment.
func (f *fetcher) run(g *arrow.Segment, rows []int64, from, to int, idx device.Ptr) error {
	s := f.w.stream
	for i := range f.cols {
		dst := f.g.out.Columns[i].Vec
		if f.ids[i] == planner.RowIDColumn {
			if err := s.Upload(dst.Data+device.Ptr(8*from), wordBytes(rows[from:to])); err != nil {
				return err
			}
			if err := kernels.CopyBits(s, dst.Valid, from, 0, 0, to-from); err != nil {
				return err
			}
			continue
		}
		src := g.Column(f.ids[i])
		if err := kernels.Fetch(s, src.Type.Phys().Width(), dst, from, src.Vec, idx+device.Ptr(4*from), to-from); err != nil {
			return err
		}
	}
	return nil
}

// read makes a batch of the keys that were found.
func (f *fetcher) read(found *index.Found, from, n int) (*arrow.Batch, error) {
	for i, c := range f.cols {
		vec, err := f.g.room(i, arrow.Column{Type: c.Type, Vec: kernels.Vec{Valid: 1}}, n)
		if err != nil {
			return nil, err
		}
		if f.places[i] == planner.RowIDColumn {
			vec.Valid = 0
			err = f.w.stream.Upload(vec.Data, wordBytes(found.Rows[from:from+n]))
		} else {
			valid := device.View[uint64](vec.Valid, kernels.BitmapBytes(n)/8)
			for k := range valid {
				valid[k] = ^uint64(0)
			}
			if !found.Read(f.places[i], from, n, device.View[byte](vec.Data, n*c.Type.Phys().Width()), valid) {
				err = f.readEach(i, vec, found, from, n)
			}
		}
		if err != nil {
			return nil, err
		}
		f.g.out.Columns[i] = arrow.Column{Type: c.Type, Vec: vec}
	}
	return &f.g.out, nil
}

// readEach reads a column of keys value by value.
func (f *fetcher) readEach(i int, vec kernels.Vec, found *index.Found, from, n int) error {
	t := f.cols[i].Type
	valid := device.View[uint64](vec.Valid, kernels.BitmapBytes(n)/8)
	values, long := make([]sqltype.Datum, n), 0
	for k := range values {
		if values[k] = found.Datum(from+k, f.places[i]); len(values[k].S) > kernels.InlineLen {
			long += len(values[k].S)
		}
	}
	heap, err := f.heaps[i].Reserve(f.w.q.env.Memory, max(long, 1))
	if err != nil {
		return err
	}
	clear(device.View[byte](vec.Data, n*t.Phys().Width()))
	for k, d := range values {
		if d.Null {
			valid[k/64] &^= 1 << (k % 64)
			continue
		}
		arrow.PutDatum(t, vec.Data, k, d, heap)
		if len(d.S) > kernels.InlineLen {
			heap += device.Ptr(len(d.S))
		}
	}
	return nil
}

// reads reports that columns are read of keys.
func (f *fetcher) reads() bool {
	return slices.ContainsFunc(f.places, func(at int) bool { return at != planner.RowIDColumn })
}

func (f *fetcher) release() {
	for i := range f.heaps {
		f.heaps[i].Release()
	}
	f.g.release()
	f.idx.Release()
}

// wordBytes is the memory of a slice of numbers, to be uploaded.
func wordBytes[T uint32 | int64](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}
