package index_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/sqltype"
)

// samples are values of every type of key, NULL and the edges among them.
func samples() map[sqltype.Type][]sqltype.Datum {
	all := map[sqltype.Type][]sqltype.Datum{}
	ints := map[sqltype.Type][]int64{
		sqltype.Bool: {0, 1}, sqltype.Int8: {-128, -1, 0, 1, 127}, sqltype.Int16: {-32768, -1, 0, 256, 32767},
		sqltype.Int32: {math.MinInt32, -1, 0, 1, 65536, math.MaxInt32}, sqltype.Date: {-1, 0, 20000},
		sqltype.Int64: {math.MinInt64, -1, 0, 1, 1 << 40, math.MaxInt64}, sqltype.Uint8: {0, 1, 255}, sqltype.Uint16: {0, 1, 65535},
		sqltype.Uint32: {0, 1, math.MaxUint32}, sqltype.Uint64: {0, 1, math.MaxInt64, -1}, sqltype.Timestamp: {-5, 0, 5},
		sqltype.Decimal(10, 2): {-150, 0, 3},
	}
	for t, vs := range ints {
		for _, v := range vs {
			all[t] = append(all[t], sqltype.Datum{Type: t, I: v})
		}
	}
	for _, t := range []sqltype.Type{sqltype.Float32, sqltype.Float64} {
		for _, f := range []float64{math.Inf(-1), -1.5, math.Copysign(0, -1), 0, 1e-30, 2, math.Inf(1), math.NaN()} {
			all[t] = append(all[t], sqltype.Datum{Type: t, F: f})
		}
	}
	wide := sqltype.Decimal(38, 3)
	for _, w := range [][2]int64{{-1, -5}, {-1, 5}, {0, 0}, {0, -1}, {1, 0}, {math.MaxInt64 / 4, 3}} {
		all[wide] = append(all[wide], sqltype.Datum{Type: wide, Hi: w[0], I: w[1]})
	}
	for _, t := range []sqltype.Type{sqltype.Varchar, sqltype.Blob} {
		for _, s := range []string{"", "\x00", "\x00\x00", "\x00a", "a", "a\x00", "a\x00b", "ab", "b", "\xff", "\xff\xff", "a longer string than twelve"} {
			all[t] = append(all[t], sqltype.Datum{Type: t, S: s})
		}
	}
	for _, v := range []sqltype.Datum{{Months: 1}, {Days: 30}, {Days: 29}, {Days: -1, I: 5}, {I: 86400e6}, {Days: 1}, {I: -1}, {}} {
		v.Type = sqltype.Interval
		all[sqltype.Interval] = append(all[sqltype.Interval], v)
	}
	for t := range all {
		all[t] = append(all[t], sqltype.NullOf(t))
	}
	return all
}

func TestKeysOrderAsValues(t *testing.T) {
	for typ, vs := range samples() {
		for _, k := range []index.KeyColumn{{}, {Desc: true}, {NullsFirst: true}, {Desc: true, NullsFirst: true}} {
			k.Type = typ
			t.Run(fmt.Sprintf("%v desc=%v first=%v", typ, k.Desc, k.NullsFirst), func(t *testing.T) {
				c := index.NewCodec([]index.KeyColumn{k, k})
				for range 2000 {
					var a, b [2]sqltype.Datum
					want := 0
					var ka, kb []byte
					for i := range a {
						a[i], b[i] = vs[rand.IntN(len(vs))], vs[rand.IntN(len(vs))]
						ka, kb = c.Append(ka, i, &a[i]), c.Append(kb, i, &b[i])
						if want == 0 {
							want = order(k, a[i], b[i])
						}
					}
					require.Equal(t, want, bytes.Compare(ka, kb), "%v and %v", a, b)
					require.Equal(t, want, compareWords(c.Format(), ka, kb))
				}
			})
		}
	}
}

func order(k index.KeyColumn, a, b sqltype.Datum) int {
	if a.Null != b.Null {
		if a.Null == k.NullsFirst {
			return -1
		}
		return 1
	}
	if k.Desc {
		return sqltype.Compare(b, a)
	}
	return sqltype.Compare(a, b)
}

func TestIntervals(t *testing.T) {
	for typ, vs := range samples() {
		for _, k := range []index.KeyColumn{{}, {Desc: true}, {NullsFirst: true}, {NotNull: true}} {
			k.Type = typ
			c := index.NewCodec([]index.KeyColumn{k})
			for range 300 {
				r := index.Range{LoOpen: rand.IntN(2) == 0, HiOpen: rand.IntN(2) == 0}
				lo, hi, v := vs[rand.IntN(len(vs))], vs[rand.IntN(len(vs))], vs[rand.IntN(len(vs))]
				if k.NotNull && v.Null {
					continue
				}
				in := rand.IntN(2) == 0 || !v.Null
				if rand.IntN(3) > 0 {
					r.Lo = &lo
					n := sqltype.Compare(v, lo)
					in = in && !lo.Null && !v.Null && (n > 0 || n == 0 && !r.LoOpen)
				}
				if rand.IntN(3) > 0 {
					r.Hi = &hi
					n := sqltype.Compare(v, hi)
					in = in && !hi.Null && !v.Null && (n < 0 || n == 0 && !r.HiOpen)
				}
				if r.Lo == nil && r.Hi == nil {
					in = true
				}
				iv := c.Interval(&r)
				key := c.Append(nil, 0, &v)
				got := !iv.Empty && bytes.Compare(key, iv.Lo) >= 0 && (iv.NoHi || bytes.Compare(key, iv.Hi) < 0)
				words := !iv.Empty && compareWords(c.Format(), key, iv.Lo) >= 0 && (iv.NoHi || compareWords(c.Format(), key, iv.Hi) < 0)
				require.Equal(t, got, words, "bytes and words differ")
				require.Equal(t, in, got, "%v %+v: %v in %v to %v %+v", typ, k, v, lo, hi, r)
			}
		}
	}
}

