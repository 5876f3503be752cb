package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpusql/gpusql/tests/metamorphic"
)

func main() {
	var o options
	list := flag.String("peer", "duckdb", "duckdb, sqlite, self, or some with how often each: self:6,duckdb:2,sqlite:1")
	flag.IntVar(&o.cases, "cases", 10_000, "how many questions to ask; 0: until the time is over")
	flag.IntVar(&o.each, "each", 200, "questions a database")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the first database")
	flag.IntVar(&o.workers, "workers", 1, "databases at a time")
	flag.DurationVar(&o.limit, "for", 24*time.Hour, "when to stop")
	flag.StringVar(&o.dir, "out", "", "a folder for the disagreements, a script each, and for the counts")
	flag.BoolVar(&o.small, "small", false, "small tables and shallow queries, for many questions a second")
	flag.Parse()
	var err error
	if o.peers, err = turns(*list); err == nil {
		err = o.run(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// options are what a run is told.
type options struct {
	peers       []string // by seed
	cases, each int
	seed        uint64
	workers     int
	limit       time.Duration
	dir         string
	small       bool
}

// turns are the peers of seeds, from a list of names with how often each comes.
func turns(list string) ([]string, error) {
	var out []string
	for _, part := range strings.Split(list, ",") {
		name, often, _ := strings.Cut(part, ":")
		n, err := strconv.Atoi(often)
		if often == "" {
			n, err = 1, nil
		}
		if _, ok := peers[name]; !ok || err != nil || n < 1 {
			return nil, fmt.Errorf("no peer %q: there are %v", part, slices.Sorted(maps.Keys(peers)))
		}
		out = append(out, slices.Repeat([]string{name}, n)...)
	}
	return out, nil
}

func (o *options) peer(seed uint64) string { return o.peers[seed%uint64(len(o.peers))] }

// run asks until the end, and says what it asked.
func (o *options) run(out io.Writer) error {
	// Much that lives shortly, and cgo's memory is not counted.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(24 << 30)
	if o.dir != "" {
		if err := os.MkdirAll(o.dir, 0o755); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.limit)
	defer cancel()
	start, said, found := time.Now(), time.Now(), 0
	var failed error
	s := &metamorphic.Soak{Seed: o.seed, Cases: o.cases, Each: o.each, Workers: o.workers, Setting: o.setting,
		Found: func(seed uint64, f *metamorphic.Finding) {
			found++
			text := fmt.Sprintf("-- seed %d against %s\n%s\n", seed, o.peer(seed), f.Script())
			fmt.Fprint(out, text) //nolint:errcheck // standard output
			if err := o.write(fmt.Sprintf("%d-%d.sql", seed, found), text); err != nil {
				failed = err
				cancel()
			}
		},
		Progress: func(c metamorphic.Counts) {
			if time.Since(said) > 10*time.Second {
				said = time.Now()
				fmt.Fprintf(os.Stderr, "%d queries, %d found, %v\n", c.Queries, c.Findings, time.Since(start).Round(time.Second)) //nolint:errcheck // standard error
			}
		},
	}
	c, err := s.Run(ctx)
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	text := o.summary(&c, time.Since(start))
	fmt.Fprint(out, text) //nolint:errcheck // standard output
	if err := o.write("counts.txt", text); err != nil {
		return err
	}
	if c.Findings > 0 {
		return fmt.Errorf("%d disagreements", c.Findings)
	}
	return nil
}

// setting is how the database of a seed is asked.
func (o *options) setting(seed uint64) *metamorphic.Setting {
	name := o.peer(seed)
	p := peers[name]
	f := metamorphic.Everything()
	f.Small, f.Big = o.small, !o.small
	p.features(&f)
	return &metamorphic.Setting{Features: f, Oracles: p.oracles, Open: p.open(seed), MayRefuse: name}
}

// write writes a file of the folder.
func (o *options) write(name, text string) error {
	if o.dir == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o644)
}

func (o *options) summary(c *metamorphic.Counts, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d queries of %d cases, %d databases from seed %d, in %v\n", c.Queries, c.Cases, c.Databases, o.seed, took.Round(time.Second))
	fmt.Fprintf(&b, "refused by both %d, by the peer alone %d, too slow %d, disagreements %d\n", c.Outcomes[metamorphic.RefusedByBoth],
		c.Refused, c.Outcomes[metamorphic.Slow], c.Findings)
	for _, name := range slices.Sorted(maps.Keys(c.Oracles)) {
		fmt.Fprintf(&b, "%12d queries by %s\n", c.Oracles[name], name)
	}
	return b.String()
}
