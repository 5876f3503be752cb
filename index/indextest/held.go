package indextest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/index"
)

// testHeld holds snapshots while two million updates give every key another row
// again and again: they read what was there all the while.
func testHeld(r *rig) {
	const keys, rounds = 10_000, 200
	var last index.Entries
	rows := func(round int) []uint64 {
		all := make([]uint64, keys)
		for i := range all {
			all[i] = uint64(round*keys + i)
		}
		return all
	}
	update := func(round int) {
		r.batch.Reset()
		for i, w := 0, r.batch.Words(keys); i < keys; i++ {
			w[i] = uint64(i) * 0x9E3779B97F4A7C15 // all different, in no order
		}
		r.batch.Rows = append(r.batch.Rows, rows(round)...)
		var err error
		last, err = r.batch.Upload(r.s)
		require.NoError(r.t, err)
		last.Op = index.Upsert
		r.version++
		require.NoError(r.t, r.x.Apply(r.s, r.version, last))
		require.NoError(r.t, r.x.Prune(r.s, r.version))
	}
	a := index.NewAnswer(r.mem)
	defer a.Release()
	has := func(sn index.Snapshot, round int) {
		r.t.Helper()
		require.NoError(r.t, sn.Lookup(r.s, last.Keys, a))
		got, err := words64(r.s, a.Rows(), a.Total)
		require.NoError(r.t, err)
		require.True(r.t, slices.Equal(rows(round), got), "the rows of round %d are others", round)
		require.NoError(r.t, sn.Scan(r.s, index.Ranges{N: 1}, index.Order{}, a))
		got, err = words64(r.s, a.Rows(), a.Total)
		require.NoError(r.t, err)
		slices.Sort(got)
		require.True(r.t, slices.Equal(rows(round), got), "a scan has other rows than those of round %d", round)
	}
	update(0)
	first := r.snapshot()
	defer first.Release()
	var middle index.Snapshot
	for round := 1; round <= rounds; round++ {
		update(round)
		if round == rounds/2 {
			middle = r.snapshot()
			defer middle.Release()
		}
		if round%20 == 0 {
			has(first, 0)
			if middle != nil {
				has(middle, rounds/2)
			}
			now := r.snapshot()
			has(now, round)
			now.Release()
		}
	}
	require.NoError(r.t, r.x.Check(r.s))
}
