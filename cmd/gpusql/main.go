// Command gpusql runs SQL: at a prompt, from the command line, a file or a
// pipe, and as regression scripts.
//
//	gpusql [DB]                      a prompt
//	gpusql [DB] -c SQL | -f FILE     statements; also gpusql [DB] < FILE
//	gpusql test PATH...              sqllogictest scripts
//
//	main ─┬─ shell (a connection, a format) ─┬─ text: -c, -f, a pipe ─▶ render
//	      │                                  └─ repl ─ prompt (go-prompt)
//	      └─ test ─▶ package tests
//
// Invariants:
//
//  1. Results go to the standard output, errors to the standard error; the exit
//     code is 1 after any error outside the prompt.
//  2. An interrupt ends the statement that runs and nothing else.
//  3. The terminal is as it was on every way out: go-prompt is raw only while
//     it reads, and only prompt.go knows it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/gpusql/gpusql"
)

const usage = `usage: gpusql [DB] [-c SQL]... [-f FILE]... [--format box|csv|json|markdown|line]
       gpusql test [-j N] [--config NAME] [--dialect mysql] PATH...

DB is :memory: (the default), and may end in settings: ":memory:?threads=2".
Without -c and -f, statements are read from the standard input: with a prompt
when that is a terminal.
`

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "test" {
		os.Exit(runTests(args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(run(args, os.Stdin, os.Stdout, os.Stderr))
}

// step is a -c or -f of the command line, in the order given.
type step struct{ text, file string }

// arguments are the command line, read.
type arguments struct {
	db     string
	steps  []step
	format string
}

// parseArguments reads the command line; flags and DB may come in any order.
func parseArguments(args []string, stderr io.Writer) (arguments, error) {
	a := arguments{format: "box"}
	flags := flag.NewFlagSet("gpusql", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	flags.Func("c", "SQL to run", func(text string) error {
		a.steps = append(a.steps, step{text: text})
		return nil
	})
	flags.Func("f", "file to run", func(file string) error {
		a.steps = append(a.steps, step{file: file})
		return nil
	})
	flags.StringVar(&a.format, "format", a.format, strings.Join(formatNames(), ", "))
	names, err := parseMixed(flags, args)
	if err != nil {
		return a, err
	}
	if len(names) > 1 {
		return a, fmt.Errorf("one database at most: %s", strings.Join(names, " "))
	}
	if len(names) == 1 {
		a.db = names[0]
	}
	if _, err := newFormat(a.format); err != nil {
		return a, err
	}
	return a, nil
}

// parseMixed parses flags that stand before, between and after names.
func parseMixed(flags *flag.FlagSet, args []string) (names []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return names, nil
		}
		names = append(names, flags.Arg(0))
		args = flags.Args()[1:]
	}
}

// run is the program without tests, and returns its exit code.
func run(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	a, err := parseArguments(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "gpusql:", err)
		return 2
	}
	sh, err := newShell(a.db, a.format, stdout, stderr)
	if err != nil {
		printError(stderr, err)
		return 1
	}
	defer sh.close()
	ok := true
	switch {
	case len(a.steps) > 0:
		for _, s := range a.steps {
			if ok = sh.step(s); !ok {
				break
			}
		}
	case isatty.IsTerminal(stdin.Fd()):
		sh.repl()
	default:
		text, err := io.ReadAll(stdin)
		if err != nil {
			fmt.Fprintln(stderr, "gpusql:", err)
			return 1
		}
		ok = sh.text(string(text))
	}
	if !ok {
		return 1
	}
	return 0
}

// step runs one -c or -f and reports whether it went well.
func (sh *shell) step(s step) bool {
	if s.file == "" {
		return sh.text(s.text)
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		printError(sh.stderr, err)
		return false
	}
	return sh.text(string(text))
}

// printError writes an error, with a caret under its place when it has one.
func printError(w io.Writer, err error) {
	var e *gpusql.Error
	if !errors.As(err, &e) {
		fmt.Fprintln(w, "error:", err)
		return
	}
	fmt.Fprintf(w, "error %s: %s\n", e.Code, e.Message)
	if line, _, ok := e.Position(); ok {
		head := fmt.Sprintf("line %d: ", line)
		text, caret, _ := strings.Cut(e.Caret(), "\n")
		fmt.Fprintf(w, "%s%s\n%s%s\n", head, text, strings.Repeat(" ", len(head)), caret)
	}
	if e.Hint != "" {
		fmt.Fprintln(w, "hint:", e.Hint)
	}
}
