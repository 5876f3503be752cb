package wide_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/wide"
)

// counted is a stream that counts launches by name.
type counted struct {
	device.Stream
	launches map[string]int
}

func (c *counted) Submit(w device.Work) error {
	c.launches[w.Name()]++
	return c.Stream.Submit(w)
}

type pair struct{ key, row uint64 }

// TestDirect applies batches that are not put in order, and some that have to be,
// and compares all entries with a set's.
func TestDirect(t *testing.T) {
	devicetest.EachGPU(t, func(t *testing.T, d device.Device) {
		for _, k := range []index.Kind{wide.Btree(), wide.Mvcc()} {
			for _, f := range []index.Format{{Words: 1, Narrow: true}, {Words: 1}} {
				t.Run(fmt.Sprintf("%s %v", k.Name, f), func(t *testing.T) { testDirect(t, d, k, f) })
			}
		}
	})
}

// model is an index beside a set of what it has to have.
type model struct {
	*testing.T
	s       *counted
	f       index.Format
	x       index.Index
	b       *index.Batch
	a       *index.Answer
	rnd     *rand.Rand
	want    map[pair]bool
	version index.Version
}

func newModel(t *testing.T, d device.Device, k index.Kind, f index.Format) *model {
	m := &model{T: t, s: &counted{devicetest.Stream(t, d), map[string]int{}}, f: f, rnd: rand.New(rand.NewPCG(1, 2)), want: map[pair]bool{}}
	var err error
	m.x, err = k.New(d, f)
	require.NoError(t, err)
	m.b, m.a = index.NewBatch(d, f), index.NewAnswer(d)
	t.Cleanup(func() {
		m.b.Release()
		m.a.Release()
		require.NoError(t, m.x.Close())
	})
	return m
}

// apply makes changes, of the same kind without ops, and looks at all that is there.
func (m *model) apply(changes []pair, ops []index.Op) {
	m.version++
	m.b.Reset()
	var narrow []uint32
	var words []uint64
	if m.f.Narrow {
		narrow = m.b.Narrow(len(changes))
	} else {
		words = m.b.Words(len(changes))
	}
	for i, c := range changes {
		if m.f.Narrow {
			narrow[i] = uint32(c.key)
		} else {
			words[i] = c.key
		}
		m.b.Rows = append(m.b.Rows, c.row)
		m.want[c] = true
		if ops != nil && ops[i] == index.Delete {
			delete(m.want, c)
		}
	}
	m.b.Ops = append(m.b.Ops[:0], ops...)
	e, err := m.b.Upload(m.s)
	require.NoError(m, err)
	require.NoError(m, m.x.Apply(m.s, m.version, e))
	require.NoError(m, m.x.Check(m.s))
	require.EqualValues(m, len(m.want), m.x.Stats().Entries)
	sn, err := m.x.Snapshot(index.Latest)
	require.NoError(m, err)
	defer sn.Release()
	require.NoError(m, sn.Scan(m.s, index.Ranges{N: 1}, index.Order{}, m.a))
	rows := make([]uint64, m.a.Total)
	if m.a.Total > 0 {
		require.NoError(m, m.s.Download(bytesOf(rows), m.a.Rows()))
	}
	sorted := slices.SortedFunc(maps.Keys(m.want), func(p, q pair) int {
		return slices.Compare([]uint64{p.key, p.row}, []uint64{q.key, q.row})
	})
	for i, p := range sorted {
		require.Equal(m, p.row, rows[i], "entry %d", i)
	}
}

func testDirect(t *testing.T, d device.Device, k index.Kind, f index.Format) {
	m := newModel(t, d, k, f)
	// Of few keys some are in several leaves, and changes of one entry meet.
	batch := func(n, keys, rows, inserts int) (changes []pair, ops []index.Op) {
		for range n {
			changes = append(changes, pair{m.rnd.Uint64N(uint64(keys)) * 3, 1 + m.rnd.Uint64N(uint64(rows))})
			op := index.Insert
			if m.rnd.IntN(100) >= inserts {
				op = index.Delete
			}
			ops = append(ops, op)
		}
		return changes, ops
	}
	m.apply(batch(3000, 2000, 1<<30, 100))
	for range 4 {
		m.apply(batch(300, 2000, 1<<30, 100))
	}
	require.Positive(t, m.s.launches["tree_settle_4"]+m.s.launches["tree_settle_8"])
	for _, rows := range []int{1, 3, 40} {
		for range 3 {
			m.apply(batch(400, 100, rows, 60))
		}
	}
	m.apply(batch(200, 1, 1000, 100)) // all to one leaf
	m.apply(batch(100, 2000, 1<<40, 90))
	m.apply(batch(100, 2000, 1<<40, 10))
	m.apply(batch(30_000, 1<<30, 1<<30, 100)) // more leaves than a block has
	for range 3 {
		m.apply(batch(1500, 1<<30, 1<<30, 90))
	}
	all := slices.Collect(maps.Keys(m.want))
	m.apply(all, slices.Repeat([]index.Op{index.Delete}, len(all)))
}
