package lsm_test

import (
	"testing"

	"github.com/gpusql/gpusql/index/indextest"
	"github.com/gpusql/gpusql/index/lsm"
)

func TestContract(t *testing.T) { indextest.Run(t, lsm.Kind()) }
