package catalog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/sqltype"
)

// parseType reads INTEGER, DECIMAL(5,2) or NULL.
func parseType(t *testing.T, text string) sqltype.Type {
	if text == "NULL" {
		return sqltype.Null
	}
	name, rest, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	var mods []int
	for _, m := range strings.Split(rest, ",") {
		if m != "" {
			v, err := strconv.Atoi(m)
			require.NoError(t, err)
			mods = append(mods, v)
		}
	}
	typ, ok := sqltype.TypeByName(name, mods)
	require.True(t, ok, text)
	return typ
}

// Lines are a name and types; TYPE=value is a constant argument.
func TestResolve(t *testing.T) {
	datadriven.RunTest(t, "testdata/resolve", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for _, line := range strings.Split(d.Input, "\n") {
			words := strings.Fields(line)
			var args []sqltype.Type
			var consts []*sqltype.Datum
			for _, w := range words[1:] {
				name, value, constant := strings.Cut(w, "=")
				args = append(args, parseType(t, name))
				consts = append(consts, nil)
				if constant {
					v, err := sqltype.ParseDatum(value, args[len(args)-1])
					require.NoError(t, err)
					consts[len(consts)-1] = &v
				}
			}
			var r Resolved
			var err error
			switch d.Cmd {
			case "scalar":
				r, err = ResolveScalarConst(words[0], args, consts)
			case "aggregate":
				r, err = ResolveAggregate(words[0], args)
			case "window":
				r, err = ResolveWindow(words[0], args)
			default:
				d.Fatalf(t, "no command %s", d.Cmd)
			}
			var e *sqltype.Error
			if errors.As(err, &e) {
				fmt.Fprintf(&out, "%s %s\n", e.Code, e)
				continue
			}
			require.NoError(t, err)
			texts := make([]string, len(r.Args))
			for i, a := range r.Args {
				texts[i] = a.String()
			}
			fmt.Fprintf(&out, "%s(%s) %s\n", r.Func.Name, strings.Join(texts, ", "), r.Result)
		}
		return out.String()
	})
}

// Every id has a name and a family, and every family an id of its own kind.
func TestFuncIDs(t *testing.T) {
	seen := map[string]bool{}
	for id := FuncNone + 1; id < numFuncs; id++ {
		require.NotEmpty(t, id.String(), "FuncID(%d)", uint16(id))
		kind := Scalar
		switch {
		case id >= FuncRowNumber:
			kind = WindowOnly
		case id >= FuncCount:
			kind = Aggregate
		}
		sigs, ok := builtins.lookup(kind, id.String())
		require.True(t, ok, id)
		require.Equal(t, id, sigs[0].fn.ID, "two functions share %s", id)
		key := fmt.Sprint(kind, id)
		require.False(t, seen[key], key)
		seen[key] = true
	}
	for p := sqltype.PartYear; p <= sqltype.PartTimezone; p++ {
		id, ok := DatePartFunc(p.String())
		require.True(t, ok)
		require.Equal(t, p.String(), id.String())
	}
}

func TestFunctionNames(t *testing.T) {
	names := FunctionNames()
	for _, n := range names {
		require.True(t, isWord(n), n)
	}
	require.Contains(t, names, "coalesce")
	require.Contains(t, names, "substring")
	require.NotContains(t, names, "neg")
	require.True(t, IsAggregate("SUM"))
	require.False(t, IsAggregate("abs"))
	require.True(t, IsWindow("row_number"))
	require.True(t, IsScalar("Substr"))
}

func TestSuggest(t *testing.T) {
	names := []string{"customer", "orders", "lineitem", "t1", "Region"}
	for name, want := range map[string]string{
		"custmer": "customer", "cusotmer": "customer", "CUSTOMERS": "customer", "order": "orders", "linietem": "lineitem",
		"t2": "t1", "region": "Region", "rgion": "Region", "nothing": "", "x": "", "": "", "ordinary": "",
	} {
		require.Equal(t, want, Suggest(name, names), name)
	}
}

func TestStatementTime(t *testing.T) {
	const now = -1 // a microsecond before 1970
	for id, want := range map[FuncID]string{
		FuncNow: "1969-12-31 23:59:59.999999+00", FuncLocalTimestamp: "1969-12-31 23:59:59.999999",
		FuncCurrentDate: "1969-12-31", FuncCurrentTime: "23:59:59.999999",
	} {
		d, ok := StatementTime(id, now)
		require.True(t, ok)
		require.Equal(t, want, d.String())
	}
	_, ok := StatementTime(FuncAbs, now)
	require.False(t, ok)
}
