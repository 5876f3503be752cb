package btree_test

import (
	"testing"

	"github.com/gpusql/gpusql/index/btree"
	"github.com/gpusql/gpusql/index/indextest"
)

func TestContract(t *testing.T) { indextest.Run(t, btree.Kind()) }
