package indextest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
)

// Run tests a kind of index that lives in the host's memory.
func Run(t *testing.T, k index.Kind) {
	devicetest.EachHost(t, func(t *testing.T, d device.Device) {
		run(t, d, k, spaces())
		t.Run("held", func(t *testing.T) { testHeld(newRig(t, d, k, spaces()[1])) })
		t.Run("linear", func(t *testing.T) { testLinear(t, d, k, spaces()) })
		t.Run("linear model", testLinearModel)
	})
}

// RunGPU tests a kind of index that lives in a GPU's memory. On the emulator,
// where it takes minutes, it does so with keys of some formats only.
func RunGPU(t *testing.T, k index.Kind, emulated ...string) {
	devicetest.EachGPU(t, func(t *testing.T, d device.Device) {
		all := spaces()
		if strings.HasSuffix(t.Name(), "/simt") {
			all = slices.DeleteFunc(all, func(sp space) bool { return !slices.Contains(emulated, sp.format.String()) })
		}
		run(t, d, k, all)
	})
}

func run(t *testing.T, d device.Device, k index.Kind, all []space) {
	for _, sp := range all {
		t.Run(sp.format.String(), func(t *testing.T) {
			rig := func(t *testing.T) *rig { return newRig(t, d, k, sp) }
			t.Run("empty", func(t *testing.T) { testEmpty(rig(t)) })
			t.Run("sizes", func(t *testing.T) { testSizes(rig(t)) })
			t.Run("ops", func(t *testing.T) { testOps(rig(t)) })
			t.Run("one key", func(t *testing.T) { testOneKey(rig(t)) })
			for seed := range uint64(2) {
				t.Run(fmt.Sprintf("random %d", seed), func(t *testing.T) { testRandom(rig(t), seed) })
			}
			t.Run("snapshots", func(t *testing.T) { testSnapshots(rig(t)) })
			t.Run("versions", func(t *testing.T) { testVersions(rig(t)) })
			t.Run("faults", func(t *testing.T) { testFaults(t, d, k, sp) })
			t.Run("concurrent", func(t *testing.T) { testConcurrent(rig(t)) })
		})
	}
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func testEmpty(r *rig) {
	r.compare(seeded(0))
	r.apply()
	r.compare(seeded(1))
	r.apply(change{entry{3, 3}, index.Delete})
	r.compare(seeded(2))
}

// testSizes builds, halves and empties indexes of sizes about a node's.
func testSizes(r *rig) {
	rnd := seeded(1)
	for _, n := range []int{1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 5000} {
		all := make([]change, n)
		for i := range all {
			all[i].entry = entry{i * 7 % r.sp.size, uint64(i)}
		}
		r.apply(all...)
		r.compare(rnd)
		for i := range all {
			all[i].op = index.Delete
		}
		slices.SortFunc(all, func(a, b change) int { return a.compare(b.entry) })
		r.apply(all[n/4 : n-n/4]...)
		r.compare(rnd)
		r.apply(all...) // some are gone already
		r.compare(rnd)
		require.Empty(r.t, r.entries)
		require.NoError(r.t, r.x.Prune(r.s, r.version))
		require.NoError(r.t, r.x.Check(r.s))
	}
	require.Less(r.t, r.x.Stats().Bytes, int64(1<<20), "memory of an index that was emptied: rule 6")
}

// testOps is rule 2's "one after the other".
func testOps(r *rig) {
	ins, del, up := index.Insert, index.Delete, index.Upsert
	r.apply(change{entry{1, 1}, ins}, change{entry{1, 2}, ins}, change{entry{2, 5}, ins}, change{entry{2, 5}, ins})
	r.compare(seeded(1))
	r.apply(change{entry{1, 1}, del}, change{entry{1, 1}, ins}, change{entry{2, 5}, ins}, change{entry{2, 5}, del})
	r.compare(seeded(2))
	r.apply(change{entry{1, 9}, ins}, change{entry{1, 3}, up}, change{entry{1, 4}, ins}, change{entry{3, 1}, up}, change{entry{3, 2}, up})
	r.compare(seeded(3))
	r.apply(change{entry{1, 3}, up}, change{entry{3, 7}, up}, change{entry{3, 7}, del})
	r.compare(seeded(4))
	require.Equal(r.t, []entry{{1, 3}}, r.entries)
}

// testOneKey puts many rows under one key, more than any node holds.
func testOneKey(r *rig) {
	rnd := seeded(1)
	all := make([]change, 3000)
	for i := range all {
		all[i] = change{entry{r.sp.size / 2, uint64(i)}, index.Insert}
	}
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for len(all) > 0 {
		n := min(len(all), 700)
		r.apply(all[:n]...)
		r.compare(rnd)
		all = all[n:]
	}
	r.apply(change{entry{r.sp.size / 2, 1500}, index.Delete}, change{entry{0, 0}, index.Insert})
	r.compare(rnd)
	r.apply(change{entry{r.sp.size / 2, 77}, index.Upsert})
	r.compare(rnd)
	require.Len(r.t, r.entries, 2)
}

func testRandom(r *rig, seed uint64) {
	rnd := seeded(seed)
	for range 50 {
		r.apply(r.random(rnd, 1<<rnd.IntN(11))...)
		r.compare(rnd)
	}
}

// testSnapshots is rule 4: what is held does not change.
func testSnapshots(r *rig) {
	type held struct {
		sn   index.Snapshot
		want []entry
	}
	rnd := seeded(4)
	var all []held
	for i := range 140 {
		size := 20
		if i%40 == 0 {
			size = 2000
		}
		r.apply(r.random(rnd, size)...)
		if i%3 == 0 {
			all = append(all, held{r.snapshot(), r.entries})
		}
		if i%4 == 0 && len(all) > 30 || i > 110 && len(all) > 0 {
			j := rnd.IntN(len(all))
			r.asker.all(r.t, all[j].sn, all[j].want, rnd)
			all[j].sn.Release()
			all = slices.Delete(all, j, j+1)
			require.NoError(r.t, r.x.Check(r.s))
		}
		if i%25 == 0 {
			require.NoError(r.t, r.x.Prune(r.s, r.version))
			require.NoError(r.t, r.x.Check(r.s))
		}
	}
	for _, h := range all {
		r.asker.all(r.t, h.sn, h.want, rnd)
		h.sn.Release()
	}
}

// testVersions is the meaning of versions: those of Apply ascend, and kinds with
// history answer for all that are not pruned.
func testVersions(r *rig) {
	rnd := seeded(5)
	r.version = 10
	states := map[index.Version][]entry{r.version: nil}
	for range 40 {
		r.apply(r.random(rnd, 60)...)
		r.version++ // every other version has nothing new
		states[r.version-1], states[r.version] = r.entries, r.entries
	}
	e, err := r.upload([]change{{entry{1, 1}, index.Insert}})
	require.NoError(r.t, err)
	require.ErrorIs(r.t, r.x.Apply(r.s, 12, e), index.ErrVersion)
	r.compare(rnd)
	horizon := r.version - 30
	for _, pruned := range []bool{false, true} {
		if pruned {
			require.NoError(r.t, r.x.Prune(r.s, horizon))
			require.NoError(r.t, r.x.Check(r.s))
		}
		for v, want := range states {
			if pruned && v < horizon && r.kind.History {
				_, err := r.x.Snapshot(v)
				require.ErrorIs(r.t, err, index.ErrVersion)
				continue
			}
			if !r.kind.History {
				want = r.entries
			}
			sn, err := r.x.Snapshot(v)
			require.NoError(r.t, err)
			r.asker.everything(r.t, sn, want)
			sn.Release()
		}
	}
	r.apply(r.random(rnd, 200)...)
	r.compare(rnd)
}
