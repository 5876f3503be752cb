package indextest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

var histories = flag.Int("histories", 5000, "how many histories of batches and scans are checked")

// call is what a client asks of an index: a batch, or a scan of all that there
// is, at a version or at the latest.
type call struct {
	batch   []change
	version index.Version // of the batch, or of the scan
}

// linear is an index as it would be if one client came after the other. Its
// states are all versions so far, each the rows that there are: a row says of
// which key it is.
var linear = porcupine.Model{
	Init: func() any { return [][]entry{nil} },
	Step: func(state, input, output any) (bool, any) {
		versions, in := state.([][]entry), input.(call)
		last := len(versions) - 1
		if in.batch != nil {
			return true, append(slices.Clip(versions), after(versions[last], in.batch))
		}
		return slices.Equal(output.([]entry), versions[min(in.version, uint64(last))]), versions
	},
	Equal: func(a, b any) bool {
		return slices.EqualFunc(a.([][]entry), b.([][]entry), slices.Equal[[]entry])
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v gives %v", in, out) },
}

// testLinear checks histories of concurrent batches and scans: whoever scans sees
// all batches before a moment between its call and its return, whole; and of a
// kind with history a version that was applied is what it was, whenever it is
// asked for. With -histories there are more of them.
func testLinear(t *testing.T, d device.Device, k index.Kind, all []space) {
	runs := *histories
	if testing.Short() {
		runs /= 10
	}
	for seed := range runs {
		if h := history(t, d, k, all[seed%len(all)], uint64(seed)); !porcupine.CheckOperations(linear, h) {
			t.Fatalf("seed %d: no order of these explains the answers:\n%v", seed, h)
		}
	}
}

// client is one goroutine's part of a history.
type client struct {
	*rig
	id     int
	rnd    *rand.Rand
	answer *index.Answer
	shared *sharedClock
	events []porcupine.Operation
}

// sharedClock is what clients have in common: one of them applies at a time.
type sharedClock struct {
	apply   sync.Mutex
	version index.Version
	start   time.Time
}

// history lets clients loose on an index.
func history(t *testing.T, d device.Device, k index.Kind, sp space, seed uint64) (all []porcupine.Operation) {
	t.Helper()
	x, err := k.New(d, sp.format)
	require.NoError(t, err)
	shared := &sharedClock{start: time.Now()}
	clients := make([]*client, 3)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range clients {
		s, err := d.NewStream()
		require.NoError(t, err)
		r := &rig{t: t, sp: sp, kind: k, mem: d, s: s, x: x, batch: index.NewBatch(d, sp.format)}
		c := &client{rig: r, id: i, rnd: rand.New(rand.NewPCG(seed, uint64(i))), answer: index.NewAnswer(d), shared: shared}
		clients[i] = c
		wg.Go(func() {
			<-begin
			for range 5 {
				c.step()
			}
		})
	}
	close(begin)
	wg.Wait()
	for _, c := range clients {
		all = append(all, c.events...)
		c.batch.Release()
		c.answer.Release()
		require.NoError(t, c.s.Close())
	}
	require.NoError(t, x.Close())
	return all
}

// step does one call and notes it.
func (c *client) step() {
	in, out := call{version: index.Latest}, []entry(nil)
	from := time.Since(c.shared.start)
	switch c.rnd.IntN(5) {
	case 0, 1:
		for range 1 + c.rnd.IntN(6) {
			n := c.rnd.IntN(5)
			in.batch = append(in.batch, change{entry{n, uint64(8*n + c.rnd.IntN(3))}, index.Op(c.rnd.IntN(3))})
		}
		c.shared.apply.Lock()
		c.shared.version++
		in.version = c.shared.version
		c.put(in)
		c.shared.apply.Unlock()
	case 2:
		if c.kind.History {
			c.shared.apply.Lock()
			in.version = c.rnd.Uint64N(c.shared.version + 1)
			c.shared.apply.Unlock()
		}
		out = c.scan(in.version)
	default:
		out = c.scan(in.version)
	}
	to := time.Since(c.shared.start)
	c.events = append(c.events, porcupine.Operation{ClientId: c.id, Input: in, Call: from.Nanoseconds(), Output: out, Return: to.Nanoseconds()})
}

// put applies a batch.
func (c *client) put(in call) {
	e, err := c.upload(in.batch)
	assert.NoError(c.t, err)
	assert.NoError(c.t, c.x.Apply(c.s, in.version, e))
}

// scan is what there is at a version.
func (c *client) scan(v index.Version) (all []entry) {
	sn, err := c.x.Snapshot(v)
	if !assert.NoError(c.t, err) {
		return nil
	}
	defer sn.Release()
	assert.NoError(c.t, sn.Scan(c.s, index.Ranges{N: 1}, index.Order{}, c.answer))
	rows, err := words64(c.s, c.answer.Rows(), c.answer.Total)
	assert.NoError(c.t, err)
	for _, row := range rows {
		all = append(all, entry{int(row / 8), row})
	}
	return all
}

// testLinearModel: the checker finds what is wrong in a history that is.
func testLinearModel(t *testing.T) {
	whole := []entry{{1, 8}, {2, 16}}
	one := call{batch: []change{{whole[0], index.Insert}, {whole[1], index.Insert}}, version: 1}
	scan := call{version: index.Latest}
	op := func(in call, out []entry, from, to int64) porcupine.Operation {
		return porcupine.Operation{ClientId: int(from), Input: in, Output: out, Call: from, Return: to}
	}
	require.True(t, porcupine.CheckOperations(linear, []porcupine.Operation{op(one, nil, 1, 10), op(scan, nil, 2, 5), op(scan, whole, 6, 7)}))
	for what, h := range map[string][]porcupine.Operation{
		"a torn batch":           {op(one, nil, 1, 10), op(scan, whole[:1], 2, 5)},
		"a stale scan":           {op(one, nil, 1, 2), op(scan, nil, 5, 6)},
		"time runs back":         {op(one, nil, 1, 10), op(scan, whole, 2, 3), op(scan, nil, 5, 6)},
		"a version that is lost": {op(one, nil, 1, 2), op(call{version: 1}, nil, 5, 6)},
	} {
		require.False(t, porcupine.CheckOperations(linear, h), what)
	}
}
