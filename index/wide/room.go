package wide

import "github.com/gpusql/gpusql/device"

// room is the memory of one operation, cut from a buffer.
type room struct {
	mem     device.Allocator
	buffers []*device.Buffer
}

// places is what a buffer is cut into.
type places struct {
	sizes []int
	to    []*device.Ptr
}

func (p *places) add(to *device.Ptr, n int) {
	p.sizes, p.to = append(p.sizes, n), append(p.to, to)
}

// take allocates places, each aligned to a line.
func (r *room) take(p *places) error {
	total := 0
	for _, n := range p.sizes {
		total += (n + 255) &^ 255
	}
	b, err := r.mem.Alloc(max(total, 1))
	if err != nil {
		return err
	}
	r.buffers = append(r.buffers, b)
	at := b.Ptr()
	for i, n := range p.sizes {
		*p.to[i] = at
		at += device.Ptr((n + 255) &^ 255)
	}
	return nil
}

// one allocates one place.
func (r *room) one(n int) (device.Ptr, error) {
	var at device.Ptr
	var p places
	p.add(&at, n)
	return at, r.take(&p)
}

func (r *room) release() {
	for _, b := range r.buffers {
		b.Release()
	}
	r.buffers = nil
}
