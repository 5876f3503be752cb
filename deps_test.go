package gpusql_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/gpusql/gpusql"

// policy is the import policy of ARCHITECTURE.md: package to what it may import.
type policy struct {
	may     map[string][]string
	helpers []string
}

func readPolicy(t *testing.T) policy {
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "```imports\n")
	require.True(t, found, "ARCHITECTURE.md has no block of imports")
	block, _, found := strings.Cut(after, "```")
	require.True(t, found)
	p := policy{may: map[string][]string{}}
	for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
		name, list, ok := strings.Cut(line, ":")
		require.True(t, ok, "not a line of the policy: %q", line)
		if name == "helpers" {
			p.helpers = strings.Fields(list)
			continue
		}
		p.may[name] = strings.Fields(list)
	}
	return p
}

// allows reports whether package from may import package to.
func (p policy) allows(from, to string) bool {
	list, ok := p.may[from]
	if !ok {
		return false
	}
	return slices.Contains(list, to) || slices.Contains(list, "...") && !slices.Contains(p.helpers, to)
}

// eachImport calls f for every import of the module by its packages, tests aside.
func eachImport(t *testing.T, f func(from, to, file string)) {
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			other := path != "." && err == nil // a module of its own
			if other || path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range src.Imports {
			to, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			if to == module {
				to = module + "/."
			}
			if rest, ok := strings.CutPrefix(to, module+"/"); ok {
				f(filepath.ToSlash(filepath.Dir(path)), rest, path)
			}
		}
		return nil
	}))
}

func TestImportPolicy(t *testing.T) {
	p := readPolicy(t)
	imports := 0
	eachImport(t, func(from, to, file string) {
		imports++
		if !p.allows(from, to) {
			t.Errorf("%s: package %s may not import %s (ARCHITECTURE.md, import policy)", file, from, to)
		}
	})
	require.Greater(t, imports, 20, "the test has not found the project's packages")
	require.False(t, p.allows("planner", "device"), "the policy has to forbid something")
	require.False(t, p.allows(".", "device/faulty"))
	require.True(t, p.allows(".", "storage"))
}

// TestNoInit holds the rule that nothing acts when it is imported; package
// driver is the exception, and says so.
func TestNoInit(t *testing.T) {
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		src, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range src.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: func init", path)
			}
		}
		return nil
	}))
}
