package metamorphic

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/gpusql/gpusql/driver"
)

var (
	seed  = flag.Uint64("seed", 1, "the first database's seed")
	cases = flag.Int("cases", 1500, "how many questions to ask")
	small = flag.Bool("small", false, "small tables and shallow queries, for many questions a second")
)

// TestSoak: a default session and one that does everything another way agree,
// and so do two ways to ask. -small -cases 4000000 is a soak of ten million queries.
func TestSoak(t *testing.T) {
	others := [][]string{
		{"SET optimizer = off"}, {"SET morsel = 3"}, {"SET hash = 'zero'"}, {"SET index = 'none'"},
		{"SET optimizer = off", "SET morsel = 3", "SET index = 'none'"},
	}
	turn := 0
	features := Everything()
	features.Small, features.Big = *small, !*small
	oracles := []Oracle{Same, Same, Partition, Count, Named, Fold, Changes}
	if *small {
		oracles = append(oracles, Changes)
	}
	s := &Soak{Seed: *seed, Cases: *cases, Each: 400, Features: features,
		Oracles: oracles,
		Open: func() (Engine, Engine, error) {
			a, err := Open("gpusql", "gpusql", "", nil, nil)
			if err != nil {
				return nil, nil, err
			}
			b, err := Open("other", "gpusql", "", others[turn%len(others)], nil)
			return a, b, err
		},
		Found: func(f *Finding) { t.Error(f.Script()) },
	}
	said := 0
	s.Progress = func(n int) {
		turn++
		if n >= said+20_000 || n == *cases {
			said = n
			t.Logf("%d queries in %d cases from seed %d, %d refused by both, %d too slow",
				s.Queries, n, *seed, s.Outcomes[RefusedByBoth], s.Outcomes[Slow])
		}
	}
	_, err := s.Run()
	require.NoError(t, err)
}
