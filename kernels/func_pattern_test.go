package kernels

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// likeModel is LIKE by its definition, with no thought of speed.
func likeModel(s, pattern string) bool {
	if pattern == "" {
		return s == ""
	}
	_, n := utf8.DecodeRuneInString(pattern)
	head, rest := pattern[:n], pattern[n:]
	switch head {
	case "%":
		for at := 0; ; {
			if likeModel(s[at:], rest) {
				return true
			}
			if at == len(s) {
				return false
			}
			_, n := utf8.DecodeRuneInString(s[at:])
			at += n
		}
	case "_":
		_, n := utf8.DecodeRuneInString(s)
		return s != "" && likeModel(s[n:], rest)
	case `\`:
		_, n := utf8.DecodeRuneInString(rest)
		head, rest = rest[:n], rest[n:]
	}
	return strings.HasPrefix(s, head) && likeModel(s[len(head):], rest)
}

func TestLikeAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(letters []string, most int) string {
		var b strings.Builder
		for range r.IntN(most + 1) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	matched := 0
	for range 100_000 {
		s := random([]string{"a", "b", "ä", "%"}, 8)
		pattern := random([]string{"a", "b", "ä", "%", "%", "_", `\%`, `\\`}, 6)
		m, err := compileLike(pattern, `\`)
		require.NoError(t, err)
		want := likeModel(s, pattern)
		require.Equal(t, want, m.match(s), "%q LIKE %q", s, pattern)
		if want {
			matched++
		}
	}
	require.Greater(t, matched, 5000)
}

// No text and no number makes a function of strings panic or read beyond its
// arguments.
func TestStringFuncsBadInput(t *testing.T) {
	texts := []string{"", "a", "äöü€", "\xff\xfe broken \xc3", strings.Repeat("long ", 10), "%", `\`, "[", "("}
	numbers := []int64{math.MinInt64, -3, -1, 0, 1, 2, 100, math.MaxInt64}
	str, i64 := sqltype.Varchar, sqltype.Int64
	for name, params := range map[string][]sqltype.Type{
		"substring": {str, i64, i64}, "left": {str, i64}, "right": {str, i64}, "lpad": {str, i64, str}, "rpad": {str, i64, str},
		"repeat": {str, i64}, "overlay": {str, str, i64, i64}, "split_part": {str, str, i64}, "translate": {str, str, str},
		"replace": {str, str, str}, "like": {str, str}, "ilike": {str, str}, "similar_to": {str, str}, "glob": {str, str},
		"regexp_replace": {str, str, str}, "initcap": {str}, "reverse": {str}, "upper": {str}, "trim": {str, str},
		"strpos": {str, str}, "levenshtein": {str, str}, "to_date": {str, str}, "decode": {str, str}, "chr": {i64},
	} {
		result := sqltype.Varchar
		switch name {
		case "like", "ilike", "similar_to", "glob":
			result = sqltype.Bool
		case "strpos", "levenshtein":
			result = sqltype.Int32
		case "to_date":
			result = sqltype.Date
		}
		args := make([]sqltype.Datum, len(params))
		var try func(k int)
		f := newFuncTest(t)
		try = func(k int) {
			if k == len(params) {
				v, err := f.call(name, args, result)
				if err != nil {
					var e *sqltype.Error
					require.ErrorAs(t, err, &e, name)
				} else {
					require.Less(t, len(v.S), 10_000, "%s%v", name, args)
				}
				return
			}
			if params[k] == i64 {
				for _, n := range numbers {
					args[k] = sqltype.NewInt64(n)
					try(k + 1)
				}
				return
			}
			for _, s := range texts {
				args[k] = sqltype.NewString(s)
				try(k + 1)
			}
		}
		try(0)
		f.close()
	}
}

// funcTest calls functions over one row, in memory that it keeps.
type funcTest struct {
	t    *testing.T
	cpu  *device.CPU
	heap *Heap
	room *device.Buffer
}

func newFuncTest(t *testing.T) *funcTest {
	f := &funcTest{t: t, cpu: device.NewCPU(device.CPUOptions{})}
	f.heap = NewHeap(f.cpu)
	var err error
	f.room, err = f.cpu.Alloc(1024)
	require.NoError(t, err)
	return f
}

func (f *funcTest) close() {
	f.heap.Release()
	f.room.Release()
	require.NoError(f.t, f.cpu.Close())
}

func (f *funcTest) call(name string, args []sqltype.Datum, result sqltype.Type) (sqltype.Datum, error) {
	f.heap.Reset()
	c := &Call{N: 1, Result: result, Out: f.room.Ptr(), Heap: f.heap, room: make([]uint64, 1)}
	types := make([]sqltype.Type, len(args))
	for k, d := range args {
		v, err := f.heap.String(d.S)
		require.NoError(f.t, err)
		p := f.room.Ptr() + device.Ptr(64*(k+1))
		storeDatum(unsafe.Pointer(&device.View[byte](p, 16)[0]), d, v)
		types[k] = d.Type
		c.Args = append(c.Args, Arg{Type: d.Type, Vec: Vec{Data: p}})
	}
	code, ok := LookupFunc(name, types, result, make([]*sqltype.Datum, len(args)))
	require.True(f.t, ok, name)
	if err := code(c); err != nil {
		return sqltype.Datum{}, err
	}
	return loadDatum(unsafe.Pointer(&device.View[byte](c.Out, 16)[0]), result), nil
}
