package main

import (
	"fmt"

	"github.com/gpusql/gpusql/index"
)

// heldSnapshots is how many versions are held while an index changes.
const heldSnapshots = 64

// history measures lookups at the oldest and at the latest of many snapshots
// that are held, with a batch of insertions between each two, and what they cost.
func (t *indexTimes) history(r *rig, w *indexData) error {
	r.history = true
	before := r.x.Stats().Bytes
	var held []index.Snapshot
	defer func() {
		for _, sn := range held {
			sn.Release()
		}
	}()
	n := len(w.fresh) / heldSnapshots
	n = min(n, indexBatch)
	for i := range heldSnapshots {
		sn, err := r.x.Snapshot(index.Latest)
		if err != nil {
			return err
		}
		held = append(held, sn)
		if _, err := r.apply(w.fresh[i*n:(i+1)*n], w.freshRows[i*n:(i+1)*n], index.Insert); err != nil {
			return err
		}
	}
	grown := float64(r.x.Stats().Bytes-before) / float64(heldSnapshots*n)
	latest, err := r.x.Snapshot(index.Latest)
	if err != nil {
		return err
	}
	held = append(held, latest)
	var each [2]float64
	for i, sn := range []index.Snapshot{held[0], latest} {
		if err := r.hits(sn, w.fresh[:n], i*n); err != nil {
			return err
		}
		start := r.now()
		for at := 0; at+indexBatch <= len(w.asked); at += indexBatch {
			if err := r.hits(sn, w.asked[at:at+indexBatch], indexBatch); err != nil {
				return err
			}
		}
		each[i] = float64(r.now()-start) / float64(len(w.asked)/indexBatch*indexBatch)
	}
	t.snapshots = append(t.snapshots, fmt.Sprintf("lookup at the oldest of %d snapshots %.1f ns, at the latest %.1f (%.2f of its rate); %.0f bytes for each entry inserted between them",
		heldSnapshots, each[0], each[1], each[1]/each[0], grown))
	return nil
}

// hits looks up keys at a snapshot, which must find so many rows.
func (r *rig) hits(sn index.Snapshot, keys []uint64, want int) error {
	if err := r.s.Upload(r.keys.Ptr(), bytesOf(keys)); err != nil {
		return err
	}
	if err := sn.Lookup(r.s, index.Keys{Data: r.keys.Ptr(), N: len(keys)}, r.answer); err != nil {
		return err
	}
	if r.answer.Total != want {
		return fmt.Errorf("%d keys have %d rows in a snapshot that has %d of them", len(keys), r.answer.Total, want)
	}
	return nil
}
