package arrow

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/sqltype"
)

// texts reads all columns of a file as text.
func texts(t *testing.T, f File, rows int) ([][]string, error) {
	t.Helper()
	var cols []int
	for i := range f.Schema() {
		cols = append(cols, i)
	}
	data, err := readAll(t, f, cols, rows)
	var out [][]string
	for _, r := range data {
		var line []string
		for _, d := range r {
			if d.Null {
				line = append(line, "NULL")
			} else {
				line = append(line, d.String())
			}
		}
		out = append(out, line)
	}
	return out, err
}

// TestCSVParts splits files of several parts in which lines end within quotes,
// and compares with the standard library.
func TestCSVParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, quoted := range []int{0, 3, 100} { // of 100 fields
		var want [][]string
		var b bytes.Buffer
		for b.Len() < 5*textPart/2 {
			row := []string{fmt.Sprint(r.IntN(1000)), strings.Repeat("text ", r.IntN(20)) + "end", fmt.Sprint(r.IntN(100), "µ")}
			for j, s := range row {
				if r.IntN(100) < quoted {
					row[j] = s + []string{"\n", ",", `"`, `""`, "\n\"\n,", ""}[r.IntN(6)]
					b.WriteString(`"` + strings.ReplaceAll(row[j], `"`, `""`) + `"`)
				} else {
					b.WriteString(s)
				}
				b.WriteString([]string{",", ",", []string{"\n", "\r\n"}[r.IntN(2)]}[j])
			}
			want = append(want, row)
		}
		if quoted > 0 && quoted < 100 { // one part of one record, and a last line without an end
			long := strings.Repeat("long\n\"", textPart/2)
			want = append(want, []string{"1", long, "x"})
			b.WriteString(`1,"` + strings.ReplaceAll(long, `"`, `""`) + `",x`)
		}
		reference, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
		require.NoError(t, err)
		require.Equal(t, len(want), len(reference))

		dir := t.TempDir()
		plain, packed := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.csv.gz")
		require.NoError(t, os.WriteFile(plain, b.Bytes(), 0o644))
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, err = w.Write(b.Bytes())
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile(packed, z.Bytes(), 0o644))
		for _, name := range []string{plain, packed} {
			f, err := OpenFile(name, FileOptions{CSV: CSVOptions{AllText: true, Header: HeaderNo}})
			require.NoError(t, err)
			got, err := texts(t, f, 16384)
			require.NoError(t, err)
			require.Equal(t, len(want), len(got), "%s, %d quoted", name, quoted)
			for i := range want {
				require.Equal(t, want[i], got[i])
			}
			// Parts may be read in any order.
			all := 0
			for p := f.Parts() - 1; p >= 0; p-- {
				all += partRows(t, f, p)
			}
			require.Equal(t, len(want), all)
			require.NoError(t, f.Close())
		}
	}
}

func TestCSVErrorsNameTheLine(t *testing.T) {
	var b strings.Builder
	lines := 0
	for b.Len() < 2*textPart {
		b.WriteString("1,\"two\nlines\"\n")
		lines += 2
	}
	good := b.String()
	schema := sqltype.Schema{{Name: "a", Type: sqltype.Int32}, {Name: "b", Type: sqltype.Varchar}}
	for _, c := range []struct{ line, want string }{
		{"x,y\n", `column "a": invalid input syntax for type integer: "x"`},
		{"1,y,z\n", "expected 2 fields, found 3"},
		{"1\n", "expected 2 fields, found 1"},
		{"1,\"y\"z\n", "unexpected 'z' behind a quoted field"},
		{"1,\"y\n", "a quoted field is never closed"},
		{"1,\xff\n", "text is not UTF-8: byte 0xff"},
	} {
		name := filepath.Join(t.TempDir(), "t.csv")
		require.NoError(t, os.WriteFile(name, []byte(good+c.line), 0o644))
		f, err := OpenFile(name, FileOptions{Schema: schema, CSV: CSVOptions{Header: HeaderNo}})
		require.NoError(t, err)
		_, err = texts(t, f, 1000)
		require.ErrorContains(t, err, fmt.Sprintf("%s: line %d: %s", name, lines+1, c.want))
		require.NoError(t, f.Close())
	}
}

