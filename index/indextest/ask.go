package indextest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// asker asks a snapshot and compares with a sorted slice. Each goroutine has its own.
type asker struct {
	sp     space
	s      device.Stream
	keys   *index.Batch
	lo, hi *index.Batch
	answer *index.Answer
	counts *device.Buffer
}

func (r *rig) newAsker(s device.Stream) *asker {
	f := r.sp.format
	return &asker{sp: r.sp, s: s, keys: index.NewBatch(r.mem, f), lo: index.NewBatch(r.mem, f), hi: index.NewBatch(r.mem, f),
		answer: index.NewAnswer(r.mem)}
}

func (a *asker) release() {
	a.keys.Release()
	a.lo.Release()
	a.hi.Release()
	a.answer.Release()
	a.counts.Release()
}

// all asks every kind of question about the entries that must be there.
func (a *asker) all(t require.TestingT, sn index.Snapshot, want []entry, rnd *rand.Rand) {
	a.everything(t, sn, want)
	ns := make([]int, 1+rnd.IntN(3*a.sp.size))
	for i := range ns {
		ns[i] = rnd.IntN(a.sp.size)
	}
	require.NoError(t, a.lookup(t, sn, want, ns))
	require.NoError(t, a.lookup(t, sn, want, nil))
	require.NoError(t, a.lookup(t, sn, want, ns[:1]))
	for _, limit := range []int{0, 1, 3, 100} {
		for _, d := range []index.Direction{index.Forward, index.Backward} {
			q := a.questions(rnd, len(want) > 0 && rnd.IntN(2) == 0, want)
			o := index.Order{Direction: d, Limit: limit, Keys: rnd.IntN(2) == 0}
			require.NoError(t, a.scan(t, sn, want, q, o))
		}
	}
	require.NoError(t, a.count(t, sn, want, a.questions(rnd, true, want)))
}

// everything scans all that is there, both ways, and counts it.
func (a *asker) everything(t require.TestingT, sn index.Snapshot, want []entry) {
	open := questions{spans: []span{{}}, noLo: true, noHi: true}
	require.NoError(t, a.scan(t, sn, want, open, index.Order{Keys: true}))
	require.NoError(t, a.scan(t, sn, want, open, index.Order{Direction: index.Backward}))
	require.NoError(t, a.count(t, sn, want, open))
}

// lookup asks for keys.
func (a *asker) lookup(t require.TestingT, sn index.Snapshot, want []entry, ns []int) error {
	a.keys.Reset()
	for _, n := range ns {
		a.keys.Add(a.sp.key(n))
	}
	e, err := a.keys.Upload(a.s)
	if err != nil {
		return err
	}
	if err := sn.Lookup(a.s, e.Keys, a.answer); err != nil {
		return err
	}
	rows, err := a.rows(t, len(ns))
	if err != nil {
		return err
	}
	for i, n := range ns {
		require.Equal(t, rowsOf(between(want, entry{n, 0}, entry{n + 1, 0})), rows[i], "lookup %d, of key %d", i, n)
	}
	return nil
}

// rows are the rows of each answer.
func (a *asker) rows(t require.TestingT, n int) ([][]uint64, error) {
	require.Equal(t, n, a.answer.N, "answers")
	offsets, err := words64(a.s, a.answer.Offsets(), n+1)
	if err != nil {
		return nil, err
	}
	all, err := words64(a.s, a.answer.Rows(), a.answer.Total)
	if err != nil {
		return nil, err
	}
	require.Zero(t, offsets[0])
	require.EqualValues(t, a.answer.Total, offsets[n], "the last offset")
	out := make([][]uint64, n)
	for i := range out {
		out[i] = append([]uint64{}, all[offsets[i]:offsets[i+1]]...)
	}
	return out, nil
}

// span is the entries from lo to below hi.
type span struct{ lo, hi entry }

// questions are some ranges.
type questions struct {
	spans      []span
	noLo, noHi bool
	rows       bool // the bounds have rows
}

func (q questions) String() string {
	return fmt.Sprintf("%v, open %v %v, rows %v", q.spans, q.noLo, q.noHi, q.rows)
}

