package gpusql

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpusql/gpusql/sqltype"
)

// glob gives the names that match a pattern, in order: * and ? are within a name,
// [a-z] is one of some characters, ** is any number of folders. A file that has
// the pattern for a name is that.
func (f files) glob(pattern string) ([]string, error) {
	if _, err := os.Stat(f.resolve(pattern)); err == nil {
		return []string{pattern}, nil
	}
	at := strings.IndexAny(pattern, "*?[")
	base := pattern[:strings.LastIndexByte(pattern[:at], '/')+1]
	re, err := globPattern(pattern[len(base):])
	if err != nil {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "%q is no pattern of files", pattern)
	}
	root := f.resolve(base)
	if base == "" {
		root = f.resolve(".")
	}
	deep, depth := strings.Contains(pattern, "**"), strings.Count(pattern[len(base):], "/")
	var names []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case !d.IsDir() && re.MatchString(rel):
			names = append(names, base+rel)
		case d.IsDir() && !deep && strings.Count(rel, "/") >= depth:
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, sqltype.Errorf("58030", "%s: %v", pattern, err)
	}
	slices.Sort(names)
	return names, nil
}

// globPattern is a pattern as a regular expression.
func globPattern(pattern string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("^")
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case c == '*':
			for i+1 < len(pattern) && pattern[i+1] == '*' {
				i++
			}
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			end := strings.IndexByte(pattern[i+1:], ']')
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			set := pattern[i+1 : i+1+end]
			if set != "" && set[0] == '!' {
				set = "^" + set[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(set, `\`, `\\`) + "]")
			i += end + 1
		default:
			_, n := utf8.DecodeRuneInString(pattern[i:])
			b.WriteString(regexp.QuoteMeta(pattern[i : i+n]))
			i += n - 1
		}
	}
	return regexp.Compile(b.String() + "$")
}
