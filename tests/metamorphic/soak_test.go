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
// and so do two ways to ask. tests/differential has soaks of millions of queries.
func TestSoak(t *testing.T) {
	oracles := []Oracle{Same, Same, Partition, Count, Named, Fold, Changes}
	features := Everything()
	features.Small, features.Big = *small, !*small
	s := &Soak{Seed: *seed, Cases: *cases, Each: 400,
		Setting: func(seed uint64) *Setting {
			return &Setting{Features: features, Oracles: oracles, Open: Ways(seed)}
		},
		Found:    func(seed uint64, f *Finding) { t.Errorf("seed %d\n%s", seed, f.Script()) },
		Progress: func(Counts) {},
	}
	c, err := s.Run(t.Context())
	require.NoError(t, err)
	t.Logf("%d queries in %d cases from seed %d, %d refused by both, %d too slow",
		c.Queries, c.Cases, *seed, c.Outcomes[RefusedByBoth], c.Outcomes[Slow])
}
