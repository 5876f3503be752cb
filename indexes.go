package gpusql

import (
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/btree"
	"github.com/gpusql/gpusql/index/lsm"
	"github.com/gpusql/gpusql/index/mvcc"
	"github.com/gpusql/gpusql/index/wide"
	"github.com/gpusql/gpusql/storage"
)

// indexKinds are the kinds that CREATE INDEX ... USING names, the default first.
func indexKinds() []index.Kind { return []index.Kind{btree.Kind(), lsm.Kind(), mvcc.Kind()} }

// gpuIndexKinds are those of a GPU.
func gpuIndexKinds() []index.Kind { return []index.Kind{wide.Btree(), wide.Lsm(), wide.Mvcc()} }

// indexHome is where an index lies that names a GPU.
func (d *devices) indexHome(name string) (storage.Home, error) {
	g, err := d.open(name)
	if err != nil {
		return storage.Home{}, err
	}
	if err := g.Lost(); err != nil {
		return storage.Home{}, lostDevice(err)
	}
	return storage.Home{Device: g.Device, Memory: g.indexes, Kinds: gpuIndexKinds()}, nil
}
