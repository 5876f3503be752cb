package kernels

import (
	"github.com/gpusql/gpusql/device"
)

type pickKeyArgs struct {
	Keys, Hashes       device.Ptr // of groups
	Rows               device.Ptr // uint32: which of them
	OutKeys, OutHashes device.Ptr
	Words              uint32
}

var pickKeys = &device.Kernel[pickKeyArgs]{Name: "pick_keys", Host: pickKeysHost}

// FindGroups is Find for n groups of another table of the same layout, those that
// rows names by their distance from lo, or for 0 those from lo on. They are taken as they are
// packed, with their hashes: unpacked keys would cost each of the workers that
// merge a part as much as the keys of all parts. False, and nothing is found, where
// keys are not packed or have no hashes, or not those of this table.
func (g *Groups) FindGroups(s device.Stream, o *Groups, lo int, rows device.Ptr, n int, ids device.Ptr) (bool, error) {
	if err := g.begin(s); err != nil {
		return false, err
	}
	w := o.layout.Width()
	if w == 0 || !o.direct.off || !s.Device().Traits().HostBytes {
		return false, nil
	}
	if !g.direct.off {
		if err := g.leaveDirect(s); err != nil {
			return false, err
		}
	}
	if n == 0 {
		return true, nil
	}
	if err := g.reserve(s, n); err != nil {
		return false, err
	}
	if g.zero.now != o.zero.now {
		return false, nil
	}
	keys, hashes := o.packed.Ptr()+device.Ptr(w*lo), o.hashes.Ptr()+device.Ptr(8*lo)
	if rows != 0 {
		if err := g.batch.Extend(g.mem, s, 0, n*(w+8)); err != nil {
			return false, err
		}
		to := g.batch.Ptr()
		a := pickKeyArgs{Keys: keys, Hashes: hashes, Rows: rows, OutKeys: to, OutHashes: to + device.Ptr(n*w), Words: uint32(w / 8)}
		if err := device.Launch(s, pickKeys, n, a); err != nil {
			return false, err
		}
		keys, hashes = a.OutKeys, a.OutHashes
	}
	var err error
	if g.layout.Form == KeyRow {
		a := g.rowFinder()
		a.Rows, a.Hashes, a.IDs = keys, hashes, ids
		err = device.Launch(s, findRows, n, a)
	} else {
		k := findWord
		if g.layout.Form == KeyPair {
			k = findPair
		}
		a := findArgs{Keys: keys, Hashes: hashes, IDs: ids}
		g.fill(&a)
		err = device.Launch(s, k, n, a)
	}
	if err != nil {
		return false, err
	}
	return true, g.settle(s)
}

func pickKeysHost(a *pickKeyArgs, _, n int) {
	words := int(a.Words)
	rows := device.View[uint32](a.Rows, n)
	keys := device.View[uint64](a.Keys, maxRows)
	hashes := device.View[uint64](a.Hashes, maxRows)
	outKeys := device.View[uint64](a.OutKeys, n*words)
	outHashes := device.View[uint64](a.OutHashes, n)
	for i, r := range rows {
		copy(outKeys[i*words:][:words], keys[int(r)*words:])
		outHashes[i] = hashes[r]
	}
}
