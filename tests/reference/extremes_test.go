package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// extreme is a type and the ends of its values, as SQL writes them.
type extreme struct {
	sql    string
	typ    sqltype.Type
	values []string
}

func extremes(t *testing.T) []extreme {
	e := []extreme{
		{sql: "BOOLEAN", values: []string{"true", "false"}},
		{sql: "TINYINT", values: []string{"-128", "-1", "0", "1", "127"}},
		{sql: "SMALLINT", values: []string{"-32768", "-1", "0", "1", "32767"}},
		{sql: "INTEGER", values: []string{"-2147483648", "-1", "0", "1", "2147483647"}},
		{sql: "BIGINT", values: []string{"-9223372036854775808", "-1", "0", "1", "63", "64", "2147483648", "9223372036854775807"}},
		{sql: "UTINYINT", values: []string{"0", "1", "255"}},
		{sql: "USMALLINT", values: []string{"0", "1", "65535"}},
		{sql: "UINTEGER", values: []string{"0", "1", "4294967295"}},
		{sql: "UBIGINT", values: []string{"0", "1", "18446744073709551615"}},
		{sql: "DECIMAL(4,1)", values: []string{"-999.9", "-0.1", "0", "0.5", "999.9"}},
		{sql: "DECIMAL(18,3)", values: []string{"-999999999999999.999", "-0.001", "0", "1", "999999999999999.999"}},
		{sql: "HUGEINT", values: []string{"-" + strings.Repeat("9", 38), "-1", "0", "1", strings.Repeat("9", 38)}},
		{sql: "DECIMAL(38,19)", values: []string{"-" + strings.Repeat("9", 19) + "." + strings.Repeat("9", 19), "0", "0.5", "1"}},
		{sql: "DECIMAL(38,38)", values: []string{"-0." + strings.Repeat("9", 38), "0", "0." + strings.Repeat("0", 37) + "1"}},
		{sql: "REAL", values: []string{"-3.4028235e38", "-1e-45", "0", "1", "inf", "nan"}},
		{sql: "DOUBLE", values: []string{"-1.7976931348623157e308", "-5e-324", "-0", "0.5", "1e18", "-inf", "inf", "nan"}},
		{sql: "VARCHAR", values: []string{"", "a", "ß", "日本", "%_", `\`, "(", "[", "infinity", "1970-01-01", "Nowhere/Land", "../etc/passwd", "UTC+99", "century", strings.Repeat("x", 300)}},
		{sql: "BLOB", values: []string{"", `\x00`, `\xff`, `\xc328`}},
		{sql: "BIT", values: []string{"0", "1", strings.Repeat("10", 40)}},
		{sql: "DATE", values: []string{"4714-11-24 BC", "0001-01-01 BC", "1970-01-01", "2024-02-29", "294246-12-31"}},
		{sql: "TIME", values: []string{"00:00", "23:59:59.999999", "24:00"}},
		{sql: "TIMETZ", values: []string{"00:00+15:59:59", "24:00-15:59:59"}},
		{sql: "TIMESTAMP", values: []string{"4714-11-24 00:00 BC", "1969-12-31 23:59:59.999999", "294246-12-31 23:59:59.999999"}},
		{sql: "TIMESTAMPTZ", values: []string{"4714-11-24 00:00+00 BC", "2024-03-31 01:00+00", "294246-12-31 23:59:59.999999+00"}},
		{sql: "INTERVAL", values: []string{"0", "-178956970 years", "178956970 years 7 months", "-2147483648 days", "2147483647 days", "2562047788 hours", "-2562047788 hours", "1 microsecond"}},
		{sql: "UUID", values: []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
		{sql: "BIGINT[]", values: []string{"[]", "[9223372036854775807, NULL]", "[-9223372036854775808]"}},
	}
	for i := range e {
		name, mods := e[i].sql, []int(nil)
		if name, list := strings.CutSuffix(name, "[]"); list {
			elem, _ := sqltype.TypeByName(name, nil)
			e[i].typ = sqltype.ListOf(elem)
			continue
		}
		if at := strings.IndexByte(name, '('); at > 0 {
			var p, s int
			_, err := fmt.Sscanf(name[at:], "(%d,%d)", &p, &s)
			require.NoError(t, err)
			name, mods = name[:at], []int{p, s}
		}
		typ, ok := sqltype.TypeByName(name, mods)
		require.True(t, ok, e[i].sql)
		e[i].typ = typ
	}
	return e
}

func (e *extreme) literal(v string) string {
	return "'" + strings.ReplaceAll(v, "'", "''") + "'::" + e.sql
}

func connect(t *testing.T) *gpusql.Conn {
	db, err := gpusql.Open(":memory:")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	c, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// one is the only value of a query.
func one(ctx context.Context, c *gpusql.Conn, query string) (gpusql.Value, error) {
	rows, err := c.Query(ctx, query)
	if err != nil {
		return gpusql.Value{}, err
	}
	defer rows.Close()
	var v gpusql.Value
	for rows.Next() {
		v = rows.Value(0)
	}
	return v, rows.Err()
}

// requireTyped holds that an error is one about the values, or about too much of them.
func requireTyped(t *testing.T, err error, query string) {
	var e *gpusql.Error
	require.ErrorAs(t, err, &e, query)
	switch class := e.Code[:2]; {
	case class == "22", class == "54", class == "53":
	case e.Code == "42602", e.Code == "42601", e.Code == "0A000", e.Code == "42704", e.Code == "42P01", e.Code == "55000", e.Code == "42883", e.Code == "42804", e.Code == "42703", e.Code == "P0001":
		// A sequence that is not there, an escape that is none, an argument that must be a constant, error().
	default:
		assert.Fail(t, "not an error about values", "%s: %s %v", query, e.Code, err)
	}
}

// Every scalar function gives a value or a typed error at the ends of its arguments'
// types: it does not fail inside, and is not without an end.
func TestEveryFunctionAtTheExtremes(t *testing.T) {
	c, ext := connect(t), extremes(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	names := append(catalog.FunctionNames(), operators...)
	calls := 0
	for _, name := range names {
		if !catalog.IsScalar(name) {
			continue
		}
		for arity := range 5 {
			// Types at random, and values of those that the function takes.
			for tries, left := 700, 60; tries > 0 && left > 0; tries-- {
				args, types := make([]*extreme, arity), make([]sqltype.Type, arity)
				for i := range args {
					args[i] = &ext[rnd.IntN(len(ext))]
					if i > 1 && rnd.IntN(2) == 0 { // one type often comes again
						args[i] = args[i-1]
					}
					types[i] = args[i].typ
				}
				if _, err := catalog.ResolveScalar(name, types); err != nil {
					continue
				}
				texts := make([]string, arity)
				for i, a := range args {
					texts[i] = a.literal(a.values[rnd.IntN(len(a.values))])
				}
				query := "SELECT length(CAST(" + callOf(name, texts) + " AS VARCHAR))"
				left--
				calls++
				if _, err := one(t.Context(), c, query); err != nil {
					requireTyped(t, err, query)
				}
			}
		}
	}
	require.Greater(t, calls, 10_000)
}

var operators = []string{"+", "-", "*", "/", "%", "//", "neg", "||", "&", "|", "#", "~", "<<", ">>", "^", "like", "~"}

func callOf(name string, args []string) string {
	switch {
	case name == "neg" || name == "~" && len(args) == 1:
		return "(" + strings.Replace(name, "neg", "-", 1) + " " + args[0] + ")"
	case name == "like" && len(args) == 2, name[0] < 'a' || name[0] > 'z':
		if len(args) == 2 {
			return "(" + args[0] + " " + name + " " + args[1] + ")"
		}
		return "NULL"
	}
	return `"` + name + `"(` + strings.Join(args, ", ") + ")"
}

// Arithmetic of integers and DECIMALs is what it is in mathematics, to the digits of
// its result, or out of range for a reason.
func TestArithmeticIsExact(t *testing.T) {
	c, ext := connect(t), extremes(t)
	for i := range ext {
		for j := range ext {
			a, b := &ext[i], &ext[j]
			if !exact(a.typ) || !exact(b.typ) {
				continue
			}
			for _, op := range []string{"+", "-", "*", "/", "%"} {
				r, err := catalog.ResolveScalar(op, []sqltype.Type{a.typ, b.typ})
				require.NoError(t, err)
				if op == "*" && int(a.typ.Scale)+int(b.typ.Scale) > sqltype.MaxPrecision {
					continue // more digits than a DECIMAL has: each side is rounded first
				}
				for _, x := range a.values {
					for _, y := range b.values {
						checkExact(t, c, r, op, a.literal(x), b.literal(y), rational(t, x), rational(t, y))
					}
				}
			}
		}
	}
}

func exact(t sqltype.Type) bool { return t.Kind.IsInteger() || t.Kind == sqltype.KindDecimal }

func rational(t *testing.T, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	require.True(t, ok, s)
	return r
}

func checkExact(t *testing.T, c *gpusql.Conn, r catalog.Resolved, op, x, y string, a, b *big.Rat) {
	result := r.Result
	query := "SELECT " + x + " " + op + " " + y
	got, err := one(t.Context(), c, query)
	if (op == "/" || op == "%") && b.Sign() == 0 {
		var e *gpusql.Error
		// A dividend that has no room at the quotient's scale is told first.
		require.True(t, errors.As(err, &e) && (e.Code == sqltype.CodeDivisionByZero || result.Scale > 0 && e.Code == sqltype.CodeOutOfRange),
			"%s: %v", query, err)
		return
	}
	want := new(big.Rat)
	switch op {
	case "+":
		want.Add(a, b)
	case "-":
		want.Sub(a, b)
	case "*":
		want.Mul(a, b)
	case "/":
		if want.Quo(a, b); result.Kind.IsInteger() {
			want.SetInt(truncated(want))
		}
	case "%":
		q := new(big.Rat).SetInt(truncated(new(big.Rat).Quo(a, b)))
		want.Sub(a, q.Mul(q, b))
	}
	unit := unitOf(result)
	if err != nil {
		var e *gpusql.Error
		require.True(t, errors.As(err, &e) && e.Code == sqltype.CodeOutOfRange, "%s: %v", query, err)
		// The operator's arguments have to fit too: 1 does not fit DECIMAL(38,38).
		require.False(t, fits(want, result) && fits(a, r.Args[0]) && fits(b, r.Args[1]), "%s is %s and fits %s, but: %v", query, want.FloatString(3), result, err)
		return
	}
	have := rational(t, got.String())
	require.LessOrEqual(t, new(big.Rat).Abs(have.Sub(have, want)).Cmp(unit), 0, "%s gives %s, not %s", query, got.String(), want.FloatString(20))
	if op != "/" && op != "*" { // nothing is rounded
		require.Zero(t, have.Sign(), "%s gives %s", query, got.String())
	}
}

func truncated(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }

func unitOf(t sqltype.Type) *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil))
}

// fits reports that a number has room in its type, with a unit of its last digit to spare.
func fits(r *big.Rat, t sqltype.Type) bool {
	unit := unitOf(t)
	lo, hi := new(big.Int), new(big.Int)
	switch {
	case t.Kind == sqltype.KindDecimal:
		hi.Exp(big.NewInt(10), big.NewInt(int64(t.Precision-t.Scale)), nil)
		lo.Neg(hi)
		lowest, highest := new(big.Rat).SetInt(lo), new(big.Rat).SetInt(hi)
		return r.Cmp(lowest.Add(lowest, unit)) > 0 && r.Cmp(highest.Sub(highest, unit)) < 0
	case t.Kind.IsUnsigned():
		hi.Lsh(big.NewInt(1), uint(t.Phys().Width()*8))
	default:
		hi.Lsh(big.NewInt(1), uint(t.Phys().Width()*8-1))
		lo.Neg(hi)
	}
	return r.Cmp(new(big.Rat).SetInt(lo)) >= 0 && r.Cmp(new(big.Rat).SetInt(hi)) < 0
}
