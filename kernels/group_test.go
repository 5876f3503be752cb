package kernels

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// hostColumn is a column of integers or strings with NULLs.
type hostColumn struct {
	phys sqltype.Phys
	ints []int64
	strs []string // through a dictionary when dict
	null []bool
	dict bool
}

func (c *hostColumn) key(i int) string {
	switch {
	case c.null[i]:
		return "NULL"
	case c.phys == sqltype.PhysStr:
		return c.strs[i]
	default:
		return fmt.Sprint(c.ints[i])
	}
}

// vec puts the column into device memory of sc.
func (c *hostColumn) vec(t testing.TB, sc *device.Scope) Vec {
	n := len(c.null)
	alloc := func(bytes int) device.Ptr {
		b, err := sc.Alloc(max(bytes, 1))
		require.NoError(t, err)
		return b.Ptr()
	}
	v := Vec{Data: alloc(n * 16)}
	for i, null := range c.null {
		if null && v.Valid == 0 {
			v.Valid = alloc(BitmapBytes(n))
			for w := range device.View[uint64](v.Valid, (n+63)/64) {
				device.View[uint64](v.Valid, w+1)[w] = ^uint64(0)
			}
		}
		if null {
			device.View[uint64](v.Valid, n)[i/64] &^= 1 << (i % 64)
		}
	}
	if c.phys != sqltype.PhysStr {
		for i, x := range c.ints {
			storeCell(c.phys, v.Data, i, [2]uint64{uint64(x), uint64(x >> 63)})
		}
		return v
	}
	codes := map[string]uint32{}
	var dict []View
	for i, s := range c.strs {
		at := alloc(len(s))
		copy(device.View[byte](at, len(s)), s)
		view := ViewAt(at, len(s))
		if !c.dict {
			device.View[View](v.Data, n)[i] = view
			continue
		}
		code, ok := codes[s]
		if !ok {
			code = uint32(len(dict))
			codes[s] = code
			dict = append(dict, view)
		}
		device.View[uint32](v.Data, n)[i] = code
	}
	if c.dict {
		v.Dict, v.DictLen = alloc(16*len(dict)), uint32(len(dict))
		copy(device.View[View](v.Dict, len(dict)), dict)
	}
	return v
}

func randomColumn(r *rand.Rand, p sqltype.Phys, n int, low, span int64) *hostColumn {
	c := &hostColumn{phys: p, dict: r.IntN(3) > 0}
	nulls := r.IntN(3) == 0
	for range n {
		x := low + r.Int64N(span)
		c.ints = append(c.ints, x)
		c.strs = append(c.strs, fmt.Sprintf("some long text %d", x))
		c.null = append(c.null, nulls && r.IntN(4) == 0)
	}
	return c
}

func TestGroupsAgainstMap(t *testing.T) {
	type shape struct {
		name  string
		phys  []sqltype.Phys
		low   int64
		spans []int64 // of the batches
	}
	i8, i32, i64, str := sqltype.PhysI8, sqltype.PhysI32, sqltype.PhysI64, sqltype.PhysStr
	for _, sh := range []shape{
		{"one dense", []sqltype.Phys{i64}, -500, []int64{10, 1000, 5000}},
		{"one narrow", []sqltype.Phys{i8}, -100, []int64{10, 200}},
		{"one date", []sqltype.Phys{i32}, 9000, []int64{2000}},
		{"one spreads", []sqltype.Phys{i64}, 5, []int64{10, 100000, 1 << 40}},
		{"one spreads down", []sqltype.Phys{i64}, math.MinInt64, []int64{1, math.MaxInt64}},
		{"pair", []sqltype.Phys{i32, i8}, 0, []int64{5, 100}},
		{"wide pair", []sqltype.Phys{i64, i32}, 0, []int64{5, 1 << 31, 7}},
		{"text", []sqltype.Phys{str}, 0, []int64{5, 300}},
		{"texts", []sqltype.Phys{str, str, i32}, 0, []int64{3, 20, 4}},
		{"text and numbers", []sqltype.Phys{i64, i8, str, i32, i8, i64}, 0, []int64{3, 400, 4}},
		{"wide numbers", []sqltype.Phys{sqltype.PhysI128, i8, sqltype.PhysI128}, -50, []int64{5, 100}},
	} {
		for _, zero := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/zero=%v", sh.name, zero), func(t *testing.T) {
				groupsAgainstMap(t, sh.phys, sh.low, sh.spans, zero)
			})
		}
	}
}

