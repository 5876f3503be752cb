package kernels

import (
	"errors"
	"fmt"
	"sort"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/sqltype"
)

// keyCase is key columns of a form, and each row's key as text.
type keyCase struct {
	name string
	phys []sqltype.Phys
	null bool
}

var keyCases = []keyCase{
	{"word", []sqltype.Phys{sqltype.PhysI32}, false},
	{"nullable", []sqltype.Phys{sqltype.PhysI32}, true},
	{"pair", []sqltype.Phys{sqltype.PhysI64, sqltype.PhysI32}, true},
	{"columns", []sqltype.Phys{sqltype.PhysStr, sqltype.PhysI16}, true},
}

// columns makes n rows of such keys, about many different ones.
func (k *keyCase) columns(m *memory, n, many int) (cols []Vec, keys []string) {
	keys = make([]string, n)
	for _, p := range k.phys {
		ids := make([]int, n)
		null := make([]uint64, (n+63)/64)
		for i := range ids {
			ids[i] = m.IntN(many)
			if k.null && m.IntN(6) == 0 {
				keys[i] += "|NULL"
				continue
			}
			null[i/64] |= 1 << (i % 64)
			keys[i] += fmt.Sprint("|", ids[i])
		}
		var v Vec
		switch p {
		case sqltype.PhysI16:
			v.Data = upload(m, mapped(ids, func(x int) int16 { return int16(x) }))
		case sqltype.PhysI32:
			v.Data = upload(m, mapped(ids, func(x int) int32 { return int32(x) }))
		case sqltype.PhysI64:
			v.Data = upload(m, mapped(ids, func(x int) int64 { return int64(x) * 1e12 }))
		case sqltype.PhysStr:
			texts := make([]byte, 0, 20*many)
			for x := range many {
				texts = fmt.Appendf(texts, "a long text %08d", x)
			}
			base := upload(m, texts)
			v.Data = upload(m, mapped(ids, func(x int) View {
				view := longView(texts[x*20:x*20+20], base+device.Ptr(x*20))
				return view
			}))
		}
		if k.null {
			v.Valid = upload(m, null)
		}
		cols = append(cols, v)
	}
	return cols, keys
}

func mapped[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

func (k *keyCase) layout() KeyLayout {
	nullable := make([]bool, len(k.phys))
	for i := range nullable {
		nullable[i] = k.null
	}
	return NewKeyLayout(k.phys, nullable)
}

// TestGroupsEverywhere: rows have one number if they have one key, in any
// order of numbers; the table grows, and keeps what it had.
func TestGroupsEverywhere(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d device.Device) {
		for _, k := range keyCases {
			for _, zero := range []bool{false, true} {
				t.Run(fmt.Sprint(k.name, " zero=", zero), func(t *testing.T) {
					m := newMemory(t, d, 1)
					g := NewGroups(d, k.layout(), zero)
					defer g.Release()
					numbers := map[string]uint32{}
					for round, n := range []int{1, 65, 700, 3000} {
						if zero && n > 700 {
							break
						}
						cols, keys := k.columns(m, n, 5+200*round)
						ids := m.room(4 * n)
						m.ok(g.Find(m.s, cols, n, ids))
						for i, id := range download[uint32](m, ids, n) {
							if was, ok := numbers[keys[i]]; ok {
								require.Equal(t, was, id, "row %d of round %d, key %s", i, round, keys[i])
							}
							numbers[keys[i]] = id
						}
						require.Equal(t, len(numbers), g.Len())
					}
					seen := map[uint32]bool{}
					for _, id := range numbers {
						require.False(t, seen[id])
						seen[id] = true
					}
				})
			}
		}
	})
}

// TestJoinEverywhere finds all pairs of rows with one key, some at a time.
func TestJoinEverywhere(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d device.Device) {
		for _, k := range keyCases {
			for _, zero := range []bool{false, true} {
				t.Run(fmt.Sprint(k.name, " zero=", zero), func(t *testing.T) {
					m := newMemory(t, d, 1)
					build, buildKeys := k.columns(m, 300, 40)
					probe, probeKeys := k.columns(m, 200, 50)
					j := NewJoinTable(d, k.layout(), zero)
					defer j.Release()
					m.ok(j.Build(m.s, build, 300, 0))
					got := joinPairsOf(m, j, probe, 200)
					var want []string
					for i, a := range probeKeys {
						for l, b := range buildKeys {
							if a == b {
								want = append(want, fmt.Sprint(i, " ", l))
							}
						}
					}
					sort.Strings(got)
					sort.Strings(want)
					require.Equal(t, want, got)
				})
			}
		}
	})
}

// joinPairsOf are the pairs of n probe rows with the rows of a table.
func joinPairsOf(m *memory, j *JoinTable, probe []Vec, n int) (pairs []string) {
	heads, cursor := m.room(4*n), m.room(64)
	var scratch Array
	defer scratch.Release()
	m.ok(j.Heads(m.s, probe, n, 0, heads, &scratch))
	m.ok(Zero(m.s, cursor, 24))
	const limit = 97
	probes, rows := m.room(4*limit), m.room(4*limit)
	for {
		c, err := j.Pairs(m.s, heads, n, limit, probes, rows, cursor)
		m.ok(err)
		p, b := download[uint32](m, probes, int(c.N)), download[uint32](m, rows, int(c.N))
		for i := range p {
			pairs = append(pairs, fmt.Sprint(p[i], " ", b[i]))
		}
		if int(c.Row) == n {
			return pairs
		}
		require.EqualValues(m, limit, c.N)
	}
}

