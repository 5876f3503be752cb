package gpusql_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFileFunctions: the functions that read files, and what they are told.
func TestFileFunctions(t *testing.T) {
	db := open(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	people := write("people.json", `[{"name":"Ann","age":41,"tags":["a","b"]},{"name":"Bob","age":null}]`)
	lines := write("lines.data", `{"a":1}`+"\n"+`{"a":2.5}`+"\n")
	odd := write("odd.data", "made by hand\nid;note\n1;'x;y'\nbad\n3;-\n")
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"SELECT name, age, tags FROM '" + people + "' ORDER BY name", []string{`Ann 41 ["a","b"]`, "Bob NULL NULL"}},
		{"SELECT sum(age) FROM read_json_auto('" + people + "')", []string{"41"}},
		{"SELECT sum(a) FROM read_ndjson('" + lines + "')", []string{"3.5"}},
		{"SELECT sum(a) FROM read_json('" + lines + "', format = 'newline_delimited')", []string{"3.5"}},
		{"SELECT id, note FROM read_csv('" + odd + "', skip = 1, delim = ';', quote = '''', nullstr = '-', ignore_errors = true) ORDER BY id", []string{"1 x;y", "3 NULL"}},
		{"SELECT * FROM read_csv('" + odd + "', skip = 4, header = false, all_varchar = true, sep = ';')", []string{"3 -"}},
	} {
		require.Equal(t, c.want, all(t, db, c.query), c.query)
	}
	for _, c := range []struct{ query, code string }{
		{"SELECT * FROM read_csv('" + odd + "', skip = 'x')", "22023"},
		{"SELECT * FROM read_csv('" + odd + "', colour = 'red')", "22023"},
		{"SELECT * FROM read_json('" + odd + "')", "58P01"},
		{"SELECT * FROM read_json('" + filepath.Join(dir, "none.json") + "')", "58P01"},
	} {
		_, err := db.Exec(t.Context(), c.query)
		require.Equal(t, c.code, code(t, err), c.query)
	}
}
