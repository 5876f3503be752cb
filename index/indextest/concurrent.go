package indextest

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/assert"

	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
)

// testConcurrent is rules 3 and 4. Batch b moves every third key from row b-1 to
// row b, and adds or removes others about them: whoever reads beside that sees
// the moved keys all at one row, and the same at a second look.
func testConcurrent(r *rig) {
	const batches, readers = 90, 3
	r.apply(r.move(0)...)
	var done atomic.Bool
	var wg sync.WaitGroup
	for range readers {
		a := r.newAsker(devicetest.Stream(r.t, r.s.Device()))
		wg.Go(func() {
			defer a.release()
			for last := uint64(0); !done.Load(); {
				row, ok := r.look(a, last)
				if !ok {
					return
				}
				last = row
			}
		})
	}
	for b := uint64(1); b < batches && !r.t.Failed(); b++ {
		e, err := r.upload(r.move(b))
		if !assert.NoError(r.t, err) {
			break
		}
		r.version++
		if !assert.NoError(r.t, r.x.Apply(r.s, r.version, e)) {
			break
		}
		r.entries = after(r.entries, r.move(b))
		if b%10 == 0 {
			assert.NoError(r.t, r.x.Prune(r.s, r.version))
		}
	}
	done.Store(true)
	wg.Wait()
	r.compare(seeded(9))
}

// move is batch b.
func (r *rig) move(b uint64) (all []change) {
	for n := 0; n < r.sp.size; n += 3 {
		if b > 0 {
			all = append(all, change{entry{n, b - 1}, index.Delete})
		}
		all = append(all, change{entry{n, b}, index.Insert})
		if other := n + 1 + int(b%2); other < r.sp.size {
			all = append(all, change{entry{other, b / 6 * 6}, index.Op(b / 3 % 2)})
		}
	}
	return all
}

// look reads the moved keys at a snapshot, twice, and returns the row that they
// are at, which is last or later.
func (r *rig) look(a *asker, last uint64) (row uint64, ok bool) {
	sn, err := r.x.Snapshot(index.Latest)
	if !assert.NoError(r.t, err) {
		return 0, false
	}
	defer sn.Release()
	a.keys.Reset()
	for n := 0; n < r.sp.size; n += 3 {
		a.keys.Add(r.sp.key(n))
	}
	e, err := a.keys.Upload(a.s)
	if !assert.NoError(r.t, err) {
		return 0, false
	}
	var scanned []uint64
	for i := range 3 {
		if !assert.NoError(r.t, sn.Lookup(a.s, e.Keys, a.answer)) {
			return 0, false
		}
		found, err := a.rows(r.t, e.Keys.N)
		if !assert.NoError(r.t, err) {
			return 0, false
		}
		for j, rows := range found {
			if i == 0 && j == 0 && len(rows) == 1 {
				row = rows[0]
			}
			if !assert.Equal(r.t, []uint64{row}, rows, "key %d at look %d", 3*j, i) {
				return 0, false
			}
		}
		if !assert.NoError(r.t, sn.Scan(a.s, index.Ranges{N: 1}, index.Order{Direction: index.Direction(i % 2)}, a.answer)) {
			return 0, false
		}
		found, err = a.rows(r.t, 1)
		if !assert.NoError(r.t, err) {
			return 0, false
		}
		all := found[0]
		if i%2 == 1 {
			slices.Reverse(all)
		}
		if i == 0 {
			scanned = all
		}
		if !assert.Equal(r.t, scanned, all, "look %d", i) {
			return 0, false
		}
	}
	return row, assert.GreaterOrEqual(r.t, row, last, "a later snapshot is not older")
}
