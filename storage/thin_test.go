package storage_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/storage"
)

// segments is how many segments a table's readers pass over.
func (d *db) segments(x *storage.Tx, name string) int {
	t, ok := x.Reader().Table("", name)
	require.True(d.t, ok)
	s := x.Statement()
	snap, err := s.Snap(t)
	require.NoError(d.t, err)
	require.NoError(d.t, s.End(ctx))
	return len(snap.Segments)
}

// Few rows of each segment stay: they are moved together, a reader of before goes
// on seeing what it saw, and a writer's row is not taken from under it.
func TestThinSegmentsAreGathered(t *testing.T) {
	const rows, kept = 64 * 64, 16
	d, long := open(t, 64), strings.Repeat("long", 100)
	tab := d.table("t", primary())
	var all, rest []string
	for i := range rows {
		all = append(all, fmt.Sprintf("%d,%s", i, long))
		if i%kept == 0 {
			rest = append(rest, all[i])
		}
	}
	slices.Sort(rest)
	x := d.Begin()
	for some := range slices.Chunk(all, 64) {
		require.NoError(t, d.insert(x, tab, some...))
	}
	require.NoError(t, x.Commit())
	full := d.Bytes()

	x, writer := d.Begin(), d.Begin()
	require.Equal(t, rows/64, d.segments(x, "t"))
	texts, ids := d.scan(x, tab)
	var gone []int64
	for i, r := range texts {
		if !slices.Contains(rest, r) {
			gone = append(gone, ids[i])
		}
	}
	require.NoError(t, do(x, func(s *storage.Statement) error {
		_, err := s.Delete(ctx, nil, tab, gone)
		return err
	}))
	require.NoError(t, x.Commit())
	require.NoError(t, d.Settle(ctx))

	seen, at := d.scan(writer, tab)
	require.Len(t, seen, rows)
	require.NoError(t, do(writer, func(s *storage.Statement) error {
		n, err := s.Delete(ctx, nil, tab, at[:1])
		require.EqualValues(t, 1, n)
		return err
	}))
	require.NoError(t, writer.Commit())
	rest = slices.DeleteFunc(rest, func(r string) bool { return r == "0,"+long })

	require.Eventually(t, func() bool {
		x := d.Begin()
		defer x.Rollback()
		return d.segments(x, "t") <= 1+rows/kept/64+1
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, rest, d.rows(tab))
	x = d.Begin()
	require.NoError(t, x.Check())
	x.Rollback()
	require.NoError(t, d.Settle(ctx))
	require.Less(t, d.Bytes(), full/2) // most of the rest is the index's
}

// While rows are moved, writers that change rows of their own meet no conflict,
// and lose none.
func TestGatheringIsNotNoticed(t *testing.T) {
	const writers, rows, rounds = 3, 100, 30
	d := open(t, 64)
	tab := d.table("t", primary())
	var wg sync.WaitGroup
	left := make([][]string, writers)
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				var fresh []string
				for j := range rows {
					fresh = append(fresh, fmt.Sprintf("%d,%d-", w*writers*rows*rounds+i*rows+j, w))
				}
				x := d.Begin()
				if err := d.insert(x, tab, fresh...); err != nil {
					t.Error(err)
				}
				if err := x.Commit(); err != nil {
					t.Error(err)
				}
				left[w] = append(left[w], fresh[0])
				x = d.Begin()
				all, ids := d.scan(x, tab)
				var gone []int64
				for k, r := range all {
					if strings.HasSuffix(r, fmt.Sprintf(",%d-", w)) && !slices.Contains(left[w], r) {
						gone = append(gone, ids[k])
					}
				}
				err := do(x, func(s *storage.Statement) error {
					n, err := s.Delete(ctx, nil, tab, gone)
					if n != rows-1 {
						t.Errorf("%d rows deleted", n)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
				if err := x.Commit(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(left...)))
	require.Equal(t, all, d.rows(tab))
	require.Eventually(t, func() bool {
		x := d.Begin()
		defer x.Rollback()
		return d.segments(x, "t") <= 2+len(all)*8/64
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, all, d.rows(tab))
	x := d.Begin()
	defer x.Rollback()
	require.NoError(t, x.Check())
}
