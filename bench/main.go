package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: bench tpch|tpcds|hits|groupby|join|point|scan|csv|append|cancel|index|keys|steps|cold [flags], or bench curves FILE.md")
	}
	if args[0] == "curves" {
		for _, path := range args[1:] {
			if err := curves(path); err != nil {
				return err
			}
		}
		return nil
	}
	fs := flag.NewFlagSet(args[0], flag.ContinueOnError)
	var c config
	fs.Float64Var(&c.scale, "sf", 1, "the scale factor of TPC-H or TPC-DS")
	fs.Float64Var(&c.rows, "rows", 10e6, "rows of the tables of hits, groupby, join, point and cancel, keys of index")
	fs.IntVar(&c.runs, "runs", 5, "counted runs of a query; the median is taken")
	fs.DurationVar(&c.limit, "limit", 0, "end a peer's query after this time and count it as that long, not compared (0: never)")
	names := fs.String("engines", "gpusql,duckdb,sqlite", "engines, the first compared with the others")
	fs.IntVar(&c.copies, "copies", 5, "cold: how often the file has lineitem's rows")
	fs.BoolVar(&c.explain, "explain", false, "say where the time of gpusql's queries went, of one more run among the others'")
	only := fs.String("q", "", "only these queries, as 1,6")
	fs.StringVar(&c.queries, "queries", "", "the folder of the query texts (default: the suite's in shared/sql)")
	fs.StringVar(&c.profile, "cpuprofile", "", "write a profile of the queries: of one engine's, if there is one")
	fs.BoolVar(&c.gpu, "gpu", false, "keys: indexes of gpusql in a GPU's memory as well; steps: all on the GPU as well")
	fs.BoolVar(&c.cores, "cores", false, "time of all cores instead of the clock's: what others do on the machine changes it little")
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	for _, n := range strings.Split(*names, ",") {
		e, ok := engines()[n]
		if !ok {
			return fmt.Errorf("no engine %q", n)
		}
		c.engines = append(c.engines, e)
	}
	if *only != "" {
		c.only = strings.Split(*only, ",")
	}
	fmt.Printf("%s/%s, %d cores, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	switch args[0] {
	case "tpch":
		return c.suite(ctx, tpchSuite(runtime.GOMAXPROCS(0)), c.scale)
	case "tpcds":
		return c.suite(ctx, tpcdsSuite(), c.scale)
	case "hits":
		return c.suite(ctx, hitsSuite(), c.rows)
	case "groupby":
		return c.suite(ctx, groupBySuite(), c.rows)
	case "join":
		return c.suite(ctx, joinSuite(), c.rows)
	case "point":
		return c.point(ctx)
	case "scan":
		return c.scan(ctx)
	case "index":
		return c.indexes()
	case "keys":
		return c.keys(ctx)
	case "append":
		return c.append(ctx)
	case "steps":
		return c.steps(ctx)
	case "cold":
		return c.cold(ctx)
	case "csv":
		return c.csv(ctx)
	case "cancel":
		return c.cancel(ctx)
	}
	return fmt.Errorf("no benchmark %q", args[0])
}

// config is what a benchmark was asked to do.
type config struct {
	scale   float64
	rows    float64
	runs    int
	engines []*engine
	only    []string
	queries string
	profile string
	cores   bool
	gpu     bool
	copies  int
	explain bool
	limit   time.Duration
}
