package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/gpusql/gpusql/tests/metamorphic"
)

func main() {
	name := flag.String("peer", "duckdb", "duckdb, sqlite or self")
	cases := flag.Int("cases", 10_000, "how many questions to ask")
	each := flag.Int("each", 200, "questions a database")
	seed := flag.Uint64("seed", 1, "seed of the first database")
	most := flag.Int("most", 20, "disagreements to show before giving up")
	flag.Parse()
	p, ok := peers[*name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no peer %q: there are duckdb, sqlite and self\n", *name)
		os.Exit(2)
	}
	found, told, start := 0, 0, time.Now()
	s := &metamorphic.Soak{Seed: *seed, Cases: *cases, Each: *each, Features: metamorphic.Everything(),
		Oracles: p.oracles, Open: p.open(*name), MayRefuse: *name,
		Found: func(f *metamorphic.Finding) {
			found++
			fmt.Println(f.Script())
			if found == *most {
				fmt.Println("too many disagreements, the rest is not asked")
				os.Exit(1)
			}
		},
		Progress: func(n int) {
			if n >= told+1000 {
				told = n
				fmt.Fprintf(os.Stderr, "%d cases, %d found, %v\n", n, found, time.Since(start).Round(time.Second))
			}
		},
	}
	p.features(&s.Features)
	n, err := s.Run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Printf("%d cases from seed %d against %s: %d refused by it, %d by both, %d too slow, %d disagreements\n",
		n, *seed, *name, s.Refused, s.Outcomes[metamorphic.RefusedByBoth], s.Outcomes[metamorphic.Slow], found)
	if found > 0 {
		os.Exit(1)
	}
}
