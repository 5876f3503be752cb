package sqltype

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func ints(vs ...int32) Datum {
	parts := make([]Datum, len(vs))
	for i, v := range vs {
		parts[i] = NewInt32(v)
	}
	return NewNested(ListOf(Int32), parts)
}

func TestNestedTypes(t *testing.T) {
	a := StructOf([]Field{{"a", Int32}, {"b c", ListOf(Varchar)}})
	require.Equal(t, a, StructOf([]Field{{"a", Int32}, {"b c", ListOf(Type{Kind: KindVarchar, Length: 3})}}))
	require.NotEqual(t, a, StructOf([]Field{{"a", Int32}, {"d", ListOf(Varchar)}}))
	require.NotEqual(t, ListOf(Int32), ListOf(Int64))
	require.Equal(t, `STRUCT(a INTEGER, "b c" VARCHAR[])`, a.String())
	require.Equal(t, "INTEGER[][]", ListOf(ListOf(Int32)).String())
	at, typ, ok := a.Field("B C")
	require.True(t, ok)
	require.Equal(t, 1, at)
	require.Equal(t, ListOf(Varchar), typ)

	common, ok := CommonType(ListOf(Int32), ListOf(Float64))
	require.True(t, ok)
	require.Equal(t, ListOf(Float64), common)
	_, ok = CommonType(ListOf(Int32), ListOf(Varchar))
	require.False(t, ok)
	_, ok = CommonType(ListOf(Int32), Int32)
	require.False(t, ok)
	require.True(t, CanCast(ListOf(Int32), ListOf(Varchar)))
	require.False(t, CanCast(ListOf(Date), ListOf(Int32)))
	require.False(t, CanCast(ListOf(Int32), Int32))
}

// The order of lists is that of their elements, NULL last, the shorter first.
func TestNestedOrder(t *testing.T) {
	null := NewNested(ListOf(Int32), []Datum{NullOf(Int32)})
	order := []Datum{ints(), ints(-5), ints(-5, 1), ints(0), ints(0, math.MinInt32), ints(7), ints(256), null}
	for i, a := range order {
		for j, b := range order {
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = 1
			}
			require.Equal(t, want, Compare(a, b), "%s and %s", a, b)
		}
	}
	wide, err := CastDatum(ints(1, 2), ListOf(Float64))
	require.NoError(t, err)
	require.Zero(t, Compare(ints(1, 2), wide))
}

// What goes into a list comes out of it, whatever its type.
func TestNestedValues(t *testing.T) {
	span := NewInterval(Span{Months: 1, Days: -2, Micros: 3})
	values := []Datum{
		NewBool(true), NewInt32(-7), NewInt64(math.MinInt64), NewFloat64(-1.5), NewFloat64(math.Inf(1)),
		NewString(""), NewString("a\x00b"), NewString("\x00"), NewString("\x00\x00"), NewString("a\x00"),
		{Type: Blob, S: "\x00\xff\x00"}, span, ints(1, 2), ints(),
		{Type: Float32, F: 0.25}, {Type: Uint64, I: -1}, {Type: Uint8, I: 255}, {Type: Int8, I: -128},
		NewDecimal(Int128{Hi: -3, Lo: 9}, Decimal(38, 2)), NewDecimal(Int128Of(-12345), Decimal(10, 2)),
		{Type: Date, I: -1}, {Type: UUID, Hi: -1, I: 4},
		NewNested(StructOf([]Field{{"a", Int32}, {"b", Varchar}}), []Datum{NullOf(Int32), NewString("x\x00")}),
	}
	for _, v := range values {
		list := NewNested(ListOf(v.Type), []Datum{v, NullOf(v.Type), v})
		var got []Datum
		for e := list.Elements(); e.Next(); {
			got = append(got, e.Datum())
		}
		require.Equal(t, []Datum{v, NullOf(v.Type), v}, got, "%s", v)
	}
	var fields []Field
	for _, v := range values {
		fields = append(fields, Field{Name: v.Type.String(), Type: v.Type})
	}
	all := NewNested(StructOf(fields), values)
	i := 0
	for e := all.Elements(); e.Next(); i++ {
		require.Equal(t, values[i], e.Datum())
		require.Equal(t, fields[i].Name, e.Name())
	}
	require.Len(t, values, i)
}

func TestNestedText(t *testing.T) {
	rows := StructOf([]Field{{"a", Int32}, {"b", Varchar}})
	cases := []struct {
		typ      Type
		text     string
		want     string // the text given back
		canParse bool
	}{
		{ListOf(Int32), "[1, 2, NULL]", "[1, 2, NULL]", true},
		{ListOf(Int32), " {1,2} ", "[1, 2]", true},
		{ListOf(Int32), "[]", "[]", true},
		{ListOf(Int32), "[1,", "", false},
		{ListOf(Int32), "1", "", false},
		{ListOf(Int32), "[x]", "", false},
		{ListOf(Int32), "[[1]]", "", false},
		{ListOf(Varchar), `[a b, "c,d", 'it\'s', '', null, 'null', don't]`, `[a b, 'c,d', 'it\'s', '', NULL, 'null', 'don\'t']`, true},
		{ListOf(ListOf(Int32)), "[[1], [], NULL]", "[[1], [], NULL]", true},
		{ListOf(Date), "[2020-01-02]", "[2020-01-02]", true},
		{rows, "{'a': 1, 'b': x:y}", `{'a': 1, 'b': 'x:y'}`, true},
		{rows, "{b: z}", `{'a': NULL, 'b': z}`, true},
		{rows, "(3, q)", `{'a': 3, 'b': q}`, true},
		{rows, "(3)", "", false},
		{rows, "{c: 1}", "", false},
		{rows, "{", "", false},
		{rows, "", "", false},
		{ListOf(rows), "[{'a': 1, 'b': [}]", "", false},
		{StructOf([]Field{{"", Int32}, {"", Int32}}), "(1, 2)", "(1, 2)", true},
	}
	for _, c := range cases {
		d, err := ParseDatum(c.text, c.typ)
		if !c.canParse {
			require.Error(t, err, c.text)
			continue
		}
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, d.String())
		again, err := ParseDatum(d.String(), c.typ)
		require.NoError(t, err, d.String())
		require.Equal(t, d, again)
	}
}

func FuzzParseNested(f *testing.F) {
	f.Add("[{'a': [1, 2], 'b': x}]")
	f.Add(`["a", 'b', c\, {]`)
	typ := ListOf(StructOf([]Field{{"a", ListOf(Int32)}, {"b", Varchar}}))
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDatum(text, typ)
		if err != nil {
			return
		}
		again, err := ParseDatum(d.String(), typ)
		require.NoError(t, err, d.String())
		require.Equal(t, d, again)
	})
}

// Bytes that no list was made of end the walk and nothing else.
func FuzzElements(f *testing.F) {
	f.Add(ints(1, 2).S)
	types := []Type{ListOf(Varchar), ListOf(ListOf(Varchar)), StructOf([]Field{{"a", Varchar}, {"b", ListOf(Blob)}})}
	f.Fuzz(func(t *testing.T, b string) {
		for _, typ := range types {
			n := 0
			for e := ElementsOf(typ, b); e.Next(); n++ {
				require.NotEmpty(t, e.Raw())
			}
			require.LessOrEqual(t, n, len(b))
		}
	})
}