func groupsAgainstMap(t *testing.T, phys []sqltype.Phys, low int64, spans []int64, zero bool) {
	r := rand.New(rand.NewPCG(1, 2))
	d := device.NewCPU(device.CPUOptions{})
	s, err := d.NewStream()
	require.NoError(t, err)
	sc := device.NewScope(d, device.ScopeOptions{})
	nullable := make([]bool, len(phys))
	for i := range nullable {
		nullable[i] = true
	}
	own := device.NewScope(d, device.ScopeOptions{})
	g := NewGroups(own, NewKeyLayout(phys, nullable), zero)
	want := map[string]uint32{}
	for round := range 12 {
		n := []int{1, 63, 64, 65, 300}[r.IntN(5)]
		cols := make([]*hostColumn, len(phys))
		vecs := make([]Vec, len(phys))
		for i, p := range phys {
			at := low
			if round%2 == 1 && low > math.MinInt64 {
				at -= r.Int64N(200)
			}
			if p == sqltype.PhysI8 {
				at = -100
			}
			cols[i] = randomColumn(r, p, n, at, spans[min(round/3, len(spans)-1)])
			vecs[i] = cols[i].vec(t, sc)
		}
		ids, err := sc.Alloc(4 * n)
		require.NoError(t, err)
		require.NoError(t, g.Find(s, vecs, n, ids.Ptr()))
		for i, id := range device.View[uint32](ids.Ptr(), n) {
			key := ""
			for _, c := range cols {
				key += c.key(i) + "|"
			}
			if _, ok := want[key]; !ok {
				want[key] = uint32(len(want))
			}
			require.Equal(t, want[key], id, "round %d row %d %s", round, i, key)
		}
		require.Equal(t, len(want), g.Len())
	}
	g.Release()
	require.Zero(t, own.Used())
	require.NoError(t, s.Close())
	sc.Close()
	own.Close()
	require.NoError(t, d.Close())
}

func TestSumsAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := device.NewCPU(device.CPUOptions{})
	s, err := d.NewStream()
	require.NoError(t, err)
	for _, n := range []int{1, 63, 64, 65, sumBlock - 1, sumBlock, sumBlock + 65} {
		for _, groups := range []int{0, 1, 7, fewGroups, fewGroups + 1} {
			for _, span := range []int64{100, 1 << 52, math.MaxInt64} {
				sumsAgainstBig(t, r, d, s, sqltype.PhysI64, n, groups, span)
				sumsAgainstBig(t, r, d, s, sqltype.PhysI128, n, groups, span)
			}
		}
	}
	require.NoError(t, s.Close())
	require.NoError(t, d.Close())
}

func sumsAgainstBig(t *testing.T, r *rand.Rand, d *device.CPU, s device.Stream, p sqltype.Phys, n, groups int, span int64) {
	sc := device.NewScope(d, device.ScopeOptions{})
	defer sc.Close()
	c := randomColumn(r, p, n, -span/2, span)
	in := AggInput{Src: c.vec(t, sc), Groups: max(groups, 1)}
	ids := make([]uint32, n)
	if groups > 0 {
		b, err := sc.Alloc(4 * n)
		require.NoError(t, err)
		for i := range ids {
			ids[i] = uint32(r.IntN(groups))
		}
		copy(device.View[uint32](b.Ptr(), n), ids)
		in.IDs = b.Ptr()
	}
	state, err := sc.Alloc(24 * in.Groups)
	require.NoError(t, err)
	counts, err := sc.Alloc(8 * in.Groups)
	require.NoError(t, err)
	require.NoError(t, Zero(s, state.Ptr(), state.Len()))
	require.NoError(t, Zero(s, counts.Ptr(), counts.Len()))
	require.NoError(t, Agg{Kind: AggSum, Phys: p}.Update(s, state.Ptr(), in, n))
	require.NoError(t, Agg{Kind: AggCount}.Update(s, counts.Ptr(), in, n))
	want, rows := make([]big.Int, in.Groups), make([]uint64, in.Groups)
	for i, g := range ids {
		if !c.null[i] {
			want[g].Add(&want[g], big.NewInt(c.ints[i]))
			rows[g]++
		}
	}
	for g, st := range device.View[sumState](state.Ptr(), in.Groups) {
		got := new(big.Int).Lsh(big.NewInt(int64(st.hi)), 64)
		got.Add(got, new(big.Int).SetUint64(st.lo))
		require.Equal(t, want[g].String(), got.String(), "n=%d groups=%d span=%d", n, groups, span)
		require.Equal(t, rows[g], st.n)
		require.Equal(t, rows[g], device.View[uint64](counts.Ptr(), g+1)[g])
	}
}

