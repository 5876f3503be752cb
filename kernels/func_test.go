package kernels

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// funcLine is TYPE name(arguments).
var funcLine = regexp.MustCompile(`^([A-Z0-9(),]+) ([a-z_0-9|]+)\((.*)\)$`)

// funcArg is one argument: 'text', TYPE 'text', NULL::TYPE, a whole number (BIGINT),
// 1.5 (DECIMAL) or 1e0 (DOUBLE).
var funcArg = regexp.MustCompile(`^(?:([A-Z0-9]+(?:\([0-9,]+\))?) )?'((?:[^']|'')*)'|^NULL::([A-Z]+)|^-?[0-9.]+(?:e[-+]?[0-9]+)?`)

func testType(t *testing.T, text string) sqltype.Type {
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

func testArgs(t *testing.T, text string) []sqltype.Datum {
	var args []sqltype.Datum
	for text != "" {
		m := funcArg.FindStringSubmatch(text)
		require.NotNil(t, m, text)
		typ, value := sqltype.Int64, m[0]
		switch {
		case m[3] != "":
			args = append(args, sqltype.NullOf(testType(t, m[3])))
			value = ""
		case m[1] != "":
			typ, value = testType(t, m[1]), m[2]
		case m[0][0] == '\'':
			typ, value = sqltype.Varchar, m[2]
		case strings.Contains(m[0], "e"):
			typ = sqltype.Float64
		case strings.Contains(m[0], "."):
			whole, fraction, _ := strings.Cut(strings.TrimPrefix(m[0], "-"), ".")
			typ = sqltype.Decimal(len(whole)+len(fraction), len(fraction))
		}
		if m[3] == "" {
			d, err := sqltype.ParseDatum(strings.ReplaceAll(value, "''", "'"), typ)
			require.NoError(t, err)
			args = append(args, d)
		}
		text = strings.TrimPrefix(strings.TrimPrefix(text[len(m[0]):], ","), " ")
	}
	return args
}

// nullIn are the functions that see NULLs, as catalog has it.
var nullIn = map[string]bool{"concat": true, "concat_ws": true, "greatest": true, "least": true, "hash": true, "typeof": true}

// callFunc evaluates a function over n equal rows, with constants for
// arguments or with columns, and returns row n-1 after seeing that all are equal.
func callFunc(t *testing.T, name string, args []sqltype.Datum, result sqltype.Type, n int, constant bool) (sqltype.Datum, error) {
	cpu := device.NewCPU(device.CPUOptions{})
	scope := device.NewScope(cpu, device.ScopeOptions{})
	heap := NewHeap(scope)
	defer func() {
		heap.Release()
		scope.Close()
		require.NoError(t, cpu.Close())
	}()
	alloc := func(size int) device.Ptr {
		b, err := scope.Alloc(max(size, 64))
		require.NoError(t, err)
		clear(device.View[byte](b.Ptr(), b.Len()))
		return b.Ptr()
	}
	c := &Call{N: n, Result: result, Out: alloc(n * result.Phys().Width()), Heap: heap, room: make([]uint64, (n+63)/64)}
	types := make([]sqltype.Type, len(args))
	consts := make([]*sqltype.Datum, len(args))
	for k, d := range args {
		types[k] = d.Type
		rows, width := n, d.Type.Phys().Width()
		if constant {
			rows, consts[k] = 1, &args[k]
		}
		v, err := heap.String(d.S)
		require.NoError(t, err)
		a := Arg{Type: d.Type, Const: constant, Vec: Vec{Data: alloc(rows * width)}}
		for i := range rows {
			storeDatum(unsafe.Pointer(&device.View[byte](a.Data, rows*width)[i*width]), d, v)
		}
		if d.Null {
			a.Valid = alloc(BitmapBytes(rows))
			if !nullIn[name] {
				return sqltype.NullOf(result), nil
			}
		}
		c.Args = append(c.Args, a)
	}
	f, ok := LookupFunc(name, types, result, consts)
	require.True(t, ok, "%s%v", name, types)
	if err := f(c); err != nil {
		return sqltype.Datum{}, err
	}
	texts := map[string]bool{}
	var last sqltype.Datum
	for i := range n {
		width := result.Phys().Width()
		last = loadDatum(unsafe.Pointer(&device.View[byte](c.Out, n*width)[i*width]), result)
		if c.nulls != nil && c.nulls[i>>6]>>(i&63)&1 == 0 {
			last = sqltype.NullOf(result)
		}
		last.S = strings.Clone(last.S) // it outlives the heap
		texts[last.String()] = true
	}
	require.Len(t, texts, 1)
	return last, nil
}

// The values of testdata/func are PostgreSQL's, except where a comment says so.
func TestScalarFuncs(t *testing.T) {
	datadriven.Walk(t, "testdata/func", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for _, line := range strings.Split(d.Input, "\n") {
				m := funcLine.FindStringSubmatch(line)
				require.NotNil(t, m, line)
				args, result := testArgs(t, m[3]), testType(t, m[1])
				text := func(n int, constant bool) string {
					v, err := callFunc(t, m[2], args, result, n, constant)
					var e *sqltype.Error
					if errors.As(err, &e) {
						return e.Code + " " + e.Msg
					}
					require.NoError(t, err)
					return "|" + v.String() + "|"
				}
				got := text(65, false)
				require.Equal(t, got, text(65, true), "%s: constants", line)
				require.Equal(t, got, text(1, false), "%s: one row", line)
				fmt.Fprintln(&out, got)
			}
			return out.String()
		})
	})
}
