package arrow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/sqltype"
)

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          JSONOptions
		want       string // names and types, and rows; or the error
	}{
		{"lines", `{"a":1,"b":"x"}` + "\n" + `{"b":"y","a":2}` + "\n", JSONOptions{}, "a BIGINT, b VARCHAR: 1 x; 2 y"},
		{"no last line end", `{"a":1}` + "\r\n" + `{"a":-2.5e1}`, JSONOptions{}, "a DOUBLE: 1; -25"},
		{"an array", `[{"a":1},` + "\n " + `{"a":null}, {"a":3}]` + "\n", JSONOptions{}, "a BIGINT: 1; NULL; 3"},
		{"an empty object", `[{"a":1},{}]`, JSONOptions{}, "a BIGINT: 1; NULL"},
		{"over several lines", "{\n \"a\": 1\n}\n{\n \"a\": 2\n}", JSONOptions{}, "a BIGINT: 1; 2"},
		{"keys that come and go", `{"a":1}` + "\n" + `{"b":true}` + "\n" + `{"a":2,"b":false}`, JSONOptions{}, "a BIGINT, b BOOLEAN: 1 NULL; NULL true; 2 false"},
		{"nested values", `{"a":[1,{"x":"]"}],"b":{"c":null}}`, JSONOptions{}, `a VARCHAR[], b STRUCT(c VARCHAR): [1, '{"x":"]"}'] {'c': NULL}`},
		{"lists", `{"l":[1,null]}` + "\n" + `{"l":[],"m":[[true]]}` + "\n" + `{"l":null}`, JSONOptions{}, "l BIGINT[], m BOOLEAN[][]: [1, NULL] NULL; [] [[true]]; NULL NULL"},
		{"lists of objects", `{"l":[{"a":1},{"b":"2024-01-31"}]}`, JSONOptions{}, "l STRUCT(a BIGINT, b DATE)[]: [{'a': 1, 'b': NULL}, {'a': NULL, 'b': 2024-01-31}]"},
		{"a list and a number", `{"l":[1]}` + "\n" + `{"l":2}`, JSONOptions{}, "l VARCHAR: [1]; 2"},
		{"a later key in an object", `{"s":{"a":1}}` + "\n" + `{"s":{"a":2,"b":3}}`, JSONOptions{Sample: 1}, "s STRUCT(a BIGINT): {'a': 1}; {'a': 2}"},
		{"a later text for a list", `{"l":[1]}` + "\n" + `{"l":"[1"}`, JSONOptions{Sample: 1}, `line 2: column "l": "[1" is no BIGINT[]`},
		{"escapes", `{"a\"b":"x\n\u00e9\ud83d\ude00\\","c":"plain"}`, JSONOptions{}, "a\"b VARCHAR, c VARCHAR: x\né😀\\ plain"},
		{"moments", `{"d":"1999-01-31","t":"1999-01-31 10:00:00","n":"12"}`, JSONOptions{}, "d DATE, t TIMESTAMP, n VARCHAR: 1999-01-31 1999-01-31 10:00:00 12"},
		{"numbers and texts", `{"a":1}` + "\n" + `{"a":"x"}`, JSONOptions{}, "a VARCHAR: 1; x"},
		{"no objects", "1\n\"x\"\n[2]\n", JSONOptions{Form: JSONLines}, "json VARCHAR: 1; x; [2]"},
		{"bad records", `{"a":1}` + "\n" + `{"a":` + "\n" + `{"a":3}`, JSONOptions{IgnoreBad: true}, "a BIGINT: 1; 3"},
		{"keys in another case", `{"a":1,"A":2}`, JSONOptions{}, "a BIGINT, A_1 BIGINT: 1 2"},
		{"the same key twice", `{"a":1,"a":2}`, JSONOptions{}, "a BIGINT: 2"},
		{"cut off", `{"a":1}` + "\n" + `{"a":`, JSONOptions{}, "line 2: the JSON text ends too early"},
		{"no value", `{"a":1}` + "\n" + `{"a":x}`, JSONOptions{}, "line 2: unexpected 'x' where a value is expected"},
		{"no colon", `{"a" 1}`, JSONOptions{}, "line 1: unexpected '1' behind a key"},
		{"no comma", `{"a":1 "b":2}`, JSONOptions{}, `line 1: unexpected '"' behind a value`},
		{"nothing", " \n", JSONOptions{}, "there are no records"},
		{"deep", strings.Repeat("[", 5000), JSONOptions{Form: JSONLines}, "line 1: the JSON text is nested too deeply"},
		{"a new key", `{"a":1}` + "\n" + `{"b":1}`, JSONOptions{Sample: 1}, `line 2: key "b" is not among the columns, which come from the first records; raise sample_size`},
		{"a later text", `{"a":1}` + "\n" + `{"a":"x"}`, JSONOptions{Sample: 1}, `line 2: column "a": invalid input syntax for type bigint: "x"`},
		{"nested and bad", `{"a":[1,}` + "\n" + `]}`, JSONOptions{Form: JSONValues}, "line 1: a nested value is not JSON"},
		{"behind an array", `[{"a":1}] {"a":2}`, JSONOptions{}, "line 1: unexpected ']' where a value is expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "t.json")
			require.NoError(t, os.WriteFile(name, []byte(c.text), 0o644))
			got, err := describeJSON(t, name, c.o)
			if err != nil {
				require.Equal(t, name+": "+c.want, err.Error())
				return
			}
			require.Equal(t, c.want, got)
		})
	}
}

func describeJSON(t *testing.T, name string, o JSONOptions) (string, error) {
	t.Helper()
	f, err := OpenFile(name, FileOptions{JSON: o})
	if err != nil {
		return "", err
	}
	defer f.Close()
	rows, err := texts(t, f, 100)
	if err != nil {
		return "", err
	}
	var cols, lines []string
	for _, col := range f.Schema() {
		cols = append(cols, fmt.Sprint(col.Name, " ", col.Type))
	}
	for _, r := range rows {
		lines = append(lines, strings.Join(r, " "))
	}
	return strings.Join(cols, ", ") + ": " + strings.Join(lines, "; "), nil
}

// TestJSONParts: files of several parts, in each form.
func TestJSONParts(t *testing.T) {
	schema := sqltype.Schema{{Name: "i", Type: sqltype.Int64}, {Name: "s", Type: sqltype.Varchar}}
	var rows [][]sqltype.Datum
	for i := range 60_000 {
		rows = append(rows, []sqltype.Datum{sqltype.NewInt64(int64(i)), sqltype.NewString(strings.Repeat("]}\n\"", i%20))})
	}
	rec := record(schema, rows)
	defer rec.Release()
	for _, form := range []JSONForm{JSONLines, JSONArray, JSONValues} {
		name := filepath.Join(t.TempDir(), "t.json")
		w, err := CreateFile(name, schema, FileOptions{JSON: JSONOptions{Form: form}})
		require.NoError(t, err)
		require.NoError(t, w.Write(rec))
		require.NoError(t, w.Close())
		f, err := OpenFile(name, FileOptions{JSON: JSONOptions{Form: form}})
		require.NoError(t, err)
		require.Equal(t, form == JSONLines, f.Parts() > 1)
		got, err := readAll(t, f, []int{0, 1}, 5000)
		require.NoError(t, err)
		require.Equal(t, len(rows), len(got))
		for i := range rows {
			require.Equal(t, rows[i][1].S, got[i][1].S)
			require.Equal(t, rows[i][0].I, got[i][0].I)
		}
		require.NoError(t, f.Close())
	}
}