// TestWideSums has numbers whose high words are in use, and a sum that does
// not fit.
func TestWideSums(t *testing.T) {
	d := device.NewCPU(device.CPUOptions{})
	s, err := d.NewStream()
	require.NoError(t, err)
	sc := device.NewScope(d, device.ScopeOptions{})
	for _, shift := range []uint{0, 30, 50, 62} {
		const n = 65
		data, err := sc.Alloc(16 * n)
		require.NoError(t, err)
		ids, err := sc.Alloc(4 * n)
		require.NoError(t, err)
		state, err := sc.Alloc(24)
		require.NoError(t, err)
		require.NoError(t, Zero(s, state.Ptr(), 24))
		require.NoError(t, Zero(s, ids.Ptr(), 4*n))
		for i := range n {
			device.View[[2]uint64](data.Ptr(), n)[i] = [2]uint64{^uint64(0), 1 << shift}
		}
		in := AggInput{Src: Vec{Data: data.Ptr()}, IDs: ids.Ptr(), Groups: 1}
		err = Agg{Kind: AggSum, Phys: sqltype.PhysI128}.Update(s, state.Ptr(), in, n)
		if shift == 62 {
			require.ErrorContains(t, err, "out of range")
			continue
		}
		require.NoError(t, err)
		// n * (2^shift * 2^64 + 2^64 - 1)
		require.Equal(t, sumState{lo: ^uint64(0) - (n - 1), hi: n<<shift + n - 1, n: n}, device.View[sumState](state.Ptr(), 1)[0])
	}
	sc.Close()
	require.NoError(t, s.Close())
	require.NoError(t, d.Close())
}

// BenchmarkGroups is TPC-H's first query's work on a batch: two dictionaries
// of few values, a count and five sums.
func BenchmarkGroups(b *testing.B) {
	const n = 16384
	r := rand.New(rand.NewPCG(1, 2))
	d := device.NewCPU(device.CPUOptions{})
	s, err := d.NewStream()
	require.NoError(b, err)
	sc := device.NewScope(d, device.ScopeOptions{})
	str := sqltype.PhysStr
	var keys []Vec
	for range 2 {
		c := randomColumn(r, str, n, 0, 3)
		c.dict, c.null = true, make([]bool, n)
		keys = append(keys, c.vec(b, sc))
	}
	v := randomColumn(r, sqltype.PhysI64, n, 0, 10_000_000)
	v.null = make([]bool, n)
	src := v.vec(b, sc)
	ids, err := sc.Alloc(4 * n)
	require.NoError(b, err)
	state, err := sc.Alloc(24 * n)
	require.NoError(b, err)
	g := NewGroups(sc, NewKeyLayout([]sqltype.Phys{str, str}, []bool{true, true}), false)
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, g.Find(s, keys, n, ids.Ptr()))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
	})
	require.Equal(b, 9, g.Len())
	require.NoError(b, Zero(s, state.Ptr(), state.Len()))
	b.Run("sum", func(b *testing.B) {
		in := AggInput{Src: src, IDs: ids.Ptr(), Groups: 9}
		for b.Loop() {
			require.NoError(b, Agg{Kind: AggSum, Phys: sqltype.PhysI64}.Update(s, state.Ptr(), in, n))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
	})
	b.Run("count", func(b *testing.B) {
		in := AggInput{IDs: ids.Ptr(), Groups: 9}
		for b.Loop() {
			require.NoError(b, Agg{Kind: AggCount}.Update(s, state.Ptr(), in, n))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
	})
}
