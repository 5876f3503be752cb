package sqltype

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommonType(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"INTEGER", "BIGINT", "BIGINT"}, {"TINYINT", "UTINYINT", "SMALLINT"}, {"BIGINT", "UTINYINT", "BIGINT"},
		{"INTEGER", "UINTEGER", "BIGINT"}, {"TINYINT", "UINTEGER", "BIGINT"}, {"USMALLINT", "UINTEGER", "UINTEGER"},
		{"BIGINT", "UBIGINT", "DECIMAL(20,0)"}, {"INTEGER", "DECIMAL(5,2)", "DECIMAL(12,2)"},
		{"BIGINT", "DECIMAL(38,10)", "DECIMAL(38,10)"}, {"DECIMAL(5,2)", "DECIMAL(4,3)", "DECIMAL(6,3)"},
		{"INTEGER", "REAL", "DOUBLE"}, {"SMALLINT", "REAL", "REAL"}, {"DECIMAL(5,2)", "REAL", "DOUBLE"},
		{"REAL", "DOUBLE", "DOUBLE"}, {"DECIMAL(5,2)", "DOUBLE", "DOUBLE"}, {"NULL", "DATE", "DATE"}, {"NULL", "NULL", "NULL"},
		{"DATE", "TIMESTAMP", "TIMESTAMP"}, {"TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPTZ"}, {"DATE", "TIMESTAMPTZ", "TIMESTAMPTZ"},
		{"VARCHAR(3)", "VARCHAR(5)", "VARCHAR(5)"}, {"VARCHAR(3)", "VARCHAR", "VARCHAR"},
		{"VARCHAR", "INTEGER", ""}, {"BOOLEAN", "INTEGER", ""}, {"DATE", "TIME", ""}, {"BLOB", "VARCHAR", ""}, {"DATE", "INTEGER", ""},
		{"TIME", "TIMESTAMP", ""}, {"INTERVAL", "TIME", ""},
	} {
		parse := func(name string) Type {
			if name == "NULL" {
				return Null
			}
			return typeText(t, name)
		}
		for _, p := range [][2]Type{{parse(c.a), parse(c.b)}, {parse(c.b), parse(c.a)}} {
			got, ok := CommonType(p[0], p[1])
			require.Equal(t, c.want != "", ok, "%+v", c)
			if ok {
				require.Equal(t, c.want, got.String())
			}
		}
	}
	// Two types of one kind that holds both, and the same with itself.
	for _, a := range allTypes() {
		got, ok := CommonType(a, a)
		require.True(t, ok)
		require.Equal(t, a, got)
		got, ok = CommonTypeLoose(Varchar, a)
		require.True(t, ok)
		require.Equal(t, a, got)
	}
}

func TestTypeByName(t *testing.T) {
	for _, c := range []struct {
		name string
		mods []int
		want string
	}{
		{"INT", nil, "INTEGER"}, {"int8", nil, "BIGINT"}, {"INTEGER", []int{11}, "INTEGER"}, {"float", nil, "DOUBLE"},
		{"float", []int{24}, "REAL"}, {"float", []int{25}, "DOUBLE"}, {"float", []int{54}, ""}, {"double precision", nil, "DOUBLE"},
		{"decimal", nil, "DECIMAL(18,3)"}, {"numeric", []int{5}, "DECIMAL(5,0)"}, {"numeric", []int{5, 2}, "DECIMAL(5,2)"},
		{"numeric", []int{39, 0}, ""}, {"numeric", []int{2, 3}, ""}, {"numeric", []int{0}, ""}, {"hugeint", nil, "DECIMAL(38,0)"},
		{"varchar", []int{30}, "VARCHAR(30)"}, {"character varying", nil, "VARCHAR"}, {"char", []int{0}, ""}, {"text", nil, "VARCHAR"},
		{"bytea", nil, "BLOB"}, {"timestamp", []int{3}, "TIMESTAMP"}, {"timestamp with time zone", nil, "TIMESTAMPTZ"},
		{"datetime", nil, "TIMESTAMP"}, {"nosuch", nil, ""}, {"boolean", []int{1}, ""}, {"int", []int{1, 2}, ""},
	} {
		got, ok := TypeByName(c.name, c.mods)
		require.Equal(t, c.want != "", ok, "%+v", c)
		if ok {
			require.Equal(t, c.want, got.String())
		}
	}
	for _, n := range TypeNames() {
		_, ok := TypeByName(n, nil)
		require.True(t, ok, n)
	}
	for k := KindBool; k < KindEnum; k++ { // an ENUM has a name of its own
		got, ok := TypeByName(k.String(), nil)
		require.True(t, ok, k)
		require.Equal(t, k, got.Kind)
	}
}

// The calendar against itself: every day follows from the one before.
func TestCalendar(t *testing.T) {
	year, month, day := CivilFromDays(int32(MinDate))
	require.Equal(t, [3]int{-4713, 11, 24}, [3]int{year, month, day})
	for d := MinDate; d < MaxDate; d++ {
		if d == 1_000_000 { // the years from 4707 on repeat what was before
			d = MaxDate - 500_000
			year, month, day = CivilFromDays(int32(d))
		}
		y, m, dd := CivilFromDays(int32(d))
		if y != year || m != month || dd != day || DaysFromCivil(y, m, dd) != d || YearOf(int32(d)) != y || MonthOf(int32(d)) != m {
			require.FailNow(t, "calendar", "day %d is %d-%d-%d", d, y, m, dd)
		}
		day++
		leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
		length := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
		if leap && month == 2 {
			length++
		}
		if day > length {
			month, day = month+1, 1
		}
		if month > 12 {
			year, month = year+1, 1
		}
	}
}

func BenchmarkYearOf(b *testing.B) {
	sum := 0
	for i := 0; b.Loop(); i++ {
		sum += YearOf(int32(i & 0xffff))
	}
	_ = sum
}
