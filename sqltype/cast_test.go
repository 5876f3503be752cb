package sqltype

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// castLine is 'text' TYPE TYPE ...: the text is cast to each type in turn.
var castLine = regexp.MustCompile(`^'((?:[^']|'')*)'((?: [A-Z0-9(),]+)+)$`)

// typeText reads a type as it is written in the tests: DECIMAL(10,2).
func typeText(t *testing.T, text string) Type {
	name, rest, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	var mods []int
	for _, m := range strings.Split(rest, ",") {
		if m != "" {
			v, err := strconv.Atoi(m)
			require.NoError(t, err)
			mods = append(mods, v)
		}
	}
	typ, ok := TypeByName(name, mods)
	require.True(t, ok, text)
	return typ
}

// The values of testdata/cast are PostgreSQL's, except where a comment says so.
func TestCast(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for _, line := range strings.Split(d.Input, "\n") {
				m := castLine.FindStringSubmatch(line)
				require.NotNil(t, m, line)
				v := NewString(strings.ReplaceAll(m[1], "''", "'"))
				var err error
				for _, name := range strings.Fields(m[2]) {
					if v, err = CastDatum(v, typeText(t, name)); err != nil {
						break
					}
				}
				var e *Error
				switch {
				case errors.As(err, &e):
					fmt.Fprintf(&out, "%s %s\n", e.Code, e.Msg)
				default:
					require.NoError(t, err)
					fmt.Fprintf(&out, "%s\n", v)
				}
			}
			return out.String()
		})
	})
}
