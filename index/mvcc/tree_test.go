package mvcc_test

import (
	"testing"

	"github.com/gpusql/gpusql/index/indextest"
	"github.com/gpusql/gpusql/index/mvcc"
)

func TestContract(t *testing.T) { indextest.Run(t, mvcc.Kind()) }
