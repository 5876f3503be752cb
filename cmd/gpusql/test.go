package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"

	"github.com/gpusql/gpusql/tests"
)

// runTests is "gpusql test": it returns the exit code.
func runTests(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("gpusql test", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	jobs := flags.Int("j", runtime.NumCPU(), "files at a time")
	config := flags.String("config", "", "how to run: parts joined by commas")
	dialect := flags.String("dialect", "gpusql", "gpusql or mysql")
	paths, err := parseMixed(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fail := func(err error) int {
		fmt.Fprintln(stderr, "gpusql test:", err)
		return 2
	}
	if err != nil {
		return fail(err)
	}
	c, err := tests.ParseConfig(*config)
	if err != nil {
		return fail(err)
	}
	engine, err := tests.NewEngine(*dialect)
	if err != nil {
		return fail(err)
	}
	files, err := tests.Files(paths)
	if err == nil && len(files) == 0 {
		err = errors.New("no scripts: name files or folders")
	}
	if err != nil {
		return fail(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report := tests.Run(ctx, engine, c, files, *jobs, func(f *tests.Failure) {
		f.WriteTo(stdout) //nolint:errcheck // a report that cannot be written has nowhere to say so
	})
	fmt.Fprintln(stdout, report)
	if report.Failed > 0 {
		return 1
	}
	return 0
}
