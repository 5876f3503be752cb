package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/cuda"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/sqltype"
)

// foldProgram is a * (100 - b) and a, where c < less; the key is a string.
func foldProgram(less int64) *Program {
	p := &Builder{}
	i64 := sqltype.Int64
	x, y, z, key := p.Input(0, i64), p.Input(1, i64), p.Input(2, i64), p.Input(3, sqltype.Varchar)
	cond := p.Emit(Instr{Op: OpLt, Phys: sqltype.PhysI64, Mask: NoReg, Args: []Reg{z, p.Const(sqltype.NewInt64(less))}}, sqltype.Bool)
	mask := p.Emit(Instr{Op: OpMaskTrue, Mask: NoReg, Args: []Reg{cond}}, sqltype.Bool)
	rest := p.Emit(Instr{Op: OpSub, Phys: sqltype.PhysI64, Mask: mask, Args: []Reg{p.Const(sqltype.NewInt64(100)), y}}, i64)
	product := p.Emit(Instr{Op: OpMul, Phys: sqltype.PhysI64, Mask: mask, Args: []Reg{x, rest}}, i64)
	return p.Finish([]Reg{key, product, x, cond})
}

var foldStatesTested = []FoldState{{Agg{AggSum, sqltype.PhysI64}, 1, -1}, {Agg{AggMin, sqltype.PhysI64}, 2, -1},
	{Agg{AggMax, sqltype.PhysI64}, 2, -1}, {Agg{AggCount, 0}, 2, -1}, {Agg{AggCount, 0}, -1, 3}}

// TestFold adds rows to the states of their groups, with NULLs and without, in
// batches of two dictionaries.
func TestFold(t *testing.T) {
	folds := func(t *testing.T, d device.Device) {
		for _, keyed := range []bool{false, true} {
			for _, nulls := range []bool{false, true} {
				for _, n := range []int{1, 33, 1000, 5000} {
					t.Run(fmt.Sprint("keyed=", keyed, " nulls=", nulls, " n=", n), func(t *testing.T) {
						foldOnce(newMemory(t, d, uint64(n)), keyed, nulls, n)
					})
				}
			}
		}
	}
	t.Run("simt", func(t *testing.T) { folds(t, devicetest.SIMT(t, cuda.Options{MadeItems: 1})) })
	t.Run("cuda", func(t *testing.T) { folds(t, devicetest.CUDA(t, cuda.Options{MadeItems: 1})) })
}

// folded is what a group has.
type folded struct {
	sum         int64
	least, most int64
	values, all uint64
	rows        int
}

func foldOnce(m *memory, keyed, nulls bool, n int) {
	var keys []int
	if keyed {
		keys = []int{0}
	}
	f, err := NewFold(foldProgram(500), 3, keys, foldStatesTested, m.d)
	m.ok(err)
	defer f.Release()
	got, want := map[string]folded{}, map[string]folded{}
	states := make([]Array, len(foldStatesTested))
	take := func(keyVecs []Vec, groups int, from []device.Ptr, rows device.Ptr) error {
		names := []string{""}
		if keyed {
			names = nil
			known := m.downloadBits(keyVecs[0].Valid, groups)
			dict := m.downloadStrings(Vec{Data: keyVecs[0].Dict}, int(keyVecs[0].DictLen))
			for i, c := range download[uint32](m, keyVecs[0].Data, groups) {
				if names = append(names, "NULL"); known[i] {
					names[i] = dict[c]
				}
			}
		}
		for i, st := range foldStatesTested {
			size := st.Agg.Bytes() * groups
			m.ok(states[i].Extend(m.d, m.s, 0, size))
			m.ok(Zero(m.s, states[i].Ptr(), size))
			ids := device.Ptr(0)
			if groups > 1 {
				ids = m.room(4 * groups)
				m.ok(numbers32(m, ids, groups))
			}
			m.ok(st.Agg.Merge(m.s, states[i].Ptr(), from[i], rows, ids, groups, nil))
		}
		sums, counts := download[sumState](m, states[0].Ptr(), groups), download[uint64](m, states[3].Ptr(), groups)
		all := download[uint64](m, states[4].Ptr(), groups)
		least, most := download[cell](m, states[1].Ptr(), groups), download[cell](m, states[2].Ptr(), groups)
		for i, name := range names {
			g := got[name]
			if counts[i] > 0 {
				lo, hi := int64(^least[i].v[0]^1<<63), int64(most[i].v[0]^1<<63)
				if g.values == 0 || lo < g.least {
					g.least = lo
				}
				if g.values == 0 || hi > g.most {
					g.most = hi
				}
			}
			g.sum += int64(sums[i].lo)
			g.values += counts[i]
			g.all += all[i]
			got[name] = g
		}
		return nil
	}
	rows := 0
	flush := func() {
		k, err := f.Flush(m.s, take)
		m.ok(err)
		rows += k
	}
	all := 0
	for _, words := range [][]string{{"a", "bb", "a string of more than twelve bytes"}, {"bb", "c"}} {
		for range 2 {
			cols, visible := foldBatch(m, words, keyed, nulls, n, want)
			if f.Changes(cols) {
				flush()
			}
			m.ok(f.Run(m.s, cols, n, visible))
		}
	}
	flush()
	require.False(m, f.Failed())
	for name, g := range want {
		all += g.rows
		g.rows = 0
		want[name] = g
	}
	require.Equal(m, all, rows)
	if !keyed && len(want) == 0 {
		want[""] = folded{}
	}
	require.Equal(m, want, got)
	for i := range states {
		states[i].Release()
	}
}

