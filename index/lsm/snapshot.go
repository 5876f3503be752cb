package lsm

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// snapshot is a state that is held.
type snapshot struct {
	x  *Index
	st *state
}

// Release ends the hold.
func (sn *snapshot) Release() { sn.x.drop(sn.st) }

// Lookup finds the rows of each key.
func (sn *snapshot) Lookup(s device.Stream, k index.Keys, a *index.Answer) error {
	if err := a.Ask(k.N); err != nil {
		return err
	}
	args := lookupArgs{Shape: sn.x.shape, Runs: sn.st.runs, NRuns: int64(sn.st.n), Keys: k.Data, N: int64(k.N), Offsets: a.Offsets()}
	hits, err := sn.x.mem.Alloc(max(1, k.N) * int(unsafe.Sizeof(hit{})))
	if err != nil {
		return err
	}
	defer hits.Release()
	args.Hits = hits.Ptr()
	if err := device.Launch(s, sn.x.steps.lookup, k.N, args); err != nil {
		return err
	}
	total, err := sn.sum(s, args.Offsets, k.N)
	if err != nil {
		return err
	}
	if err := a.Room(total, 0); err != nil || total == 0 {
		return err
	}
	args.Rows = a.Rows()
	return device.Launch(s, sn.x.steps.fetch, k.N, args)
}

// Scan finds the entries of each range.
func (sn *snapshot) Scan(s device.Stream, r index.Ranges, o index.Order, a *index.Answer) error {
	if err := a.Ask(r.N); err != nil {
		return err
	}
	spots, err := sn.x.mem.Alloc(max(1, r.N*sn.st.n) * int(unsafe.Sizeof(span{})))
	if err != nil {
		return err
	}
	defer spots.Release()
	args := sn.ranges(r, a.Offsets())
	args.Spans, args.Limit = spots.Ptr(), int64(o.Limit)
	if o.Direction == index.Backward {
		args.Backward = 1
	}
	if err := device.Launch(s, sn.x.steps.seek, r.N, args); err != nil {
		return err
	}
	total, err := sn.sum(s, args.Counts, r.N)
	if err != nil {
		return err
	}
	size := 0
	if o.Keys {
		size = int(sn.x.shape.Size)
	}
	if err := a.Room(total, size); err != nil || total == 0 {
		return err
	}
	args.Rows = a.Rows()
	if o.Keys {
		args.Keys = a.Keys()
	}
	return device.Launch(s, sn.x.steps.scan, r.N, args)
}

// Count counts the entries of each range.
func (sn *snapshot) Count(s device.Stream, r index.Ranges, counts device.Ptr) error {
	return device.Launch(s, sn.x.steps.seek, r.N, sn.ranges(r, counts))
}

func (sn *snapshot) ranges(r index.Ranges, counts device.Ptr) scanArgs {
	return scanArgs{Shape: sn.x.shape, Runs: sn.st.runs, NRuns: int64(sn.st.n),
		LoKeys: r.Lo.Keys, LoRows: r.Lo.Rows, HiKeys: r.Hi.Keys, HiRows: r.Hi.Rows, Counts: counts}
}

// sumArgs makes places of N counts: each the sum of those before it.
type sumArgs struct {
	Counts device.Ptr
	N      int64
}

func sumHost(a *sumArgs, _, _ int) {
	counts := device.View[int64](a.Counts, int(a.N)+1)
	sum := int64(0)
	for i, n := range counts[:a.N] {
		counts[i], sum = sum, sum+n
	}
	counts[a.N] = sum
}

// sum makes places of counts, and returns their sum.
func (sn *snapshot) sum(s device.Stream, counts device.Ptr, n int) (int, error) {
	if err := device.Launch(s, sn.x.steps.sum, 1, sumArgs{counts, int64(n)}); err != nil {
		return 0, err
	}
	total := make([]int64, 1)
	err := s.Download(bytesOf(total), counts+device.Ptr(8*n))
	return int(total[0]), err
}
