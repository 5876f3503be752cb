package parser_test

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// corpus is where the shared regression scripts are, if they are here.
const corpus = "../../shared/sql"

// script is a statement of a regression script.
type script struct {
	where string // file:line
	sql   string
	fails bool   // statement error
	only  string // onlyif
}

// corpusStatements reads every statement of the scripts and queries.
func corpusStatements(t testing.TB) []script {
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("no " + corpus)
	}
	var list []script
	err := filepath.WalkDir(corpus, func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		switch filepath.Ext(path) {
		case ".test", ".slt":
			list = append(list, readScript(t, path)...)
		case ".sql":
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			list = append(list, script{where: path, sql: string(text)})
		}
		return nil
	})
	require.NoError(t, err)
	return list
}

// readScript reads the records of one sqllogictest file.
func readScript(t testing.TB, path string) []script {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	var list []script
	only := ""
	var cur *script
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case cur != nil && (line == "" || line == "----"):
			list = append(list, *cur)
			cur = nil
		case cur != nil:
			cur.sql += line + "\n"
		case word == "onlyif":
			only = strings.Fields(rest)[0]
		case word == "statement", word == "query":
			cur = &script{where: path + ":" + strconv.Itoa(n), fails: strings.HasPrefix(rest, "error"), only: only}
			only = ""
		case line == "":
			only = ""
		}
	}
	require.NoError(t, lines.Err())
	if cur != nil {
		list = append(list, *cur)
	}
	return list
}

// requireRoundTrip checks that what Format writes parses to the same tree.
func requireRoundTrip(t require.TestingT, s parser.Statement, where string) {
	text := parser.Format(s)
	again, err := parser.Parse(text)
	var e *sqltype.Error
	if errors.As(err, &e) && e.Code == sqltype.CodeTooComplex {
		return // parentheses that were not needed may nest one level too deep
	}
	require.NoError(t, err, "%s: %s", where, text)
	require.Len(t, again, 1, text)
	if want, got := dump(s), dump(again[0].Statement); want != got {
		require.Equal(t, want, got, "%s: %s", where, text)
	}
}

// unsupported are the messages of statements of the scripts that this language
// does not have, and why.
var unsupported = []struct{ message, reason string }{
	{"CREATE SEQUENCE is not supported", "no sequences"},
	{"DROP SEQUENCE is not supported", "no sequences"},
	{"CREATE TYPE is not supported", "no enumerations"},
	{"DROP TYPE is not supported", "no enumerations"},
	{"CREATE FUNCTION is not supported", "no functions in SQL"},
	{"MERGE is not supported", "no MERGE"},
	{`type "mood" does not exist`, "an enumeration"},
	{`type "intelligence" does not exist`, "an enumeration"},
	{`type "midenum" does not exist`, "an enumeration"},
	{`type "midenum_2" does not exist`, "an enumeration"},
	{`type "large_enum" does not exist`, "an enumeration"},
	{`type "en"um" does not exist`, "an enumeration"},
	{`type "uuid" does not exist`, "no UUID"},
	{`type "timetz" does not exist`, "no TIME WITH TIME ZONE"},
	{`type "uhugeint" does not exist`, "no unsigned integer of 128 bits"},
	{"type decimal does not take these numbers", "38 digits at most, and no scale below zero"},
}

func isUnsupported(err error) bool {
	return slices.ContainsFunc(unsupported, func(u struct{ message, reason string }) bool {
		return strings.HasPrefix(err.Error(), u.message)
	})
}

// TestCorpus parses every statement of the shared scripts that is not for
// another engine, and formats it.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	parsed := 0
	for i, s := range corpusStatements(t) {
		if s.only != "" && s.only != "gpusql" {
			continue
		}
		list, err := parser.Parse(s.sql)
		if err != nil {
			if !s.fails && !isUnsupported(err) {
				t.Errorf("%s: %v\n%s", s.where, err, s.sql)
			}
			continue
		}
		parsed += len(list)
		// The 70,000 of SQLite are much alike: every fourth shows the same.
		if i%4 == 0 || !strings.Contains(s.where, "/sqlite/") {
			for _, p := range list {
				requireRoundTrip(t, p.Statement, s.where)
			}
		}
	}
	require.Greater(t, parsed, 50_000, "the scripts were not read")
}
