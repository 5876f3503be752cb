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
)

// TestSoak: a default session and one that does everything another way agree,
// and so do two ways to ask. -cases 10000000 is a soak.
func TestSoak(t *testing.T) {
	others := [][]string{
		{"SET optimizer = off"}, {"SET morsel = 3"}, {"SET hash = 'zero'"}, {"SET index = 'none'"},
		{"SET optimizer = off", "SET morsel = 3", "SET index = 'none'"},
	}
	turn := 0
	s := &Soak{Seed: *seed, Cases: *cases, Each: 150, Features: Everything(),
		Oracles: []Oracle{Same, Same, Partition, Count, Named, Fold, Changes},
		Open: func() (Engine, Engine, error) {
			a, err := Open("gpusql", "gpusql", "", nil, nil)
			if err != nil {
				return nil, nil, err
			}
			b, err := Open("other", "gpusql", "", others[turn%len(others)], nil)
			return a, b, err
		},
		Found:    func(f *Finding) { t.Error(f.Script()) },
		Progress: func(int) { turn++ },
	}
	n, err := s.Run()
	require.NoError(t, err)
	t.Logf("%d cases from seed %d", n, *seed)
}
