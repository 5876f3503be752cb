package indextest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/sqltype"
)

// Run tests the indexes that open makes.
func Run(t *testing.T, open func(*index.Codec) index.Index) {
	codecs := map[string]*index.Codec{
		"words": index.NewCodec([]index.KeyColumn{{Type: sqltype.Int64, NotNull: true}}),
		"bytes": index.NewCodec([]index.KeyColumn{{Type: sqltype.Varchar}, {Type: sqltype.Int32, Desc: true}}),
	}
	for name, c := range codecs {
		t.Run(name, func(t *testing.T) {
			t.Run("empty", func(t *testing.T) { newModel(t, c, open(c)).compare() })
			t.Run("sizes", func(t *testing.T) { testSizes(t, c, open) })
			t.Run("snapshots stay", func(t *testing.T) { testSnapshots(t, c, open) })
			for seed := range uint64(4) {
				t.Run(fmt.Sprintf("random %d", seed), func(t *testing.T) { testRandom(t, c, open, seed) })
			}
		})
	}
}

// entry is one entry of the model.
type entry struct {
	n   int // what the key is made of: keys ascend with it
	row int64
}

func (a entry) compare(b entry) int {
	if a.n != b.n {
		return a.n - b.n
	}
	return int(a.row - b.row)
}

// model is an index and the sorted slice that it must agree with.
type model struct {
	t       *testing.T
	c       *index.Codec
	x       index.Index
	entries []entry
}

func newModel(t *testing.T, c *index.Codec, x index.Index) *model { return &model{t: t, c: c, x: x} }

func (m *model) key(n int) index.Key {
	var b []byte
	if m.c.Words() {
		d := sqltype.NewInt64(int64(n))
		b = m.c.Append(b, 0, &d)
	} else {
		s, d := sqltype.NewString(fmt.Sprintf("%08d", n+1000000)), sqltype.NewInt32(5)
		b = m.c.Append(m.c.Append(b, 0, &s), 1, &d)
	}
	return m.c.Key(b)
}

func (m *model) keys(ns []int) (k index.Keys) {
	for _, n := range ns {
		one := m.key(n)
		if m.c.Words() {
			k.Words = append(k.Words, one.Word)
		} else {
			k.Bytes = append(k.Bytes, one.Bytes)
		}
	}
	return k
}

// apply changes both.
func (m *model) apply(del, ins []entry) {
	var ns []int
	e := index.Entries{Rows: []int64{}}
	for _, d := range ins {
		ns, e.Rows, e.Dead = append(ns, d.n), append(e.Rows, d.row), append(e.Dead, false)
	}
	for _, d := range del {
		ns, e.Rows, e.Dead = append(ns, d.n), append(e.Rows, d.row), append(e.Dead, true)
	}
	e.Keys = m.keys(ns)
	require.NoError(m.t, m.x.Apply(e))
	m.entries = slices.DeleteFunc(m.entries, func(a entry) bool { return slices.Contains(del, a) })
	m.entries = append(m.entries, ins...)
	slices.SortFunc(m.entries, entry.compare)
	m.entries = slices.Compact(m.entries)
	require.NoError(m.t, m.x.Check())
}

func (m *model) rows(lo, hi int) []int64 {
	from := sort.Search(len(m.entries), func(i int) bool { return m.entries[i].n >= lo })
	to := sort.Search(len(m.entries), func(i int) bool { return m.entries[i].n >= hi })
	rows := []int64{}
	for _, e := range m.entries[from:max(from, to)] {
		rows = append(rows, e.row)
	}
	return rows
}

func scan(s index.Snapshot, iv index.Interval, d index.Direction) []int64 {
	rows := []int64{}
	s.Scan(iv, d, func(r []int64) bool {
		rows = append(rows, r...)
		return true
	})
	return rows
}

// compare reads all of the index, and parts of it, in every way.
func (m *model) compare() {
	s := m.x.Snapshot()
	defer s.Release()
	require.NoError(m.t, m.x.Check())
	require.Equal(m.t, len(m.entries), m.x.Stats().Entries)
	const low, high = -100000, 100000
	for _, r := range [][2]int{{low, high}, {0, 10}, {-5, 40}, {3, 3}, {30, 200}, {high, low}} {
		want := m.rows(r[0], r[1])
		iv := index.Interval{Lo: m.key(r[0]), Hi: m.key(r[1]), Empty: r[0] > r[1]}
		require.Equal(m.t, want, scan(s, iv, index.Forward), "forward %v", r)
		back := scan(s, iv, index.Backward)
		slices.Reverse(back)
		require.Equal(m.t, want, back, "backward %v", r)
		require.Equal(m.t, len(want), s.Count(iv))
	}
	iv := index.Interval{Lo: m.key(7), NoHi: true}
	require.Equal(m.t, m.rows(7, high), scan(s, iv, index.Forward))
	var ns []int
	for n := -3; n < 50; n++ {
		ns = append(ns, n, n)
	}
	r := s.Lookup(m.keys(ns), index.Ranges{})
	for i, n := range ns {
		require.Equal(m.t, m.rows(n, n+1), append([]int64{}, r.Rows[r.Offsets[i]:r.Offsets[i+1]]...))
	}
}

// testSizes builds, halves and empties indexes of sizes about a node's.
func testSizes(t *testing.T, c *index.Codec, open func(*index.Codec) index.Index) {
	for _, n := range []int{0, 1, 2, 31, 32, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 16385, 40000} {
		m := newModel(t, c, open(c))
		all := make([]entry, n)
		for i := range all {
			all[i] = entry{i / 3, int64(i)}
		}
		m.apply(nil, all)
		m.compare()
		m.apply(all[n/4:n-n/4], nil)
		m.compare()
		m.apply(all, nil) // some are gone already: rule 2
		m.compare()
		require.Equal(t, 0, m.x.Stats().Entries)
		require.NoError(t, m.x.Close())
	}
}

// testSnapshots is rule 4.
func testSnapshots(t *testing.T, c *index.Codec, open func(*index.Codec) index.Index) {
	m := newModel(t, c, open(c))
	var held []index.Snapshot
	var want [][]int64
	all := index.Interval{NoHi: true}
	for i := range 300 {
		m.apply([]entry{{i / 2, int64(i / 2)}}, []entry{{i, int64(i)}, {i % 7, int64(1000 + i)}})
		held = append(held, m.x.Snapshot())
		want = append(want, m.rows(-1, 100000))
	}
	for i, s := range held {
		require.Equal(t, want[i], scan(s, all, index.Forward))
		s.Release()
	}
}

func testRandom(t *testing.T, c *index.Codec, open func(*index.Codec) index.Index, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 3))
	m := newModel(t, c, open(c))
	for range 120 {
		var del, ins []entry
		size := 1 << rnd.IntN(9)
		for range rnd.IntN(size) {
			ins = append(ins, entry{rnd.IntN(400) - 100, int64(rnd.IntN(50))})
		}
		for range rnd.IntN(size) {
			if len(m.entries) > 0 {
				del = append(del, m.entries[rnd.IntN(len(m.entries))])
			}
		}
		m.apply(del, ins)
		m.compare()
	}
}
