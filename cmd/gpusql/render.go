package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"github.com/gpusql/gpusql"
)

// format writes a result. It reads the rows to the end and returns their error.
type format func(w io.Writer, rows *gpusql.Rows) error

func formatNames() []string { return []string{"box", "csv", "json", "markdown", "line"} }

func newFormat(name string) (format, error) {
	switch name {
	case "box":
		return writeBox, nil
	case "csv":
		return writeCSV, nil
	case "json":
		return writeJSON, nil
	case "markdown":
		return writeMarkdown, nil
	case "line":
		return writeLines, nil
	}
	return nil, fmt.Errorf("no format %q: there are %s", name, strings.Join(formatNames(), ", "))
}

// table is a whole result as text, for formats that align columns.
type table struct {
	names  []string
	right  []bool // numbers stand right
	widths []int
	rows   [][]string
}

// readTable reads a result; text makes what a cell shows.
func readTable(rows *gpusql.Rows, text func(gpusql.Value) string) (*table, error) {
	t := &table{names: rows.Columns()}
	for i, typ := range rows.Types() {
		t.names[i] = visible(t.names[i])
		t.right = append(t.right, typ.Kind.IsNumeric())
		t.widths = append(t.widths, uniseg.StringWidth(t.names[i]))
	}
	for rows.Next() {
		row := make([]string, len(t.names))
		for i := range row {
			row[i] = text(rows.Value(i))
			t.widths[i] = max(t.widths[i], uniseg.StringWidth(row[i]))
		}
		t.rows = append(t.rows, row)
	}
	return t, rows.Err()
}

// pad writes a cell as wide as its column.
func (t *table) pad(w io.StringWriter, column int, s string) {
	blanks := strings.Repeat(" ", t.widths[column]-uniseg.StringWidth(s))
	if t.right[column] {
		s = blanks + s
	} else {
		s += blanks
	}
	w.WriteString(s) //nolint:errcheck // a bufio.Writer keeps its error for Flush
}

// visible is a text on one line, without characters that a terminal acts on.
func visible(s string) string {
	if strings.IndexFunc(s, unicode.IsControl) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func cellText(v gpusql.Value) string {
	if v.Null {
		return "NULL"
	}
	return visible(v.String())
}

func writeBox(out io.Writer, rows *gpusql.Rows) error {
	t, err := readTable(rows, cellText)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	rule := func(left, middle, right string) {
		w.WriteString(left)
		for i, n := range t.widths {
			if i > 0 {
				w.WriteString(middle)
			}
			w.WriteString(strings.Repeat("─", n+2))
		}
		w.WriteString(right + "\n")
	}
	line := func(cells []string) {
		w.WriteString("│")
		for i, c := range cells {
			w.WriteString(" ")
			t.pad(w, i, c)
			w.WriteString(" │")
		}
		w.WriteString("\n")
	}
	rule("┌", "┬", "┐")
	line(t.names)
	rule("├", "┼", "┤")
	for _, row := range t.rows {
		line(row)
	}
	rule("└", "┴", "┘")
	if len(t.rows) != 1 {
		fmt.Fprintf(w, "%d rows\n", len(t.rows))
	}
	return w.Flush()
}

func writeMarkdown(out io.Writer, rows *gpusql.Rows) error {
	escape := strings.NewReplacer("|", `\|`)
	t, err := readTable(rows, func(v gpusql.Value) string { return escape.Replace(cellText(v)) })
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	line := func(cells []string) {
		w.WriteString("|")
		for i, c := range cells {
			w.WriteString(" ")
			t.pad(w, i, c)
			w.WriteString(" |")
		}
		w.WriteString("\n")
	}
	for i := range t.names {
		t.names[i] = escape.Replace(t.names[i])
		t.widths[i] = max(t.widths[i], 3, uniseg.StringWidth(t.names[i]))
	}
	line(t.names)
	w.WriteString("|")
	for i, n := range t.widths {
		if t.right[i] {
			w.WriteString(strings.Repeat("-", n+1) + ":|")
		} else {
			w.WriteString(strings.Repeat("-", n+2) + "|")
		}
	}
	w.WriteString("\n")
	for _, row := range t.rows {
		line(row)
	}
	return w.Flush()
}

// writeLines writes each value on a line of its own, for rows that are too wide.
func writeLines(out io.Writer, rows *gpusql.Rows) error {
	w := bufio.NewWriter(out)
	names := rows.Columns()
	width := 0
	for i := range names {
		names[i] = visible(names[i])
		width = max(width, uniseg.StringWidth(names[i]))
	}
	for n := 0; rows.Next(); n++ {
		if n > 0 {
			w.WriteString("\n")
		}
		for i, name := range names {
			fmt.Fprintf(w, "%s%s = %s\n", strings.Repeat(" ", width-uniseg.StringWidth(name)), name, cellText(rows.Value(i)))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return rows.Err()
}

// writeCSV writes a header and rows; NULL is an empty field.
func writeCSV(out io.Writer, rows *gpusql.Rows) error {
	w := csv.NewWriter(out)
	record := rows.Columns()
	for {
		if err := w.Write(record); err != nil {
			return err
		}
		if !rows.Next() {
			break
		}
		for i := range record {
			v := rows.Value(i)
			record[i] = ""
			if !v.Null {
				record[i] = v.String()
			}
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return rows.Err()
}

// writeJSON writes an array of objects, a line each, with the columns in their
// order.
func writeJSON(out io.Writer, rows *gpusql.Rows) error {
	w := bufio.NewWriter(out)
	var keys [][]byte
	for _, name := range rows.Columns() {
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	w.WriteString("[")
	for n := 0; rows.Next(); n++ {
		if n > 0 {
			w.WriteString(",")
		}
		w.WriteString("\n{")
		for i, key := range keys {
			if i > 0 {
				w.WriteString(",")
			}
			w.Write(key) //nolint:errcheck // Flush gives the error
			w.WriteString(":" + jsonValue(rows.Value(i)))
		}
		w.WriteString("}")
	}
	w.WriteString("\n]\n")
	if err := w.Flush(); err != nil {
		return err
	}
	return rows.Err()
}

// jsonValue is a value in JSON. What JSON has no number for is a string.
func jsonValue(v gpusql.Value) string {
	switch {
	case v.Null:
		return "null"
	case v.Type.Kind.IsFloat() && (math.IsNaN(v.F) || math.IsInf(v.F, 0)):
		return strconv.Quote(v.String())
	case v.Type.Kind.IsNumeric(), v.Type.Kind == gpusql.KindBool:
		return v.String()
	}
	b, err := json.Marshal(v.String())
	if err != nil {
		panic(fmt.Sprintf("gpusql: a string that is not JSON: %v", err))
	}
	return string(b)
}
