package wide_test

import (
	"testing"

	"github.com/gpusql/gpusql/index/indextest"
	"github.com/gpusql/gpusql/index/wide"
)

func TestBtree(t *testing.T) { indextest.RunGPU(t, wide.Btree(), "narrow", "long1") }
func TestMvcc(t *testing.T)  { indextest.RunGPU(t, wide.Mvcc(), "words2") }
func TestLsm(t *testing.T)   { indextest.RunGPU(t, wide.Lsm(), "narrow", "long1") }