// compareWords orders keys by the words that a device has of them.
func compareWords(f index.Format, a, b []byte) int {
	words := func(key []byte) []uint64 {
		var out []uint64
		for len(key) > 0 {
			var w [8]byte
			key = key[copy(w[:], key):]
			out = append(out, binary.BigEndian.Uint64(w[:]))
		}
		for len(out) < f.Words {
			out = append(out, 0)
		}
		return out
	}
	return slices.Compare(words(a), words(b))
}

func TestFoldedKeysAreEqual(t *testing.T) {
	c := index.NewCodec([]index.KeyColumn{{Type: sqltype.Varchar, Fold: true}})
	a, b := sqltype.NewString("AbZ[\x00@"), sqltype.NewString("aBz[\x00@")
	require.Equal(t, c.Append(nil, 0, &a), c.Append(nil, 0, &b))
}

// TestKeysAreReadBack makes keys of two columns and carries every value beside them.
func TestKeysAreReadBack(t *testing.T) {
	for typ, vs := range samples() {
		for _, k := range []index.KeyColumn{{}, {Desc: true}, {NullsFirst: true}, {NotNull: true}} {
			k.Type = typ
			carried := index.KeyColumn{Type: typ, NotNull: k.NotNull, Carried: true}
			for name, columns := range map[string][]index.KeyColumn{
				"alone":          {k},
				"carried":        {{Type: sqltype.Int32}, carried, carried},
				"before strings": {k, {Type: sqltype.Varchar, Desc: k.Desc}, carried},
				"behind strings": {{Type: sqltype.Varchar}, k, carried},
			} {
				c := index.NewCodec(columns)
				var rows [][]sqltype.Datum
				cpu := device.NewCPU(device.CPUOptions{Streams: 1})
				b := index.NewBatch(cpu, c.Format())
				for i, v := range vs {
					if v.Null && k.NotNull {
						continue
					}
					var key []byte
					row := make([]sqltype.Datum, len(columns))
					for j := range columns {
						switch {
						case columns[j].Type == typ:
							row[j] = v
						case columns[j].Type == sqltype.Varchar:
							row[j] = sqltype.NewString(strings.Repeat("\x00ab", i))
						default:
							row[j] = sqltype.NewInt32(int32(-i))
						}
						key = c.Append(key, j, &row[j])
					}
					b.Add(key)
					rows = append(rows, row)
				}
				s, err := cpu.NewStream()
				require.NoError(t, err)
				e, err := b.Upload(s)
				require.NoError(t, err)
				found := index.Found{Keys: true, Codec: c}
				size := c.Format().Size()
				keys := device.View[byte](e.Keys.Data, e.Keys.N*size)
				for i := range rows {
					found.Add(int64(i), unsafe.Pointer(&keys[i*size]))
				}
				for j := range columns {
					readBack(t, fmt.Sprintf("%s %s %+v", typ, name, columns[j]), &found, rows, columns[j], j)
				}
				b.Release()
				require.NoError(t, s.Close())
			}
		}
	}
}

// readBack compares a column with what it was made of, all of it and from row 1 on.
func readBack(t *testing.T, what string, f *index.Found, rows [][]sqltype.Datum, k index.KeyColumn, column int) {
	t.Helper()
	exact := k.Carried || k.Type.Kind != sqltype.KindInterval && !k.Type.Kind.IsFloat()
	for from := range min(2, len(rows)) {
		n := len(rows) - from
		p := k.Type.Phys()
		values, valid := make([]uint64, n), []uint64{^uint64(0)}
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 8*n)
		fast := f.Read(column, from, n, bytes, valid)
		for i := range n {
			want := rows[from+i][column]
			if k.Type.Kind != sqltype.KindInterval || k.Carried {
				got := f.Datum(from+i, column)
				if exact {
					require.True(t, same(want, got), "%s: %v is read as %v", what, want, got)
				}
			}
			if !fast {
				continue
			}
			require.True(t, exact, what)
			require.Equal(t, want.Null, valid[0]>>i&1 == 0, what)
			if want.Null {
				continue
			}
			var raw [8]byte
			copy(raw[:], bytes[i*p.Width():(i+1)*p.Width()])
			u := binary.LittleEndian.Uint64(raw[:])
			mask := ^uint64(0) >> (64 - 8*p.Width())
			switch p {
			case sqltype.PhysF32:
				require.Equal(t, math.Float32bits(float32(want.F)), uint32(u), what)
			case sqltype.PhysF64:
				require.Equal(t, math.Float64bits(want.F), u, what)
			default:
				require.Equal(t, uint64(want.I)&mask, u, what)
			}
		}
	}
}

// same compares values to the last bit.
func same(a, b sqltype.Datum) bool {
	if a.Type.Kind == sqltype.KindFloat32 {
		a.F = float64(float32(a.F))
	}
	return a.Null == b.Null && (a.Null || a.I == b.I && a.Hi == b.Hi && a.S == b.S && a.Months == b.Months && a.Days == b.Days &&
		math.Float64bits(a.F) == math.Float64bits(b.F))
}