// questions makes ranges, some of them empty.
func (a *asker) questions(rnd *rand.Rand, rows bool, want []entry) questions {
	q := questions{rows: rows, noLo: rnd.IntN(4) == 0, noHi: rnd.IntN(4) == 0, spans: make([]span, rnd.IntN(20))}
	place := func() entry {
		if rows && len(want) > 0 && rnd.IntN(2) == 0 {
			return want[rnd.IntN(len(want))]
		}
		e := entry{n: rnd.IntN(a.sp.size)}
		if rows {
			e.row = randomRow(rnd)
		}
		return e
	}
	for i := range q.spans {
		q.spans[i] = span{place(), place()}
		if rnd.IntN(3) > 0 && q.spans[i].lo.compare(q.spans[i].hi) > 0 {
			q.spans[i] = span{q.spans[i].hi, q.spans[i].lo}
		}
	}
	return q
}

// bound uploads one end of the ranges.
func (a *asker) bound(b *index.Batch, q questions, open bool, end func(span) entry) (index.Bound, error) {
	if open {
		return index.Bound{}, nil
	}
	b.Reset()
	for _, sp := range q.spans {
		b.Add(a.sp.key(end(sp).n))
		if q.rows {
			b.Rows = append(b.Rows, end(sp).row)
		}
	}
	e, err := b.Upload(a.s)
	return index.Bound{Keys: e.Keys.Data, Rows: e.Rows}, err
}

func (a *asker) ranges(q questions) (r index.Ranges, err error) {
	r.N = len(q.spans)
	if r.Lo, err = a.bound(a.lo, q, q.noLo, func(s span) entry { return s.lo }); err != nil {
		return r, err
	}
	r.Hi, err = a.bound(a.hi, q, q.noHi, func(s span) entry { return s.hi })
	return r, err
}

// of is what span i of the questions should find.
func (q questions) of(i int, want []entry) []entry {
	lo, hi := q.spans[i].lo, q.spans[i].hi
	if q.noLo {
		lo = entry{n: -1}
	}
	if q.noHi {
		hi = entry{n: 1 << 30}
	}
	return between(want, lo, hi)
}

func (a *asker) scan(t require.TestingT, sn index.Snapshot, want []entry, q questions, o index.Order) error {
	r, err := a.ranges(q)
	if err != nil {
		return err
	}
	if err := sn.Scan(a.s, r, o, a.answer); err != nil {
		return err
	}
	rows, err := a.rows(t, len(q.spans))
	if err != nil {
		return err
	}
	at := 0
	for i := range q.spans {
		es := slices.Clone(q.of(i, want))
		if o.Direction == index.Backward {
			slices.Reverse(es)
		}
		if o.Limit > 0 {
			es = es[:min(len(es), o.Limit)]
		}
		require.Equal(t, rowsOf(es), rows[i], "range %d of %v, %+v", i, q, o)
		for j := range es {
			if o.Keys && (j < 3 || j == len(es)-1) {
				key, err := keyBytes(a.s, a.sp.format, a.answer.Keys(), at+j)
				if err != nil {
					return err
				}
				require.Equal(t, a.sp.padded(es[j].n), key, "key %d of range %d of %v, %+v", j, i, q, o)
			}
		}
		at += len(es)
	}
	return nil
}

func (a *asker) count(t require.TestingT, sn index.Snapshot, want []entry, q questions) error {
	r, err := a.ranges(q)
	if err != nil {
		return err
	}
	if a.counts == nil {
		if a.counts, err = a.s.Device().Alloc(8 * 64); err != nil {
			return err
		}
	}
	if err := sn.Count(a.s, r, a.counts.Ptr()); err != nil {
		return err
	}
	counts, err := words64(a.s, a.counts.Ptr(), len(q.spans))
	if err != nil {
		return err
	}
	for i, n := range counts {
		require.EqualValues(t, len(q.of(i, want)), n, "count of range %d of %v", i, q)
	}
	return nil
}

// between are the entries from lo to below hi.
func between(all []entry, lo, hi entry) []entry {
	i, _ := slices.BinarySearchFunc(all, lo, entry.compare)
	j, _ := slices.BinarySearchFunc(all, hi, entry.compare)
	return all[i:max(i, j)]
}

func rowsOf(es []entry) []uint64 {
	out := []uint64{}
	for _, e := range es {
		out = append(out, e.row)
	}
	return out
}
