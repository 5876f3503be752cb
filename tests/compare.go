package tests

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// result is what a query gave, next to its record.
type result struct {
	types string
	rows  [][]Cell
}

// letter is the type letter of a column; T when the record names fewer.
func (r *result) letter(column int) byte {
	if column < len(r.types) {
		return r.types[column]
	}
	return 'T'
}

// values are the rendered values in the order that sort asks for.
func (r *result) values(sort Sort) []string {
	rows := make([][]string, len(r.rows))
	n := 0
	for i, row := range r.rows {
		rows[i] = make([]string, len(row))
		for j, c := range row {
			rows[i][j] = render(c, r.letter(j))
		}
		n += len(row)
	}
	if sort == RowSort {
		slices.SortFunc(rows, slices.Compare[[]string])
	}
	values := make([]string, 0, n)
	for _, row := range rows {
		values = append(values, row...)
	}
	if sort == ValueSort {
		slices.Sort(values)
	}
	return values
}

// hashLine is how a long result is written: the values and their MD5, each
// value followed by a newline.
func hashLine(values []string) string {
	h := md5.New()
	for _, v := range values {
		h.Write([]byte(v))
		h.Write([]byte{'\n'})
	}
	return fmt.Sprintf("%d values hashing to %s", len(values), hex.EncodeToString(h.Sum(nil)))
}

// compare reports whether the result is what the record expects. It also gives
// the lines to show when it is not.
func compare(r *Record, got *result) (equal bool, shown []string) {
	values := got.values(r.Sort)
	if len(r.Expected) == 1 && strings.Contains(r.Expected[0], " values hashing to ") {
		line := hashLine(values)
		if line == strings.TrimSpace(r.Expected[0]) {
			return true, nil
		}
		return false, append([]string{line}, values...)
	}
	columns := len(r.Types)
	if len(got.rows) > 0 {
		columns = len(got.rows[0])
	}
	if slices.Equal(values, r.Expected) {
		return true, nil
	}
	perValue := columns <= 1 || len(r.Expected) == len(got.rows)*columns
	if perValue {
		shown = values
	} else {
		shown = rowLines(got)
	}
	switch {
	case columns == 0:
		return len(r.Expected) == 0, shown
	case perValue && len(r.Expected) != len(got.rows)*columns,
		!perValue && len(r.Expected) != len(got.rows):
		return false, shown
	}
	if r.Sort == ValueSort {
		return pairUp(len(r.Expected), func(e, g int) bool {
			row, column := g/columns, g%columns
			return same(r.Expected[e], got.rows[row][column], got.letter(column))
		}), shown
	}
	match := func(e, g int) bool { return sameLine(r.Expected[e], got, g) }
	if perValue {
		match = func(e, g int) bool { return sameValues(r.Expected[e*columns:(e+1)*columns], got, g) }
	}
	if r.Sort == NoSort {
		for i := range got.rows {
			if !match(i, i) {
				return false, shown
			}
		}
		return true, nil
	}
	return pairUp(len(got.rows), match), shown
}

func rowLines(got *result) []string {
	lines := make([]string, len(got.rows))
	for i, row := range got.rows {
		texts := make([]string, len(row))
		for j, c := range row {
			texts[j] = plain(c.Text)
			if c.Null {
				texts[j] = "NULL"
			}
		}
		lines[i] = strings.Join(texts, "\t")
	}
	return lines
}

// sameValues compares a row with its values, one expected text each.
func sameValues(expected []string, got *result, row int) bool {
	for j, c := range got.rows[row] {
		if !same(expected[j], c, got.letter(j)) {
			return false
		}
	}
	return true
}

// sameLine compares a row with a line that holds all its values: separated by
// tabs, or by blanks, where a value with blanks in it takes as many words.
func sameLine(line string, got *result, row int) bool {
	cells := got.rows[row]
	if parts := strings.Split(line, "\t"); len(parts) == len(cells) {
		return sameValues(parts, got, row)
	}
	words := strings.Fields(line)
	for j, c := range cells {
		n := 1
		if !c.Null {
			n = max(1, len(strings.Fields(c.Text)))
		}
		if n > len(words) {
			return false
		}
		value := c
		if n > 1 {
			value.Text = strings.Join(strings.Fields(c.Text), " ")
		} else if !c.Null {
			value.Text = strings.TrimSpace(c.Text)
		}
		if !same(strings.Join(words[:n], " "), value, got.letter(j)) {
			return false
		}
		words = words[n:]
	}
	return len(words) == 0
}

// pairUp reports whether n expected things can be paired with n given ones.
// It is greedy: numbers within the tolerance of two others could be paired
// wrongly, and no script has such.
func pairUp(n int, match func(e, g int) bool) bool {
	used := make([]bool, n)
	for e := range n {
		found := false
		for k := range n {
			g := (e + k) % n
			if !used[g] && match(e, g) {
				used[g], found = true, true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
