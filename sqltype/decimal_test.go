package sqltype

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompareDecimal(t *testing.T) {
	for _, c := range []struct {
		a  string
		as int
		b  string
		bs int
	}{
		{"10", 1, "1", 0}, {"99999999999999999999999999999999999999", 0, "1", 38},
		{"-99999999999999999999999999999999999999", 0, "-1", 38}, {"15", 1, "1500", 3}, {"1501", 3, "15", 1}, {"0", 0, "0", 38},
	} {
		a, _ := ParseInt128(c.a)
		b, _ := ParseInt128(c.b)
		x := new(big.Rat).SetFrac(bigOf(a), bigOf(Pow10(c.as)))
		y := new(big.Rat).SetFrac(bigOf(b), bigOf(Pow10(c.bs)))
		require.Equal(t, x.Cmp(y), CompareDecimal(a, c.as, b, c.bs), "%+v", c)
		require.Equal(t, y.Cmp(x), CompareDecimal(b, c.bs, a, c.as), "%+v", c)
	}
}

func TestDecimalFloat(t *testing.T) {
	for _, text := range []string{"0.1", "123.45", "-0.01", "12345678901234567890.12345", "0.00000000000000000000000001", "9007199254740993"} {
		whole, fraction, _ := strings.Cut(text, ".")
		v, ok := ParseInt128(whole + fraction)
		require.True(t, ok)
		want, _ := strconv.ParseFloat(text, 64)
		require.Equal(t, want, DecimalFloat(v, len(fraction)))
	}
}

// FuzzParseDecimal holds the parser against math/big, and the text against
// the parser.
func FuzzParseDecimal(f *testing.F) {
	for _, s := range []string{"1.5", "-0.05", "1e3", ".5", "5.", "1e-400", "12345e-3", "99999999.995", "1e", "+1", "--1", "1.2.3"} {
		f.Add(s, uint8(10), uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, precision, scale uint8) {
		p := int(precision)%MaxPrecision + 1
		s := int(scale) % (p + 1)
		v, err := ParseDecimal(text, p, s)
		if err != nil {
			return
		}
		require.True(t, v.Fits(p))
		back, err := ParseDecimal(FormatDecimal(v, s), p, s)
		require.NoError(t, err)
		require.Equal(t, v, back)
		if _, exp, _ := cutExponent(trimBlanks(text)); exp > 1000 || exp < -1000 {
			return
		}
		r, ok := new(big.Rat).SetString(trimBlanks(text))
		require.True(t, ok, "%q", text)
		r.Mul(r, new(big.Rat).SetInt(bigOf(Pow10(s))))
		require.Equal(t, roundedQuotient(r.Num(), r.Denom()).String(), v.String(), "%q", text)
	})
}

// FuzzParseDatum holds that no text breaks a parser, and that what a value is
// shown as reads back as the same value.
func FuzzParseDatum(f *testing.F) {
	for _, s := range []string{"12", "1.5", "true", `\x00`, "1999-01-08 04:05:06.789+02", "1 year -2 days 03:04:05", "P1Y2M", "0044-03-15 BC", "Jan 8 1999", "04:05 PM", "NaN"} {
		f.Add(s)
	}
	types := allTypes()
	f.Fuzz(func(t *testing.T, text string) {
		for _, typ := range types {
			d, err := ParseDatum(text, typ)
			if err != nil {
				require.IsType(t, &Error{}, err)
				continue
			}
			back, err := ParseDatum(d.String(), typ)
			require.NoError(t, err, "%s %q", typ, text)
			require.Zero(t, Compare(d, back), "%s %q: %s", typ, text, d)
		}
	})
}

// allTypes has a type of every kind but NULL.
var letters = &Enum{Name: "letter", labels: []string{"a", "b"}, place: map[string]int{"a": 0, "b": 1}}

func allTypes() []Type {
	var types []Type
	for k := KindBool; k < numKinds; k++ {
		t := Type{Kind: k}
		if k == KindDecimal {
			t = Decimal(20, 4)
		}
		if k == KindEnum {
			t.Enum = letters
		}
		if k == KindList {
			t = ListOf(Int32)
		}
		if k == KindStruct {
			t = StructOf([]Field{{"a", Int32}})
		}
		if k == KindMap {
			t = MapOf(Varchar, Int32)
		}
		types = append(types, t)
	}
	return types
}

// Every kind has a physical form, a text form, a name and a NULL that casts.
func TestKindsAreComplete(t *testing.T) {
	for _, typ := range allTypes() {
		require.Less(t, typ.Phys(), NumPhys)
		zero := Datum{Type: typ}
		if typ.Kind == KindJSON {
			zero.S = "0" // no text is no JSON
		}
		require.NotEqual(t, "NULL", zero.String())
		require.Zero(t, Compare(zero, zero))
		if typ.Phys() != PhysStr {
			back, err := ParseDatum(zero.String(), typ)
			require.NoError(t, err)
			require.Equal(t, zero, back)
		}
		for _, to := range allTypes() {
			d, err := CastDatum(NullOf(typ), to)
			if CanCast(typ, to) {
				require.NoError(t, err)
				require.Equal(t, NullOf(to), d)
				if typ.Kind != KindVarchar && to.Kind != KindBit && typ.Kind != KindJSON { // no text is no bits
					_, err = CastDatum(zero, to)
					require.NoError(t, err, "%s to %s", typ, to)
				}
			} else {
				require.Error(t, err)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	d := func(text string, typ Type) Datum {
		v, err := ParseDatum(text, typ)
		require.NoError(t, err)
		return v
	}
	// Each is below the next.
	for _, order := range [][]Datum{
		{NewFloat64(math.Inf(-1)), NewInt32(-1), d("-0.5", Decimal(10, 2)), NewInt64(0), d("0.5", Float32), NewFloat64(math.NaN()), NullOf(Int32)},
		{d("18446744073709551614", Uint64), d("18446744073709551615", Uint64)},
		{NewInt64(-1), d("0", Uint64)},
		{d("1999-01-08", Date), d("1999-01-08 00:00:01", Timestamp), d("1999-01-09", Date)},
		{NewString(""), NewString("a"), NewString("ab"), NewString("b")},
		{d("29 days", Interval), d("1 month", Interval), d("31 days", Interval), d("1 year", Interval)},
		{NewBool(false), NewBool(true), NullOf(Bool)},
	} {
		for i, a := range order {
			for j, b := range order {
				want := 0
				if i != j {
					want = map[bool]int{true: -1, false: 1}[i < j]
				}
				require.Equal(t, want, Compare(a, b), "%s %s", a, b)
			}
		}
	}
	require.Zero(t, Compare(NewFloat64(math.Copysign(0, -1)), NewFloat64(0)))
	require.Zero(t, Compare(d("30 days", Interval), d("1 month", Interval)))
	require.Zero(t, Compare(d("1.50", Decimal(10, 2)), d("1.5", Decimal(30, 1))))
}
