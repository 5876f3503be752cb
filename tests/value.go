package tests

import (
	"math"
	"strconv"
	"strings"
)

// Class is what kind of value a cell holds, as far as printing it goes.
type Class uint8

// The classes of value.
const (
	Text Class = iota
	Integer
	Real
	Boolean
	Timestamp
)

// Cell is a value of a result. Text is how SQL prints it.
type Cell struct {
	Null  bool
	Class Class
	Text  string
}

// render writes a cell as a column of that type letter is written in a script.
func render(c Cell, letter byte) string {
	if c.Null {
		return "NULL"
	}
	switch letter {
	case 'I':
		return integerText(c)
	case 'R':
		if f, ok := number(c); ok {
			return strconv.FormatFloat(f, 'f', 3, 64)
		}
	}
	return plain(c.Text)
}

// integerText is a cell as an integer: reals are truncated, booleans are 1 and
// 0, and text keeps its form unless it begins with digits.
func integerText(c Cell) string {
	switch c.Class {
	case Boolean:
		if c.Text == "true" {
			return "1"
		}
		return "0"
	case Real:
		if f, err := strconv.ParseFloat(c.Text, 64); err == nil && math.Abs(f) < 1<<63 && strings.ContainsAny(c.Text, "eE") {
			return strconv.FormatInt(int64(f), 10)
		}
		whole, _, _ := strings.Cut(c.Text, ".")
		switch whole {
		case "-0", "", "-":
			return "0"
		}
		return whole
	}
	return plain(c.Text)
}

// number is a cell's value as a float, when it is a number or a boolean.
func number(c Cell) (float64, bool) {
	switch c.Class {
	case Integer, Real:
		f, err := strconv.ParseFloat(c.Text, 64)
		return f, err == nil
	case Boolean:
		if c.Text == "true" {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// plain replaces what a script cannot hold: nothing at all, and control characters.
func plain(s string) string {
	if s == "" {
		return "(empty)"
	}
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] == 0x7f {
			return strings.Map(func(r rune) rune {
				if r < ' ' || r == 0x7f {
					return '@'
				}
				return r
			}, s)
		}
	}
	return s
}

// tolerance is how far two numbers may lie apart, relative to the larger.
const tolerance = 1e-6

// same reports whether an expected text stands for a cell in a column of that letter.
func same(expected string, c Cell, letter byte) bool {
	got := render(c, letter)
	if expected == got || expected == plain(c.Text) && !c.Null {
		return true
	}
	if c.Null {
		return false
	}
	switch c.Class {
	case Boolean:
		switch strings.ToLower(expected) {
		case "1", "true", "t":
			return c.Text == "true"
		case "0", "false", "f":
			return c.Text == "false"
		}
		return false
	case Timestamp:
		// ISO 8601 has a T where SQL has a blank.
		return len(expected) > 10 && expected[10] == 'T' && expected[:10]+" "+expected[11:] == c.Text
	case Text:
		if letter == 'T' {
			return false
		}
	}
	e, err := strconv.ParseFloat(expected, 64)
	if err != nil {
		return false
	}
	for _, text := range [...]string{c.Text, got} {
		g, err := strconv.ParseFloat(text, 64)
		if err == nil && near(e, g) {
			return c.Class != Integer || e == g || letter == 'R'
		}
	}
	// A script of reals with three decimals has lost the rest.
	g, ok := number(c)
	return ok && letter == 'R' && decimals(expected) == 3 && strconv.FormatFloat(g, 'f', 3, 64) == expected
}

func decimals(s string) int {
	_, after, _ := strings.Cut(s, ".")
	return len(after)
}

func near(a, b float64) bool {
	if a == b || math.IsNaN(a) && math.IsNaN(b) {
		return true
	}
	return math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}
