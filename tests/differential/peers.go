package main

import (
	"strings"

	_ "github.com/duckdb/duckdb-go/v2"
	_ "modernc.org/sqlite"

	_ "github.com/gpusql/gpusql/driver"
	"github.com/gpusql/gpusql/tests/metamorphic"
)

// peer is what gpusql is compared with.
type peer struct {
	open     func(seed uint64) metamorphic.Opener
	features func(*metamorphic.Features)
	oracles  []metamorphic.Oracle
}

// kinds of indexes are gpusql's own.
var kinds = []string{" USING btree", "", " USING lsm", "", " USING mvcc", ""}

var peers = map[string]peer{
	"duckdb": {
		open: against(&metamorphic.Way{Name: "duckdb", Driver: "duckdb",
			// Its / of integers gives DOUBLE otherwise; a thread is enough for tiny tables.
			Setup:   []string{"SET integer_division = true", "SET threads = 1", "SET memory_limit = '1GB'"},
			Dialect: strings.NewReplacer(kinds...)}),
		features: func(f *metamorphic.Features) { f.Savepoints = false },
		oracles:  []metamorphic.Oracle{metamorphic.Same, metamorphic.Same, metamorphic.Same, metamorphic.Changes},
	},
	"sqlite": {
		open: against(&metamorphic.Way{Name: "sqlite", Driver: "sqlite", DSN: ":memory:",
			// LIKE ignores case otherwise.
			Setup: []string{"PRAGMA case_sensitive_like = ON"},
			Dialect: strings.NewReplacer(append([]string{"AS VARCHAR)", "AS TEXT)", "AS BIGINT)", "AS INTEGER)", "AS DOUBLE)", "AS REAL)"},
				kinds...)...)}),
		features: func(f *metamorphic.Features) {
			// Dates are text there and decimals floats; no ANY, ROLLUP, INTERSECT ALL.
			f.Types = []metamorphic.Type{metamorphic.Int, metamorphic.Text, metamorphic.Bool, metamorphic.Real}
			f.Rows, f.SetAll, f.Rollup, f.Extended, f.Functions = false, false, false, false, false
			// The subqueries of an UPDATE see the rows that it has changed already, where they name the row.
			f.Steady = false
			f.Big = false // it has loops for all joins without an index
		},
		oracles: []metamorphic.Oracle{metamorphic.Same, metamorphic.Same, metamorphic.Same, metamorphic.Changes},
	},
	"self": {
		open:     metamorphic.Ways,
		features: func(*metamorphic.Features) {},
		oracles: []metamorphic.Oracle{metamorphic.Same, metamorphic.Partition, metamorphic.Count, metamorphic.Named,
			metamorphic.Fold, metamorphic.Changes},
	},
}

func against(w *metamorphic.Way) func(uint64) metamorphic.Opener {
	return func(uint64) metamorphic.Opener { return metamorphic.Pair(metamorphic.Default(), w) }
}
