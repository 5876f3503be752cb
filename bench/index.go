package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/btree"
	"github.com/gpusql/gpusql/index/lsm"
	"github.com/gpusql/gpusql/index/mvcc"
)

// indexKinds are the kinds of index that there are.
func indexKinds() []index.Kind { return []index.Kind{btree.Kind(), lsm.Kind(), mvcc.Kind()} }

const (
	indexBatch = 8192
	rangeKeys  = 100
)

// indexes compares the kinds of index with other Go packages' trees, with
// 64-bit keys and rows: building, batches of lookups, insertions, deletions and
// ranges, and how much less even inputs cost.
func (c *config) indexes() error {
	n := int(c.rows)
	base := map[string]time.Duration{}
	fmt.Printf("%d keys, batches of %d, ns an operation (of the processor with one stream)\n", n, indexBatch)
	fmt.Printf("%-20s %8s %8s %8s %8s %8s %10s %10s\n", "", "build", "lookup", "range100", "insert", "delete", "bytes/key", "then")
	for _, r := range rivals() {
		if err := touchMemory(touchedBytes * n); err != nil {
			return err
		}
		t, err := measureRival(r, n)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		t.print(r.name)
		for what, d := range t.each {
			if b, ok := base[what]; !ok || d < b {
				base[what] = d
			}
		}
	}
	for _, streams := range []int{1, runtime.GOMAXPROCS(0)} {
		for _, k := range indexKinds() {
			if len(c.only) > 0 && !slices.Contains(c.only, k.Name) {
				continue
			}
			if err := touchMemory(touchedBytes * n); err != nil {
				return err
			}
			t, err := measureKind(k, n, streams)
			if err != nil {
				return fmt.Errorf("%s: %w", k.Name, err)
			}
			t.print(fmt.Sprintf("%s, %d streams", k.Name, streams))
			t.ratios(base)
			for _, line := range t.snapshots {
				fmt.Println("    " + line)
			}
		}
	}
	return c.indexWrites()
}

// touchedBytes are more than anything that is measured takes for a key.
const touchedBytes = 256

// touchMemory uses memory once and gives it back. The first use of a page of a
// virtual machine costs what its host needs to find one, many times what is done
// with it, and would be counted to whichever structure comes first.
func touchMemory(bytes int) error {
	d := device.NewCPU(device.CPUOptions{})
	b, err := d.Alloc(bytes)
	if err != nil {
		return err
	}
	pages := device.View[byte](b.Ptr(), bytes)
	for i := 0; i < bytes; i += 4096 {
		pages[i] = 1
	}
	b.Release()
	return d.Close()
}

// distribution is what an operation took with keys that are chosen by one, and
// what a lookup of uniform keys took in turn with it: what else the machine does
// makes all of them slower alike.
type distribution struct {
	name                   string
	lookup, insert, beside float64
}

// indexTimes are what one structure took.
type indexTimes struct {
	each          map[string]time.Duration // nanoseconds an operation, by a hundred
	bytes, after  float64
	inLookups     float64 // what an insertion is of a lookup that takes turns with it
	distributions []distribution
	snapshots     []string // what was measured with old snapshots
}

func (t *indexTimes) set(what string, d time.Duration, ops int) {
	if t.each == nil {
		t.each = map[string]time.Duration{}
	}
	t.each[what] = d * 100 / time.Duration(ops)
}

func (t *indexTimes) ns(what string) float64 { return float64(t.each[what]) / 100 }

func (t *indexTimes) print(name string) {
	fmt.Printf("%-20s %8.1f %8.1f %8.1f %8.1f %8.1f %10.1f %10.1f\n", name, t.ns("build"), t.ns("lookup"), t.ns("range"),
		t.ns("insert"), t.ns("delete"), t.bytes, t.after)
}

