package sqltype

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func bigOf(a Int128) *big.Int {
	b := new(big.Int).Lsh(big.NewInt(a.Hi), 64)
	return b.Add(b, new(big.Int).SetUint64(a.Lo))
}

// fitsInt128 reports that b is in the range.
func fitsInt128(b *big.Int) bool {
	return b.Cmp(bigOf(MinInt128)) >= 0 && b.Cmp(bigOf(MaxInt128)) <= 0
}

// randomInt128 prefers numbers near the places where words end.
func randomInt128(r *rand.Rand) Int128 {
	edges := [...]uint64{0, 1, 2, 9, 10, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64, math.MaxUint64 - 1, 1 << 32, 1e19}
	word := func() uint64 {
		if r.IntN(3) == 0 {
			return edges[r.IntN(len(edges))]
		}
		return r.Uint64() >> r.IntN(64)
	}
	a := Int128{Lo: word()}
	switch r.IntN(3) {
	case 0:
		a.Hi = int64(word())
	case 1:
		a.Hi = int64(a.Lo) >> 63
	}
	return a
}

func TestInt128AgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(want *big.Int, got Int128, ok bool, op string, a, b Int128) {
		require.Equal(t, fitsInt128(want), ok, "%s %v %v", op, bigOf(a), bigOf(b))
		if ok {
			require.Equal(t, want.String(), bigOf(got).String(), "%s %v %v", op, bigOf(a), bigOf(b))
		}
	}
	for range 200_000 {
		a, b := randomInt128(r), randomInt128(r)
		x, y := bigOf(a), bigOf(b)
		got, ok := a.Add(b)
		check(new(big.Int).Add(x, y), got, ok, "+", a, b)
		got, ok = a.Sub(b)
		check(new(big.Int).Sub(x, y), got, ok, "-", a, b)
		got, ok = a.Mul(b)
		check(new(big.Int).Mul(x, y), got, ok, "*", a, b)
		got, ok = a.Neg()
		check(new(big.Int).Neg(x), got, ok, "neg", a, b)
		require.Equal(t, x.Cmp(y), a.Cmp(b))
		require.Equal(t, x.Cmp(y) < 0, a.Less(b))
		require.Equal(t, x.Sign(), a.Sign())
		if b.IsZero() {
			continue
		}
		q, rem, ok := a.QuoRem(b)
		check(new(big.Int).Quo(x, y), q, ok, "/", a, b)
		require.Equal(t, new(big.Int).Rem(x, y).String(), bigOf(rem).String(), "%% %v %v", x, y)
		got, ok = a.QuoRound(b)
		check(roundedQuotient(x, y), got, ok, "round /", a, b)
	}
}

// roundedQuotient is x / y, halves away from zero.
func roundedQuotient(x, y *big.Int) *big.Int {
	q, rem := new(big.Int).QuoRem(x, y, new(big.Int))
	if rem.Abs(rem).Lsh(rem, 1).CmpAbs(y) >= 0 {
		step := int64(x.Sign() * y.Sign())
		q.Add(q, big.NewInt(step))
	}
	return q
}

func TestInt128Text(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50_000 {
		a := randomInt128(r)
		require.Equal(t, bigOf(a).String(), a.String())
		back, ok := ParseInt128(a.String())
		require.True(t, ok)
		require.Equal(t, a, back)
	}
	for _, text := range []string{"", "-", "+", "1a", "170141183460469231731687303715884105728",
		"-170141183460469231731687303715884105729", "999999999999999999999999999999999999999999"} {
		_, ok := ParseInt128(text)
		require.False(t, ok, text)
	}
}

func TestInt128Float64(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50_000 {
		a := randomInt128(r)
		want, _ := new(big.Float).SetInt(bigOf(a)).Float64()
		require.Equal(t, want, a.Float64(), "%v", a)
		if back, ok := Int128FromFloat(want); ok {
			exact, _ := big.NewFloat(want).Int(nil)
			require.Equal(t, exact.String(), back.String())
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0x1p127, -0x1.0000000000001p127} {
		_, ok := Int128FromFloat(f)
		require.False(t, ok, "%v", f)
	}
	v, ok := Int128FromFloat(-0x1p127)
	require.True(t, ok)
	require.Equal(t, MinInt128, v)
	v, _ = Int128FromFloat(2.5)
	require.Equal(t, "3", v.String())
}

func TestInt128Products(t *testing.T) {
	for _, a := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 40, -(1 << 40)} {
		for _, b := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 3} {
			want := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
			require.Equal(t, want.String(), MulInt64(a, b).String())
			want = new(big.Int).Add(bigOf(Int128Of(a)), big.NewInt(b))
			require.Equal(t, want.String(), Int128Of(a).AddInt64(b).String())
		}
	}
}

func TestInt128Rescale(t *testing.T) {
	for _, c := range []struct {
		v        int64
		from, to int
		want     string
		ok       bool
	}{
		{125, 2, 1, "13", true}, {-125, 2, 1, "-13", true}, {124, 2, 1, "12", true},
		{1, 0, 38, "100000000000000000000000000000000000000", true}, {2, 0, 38, "", false},
		{5, 38, 0, "0", true}, {0, 0, 99, "0", true}, {1, 0, 99, "", false}, {9, 99, 0, "0", true},
	} {
		got, ok := Int128Of(c.v).Rescale(c.from, c.to)
		require.Equal(t, c.ok, ok)
		if ok {
			require.Equal(t, c.want, got.String())
		}
	}
	require.True(t, Int128Of(99).Fits(2))
	require.True(t, Int128Of(-99).Fits(2))
	require.False(t, Int128Of(100).Fits(2))
	require.False(t, MinInt128.Fits(38))
}

func BenchmarkInt128(b *testing.B) {
	x, y := Int128{Lo: 123456789, Hi: 1}, Int128{Lo: 987654321, Hi: 0}
	b.Run("Add", func(b *testing.B) {
		for b.Loop() {
			x.Add(y)
		}
	})
	b.Run("Mul", func(b *testing.B) {
		for b.Loop() {
			x.Mul(y)
		}
	})
	b.Run("QuoRound", func(b *testing.B) {
		for b.Loop() {
			x.QuoRound(y)
		}
	})
}