// TestJoinTableByWorkers: a table that several workers build gives the pairs of one
// that one has built, in the same order.
func TestJoinTableByWorkers(t *testing.T) {
	d := devicetest.CPU(t)
	for _, k := range keyCases {
		for _, zero := range []bool{false, true} {
			for _, keys := range []int{7, 50_000} {
				if zero && keys > 7 {
					continue // they would all be compared
				}
				m := newMemory(t, d, 2)
				const rows = 70_000
				probes := min(keys/2, 300)
				build, _ := k.columns(m, rows, keys)
				probe, _ := k.columns(m, probes, keys+keys/3)
				match := m.bitmap(rows)
				one := NewJoinTable(d, k.layout(), zero)
				m.ok(one.Build(m.s, build, rows, match))
				want := joinPairsOf(m, one, probe, probes)
				one.Release()
				for _, workers := range []int{1, 2, 7} {
					many := NewJoinTable(d, k.layout(), zero)
					m.ok(many.BuildBy(m.s, build, rows, match, workers, func(n int, f func(device.Stream, int) error) error {
						errs := make([]error, n)
						var wg sync.WaitGroup
						for i := range n {
							wg.Go(func() {
								s, err := d.NewStream()
								if err == nil {
									err = f(s, i)
									_ = s.Close()
								}
								errs[i] = err
							})
						}
						wg.Wait()
						return errors.Join(errs...)
					}))
					require.Equal(t, want, joinPairsOf(m, many, probe, probes), "%s zero=%v, %d keys, %d workers", k.name, zero, keys, workers)
					many.Release()
				}
			}
		}
	}
}

// TestAggregatesEverywhere: a device's results are the CPU's, for one group,
// few and many, with states merged into others.
func TestAggregatesEverywhere(t *testing.T) {
	type result struct {
		agg   Agg
		final Final
	}
	var results []result
	for _, p := range []sqltype.Type{sqltype.Int8, sqltype.Int32, sqltype.Int64, sqltype.Uint16, sqltype.Float32, sqltype.Float64, sqltype.Decimal(15, 2)} {
		f := p.Phys()
		sum := result{Agg{AggSum, f}, Final{Type: sqltype.Decimal(38, 0)}}
		avg := result{Agg{AggSum, f}, Final{Op: FinalAvg, Type: sqltype.Float64, Scale: 2}}
		if p.Kind.IsFloat() {
			sum, avg = result{Agg{AggSumFloat, f}, Final{Type: sqltype.Float64}}, result{Agg{AggSumFloat, f}, Final{Op: FinalAvg, Type: sqltype.Float64}}
		}
		results = append(results, sum, avg, result{Agg{AggMin, f}, Final{Type: p}}, result{Agg{AggMax, f}, Final{Type: p}},
			result{Agg{AggCount, f}, Final{Type: sqltype.Int64}})
	}
	for _, r := range results {
		t.Run(fmt.Sprintf("%v %v", r.agg, r.final.Type), func(t *testing.T) {
			for _, groups := range []int{1, 7, 33, 500} {
				agree(t, []int{0, 1, 65, 1000, 5000}, func(m *memory, n int) []any {
					values := make([]int64, n)
					ids := make([]uint32, n)
					for i := range values {
						values[i], ids[i] = int64(m.IntN(200)-100), uint32(m.IntN(groups))
					}
					in := AggInput{Src: Vec{Data: quarters(m, r.agg.Phys, values), Valid: m.bitmap(n)}, Groups: groups}
					if groups > 1 {
						in.IDs = upload(m, ids)
					}
					state, other := m.room(r.agg.Bytes()*groups), m.room(r.agg.Bytes()*groups)
					for _, p := range []device.Ptr{state, other} {
						m.ok(Zero(m.s, p, r.agg.Bytes()*groups))
						m.ok(r.agg.Update(m.s, p, in, n))
					}
					// Each state takes that of another group, named by its row.
					from, to := make([]uint32, groups), make([]uint32, groups)
					for i := range from {
						from[i], to[i] = uint32(groups-1-i), uint32(i)
					}
					m.ok(r.agg.Merge(m.s, state, other, upload(m, from), upload(m, to), groups, nil))
					w := r.final.Type.Phys().Width()
					out := Vec{Data: m.room(w * groups), Valid: m.room(BitmapBytes(groups))}
					m.ok(r.agg.Final(m.s, state, r.final, groups, out))
					return []any{download[byte](m, out.Data, w*groups), m.downloadBits(out.Valid, groups)}
				})
			}
		})
	}
}

// quarters is values in a form; floats are a quarter, so that sums are exact.
func quarters(m *memory, p sqltype.Phys, values []int64) device.Ptr {
	switch p {
	case sqltype.PhysI8:
		return upload(m, mapped(values, func(v int64) int8 { return int8(v) }))
	case sqltype.PhysI32:
		return upload(m, mapped(values, func(v int64) int32 { return int32(v) }))
	case sqltype.PhysU16:
		return upload(m, mapped(values, func(v int64) uint16 { return uint16(v + 100) }))
	case sqltype.PhysF32:
		return upload(m, mapped(values, func(v int64) float32 { return float32(v) / 4 }))
	case sqltype.PhysF64:
		return upload(m, mapped(values, func(v int64) float64 { return float64(v) / 4 }))
	}
	return upload(m, values)
}
