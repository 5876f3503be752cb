package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// writeBatch is a large batch of insertions.
const writeBatch = 1 << 16

// indexWrites compares the kinds of index when they are filled by large batches:
// the time of an insertion, that of the slowest batch, and what the index is
// like then and after cleaning up.
func (c *config) indexWrites() error {
	n := int(c.rows)
	fmt.Printf("%d keys inserted by batches of %d, ns an operation, one stream\n", n, writeBatch)
	fmt.Printf("%-22s %8s %10s | %8s %8s %10s | %8s %8s %8s %10s\n", "", "insert", "slowest ms",
		"lookup", "range100", "bytes/key", "clean ms", "lookup", "range100", "bytes/key")
	for _, input := range []string{"uniform", "ascending", "zipf"} {
		base := 0.0
		for _, k := range indexKinds() {
			if len(c.only) > 0 && !slices.Contains(c.only, k.Name) {
				continue
			}
			ns, err := measureWrites(k, n, input)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", k.Name, input, err)
			}
			if base == 0 {
				base = ns
				fmt.Println()
			} else {
				fmt.Printf("   %.1fx the first\n", base/ns)
			}
		}
	}
	return nil
}

// writtenKeys are the keys of rows 0 to n-1.
func writtenKeys(input string, n int) []uint64 {
	rnd := rand.New(rand.NewPCG(5, 6))
	zipf := rand.NewZipf(rnd, 1.1, 1, uint64(n-1))
	keys := make([]uint64, n)
	for i := range keys {
		switch input {
		case "uniform":
			keys[i] = keyOf(i)
		case "ascending":
			keys[i] = uint64(i)
		case "zipf":
			keys[i] = mix(zipf.Uint64())
		default:
			panic("bench: no input " + input)
		}
	}
	return keys
}

func measureWrites(k index.Kind, n int, input string) (insert float64, err error) {
	r, err := newIndexRig(k, n, 1)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := r.close(); err == nil {
			err = e
		}
	}()
	keys, rows := writtenKeys(input, n), make([]uint64, n)
	for i := range rows {
		rows[i] = uint64(i)
	}
	var total, slowest time.Duration
	for at := 0; at < n; at += writeBatch {
		end := min(n, at+writeBatch)
		d, err := r.apply(keys[at:end], rows[at:end], index.Insert)
		if err != nil {
			return 0, err
		}
		total, slowest = total+d, max(slowest, d)
	}
	insert = float64(total) / float64(n)
	w := newWritten(keys, rows)
	fmt.Printf("%-22s %8.1f %10.1f |", k.Name+", "+input, insert, slowest.Seconds()*1000)
	if err := w.read(r); err != nil {
		return 0, err
	}
	clean, err := r.clean()
	if err != nil {
		return 0, err
	}
	fmt.Printf(" | %8.0f", clean.Seconds()*1000)
	if err := w.read(r); err != nil {
		return 0, err
	}
	return insert, r.x.Check(r.s)
}

// clean prunes until nothing has changed for a while.
func (r *rig) clean() (total time.Duration, err error) {
	for quiet, last := 0, r.x.Stats(); quiet < 300; {
		start := r.now()
		if err := r.x.Prune(r.s, r.version); err != nil {
			return 0, err
		}
		total += r.now() - start
		if s := r.x.Stats(); s == last {
			quiet++
		} else {
			quiet, last = 0, s
		}
	}
	return total, nil
}

// written are entries that an index has, in order of (key, row).
type written struct {
	keys, rows []uint64
	asked      []uint64
	starts     []int
}

func newWritten(keys, rows []uint64) *written {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if keys[i] != keys[j] {
			if keys[i] < keys[j] {
				return -1
			}
			return 1
		}
		return i - j
	})
	w := &written{}
	for _, i := range order {
		w.keys, w.rows = append(w.keys, keys[i]), append(w.rows, rows[i])
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for len(w.asked) < 32*indexBatch {
		at := rnd.IntN(len(keys))
		w.asked = append(w.asked, w.keys[at])
		w.starts = append(w.starts, at)
	}
	w.starts = w.starts[:4*indexBatch]
	return w
}

// read measures lookups of single keys, and ranges from a key on with a limit.
func (w *written) read(r *rig) error {
	single := slices.DeleteFunc(slices.Clone(w.asked), func(k uint64) bool {
		at, _ := slices.BinarySearch(w.keys, k)
		return at+1 < len(w.keys) && w.keys[at+1] == k
	})
	d, err := r.lookups(single, func(key uint64, rows []uint64) error {
		if at, _ := slices.BinarySearch(w.keys, key); len(rows) != 1 || rows[0] != w.rows[at] {
			return fmt.Errorf("key %d has rows %v", key, rows)
		}
		return nil
	})
	if err != nil {
		return err
	}
	ranges, err := w.ranges(r)
	if err != nil {
		return err
	}
	fmt.Printf(" %8.1f %8.1f %10.1f", float64(d)/float64(max(1, len(single))), float64(ranges)/float64(len(w.starts)),
		float64(r.x.Stats().Bytes)/float64(len(w.keys)))
	return nil
}

func (w *written) ranges(r *rig) (total time.Duration, err error) {
	for _, at := range slices.Collect(slices.Chunk(w.starts, indexBatch)) {
		lo := make([]uint64, len(at))
		for i, p := range at {
			lo[i] = w.keys[p]
		}
		if err := r.s.Upload(r.keys.Ptr(), bytesOf(lo)); err != nil {
			return 0, err
		}
		start := r.now()
		sn, err := r.x.Snapshot(index.Latest)
		if err != nil {
			return 0, err
		}
		q := index.Ranges{N: len(at), Lo: index.Bound{Keys: r.keys.Ptr()}}
		err = sn.Scan(r.s, q, index.Order{Limit: rangeKeys}, r.answer)
		total += r.now() - start
		if err != nil {
			return 0, err
		}
		if err := w.checkRanges(r, lo); err != nil {
			return 0, err
		}
		sn.Release()
	}
	return total, nil
}

func (w *written) checkRanges(r *rig, lo []uint64) error {
	offsets, rows := device.View[uint64](r.answer.Offsets(), len(lo)+1), device.View[uint64](r.answer.Rows(), r.answer.Total)
	for i, k := range lo {
		at, _ := slices.BinarySearch(w.keys, k)
		if !slices.Equal(rows[offsets[i]:offsets[i+1]], w.rows[at:min(len(w.rows), at+rangeKeys)]) {
			return fmt.Errorf("the range from key %d is wrong", k)
		}
	}
	return nil
}
