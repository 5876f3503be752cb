package arrow

import (
	"context"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// maxDict is the most values of a dictionary; encodeRows the fewest rows that
// are worth one.
const (
	maxDict    = 4096
	encodeRows = 4096
)

// Encode ends a bulk load: segments whose rows were all born at stamp are
// closed, and their string columns with few different values become
// dictionaries. No reader may see a row of that stamp yet. What finds no memory
// stays as it is. The context's error comes after some segments.
func (t *Table) Encode(ctx context.Context, stamp uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.Segments()
	for len(all) > 0 {
		var some []*Segment
		for len(all) > 0 && len(some) < max(1, t.workers) {
			s := all[len(all)-1]
			if s.births.Load() != nil || s.birth.Load() != stamp {
				all = nil
				break
			}
			if all = all[:len(all)-1]; s.Rows() >= encodeRows && s.dead.Load() == 0 {
				some = append(some, s)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		t.spread(len(some), func(i int) { some[i].encode(t) })
	}
	return nil
}

func (s *Segment) encode(t *Table) {
	n := s.Rows()
	old := s.columns.Load()
	l := old.clone()
	var free []columnMemory
	for i := range l.columns {
		c := &l.columns[i]
		if c.Type.Phys() != sqltype.PhysStr || c.Vec.Dict != 0 || s.stats[i].distinct.estimate() > 1.2*float64(min(maxDict, n/8)) {
			continue
		}
		m, vec, ok := encodeStrings(t.mem, c, n, min(maxDict, n/8))
		if !ok {
			continue
		}
		free = append(free, columnMemory{data: l.owned[i].data, heap: l.owned[i].heap})
		m.valid, vec.Valid = l.owned[i].valid, c.Vec.Valid
		l.owned[i], c.Vec = m, vec
	}
	if len(free) == 0 {
		return
	}
	s.sealed = true
	s.columns.Store(l)
	for i := range free {
		free[i].release()
	}
}

// encodeStrings makes codes and a dictionary of n strings, unless there are
// more than most different ones.
func encodeStrings(mem device.Allocator, c *Column, n, most int) (columnMemory, kernels.Vec, bool) {
	var m columnMemory
	data, err := mem.Alloc(n * 4)
	if err != nil {
		return m, kernels.Vec{}, false
	}
	m.data = data
	codes := device.View[uint32](data.Ptr(), n)
	clear(codes)
	var table [4 * maxDict]uint32 // open addressing: code + 1
	var values []*kernels.View
	bytes := 0
	c.eachView(n, func(i int, v *kernels.View) {
		if len(values) > most {
			return
		}
		at := hashView(v) % uint64(len(table))
		for ; table[at] != 0; at = (at + 1) % uint64(len(table)) {
			if sameView(values[table[at]-1], v) {
				codes[i] = table[at] - 1
				return
			}
		}
		values = append(values, v)
		table[at] = uint32(len(values))
		codes[i] = uint32(len(values) - 1)
		if k := int(uint32(v.Lo)); k > kernels.InlineLen {
			bytes += k
		}
	})
	if len(values) > most || len(values) == 0 {
		m.release()
		return m, kernels.Vec{}, false
	}
	dict, err := mem.Alloc(len(values)*16 + bytes)
	if err != nil {
		m.release()
		return m, kernels.Vec{}, false
	}
	m.dict = dict
	out := device.View[kernels.View](dict.Ptr(), len(values))
	heap := dict.Ptr() + device.Ptr(len(values)*16)
	for i, v := range values {
		out[i] = *v
		if k := int(uint32(v.Lo)); k > kernels.InlineLen {
			copyBytes(heap, device.Ptr(v.Hi), k)
			out[i].Hi = uint64(heap)
			heap += device.Ptr(k)
		}
	}
	return m, kernels.Vec{Data: data.Ptr(), Dict: dict.Ptr(), DictLen: uint32(len(values))}, true
}

func hashView(v *kernels.View) uint64 {
	if uint32(v.Lo) <= kernels.InlineLen {
		return mix(v.Lo ^ mix(v.Hi))
	}
	return hashBytes(viewBytes(v))
}

func sameView(a, b *kernels.View) bool {
	if a.Lo != b.Lo {
		return false
	}
	return a.Hi == b.Hi || uint32(a.Lo) > kernels.InlineLen && string(viewBytes(a)) == string(viewBytes(b))
}
