package kernels

import (
	"cmp"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/sqltype"
)

// bigInt is v by way of its digits.
func bigInt(t *testing.T, v sqltype.Int128) *big.Int {
	n, ok := new(big.Int).SetString(v.String(), 10)
	require.True(t, ok)
	return n
}

// TestMulDiv compares quotients whose dividend leaves 128 bits with math/big.
func TestMulDiv(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	draw := func() sqltype.Int128 {
		v := sqltype.Int128{Lo: rnd.Uint64(), Hi: int64(rnd.Uint64())}
		_, v, _ = v.QuoRem(sqltype.Pow10(1 + rnd.IntN(38)))
		return v
	}
	fit, left := 0, 0
	for range 20000 {
		a, b, k := draw(), draw(), rnd.IntN(39)
		if b.IsZero() {
			continue
		}
		// (2|a|m + |b|) / 2|b|, with the sign put back, rounds halves away from zero.
		want := new(big.Int).Mul(bigInt(t, a), bigInt(t, sqltype.Pow10(k)))
		den := bigInt(t, b)
		neg := want.Sign()*den.Sign() < 0
		want.Abs(want).Lsh(want, 1)
		den.Abs(den)
		want.Add(want, den).Quo(want, new(big.Int).Lsh(den, 1))
		if neg {
			want.Neg(want)
		}
		got, ok := mulDiv(a, sqltype.Pow10(k), b)
		if want.BitLen() > 127 {
			left++
			require.False(t, ok, "%s * 10^%d / %s", a, k, b)
			continue
		}
		fit++
		require.True(t, ok, "%s * 10^%d / %s", a, k, b)
		require.Equal(t, want.String(), got.String(), "%s * 10^%d / %s", a, k, b)
	}
	require.Greater(t, min(fit, left), 1000)
}

func TestPackBools(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 7, 8, 63, 64, 65, 127, 128, 129} {
		b := make([]uint8, n)
		for i := range b {
			b[i] = uint8(rnd.UintN(256)) // only the lowest bit counts
		}
		for w := range (n + 63) / 64 {
			word := packBools(b, w)
			for i := w * 64; i < min(w*64+64, n); i++ {
				require.Equal(t, uint64(b[i]&1), word>>(i-w*64)&1)
			}
		}
	}
}

func TestHeapViews(t *testing.T) {
	h := NewHeap(devicetest.CPU(t))
	defer h.Release()
	for range 2 {
		var views []View
		var want []string
		for n := range 40 {
			want = append(want, strings.Repeat("x", n), strings.Repeat("\xff", n)+"a")
		}
		want = append(want, strings.Repeat("long", stringBlock), "after")
		for _, s := range want {
			v, err := h.String(s)
			require.NoError(t, err)
			views = append(views, v)
		}
		for i := range views {
			require.Equal(t, want[i], views[i].Str())
			for j := range views {
				require.Equal(t, cmp.Compare(want[i], want[j]), CompareViews(&views[i], &views[j]), "%q and %q", want[i], want[j])
			}
		}
		blocks := len(h.blocks)
		h.Reset()
		require.Len(t, h.blocks, blocks)
	}
}

func TestSet(t *testing.T) {
	for _, n := range []int{0, 1, linearSet, linearSet + 1, 1000} {
		var ints, strs []sqltype.Datum
		for i := range n {
			ints = append(ints, sqltype.NewInt64(int64(i)*3-7))
			strs = append(strs, sqltype.NewString(strings.Repeat("s", i%20)+string(rune('a'+i%26))))
		}
		is, ss := NewSet(append(ints, sqltype.NullOf(sqltype.Int64))), NewSet(strs)
		require.True(t, is.HasNull)
		require.False(t, ss.HasNull)
		for v := int64(-20); v < 3100; v++ {
			require.Equal(t, v >= -7 && (v+7)%3 == 0 && (v+7)/3 < int64(n), is.hasInt(v), "%d of %d", v, n)
		}
		for _, d := range strs {
			require.True(t, ss.hasString(d.S))
			require.False(t, ss.hasString(d.S+"!"))
		}
	}
}
