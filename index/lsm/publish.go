package lsm

import (
	"context"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
)

// publish makes the draft the index's state, or leaves all as it was.
func (c *draft) publish(entries int64) error {
	for n := len(c.lists); n > 0 && c.size(n/2-1) == 0; n -= 2 {
		c.lists = c.lists[:n-2]
	}
	st := &state{entries: entries, lists: make([]*sorted, len(c.lists))}
	st.refs.Store(1)
	var runs []run
	for i, l := range c.lists {
		if len(l.segments) == 0 {
			continue
		}
		r := l.run
		if r == nil {
			var err error
			if r, err = c.build(l.segments); err != nil {
				c.x.drop(st)
				return err
			}
		}
		r.refs.Add(1)
		st.lists[i] = r
		runs = append(runs, r.run)
	}
	err := c.directory(st, runs)
	if err == nil {
		err = c.s.Wait(context.Background())
	}
	if err != nil {
		c.x.drop(st)
		return err
	}
	c.published = true
	c.x.mu.Lock()
	old := c.x.current
	c.x.current = st
	c.x.mu.Unlock()
	c.x.drop(old)
	return nil
}

// build makes a run of segments, which nobody uses yet.
func (c *draft) build(gs []*segment) (*sorted, error) {
	ps := parts(gs)
	entries, gone := number(ps)
	low, high := fences(len(ps))
	partsSize := len(bytesOf(ps))
	firstsSize := (len(ps)*c.x.steps.lead + 7) &^ 7
	at, address, err := c.page(partsSize + firstsSize + (low+high)*c.x.steps.lead)
	if err != nil {
		return nil, err
	}
	r := &sorted{segments: gs, page: at, run: run{Parts: address, Firsts: address + device.Ptr(partsSize),
		N: int64(len(ps)), Entries: entries, Gone: gone}}
	if err = c.s.Upload(r.run.Parts, bytesOf(ps)); err == nil {
		err = device.Launch(c.s, c.x.steps.firsts, len(ps), firstsArgs{Shape: c.x.shape, Parts: r.run.Parts, Firsts: r.run.Firsts, N: r.run.N})
	}
	if err != nil {
		c.x.give(at)
		return nil, err
	}
	for _, g := range gs {
		g.refs.Add(1)
	}
	return r, nil
}

// directory writes the runs of a state to its page.
func (c *draft) directory(st *state, runs []run) (err error) {
	if st.n = len(runs); st.n == 0 {
		return nil
	}
	if st.page, st.runs, err = c.page(len(bytesOf(runs))); err != nil {
		return err
	}
	return c.s.Upload(st.runs, bytesOf(runs))
}

// page takes one page.
func (c *draft) page(size int) (page.Number, device.Ptr, error) {
	var at [1]page.Number
	if err := c.x.store.Take(c.s, []int32{int32(size)}, at[:]); err != nil {
		return 0, 0, err
	}
	return at[0], c.x.store.Address(at[0]), nil
}

// lowHalf is the 32-bit word that memory read as 64 bits begins with.
func lowHalf(w *uint64) *uint32 { return (*uint32)(unsafe.Pointer(w)) }
