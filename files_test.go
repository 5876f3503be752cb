package gpusql_test

import (
	"os"
	"path/filepath"
	"strings"
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
		{"SELECT name, age, tags FROM '" + people + "' ORDER BY name", []string{`Ann 41 [a, b]`, "Bob NULL NULL"}},
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

// TestNestedFiles: lists and structs come back from every format as they were,
// and can be taken apart.
func TestNestedFiles(t *testing.T) {
	db := open(t)
	exec(t, db, `CREATE TABLE n AS SELECT i AS id, CASE WHEN i % 5 > 0 THEN [i, NULL, i * 2] END AS l,
		{'a': i, 'tags': [concat('t', i), 'x']} AS s, [{'k': i, 'v': NULL::VARCHAR}, NULL] AS ls FROM range(2000) r(i)`)
	want := all(t, db, "FROM n ORDER BY id")
	for _, format := range []string{"parquet", "arrow", "json"} {
		name := filepath.Join(t.TempDir(), "n."+format)
		exec(t, db, "COPY n TO '"+name+"'")
		require.Equal(t, want, all(t, db, "FROM '"+name+"' ORDER BY id"), format)
		require.Equal(t, []string{"4800000 1999000 t1999 x"}, all(t, db,
			"SELECT sum(list_sum(l))::BIGINT, sum(s.a), (SELECT s.tags[1] || ' ' || s.tags[2] FROM '"+name+"' WHERE id = 1999) FROM '"+name+"'"), format)
		require.Equal(t, []string{"2000"}, all(t, db, "SELECT count(e.k) FROM '"+name+"', unnest(ls) u(e)"), format)
	}
}

// TestJoinsOfFiles: what a join tells the scan of a file drops no row that it needs.
func TestJoinsOfFiles(t *testing.T) {
	db := open(t)
	dir := t.TempDir()
	exec(t, db, `CREATE TABLE big AS SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 1000 END AS k, 'row ' || i AS s
		FROM generate_series(1, 50000) AS g(i)`)
	exec(t, db, "CREATE TABLE small AS SELECT i * 10 AS k, i AS v FROM generate_series(1, 20) AS g(i)")
	for _, format := range []string{"parquet", "csv"} {
		big, small := filepath.Join(dir, "big."+format), filepath.Join(dir, "small."+format)
		exec(t, db, "COPY big TO '"+big+"'")
		exec(t, db, "COPY small TO '"+small+"'")
		for _, query := range []string{
			"SELECT count(*), sum(b.i), sum(s.v), max(b.s) FROM %b b JOIN %s s ON b.k = s.k",
			"SELECT count(*), sum(b.i), max(b.s) FROM %b b JOIN %s s ON b.k = s.k WHERE b.i % 3 = 0 AND b.s LIKE '%5%'",
			"SELECT count(*), sum(b.i), sum(s.v) FROM %b b LEFT JOIN %s s ON b.k = s.k",
			"SELECT count(*), sum(b.i) FROM %b b WHERE b.k IN (SELECT k FROM %s)",
			"SELECT count(*), sum(b.i) FROM %b b WHERE NOT EXISTS (SELECT 1 FROM %s s WHERE s.k = b.k)",
			"SELECT count(*), sum(s.v) FROM %s s RIGHT JOIN %b b ON b.k = s.k AND s.v > 5",
		} {
			table := strings.NewReplacer("%b", "big", "%s", "small").Replace(query)
			file := strings.NewReplacer("%b", "'"+big+"'", "%s", "'"+small+"'").Replace(query)
			require.Equal(t, all(t, db, table), all(t, db, file), query)
		}
	}
}

// What a Parquet file says about itself is a table.
func TestParquetFacts(t *testing.T) {
	c := session(t, open(t))
	path := filepath.Join(t.TempDir(), "f.parquet")
	run(t, c, "COPY (SELECT i, 'x' || i AS s, {'a': i} AS st FROM range(10) r(i)) TO '"+path+"'")
	require.Equal(t, []string{"i INT64 REQUIRED", "s BYTE_ARRAY OPTIONAL", "st NULL OPTIONAL", "a INT64 OPTIONAL"},
		all(t, c, "SELECT name, type, repetition_type FROM parquet_schema('"+path+"') OFFSET 1"))
	require.Equal(t, []string{"i 10 0 9 0", "s 10 x0 x9 0", "st.a 10 NULL NULL NULL"},
		all(t, c, "SELECT path_in_schema, num_values, stats_min, stats_max, stats_null_count FROM parquet_metadata('"+path+"') ORDER BY column_id"))
	require.Equal(t, []string{"10 1"}, all(t, c, "SELECT num_rows, num_row_groups FROM parquet_file_metadata('"+path+"')"))
	_, err := c.Query(t.Context(), "SELECT * FROM parquet_schema('files_test.go')")
	require.Error(t, err)
}

// COPY with PARTITION_BY writes what is read back by the folders' names.
func TestCopyParts(t *testing.T) {
	c := session(t, open(t))
	folder := filepath.ToSlash(filepath.Join(t.TempDir(), "parts"))
	run(t, c, `CREATE TABLE sales AS SELECT i AS id, 2020 + i % 3 AS year, CASE WHEN i % 4 > 0 THEN 'r ' || i % 4 END AS region FROM range(1000) r(i)`)
	for _, format := range []string{"parquet", "csv", "json"} {
		into := folder + "/" + format
		require.EqualValues(t, 1000, exec(t, c, "COPY sales TO '"+into+"' (FORMAT "+format+", PARTITION_BY (year, region))").RowsAffected)
		want := all(t, c, "SELECT id, year, region FROM sales ORDER BY id")
		require.Equal(t, want, all(t, c, "SELECT id, year, region FROM read_"+format+"('"+into+"/*/*/*."+format+"') ORDER BY id"))
		require.FileExists(t, into+"/year=2021/region=r%201/data_0."+format)
		_, err := c.Exec(t.Context(), "COPY sales TO '"+into+"' (FORMAT "+format+", PARTITION_BY year)")
		require.ErrorContains(t, err, "is not empty")
		run(t, c, "COPY (SELECT 7 AS id, 2021 AS year, 'r 1' AS region) TO '"+into+"' (FORMAT "+format+", PARTITION_BY (year, region), OVERWRITE_OR_IGNORE)")
		require.Equal(t, []string{"7"}, all(t, c, "SELECT id FROM '"+into+"/year=2021/region=r%201/data_0."+format+"'"))
	}
	for _, bad := range []string{"PARTITION_BY (nothing)", "PARTITION_BY (id, year, region)", "PARTITION_BY 3"} {
		_, err := c.Exec(t.Context(), "COPY sales TO '"+folder+"/bad' ("+bad+")")
		require.Error(t, err, bad)
	}
	require.NoDirExists(t, folder+"/bad")
}
