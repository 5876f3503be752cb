package exec

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/storage/arrow"
	"github.com/gpusql/gpusql/storage/mirror"
)

// copies are the mirrored columns of the run that a scan reads: pinned from the
// first use until the scan goes on to another run.
type copies struct {
	run  *mirror.Run
	pins map[int]*mirror.Pin // by table column
}

// column is a column of a run in the device's memory.
func (c *copies) column(w *worker, r *mirror.Run, id int, name mirror.Name) (arrow.Column, error) {
	if p := c.pins[id]; p != nil {
		return p.Column, nil
	}
	p, err := w.q.env.Mirror.Pin(w.stream, w.q.env.Memory, r, id, name)
	if err != nil {
		return arrow.Column{}, err
	}
	if c.pins == nil {
		c.pins = map[int]*mirror.Pin{}
	}
	c.pins[id] = p
	return p.Column, nil
}

// visible says which rows of a run a snapshot sees, as Segment.Visible does.
func (c *copies) visible(s device.Stream, r *mirror.Run, p arrow.Snap, lo, hi int, out device.Ptr) (int, error) {
	seen, words := r.Visible(p, lo, hi)
	if words == nil {
		return seen, nil
	}
	return seen, s.Upload(out, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words)))
}

// unpin gives up the columns, unless they are of run r.
func (c *copies) unpin(r *mirror.Run) {
	if c.run == r {
		return
	}
	for id, p := range c.pins {
		p.Release()
		delete(c.pins, id)
	}
	c.run = r
}
