package wide

import (
	"context"
	"fmt"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
)

// Check verifies invariants 1 to 4 of the latest state.
func (t *tree) Check(s device.Stream) error {
	t.mu.Lock()
	st := t.latest()
	t.mu.Unlock()
	x := st.slots
	if st.tree.Entries == 0 {
		if x != nil || st.directory != nil || st.tree.Leaves() != 0 {
			return fmt.Errorf("index/wide: memory without entries")
		}
		return nil
	}
	free := int(x.tail - x.head)
	if free+st.tree.Leaves() != x.count {
		return fmt.Errorf("index/wide: %d slots, of which %d are in use and %d free", x.count, st.tree.Leaves(), free)
	}
	room := room{mem: t.mem}
	defer room.release()
	size := 4 * len(x.units) << kernels.TreeUnit
	marks, err := room.one(size)
	if err != nil {
		return err
	}
	if err := kernels.Zero(s, marks, size); err != nil {
		return err
	}
	c := kernels.TreeCheck{T: st.tree, Marks: marks, Ring: x.ring.Ptr(), Status: s.Status(), Head: x.head,
		Mask: x.mask(), Slots: uint64(len(x.units)) << kernels.TreeUnit}
	if err := c.Check(s, free); err != nil {
		return err
	}
	return s.Wait(context.Background())
}