// TestCSVSniff: what a file's beginning says.
func TestCSVSniff(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          CSVOptions
		want       string // names and types; rows
	}{
		{"semicolons", "a;b\n1;2,5\n3;4,5\n", CSVOptions{}, "a BIGINT, b VARCHAR: 1 2,5; 3 4,5"},
		{"tabs", "a\tb\n1\tx y\n", CSVOptions{}, "a BIGINT, b VARCHAR: 1 x y"},
		{"pipes, quoted commas", "a|b\n1|\"x,y\"\n2|\"p|q\"\n", CSVOptions{}, "a BIGINT, b VARCHAR: 1 x,y; 2 p|q"},
		{"all text has a header", "name,city\nx,y\n", CSVOptions{}, "name VARCHAR, city VARCHAR: x y"},
		{"said to have none", "name,city\nx,y\n", CSVOptions{Header: HeaderNo}, "column0 VARCHAR, column1 VARCHAR: name city; x y"},
		{"a header only", "a,b\n", CSVOptions{}, "a VARCHAR, b VARCHAR: "},
		{"the same name", "a,a,A\n1,2,3\n", CSVOptions{Header: HeaderYes}, "a BIGINT, a_1 BIGINT, A_2 BIGINT: 1 2 3"},
		{"dates and times", "d,t,s,z\n1999-01-31,12:30,1999-01-31 12:30:00.5,2020-01-01 00:00:00+02\n,,,\n",
			CSVOptions{}, "d DATE, t TIME, s TIMESTAMP, z TIMESTAMPTZ: 1999-01-31 12:30:00 1999-01-31 12:30:00.5 2019-12-31 22:00:00+00; NULL NULL NULL NULL"},
		{"numbers widen", "a,b\n1,1\n2.5,x\n-3e2,2\n", CSVOptions{}, "a DOUBLE, b VARCHAR: 1 1; 2.5 x; -300 2"},
		{"mixed moments", "d\n1999-01-31\n1999-01-31 10:00:00\n", CSVOptions{}, "d TIMESTAMP: 1999-01-31 00:00:00; 1999-01-31 10:00:00"},
		{"truth", "a,b\ntrue,True\nfalse,FALSE\n", CSVOptions{}, "a BOOLEAN, b BOOLEAN: true true; false false"},
		{"skipped lines", "# made by hand\n\na,b\n1,2\n", CSVOptions{Skip: 2}, "a BIGINT, b BIGINT: 1 2"},
		{"another NULL", "a,b\n1,-\n-,2\n", CSVOptions{Null: "-"}, "a BIGINT, b BIGINT: 1 NULL; NULL 2"},
		{"backslashes", `a,b` + "\n" + `1,"x\"y\\"` + "\n", CSVOptions{Escape: '\\'}, `a BIGINT, b VARCHAR: 1 x"y\`},
		{"bad records", "a,b\n1,2\n1,2,3\nx\n3,4\n", CSVOptions{IgnoreBad: true}, "a BIGINT, b BIGINT: 1 2; 3 4"},
		{"short records", "a,b\n1,2\n3\n", CSVOptions{PadMissing: true}, "a BIGINT, b BIGINT: 1 2; 3 NULL"},
		{"empty lines", "a,b\n\n1,2\n\r\n\n", CSVOptions{}, "a BIGINT, b BIGINT: 1 2"},
		{"a byte order mark", "\xef\xbb\xbfa,b\n1,2\n", CSVOptions{}, "a BIGINT, b BIGINT: 1 2"},
		{"a quote within a field", "a,b\n5\" pipe,x\n", CSVOptions{}, "a VARCHAR, b VARCHAR: 5\" pipe x"},
		{"one column", "a\nx\ny\n", CSVOptions{}, "a VARCHAR: x; y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "t.csv")
			require.NoError(t, os.WriteFile(name, []byte(c.text), 0o644))
			f, err := OpenFile(name, FileOptions{CSV: c.o})
			require.NoError(t, err)
			defer f.Close()
			var cols, lines []string
			for _, col := range f.Schema() {
				cols = append(cols, fmt.Sprint(col.Name, " ", col.Type))
			}
			rows, err := texts(t, f, 100)
			require.NoError(t, err)
			for _, r := range rows {
				lines = append(lines, strings.Join(r, " "))
			}
			require.Equal(t, c.want, strings.Join(cols, ", ")+": "+strings.Join(lines, "; "))
		})
	}
}

// TestCSVValues: the quick readers agree with sqltype.
func TestCSVValues(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	edges := []string{"0", "-0", "+1", "1.", ".5", "-.5", "1e5", "1E-3", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"123456789012345.678", "0.1", "1.005", "99999999999999999999", "", " 1", "1 ", "--1", "1-", "1999-02-29", "2000-02-29", "0000-01-01",
		"1999-13-01", "1999-1-1", "1999-01-01 24:00:00", "1999-01-01 23:59:59.9999999", "1999-01-01T00:00:00.1", "1999-01-01 00:00", "true", "T", "NaN", "inf"}
	for range 3000 {
		edges = append(edges, []string{
			fmt.Sprint(r.Int64() >> r.IntN(64)), fmt.Sprint(float64(r.Int64N(1e12)) / 1e6), fmt.Sprint(r.NormFloat64()),
			fmt.Sprintf("%04d-%02d-%02d", r.IntN(3000), r.IntN(14), r.IntN(33)),
			fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d.%0*d", 1+r.IntN(3000), 1+r.IntN(12), 1+r.IntN(28), r.IntN(25), r.IntN(61), r.IntN(61), 1+r.IntN(6), r.IntN(10)),
		}[r.IntN(5)])
	}
	types := []sqltype.Type{sqltype.Bool, sqltype.Int8, sqltype.Uint8, sqltype.Int16, sqltype.Uint16, sqltype.Int32, sqltype.Uint32, sqltype.Int64,
		sqltype.Uint64, sqltype.Float32, sqltype.Float64, sqltype.Decimal(9, 2), sqltype.Decimal(18, 6), sqltype.Decimal(38, 4), sqltype.Date,
		sqltype.Time, sqltype.Timestamp, sqltype.TimestampTZ, sqltype.Interval, sqltype.Varchar, sqltype.Blob}
	for _, typ := range types {
		var good []string
		refused := 0
		for _, s := range edges {
			_, err := sqltype.ParseDatum(s, typ)
			if err == nil {
				good = append(good, s)
				continue
			}
			// What the type refuses is refused here.
			_, got := readCSV(t, sqltype.Schema{{Name: "a", Type: typ}}, `"`+s+`"`+"\n")
			require.ErrorContains(t, got, err.Error(), "%s as %s", s, typ)
			if refused++; refused > 40 {
				break
			}
		}
		rows, err := readCSV(t, sqltype.Schema{{Name: "a", Type: typ}}, `"`+strings.Join(good, "\"\n\"")+"\"\n")
		require.NoError(t, err)
		require.Equal(t, len(good), len(rows))
		for i, s := range good {
			want, _ := sqltype.ParseDatum(s, typ)
			require.Equal(t, want.String(), rows[i][0].String(), "%q as %s", s, typ)
		}
	}
}

func readCSV(t *testing.T, schema sqltype.Schema, text string) ([][]sqltype.Datum, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	f, err := OpenFile(name, FileOptions{Schema: schema, CSV: CSVOptions{Header: HeaderNo}})
	require.NoError(t, err)
	defer f.Close()
	return readAll(t, f, []int{0}, 1000)
}