// ratios prints how many times faster than the best rival, and the shape over inputs.
func (t *indexTimes) ratios(base map[string]time.Duration) {
	var b strings.Builder
	for _, what := range []string{"build", "lookup", "range", "insert", "delete"} {
		if base[what] > 0 {
			fmt.Fprintf(&b, " %s %.1fx", what, float64(base[what])/float64(t.each[what]))
		}
	}
	fmt.Printf("    times the best rival:%s\n", b.String())
	fmt.Printf("    insert is %.2f lookups\n", t.inLookups)
	for _, d := range t.distributions {
		u := t.distributions[0]
		fmt.Printf("    %-13s lookup %6.1f (%.2f of uniform)  insert %6.1f (%.2f)\n", d.name,
			d.lookup, d.lookup/d.beside/(u.lookup/u.beside), d.insert, d.insert/d.beside/(u.insert/u.beside))
	}
}

// mix is a bijection that spreads numbers over all words.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

// keyOf is the key of row i.
func keyOf(i int) uint64 { return mix(uint64(i) + 1) }

// rig is an index under measurement.
type rig struct {
	x       index.Index
	d       *device.CPU
	s       device.Stream
	version index.Version
	keys    *device.Buffer
	rows    *device.Buffer
	answer  *index.Answer
	now     clock
	keep    index.Version // the oldest version that is wanted
	history bool          // keep stays where it is
}

// clock is a time that goes on: what a machine's other users do is not in the
// processor's.
type clock func() time.Duration

