package main

import (
	"fmt"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2"
	_ "modernc.org/sqlite"

	_ "github.com/gpusql/gpusql/driver"
	"github.com/gpusql/gpusql/tests/metamorphic"
)

// peer is what gpusql is compared with.
type peer struct {
	driver, dsn string
	setup       []string
	dialect     *strings.Replacer
	features    func(*metamorphic.Features)
	oracles     []metamorphic.Oracle
}

// kinds of indexes are gpusql's own.
var kinds = []string{" USING btree", "", " USING lsm", "", " USING mvcc", ""}

var peers = map[string]peer{
	"duckdb": {
		driver: "duckdb",
		// Its / of integers gives DOUBLE otherwise; a thread is enough for tiny tables.
		setup:    []string{"SET integer_division = true", "SET threads = 1"},
		features: func(*metamorphic.Features) {},
		dialect:  strings.NewReplacer(kinds...),
		oracles:  []metamorphic.Oracle{metamorphic.Same, metamorphic.Same, metamorphic.Same, metamorphic.Changes},
	},
	"sqlite": {
		driver: "sqlite", dsn: ":memory:",
		// LIKE ignores case otherwise.
		setup: []string{"PRAGMA case_sensitive_like = ON"},
		dialect: strings.NewReplacer(append([]string{"AS VARCHAR)", "AS TEXT)", "AS BIGINT)", "AS INTEGER)", "AS DOUBLE)", "AS REAL)"},
			kinds...)...),
		features: func(f *metamorphic.Features) {
			// Dates are text there and decimals floats; no ANY, ROLLUP, INTERSECT ALL.
			f.Types = []metamorphic.Type{metamorphic.Int, metamorphic.Text, metamorphic.Bool, metamorphic.Real}
			f.Rows, f.SetAll, f.Rollup, f.Extended, f.Functions = false, false, false, false, false
			f.Big = false // it has loops for all joins without an index
		},
		oracles: []metamorphic.Oracle{metamorphic.Same, metamorphic.Same, metamorphic.Same, metamorphic.Changes},
	},
	"self": {
		driver:   "gpusql",
		setup:    []string{"SET optimizer = off", "SET morsel = 3", "SET index = 'none'"},
		features: func(*metamorphic.Features) {},
		oracles: []metamorphic.Oracle{metamorphic.Same, metamorphic.Partition, metamorphic.Count, metamorphic.Named,
			metamorphic.Fold, metamorphic.Changes},
	},
}

func (p *peer) open(name string) metamorphic.Opener {
	return func() (a, b metamorphic.Engine, err error) {
		if a, err = metamorphic.Open("gpusql", "gpusql", "", nil, nil); err != nil {
			return nil, nil, err
		}
		if b, err = metamorphic.Open(name, p.driver, p.dsn, p.setup, p.dialect); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		return a, b, nil
	}
}
