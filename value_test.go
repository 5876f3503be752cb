package gpusql

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/sqltype"
)

func TestToValue(t *testing.T) {
	type celsius float64
	seven := 7
	var none *int
	when := time.Date(2024, 2, 29, 12, 30, 0, 1000, time.UTC)
	tests := []struct {
		arg  any
		want string
		typ  Type
	}{
		{nil, "NULL", sqltype.Null},
		{true, "true", sqltype.Bool},
		{7, "7", sqltype.Int32},
		{int64(7), "7", sqltype.Int32},
		{int64(1) << 40, "1099511627776", sqltype.Int64},
		{int8(-7), "-7", sqltype.Int32},
		{uint64(math.MaxUint64), "18446744073709551615", sqltype.Uint64},
		{1.5, "1.5", sqltype.Float64},
		{celsius(1.5), "1.5", sqltype.Float64},
		{"x", "x", sqltype.Varchar},
		{[]byte("x"), "\\x78", sqltype.Blob},
		{when, "2024-02-29 12:30:00.000001+00", sqltype.TimestampTZ},
		{&seven, "7", sqltype.Int32},
		{none, "NULL", sqltype.Null},
		{sqltype.NewInt64(3), "3", sqltype.Int64},
	}
	for _, tt := range tests {
		v, err := toValue(tt.arg)
		require.NoError(t, err)
		require.Equal(t, tt.typ, v.Type, "%#v", tt.arg)
		require.Equal(t, tt.want, v.String())
	}
	_, err := toValue(struct{}{})
	require.ErrorContains(t, err, "struct {}")
}

func TestScan(t *testing.T) {
	scan := func(dest any, v Value) any {
		t.Helper()
		require.NoError(t, scanInto(dest, v))
		return dest
	}
	var (
		i   int
		i8  int8
		u   uint16
		f   float64
		s   string
		b   bool
		raw []byte
		a   any
		p   *int
		v   Value
		w   time.Time
	)
	decimal, err := sqltype.ParseDatum("12.00", sqltype.Decimal(10, 2))
	require.NoError(t, err)
	day, err := sqltype.ParseDatum("2024-02-29", sqltype.Date)
	require.NoError(t, err)
	null := sqltype.NullOf(sqltype.Int32)

	scan(&i, sqltype.NewInt32(-5))
	require.Equal(t, -5, i)
	scan(&i, decimal)
	require.Equal(t, 12, i)
	scan(&i8, sqltype.NewInt64(127))
	require.EqualValues(t, 127, i8)
	scan(&u, sqltype.NewInt64(65535))
	require.EqualValues(t, 65535, u)
	scan(&f, decimal)
	require.Equal(t, 12.0, f)
	scan(&f, sqltype.NewInt64(3))
	require.Equal(t, 3.0, f)
	scan(&s, decimal)
	require.Equal(t, "12.00", s)
	scan(&b, sqltype.NewBool(true))
	require.True(t, b)
	scan(&raw, sqltype.NewString("abc"))
	require.Equal(t, []byte("abc"), raw)
	scan(&a, day)
	require.Equal(t, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), a)
	scan(&w, day)
	require.Equal(t, a, w)
	scan(&p, sqltype.NewInt32(9))
	require.Equal(t, 9, *p)
	scan(&p, null)
	require.Nil(t, p)
	scan(&a, null)
	require.Nil(t, a)
	scan(&v, null)
	require.True(t, v.Null)

	require.ErrorContains(t, scanInto(&i, null), "NULL cannot be scanned into *int")
	require.ErrorContains(t, scanInto(&i8, sqltype.NewInt64(128)), "cannot be scanned into *int8")
	require.ErrorContains(t, scanInto(&u, sqltype.NewInt64(-1)), "cannot be scanned into *uint16")
	require.ErrorContains(t, scanInto(&i, sqltype.NewString("x")), "cannot be scanned into *int")
	require.ErrorContains(t, scanInto(i, sqltype.NewInt64(1)), "a pointer is needed")
	half, err := sqltype.ParseDatum("0.50", sqltype.Decimal(10, 2))
	require.NoError(t, err)
	require.ErrorContains(t, scanInto(&i, half), "cannot be scanned")
}
