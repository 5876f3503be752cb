package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/gpusql/gpusql"
	"github.com/gpusql/gpusql/catalog"
)

func main() {
	path := flag.String("o", "docs/functions.md", "the file to write")
	flag.Parse()
	text, err := reference(context.Background())
	if err == nil {
		err = os.WriteFile(*path, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// reference is the text of the file.
func reference(ctx context.Context) (string, error) {
	db, err := gpusql.Open(":memory:")
	if err != nil {
		return "", err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	all := catalog.Reference()
	var b strings.Builder
	fmt.Fprintf(&b, "# Functions and operators\n\n"+
		"Made by `go generate ./tests/reference`: the %d functions, with what an example of each gives (rows are apart by `;`).\n"+
		"An argument that is NULL makes the result NULL, unless it says otherwise.\n", len(all))
	area := ""
	for _, f := range all {
		if f.Text == "" {
			return "", fmt.Errorf("function %s has no description", f.Name)
		}
		result, err := shown(ctx, c, f)
		if err != nil {
			return "", fmt.Errorf("the example of %s: %w", f.Name, err)
		}
		if f.Area != area {
			area = f.Area
			fmt.Fprintf(&b, "\n## %s\n\n| call | gives | example |\n|---|---|---|\n", area)
		}
		call := code(f.Call)
		if len(f.Aliases) > 0 {
			call += ", also " + code(strings.Join(f.Aliases, ", "))
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", call, strings.ReplaceAll(f.Text, "|", `\|`), result)
	}
	return b.String(), nil
}

// code is text as code in a table.
func code(s string) string { return "`" + strings.ReplaceAll(s, "|", `\|`) + "`" }

// shown is the example with its result.
func shown(ctx context.Context, c *gpusql.Conn, f catalog.Documented) (string, error) {
	if f.Example == "" {
		return "", nil
	}
	rows, err := c.Query(ctx, "SELECT "+f.Example)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var cells []string
		for i := range rows.Columns() {
			cells = append(cells, rows.Value(i).String())
		}
		lines = append(lines, strings.Join(cells, ", "))
	}
	if f.Varies && f.Text != "" && strings.Join(lines, "") != "true" {
		return code(f.Example), rows.Err()
	}
	return code(f.Example) + " → " + code(strings.Join(lines, "; ")), rows.Err()
}
