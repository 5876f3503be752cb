package gpusql

import (
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/btree"
	"github.com/gpusql/gpusql/index/lsm"
	"github.com/gpusql/gpusql/index/mvcc"
)

// indexKinds are the kinds that CREATE INDEX ... USING names, the default first.
func indexKinds() []index.Kind { return []index.Kind{btree.Kind(), lsm.Kind(), mvcc.Kind()} }
