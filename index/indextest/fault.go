package indextest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/faulty"
	"github.com/gpusql/gpusql/index"
)

// testFaults lets each device call of each method fail once: rules 2 and 7.
func testFaults(t *testing.T, d device.Device, k index.Kind, sp space) {
	fd := faulty.New(d)
	r := newRig(t, fd, k, sp)
	rnd := seeded(6)
	for i, size := range []int{300, 40, 3000, 1000, 500} {
		all := r.random(rnd, size)
		if i == 0 { // the bulk build
			for j := range all {
				all[j].op = index.Insert
			}
		}
		var held index.Snapshot
		before := r.entries
		if i%2 == 1 {
			held = r.snapshot()
		}
		r.sweepApply(fd, all, rnd)
		r.sweepReads(fd, rnd)
		if held != nil {
			r.asker.all(t, held, before, rnd)
			held.Release()
		}
		r.sweep(fd, rnd, func() error { return r.x.Prune(r.s, r.version) })
	}
	var all []change
	for _, e := range r.entries {
		all = append(all, change{e, index.Delete})
	}
	r.sweepApply(fd, all, rnd)
}

// sweep lets call 1 of f fail, then call 2, until f needs no more. The index
// must be as it was each time.
func (r *rig) sweep(fd *faulty.Device, rnd *rand.Rand, f func() error) {
	r.t.Helper()
	for n := int64(1); ; n++ {
		fd.FailAt(n)
		err := f()
		failed := fd.Failed()
		fd.FailAt(0)
		require.NoError(r.t, r.x.Check(r.s))
		if !failed {
			require.NoError(r.t, err)
			return
		}
		require.ErrorIs(r.t, err, faulty.ErrFault, "call %d was made to fail", n)
		if n < 20 || n%16 == 0 {
			r.compare(rnd)
		}
	}
}

func (r *rig) sweepApply(fd *faulty.Device, all []change, rnd *rand.Rand) {
	r.t.Helper()
	e, err := r.upload(all)
	require.NoError(r.t, err)
	r.version++
	r.sweep(fd, rnd, func() error {
		err := r.x.Apply(r.s, r.version, e)
		if err == nil {
			r.entries = after(r.entries, all)
		}
		return err
	})
	r.compare(rnd)
}

func (r *rig) sweepReads(fd *faulty.Device, rnd *rand.Rand) {
	r.t.Helper()
	var sn index.Snapshot
	r.sweep(fd, rnd, func() (err error) {
		sn, err = r.x.Snapshot(index.Latest)
		return err
	})
	defer sn.Release()
	a := r.newAsker(r.s)
	defer a.release()
	fresh := func(f func() error) { // with all memory to be allocated anew
		r.t.Helper()
		r.sweep(fd, rnd, func() error {
			a.release()
			a.counts = nil
			return f()
		})
	}
	ns := []int{1, 5, 2, 3, 3, 7, 11, 100, r.sp.size - 1}
	for len(ns) < 300 {
		ns = append(ns, rnd.IntN(r.sp.size))
	}
	fresh(func() error { return a.lookup(r.t, sn, r.entries, ns) })
	q := a.questions(rnd, true, r.entries)
	fresh(func() error { return a.scan(r.t, sn, r.entries, q, index.Order{Keys: true}) })
	fresh(func() error {
		return a.scan(r.t, sn, r.entries, q, index.Order{Direction: index.Backward, Limit: 5})
	})
	fresh(func() error { return a.count(r.t, sn, r.entries, q) })
}