// numbers32 writes 0, 1, ... as words of 32 bits.
func numbers32(m *memory, p device.Ptr, n int) error {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	return m.s.Upload(p, rawOf(ids))
}

// foldBatch makes columns, and adds what they are to want.
func foldBatch(m *memory, words []string, keyed, nulls bool, n int, want map[string]folded) ([]Vec, device.Ptr) {
	var cols []Vec
	var values [3][]int64
	var known [4][]bool
	valid := func(i int) device.Ptr {
		known[i] = make([]bool, n)
		if !nulls {
			for r := range known[i] {
				known[i][r] = true
			}
			return 0
		}
		p := m.bitmap(n)
		known[i] = m.downloadBits(p, n)
		return p
	}
	for i := range values {
		values[i] = make([]int64, n)
		for r := range values[i] {
			values[i][r] = int64(m.IntN(1000)) - 100*int64(i)
		}
		cols = append(cols, Vec{Data: upload(m, values[i]), Valid: valid(i)})
	}
	codes := make([]uint32, n)
	for r := range codes {
		codes[r] = uint32(m.IntN(len(words)))
	}
	views := make([]View, len(words))
	for i, w := range words {
		if len(w) <= InlineLen {
			views[i] = inlineView(w)
			continue
		}
		views[i] = inlineView(w[:4])
		views[i].Lo = views[i].Lo&^0xffffffff | uint64(len(w))
		views[i].Hi = uint64(upload(m, []byte(w)))
	}
	cols = append(cols, Vec{Data: upload(m, codes), Valid: valid(3), Dict: upload(m, views), DictLen: uint32(len(words))})
	visible := m.bitmap(n)
	seen := m.downloadBits(visible, n)
	for r := range n {
		if !seen[r] || !known[2][r] || values[2][r] >= 500 {
			continue
		}
		name := ""
		if keyed {
			if name = "NULL"; known[3][r] {
				name = words[codes[r]]
			}
		}
		g := want[name]
		g.rows++
		g.all++
		if known[0][r] && known[1][r] {
			g.sum += values[0][r] * (100 - values[1][r])
		}
		if x := values[0][r]; known[0][r] {
			if g.values == 0 || x < g.least {
				g.least = x
			}
			if g.values == 0 || x > g.most {
				g.most = x
			}
			g.values++
		}
		want[name] = g
	}
	return cols, visible
}

// TestFoldFails: a value that does not fit is seen.
func TestFoldFails(t *testing.T) {
	m := newMemory(t, devicetest.SIMT(t, cuda.Options{MadeItems: 1}), 1)
	f, err := NewFold(foldProgram(500), 3, nil, foldStatesTested, m.d)
	m.ok(err)
	defer f.Release()
	big := upload(m, []int64{1 << 62})
	m.ok(f.Run(m.s, []Vec{{Data: big}, {Data: upload(m, []int64{0})}, {Data: upload(m, []int64{0})}, {Data: big, Dict: big, DictLen: 1}}, 1, 0))
	_, err = f.Flush(m.s, func([]Vec, int, []device.Ptr, device.Ptr) error { return nil })
	m.ok(err)
	require.True(t, f.Failed())
}

// BenchmarkFold sums a * (100 - b) where c < 24, and by groups of a key.
func BenchmarkFold(b *testing.B) {
	for _, many := range []int{1, 6} {
		b.Run(fmt.Sprint(many, " groups"), func(b *testing.B) {
			m, n := benchMemory(b)
			var cols []Vec
			for i := range 3 {
				cols = append(cols, Vec{Data: m.room(8 * n)})
				m.ok(Sequence(m.s, cols[i].Data, int64(i), int64(i+1), n))
			}
			codes := make([]uint32, n)
			for i := range codes {
				codes[i] = uint32(i % many)
			}
			cols = append(cols, Vec{Data: upload(m, codes), Dict: upload(m, make([]View, many)), DictLen: uint32(many)})
			var keys []int
			bytes := 24
			if many > 1 {
				keys, bytes = []int{0}, 28
			}
			f, err := NewFold(foldProgram(1<<28), 3, keys, foldStatesTested[:1], m.d)
			m.ok(err)
			defer f.Release()
			passed := 0
			m.rate(b, bytes*n, func() {
				m.ok(f.Run(m.s, cols, n, 0))
				passed, err = f.Flush(m.s, func([]Vec, int, []device.Ptr, device.Ptr) error { return nil })
				m.ok(err)
			})
			require.Equal(b, (1<<28)/3, passed)
		})
	}
}
