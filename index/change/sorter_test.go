package change_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/device/faulty"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/change"
)

// model is what a batch does to an index, told one change after the other: what
// of each key's rows is deleted, and which keys are cleared first.
type model struct {
	cleared map[string]bool
	dead    map[string]map[uint64]bool
}

func (m *model) apply(key string, row uint64, op index.Op) {
	if op == index.Upsert {
		m.cleared[key] = true
		delete(m.dead, key)
	}
	if m.dead[key] == nil {
		m.dead[key] = map[uint64]bool{}
	}
	m.dead[key][row] = op == index.Delete
}

func (m *model) lines() (lines []string, single bool) {
	single = true
	for key, rows := range m.dead {
		single = single && len(rows) == 1
		for row, dead := range rows {
			lines = append(lines, line(key, row, dead, m.cleared[key]))
		}
	}
	slices.Sort(lines)
	return lines, single
}

// read is what a Sorted does, told so that it can be compared with a model.
func read(t *testing.T, f index.Format, out change.Sorted) []string {
	var lines []string
	size := f.Size()
	for i := range out.N {
		op := byte(0)
		if out.Ops != 0 {
			op = device.View[byte](out.Ops, out.N)[i]
		}
		row := device.View[uint64](out.Rows, out.N)[i]
		lines = append(lines, line(text(f, out.Keys+device.Ptr(i*size)), row, op&change.Delete != 0, op&change.Clear != 0))
	}
	require.True(t, slices.IsSorted(lines), "the lines order as the entries")
	return lines
}

func line(key string, row uint64, dead, clear bool) string {
	return fmt.Sprintf("%s %016x delete=%v clear=%v", key, row, dead, clear)
}

// text is a key in digits that order as it does.
func text(f index.Format, p device.Ptr) string {
	if f.Narrow {
		return fmt.Sprintf("%08x", device.View[uint32](p, 1)[0])
	}
	s := ""
	words := device.View[uint64](p, f.Size()/8)
	for _, w := range words[:f.Words] {
		s += fmt.Sprintf("%016x", w)
	}
	if f.Long {
		for _, w := range index.Tail(words[f.Words]) {
			s += fmt.Sprintf("%016x", w)
		}
	}
	return s
}

func TestSortMeansOneAfterTheOther(t *testing.T) {
	d := devicetest.CPU(t)
	st := devicetest.Stream(t, d)
	formats := []index.Format{{Words: 1}, {Words: 1, Narrow: true}, {Words: 2}, {Words: 5}, {Words: 1, Long: true}, {Words: 2, Long: true}}
	for _, f := range formats {
		for _, n := range []int{0, 1, 2, 31, 32, 33, 127, 1000, 20000, 70000} {
			for seed := range uint64(3) {
				t.Run(fmt.Sprintf("%v %d seed %d", f, n, seed), func(t *testing.T) { testSort(t, st, d, f, n, seed) })
			}
		}
	}
}

func testSort(t *testing.T, st device.Stream, d device.Device, f index.Format, n int, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, uint64(n)))
	b := index.NewBatch(d, f)
	defer b.Release()
	keys := make([][]byte, 1+rnd.IntN(n+1))
	for i := range keys {
		keys[i] = make([]byte, 8*rnd.IntN(8))
		for j := range keys[i] {
			keys[i][j] = byte(rnd.IntN(4)) << (6 * (seed % 2)) // keys that share beginnings, or hardly
		}
	}
	ops := []index.Op{index.Insert, index.Insert, index.Delete, index.Upsert}[:2+seed]
	for range n {
		b.Add(keys[rnd.IntN(len(keys))])
		b.Rows = append(b.Rows, uint64(rnd.IntN(5))<<uint(rnd.IntN(61)))
		b.Ops = append(b.Ops, ops[rnd.IntN(len(ops))])
	}
	e, err := b.Upload(st)
	require.NoError(t, err)
	m := model{map[string]bool{}, map[string]map[uint64]bool{}}
	for i := range n {
		m.apply(text(f, e.Keys.Data+device.Ptr(i*f.Size())), b.Rows[i], b.Ops[i])
	}
	want, single := m.lines()
	c := change.NewSorter(d, f)
	defer c.Release()
	out, err := c.Sort(st, e)
	require.NoError(t, err)
	require.Equal(t, want, read(t, f, out))
	require.Equal(t, len(m.cleared) > 0, out.Clears)

	for _, op := range []index.Op{index.Insert, index.Delete} {
		testPlain(t, st, d, f, e, op)
	}
	e.Keys, e.Rows, e.Ops = index.Keys{Data: out.Keys, N: out.N}, out.Rows, 0
	for _, op := range []index.Op{index.Insert, index.Delete, index.Upsert} {
		for _, sorted := range []bool{false, true} {
			if op == index.Upsert && !single {
				continue // then a later upsert forgets an earlier one
			}
			e.Op, e.Sorted = op, sorted
			c := change.NewSorter(d, f)
			again, err := c.Sort(st, e)
			c.Release()
			require.NoError(t, err)
			require.Equal(t, out.N, again.N)
			require.True(t, again.N == 0 || again.Keys == out.Keys, "invariant 3")
		}
	}
}

// testPlain sorts changes of one kind.
func testPlain(t *testing.T, st device.Stream, d device.Device, f index.Format, e index.Entries, op index.Op) {
	e.Ops, e.Op = 0, op
	m := model{map[string]bool{}, map[string]map[uint64]bool{}}
	for i := range e.Keys.N {
		m.apply(text(f, e.Keys.Data+device.Ptr(i*f.Size())), device.View[uint64](e.Rows, e.Keys.N)[i], op)
	}
	want, _ := m.lines()
	c := change.NewSorter(d, f)
	defer c.Release()
	out, err := c.Sort(st, e)
	require.NoError(t, err)
	require.Equal(t, want, read(t, f, out))
}

func TestFaults(t *testing.T) {
	d := devicetest.CPU(t)
	faulty.Sweep(t, d, func(d device.Device) error {
		st, err := d.NewStream()
		if err != nil {
			return err
		}
		defer st.Close()
		b := index.NewBatch(d, index.Format{Words: 1})
		defer b.Release()
		c := change.NewSorter(d, index.Format{Words: 1})
		defer c.Release()
		for i, w := 0, b.Words(100); i < 100; i++ {
			w[i] = uint64(100 - i)
			b.Rows = append(b.Rows, 7)
		}
		e, err := b.Upload(st)
		if err != nil {
			return err
		}
		_, err = c.Sort(st, e)
		return err
	}, nil)
}

func BenchmarkSort(b *testing.B) {
	d := devicetest.CPU(b)
	st, err := d.NewStream()
	require.NoError(b, err)
	defer st.Close()
	for _, n := range []int{8192, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			batch := index.NewBatch(d, index.Format{Words: 1})
			defer batch.Release()
			for i, w := 0, batch.Words(n); i < n; i++ {
				w[i] = rand.Uint64()
				batch.Rows = append(batch.Rows, uint64(i))
			}
			e, err := batch.Upload(st)
			require.NoError(b, err)
			c := change.NewSorter(d, index.Format{Words: 1})
			defer c.Release()
			for b.Loop() {
				if _, err := c.Sort(st, e); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/key")
		})
	}
}
