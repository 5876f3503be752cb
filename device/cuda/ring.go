package cuda

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// ring is a queue's pinned memory for small uploads: two halves, of which one
// fills while copies out of the other may be under way. An event is recorded
// only when a half is full, so that most small uploads are one call.
type ring struct {
	half   int
	used   int // of the half
	events [2]uintptr
	sent   [2]bool // the half's event was recorded and not yet waited for
}

// ringHalf is how much fits; a single upload has at most half of that.
const (
	ringHalf = 64 << 10
	smallUp  = ringHalf / 2
)

// upload copies src, at most smallUp bytes, to dst behind what the queue was given.
func (q *queue) upload(dst device.Ptr, src []byte) error {
	d, r := q.dev, &q.up
	if r.used+len(src) > ringHalf {
		if err := d.do(fnEventRecord, r.events[r.half], q.handle); err != nil {
			return err
		}
		r.sent[r.half] = true
		r.half, r.used = 1-r.half, 0
		if r.sent[r.half] {
			if err := d.do(fnEventSynchronize, r.events[r.half]); err != nil {
				return err
			}
			r.sent[r.half] = false
		}
	}
	at := unsafe.Add(q.host, queueRing+r.half*ringHalf+r.used)
	copy(unsafe.Slice((*byte)(at), len(src)), src)
	r.used += (len(src) + 63) &^ 63
	return d.do(fnMemcpyHtoDAsync, uintptr(dst), uintptr(at), uintptr(len(src)), q.handle)
}
