package index_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

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