func clockFor(streams int) clock {
	if streams == 1 {
		return processorTime
	}
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

func newIndexRig(k index.Kind, n, streams int) (*rig, error) {
	d := device.NewCPU(device.CPUOptions{Streams: streams})
	r := &rig{d: d, answer: index.NewAnswer(d), now: clockFor(streams)}
	var err error
	if r.s, err = d.NewStream(); err != nil {
		return nil, err
	}
	if r.x, err = k.New(d, index.Format{Words: 1}); err != nil {
		return nil, err
	}
	if r.keys, err = d.Alloc(8 * n); err != nil {
		return nil, err
	}
	r.rows, err = d.Alloc(8 * n)
	return r, err
}

func (r *rig) close() error {
	r.keys.Release()
	r.rows.Release()
	r.answer.Release()
	err := r.x.Close()
	_ = r.s.Close()
	if e := r.d.Close(); err == nil {
		err = e
	}
	return err
}

// apply changes the index by entries, and returns the time without the upload.
func (r *rig) apply(keys, rows []uint64, op index.Op) (time.Duration, error) {
	if err := r.s.Upload(r.keys.Ptr(), bytesOf(keys)); err != nil {
		return 0, err
	}
	if err := r.s.Upload(r.rows.Ptr(), bytesOf(rows)); err != nil {
		return 0, err
	}
	r.version++
	if !r.history {
		r.keep = r.version
	}
	start := r.now()
	err := r.x.Apply(r.s, r.version, index.Entries{Keys: index.Keys{Data: r.keys.Ptr(), N: len(keys)}, Rows: r.rows.Ptr(), Op: op})
	if err == nil {
		err = r.x.Prune(r.s, r.keep) // no transaction reads below it
	}
	return r.now() - start, err
}

// batches applies entries a batch at a time.
func (r *rig) batches(keys, rows []uint64, op index.Op, size int) (total time.Duration, err error) {
	for len(keys) > 0 {
		m := min(size, len(keys))
		d, err := r.apply(keys[:m], rows[:m], op)
		if err != nil {
			return 0, err
		}
		total += d
		keys, rows = keys[m:], rows[m:]
	}
	return total, nil
}

// lookups finds keys a batch at a time; check gets each key's rows.
func (r *rig) lookups(keys []uint64, check func(key uint64, rows []uint64) error) (total time.Duration, err error) {
	for len(keys) > 0 {
		m := min(indexBatch, len(keys))
		if err := r.s.Upload(r.keys.Ptr(), bytesOf(keys[:m])); err != nil {
			return 0, err
		}
		start := r.now()
		sn, err := r.x.Snapshot(index.Latest)
		if err != nil {
			return 0, err
		}
		if err := sn.Lookup(r.s, index.Keys{Data: r.keys.Ptr(), N: m}, r.answer); err != nil {
			return 0, err
		}
		total += r.now() - start
		offsets, rows := device.View[uint64](r.answer.Offsets(), m+1), device.View[uint64](r.answer.Rows(), r.answer.Total)
		for i, k := range keys[:m] {
			if err := check(k, rows[offsets[i]:offsets[i+1]]); err != nil {
				return 0, err
			}
		}
		sn.Release()
		keys = keys[m:]
	}
	return total, nil
}

// ranges scans from each key on, to so many entries; sorted has all rows in order.
func (r *rig) ranges(at []int, sorted []uint64, rows []uint64) (total time.Duration, err error) {
	for len(at) > 0 {
		m := min(indexBatch, len(at))
		lo, hi := make([]uint64, m), make([]uint64, m)
		for i, p := range at[:m] {
			lo[i], hi[i] = sorted[p], sorted[p+rangeKeys]
		}
		if err := r.s.Upload(r.keys.Ptr(), bytesOf(lo)); err != nil {
			return 0, err
		}
		if err := r.s.Upload(r.rows.Ptr(), bytesOf(hi)); err != nil {
			return 0, err
		}
		start := r.now()
		sn, err := r.x.Snapshot(index.Latest)
		if err != nil {
			return 0, err
		}
		q := index.Ranges{N: m, Lo: index.Bound{Keys: r.keys.Ptr()}, Hi: index.Bound{Keys: r.rows.Ptr()}}
		if err := sn.Scan(r.s, q, index.Order{}, r.answer); err != nil {
			return 0, err
		}
		total += r.now() - start
		got := device.View[uint64](r.answer.Rows(), r.answer.Total)
		if len(got) != m*rangeKeys {
			return 0, fmt.Errorf("%d ranges of %d gave %d rows", m, rangeKeys, len(got))
		}
		for i, p := range at[:m] {
			if !slices.Equal(got[i*rangeKeys:(i+1)*rangeKeys], rows[p:p+rangeKeys]) {
				return 0, fmt.Errorf("the range at %d is wrong", p)
			}
		}
		sn.Release()
		at = at[m:]
	}
	return total, nil
}

func measureKind(k index.Kind, n, streams int) (t indexTimes, err error) {
	r, err := newIndexRig(k, n, streams)
	if err != nil {
		return t, err
	}
	defer func() {
		if e := r.close(); err == nil {
			err = e
		}
	}()
	w := newIndexData(n)
	d, err := r.apply(w.keys, w.rows, index.Insert)
	if err != nil {
		return t, err
	}
	t.set("build", d, n)
	t.bytes = float64(r.x.Stats().Bytes) / float64(n)
	one := func(key uint64, rows []uint64) error {
		if len(rows) != 1 || keyOf(int(rows[0])) != key {
			return fmt.Errorf("key %d has rows %v", key, rows)
		}
		return nil
	}
	if d, err = r.lookups(w.asked, one); err != nil {
		return t, err
	}
	t.set("lookup", d, len(w.asked))
	if d, err = r.ranges(w.starts, w.sorted, w.sortedRows); err != nil {
		return t, err
	}
	t.set("range", d, len(w.starts))
	m := measured{beside: w.asked, fresh: w.fresh}
	if err := m.run(r, w.freshRows, one); err != nil {
		return t, err
	}
	t.set("insert", m.inserts, len(w.fresh))
	t.inLookups = float64(m.inserts) / float64(m.besides)
	t.after = float64(r.x.Stats().Bytes) / float64(n+len(w.fresh))
	if got := r.x.Stats().Entries; got != int64(n+len(w.fresh)) {
		return t, fmt.Errorf("%d entries", got)
	}
	if _, err = r.lookups(w.fresh, one); err != nil {
		return t, err
	}
	if d, err = r.batches(w.fresh, w.freshRows, index.Delete, indexBatch); err != nil {
		return t, err
	}
	t.set("delete", d, len(w.fresh))
	for _, name := range []string{"uniform", "gaussian", "sorted", "self-similar", "zipf"} {
		if err := t.distribution(r, w, name); err != nil {
			return t, err
		}
	}
	if k.History {
		if err := t.history(r, w); err != nil {
			return t, err
		}
	}
	return t, r.x.Check(r.s)
}

// distribution measures lookups of keys that are there, and insertions, both
// chosen by a distribution. The insertions are deleted again: all distributions
// meet an index in which that was done before.
func (t *indexTimes) distribution(r *rig, w *indexData, name string) error {
	places := places(name, len(w.asked), len(w.sorted)-1)
	asked, fresh := make([]uint64, len(places)), make([]uint64, len(places))
	for i, p := range places {
		asked[i] = w.sorted[p]
		fresh[i] = w.sorted[p] + uint64(i)%max(1, w.sorted[p+1]-w.sorted[p])
	}
	before := r.x.Stats().Entries
	m := measured{beside: w.asked, asked: asked, fresh: fresh}
	err := m.run(r, w.freshRows, func(key uint64, rows []uint64) error {
		if !slices.ContainsFunc(rows, func(r uint64) bool { return int(r) < len(w.keys) && keyOf(int(r)) == key }) {
			return fmt.Errorf("%s: key %d has rows %v", name, key, rows)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if got := r.x.Stats().Entries - before; got != int64(len(fresh)) {
		return fmt.Errorf("%s: %d of %d entries were inserted", name, got, len(fresh))
	}
	each := func(d time.Duration) float64 { return float64(d) / float64(len(fresh)) }
	t.distributions = append(t.distributions, distribution{name, each(m.lookups), each(m.inserts), each(m.besides)})
	_, err = r.batches(fresh, w.freshRows, index.Delete, indexBatch)
	return err
}

// measured is batches that take turns: lookups of some keys, lookups of others if
// there are any, and insertions.
type measured struct {
	beside, asked, fresh      []uint64
	besides, lookups, inserts time.Duration
}

func (m *measured) run(r *rig, rows []uint64, check func(uint64, []uint64) error) error {
	for at := 0; at < len(m.fresh); at += indexBatch {
		end := min(len(m.fresh), at+indexBatch)
		for _, x := range []struct {
			keys []uint64
			took *time.Duration
		}{{m.beside, &m.besides}, {m.asked, &m.lookups}} {
			if x.keys == nil {
				continue
			}
			d, err := r.lookups(x.keys[at:end], check)
			if err != nil {
				return err
			}
			*x.took += d
		}
		d, err := r.batches(m.fresh[at:end], rows[at:end], index.Insert, indexBatch)
		if err != nil {
			return err
		}
		m.inserts += d
	}
	return nil
}

// places draws m places of 0 to n-1.
func places(name string, m, n int) []int {
	rnd := rand.New(rand.NewPCG(7, uint64(m)))
	zipf := rand.NewZipf(rnd, 1.1, 1, uint64(n-1))
	out := make([]int, m)
	for i := range out {
		switch name {
		case "uniform":
			out[i] = rnd.IntN(n)
		case "gaussian":
			p := int((0.5 + rnd.NormFloat64()/16) * float64(n))
			out[i] = max(0, min(n-1, p))
		case "sorted":
			out[i] = i * (n / m)
		case "self-similar": // 80 % of them in a fifth, and so on
			out[i] = int(float64(n) * math.Pow(rnd.Float64(), math.Log(0.2)/math.Log(0.8)))
		case "zipf":
			out[i] = int(mix(zipf.Uint64()) % uint64(n))
		default:
			panic("bench: no distribution " + name)
		}
	}
	return out
}

// indexData is what is built, asked for and inserted.
type indexData struct {
	keys, rows         []uint64
	asked              []uint64
	fresh, freshRows   []uint64
	starts             []int
	sorted, sortedRows []uint64
}

func newIndexData(n int) *indexData {
	w := &indexData{}
	m := max(indexBatch, n/10/indexBatch*indexBatch)
	rnd := rand.New(rand.NewPCG(1, 2))
	type pair struct{ key, row uint64 }
	all := make([]pair, n)
	for i := range n {
		w.keys, w.rows = append(w.keys, keyOf(i)), append(w.rows, uint64(i))
		all[i] = pair{keyOf(i), uint64(i)}
	}
	slices.SortFunc(all, func(a, b pair) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
	for _, p := range all {
		w.sorted, w.sortedRows = append(w.sorted, p.key), append(w.sortedRows, p.row)
	}
	for i := range m {
		w.asked = append(w.asked, keyOf(rnd.IntN(n)))
		w.fresh, w.freshRows = append(w.fresh, keyOf(n+i)), append(w.freshRows, uint64(n+i))
		if i < m/8 {
			w.starts = append(w.starts, rnd.IntN(n-rangeKeys-1))
		}
	}
	return w
}

func bytesOf(v []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}
