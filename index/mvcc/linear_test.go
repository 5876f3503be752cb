package mvcc_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/mvcc"
)

// call is what a client asks of an index: a batch, or a scan of all that there
// is, at a version or at the latest.
type call struct {
	batch   []put
	version index.Version // of the batch, or of the scan
}

type put struct {
	key, row uint64
	op       index.Op
}

// linear is an index as it would be if one client came after the other. Its
// states are all versions so far.
var linear = porcupine.Model{
	Init: func() any { return []string{""} },
	Step: func(state, input, output any) (bool, any) {
		versions, in := state.([]string), input.(call)
		last := versions[len(versions)-1]
		switch {
		case in.batch != nil:
			return true, append(slices.Clip(versions), after(last, in.batch))
		case in.version == index.Latest:
			return output.(string) == last, versions
		default:
			at := min(int(in.version), len(versions)-1)
			return output.(string) == versions[at], versions
		}
	},
	Equal: func(a, b any) bool { return slices.Equal(a.([]string), b.([]string)) },
	DescribeOperation: func(in, out any) string {
		return fmt.Sprintf("%+v gives %v", in, out)
	},
}

// after is the entries, printed in order, that a batch leaves.
func after(before string, batch []put) string {
	set := map[[2]uint64]bool{}
	for _, e := range parse(before) {
		set[e] = true
	}
	for _, p := range batch {
		e := [2]uint64{p.key, p.row}
		switch p.op {
		case index.Delete:
			delete(set, e)
		case index.Upsert:
			maps.DeleteFunc(set, func(o [2]uint64, _ bool) bool { return o[0] == p.key })
			set[e] = true
		default:
			set[e] = true
		}
	}
	all := slices.SortedFunc(maps.Keys(set), func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
	return print(all)
}

func print(all [][2]uint64) string {
	b := []byte{}
	for _, e := range all {
		b = append(b, byte(e[0]), byte(e[1]))
	}
	return string(b)
}

func parse(s string) (all [][2]uint64) {
	for i := 0; i < len(s); i += 2 {
		all = append(all, [2]uint64{uint64(s[i]), uint64(s[i+1])})
	}
	return all
}

// TestLinear checks histories of concurrent batches and scans: whoever scans
// sees all batches before a moment between its call and its return, whole, and a
// version that was applied is what it was, whenever it is asked for.
func TestLinear(t *testing.T) {
	runs := 3000
	if testing.Short() {
		runs = 300
	}
	d := devicetest.CPU(t)
	for seed := range uint64(runs) {
		events := history(t, d, seed)
		if !porcupine.CheckOperations(linear, events) {
			t.Fatalf("seed %d: no order of these explains the answers:\n%v", seed, events)
		}
	}
}

// TestLinearModel: the checker finds what is wrong in a history that is.
func TestLinearModel(t *testing.T) {
	one := call{batch: []put{{1, 1, index.Insert}, {2, 1, index.Insert}}, version: 1}
	scan := call{version: index.Latest}
	op := func(in call, out string, from, to int64) porcupine.Operation {
		return porcupine.Operation{ClientId: int(from), Input: in, Output: out, Call: from, Return: to}
	}
	whole := print([][2]uint64{{1, 1}, {2, 1}})
	require.True(t, porcupine.CheckOperations(linear, []porcupine.Operation{op(one, "", 1, 10), op(scan, "", 2, 5), op(scan, whole, 6, 7)}))
	half := print([][2]uint64{{1, 1}})
	require.False(t, porcupine.CheckOperations(linear, []porcupine.Operation{op(one, "", 1, 10), op(scan, half, 2, 5)}), "a torn batch")
	require.False(t, porcupine.CheckOperations(linear, []porcupine.Operation{op(one, "", 1, 2), op(scan, "", 5, 6)}), "a stale scan")
	require.False(t, porcupine.CheckOperations(linear, []porcupine.Operation{op(one, "", 1, 10), op(scan, whole, 2, 3), op(scan, "", 5, 6)}), "time runs back")
	require.False(t, porcupine.CheckOperations(linear, []porcupine.Operation{op(one, "", 1, 2), op(call{version: 1}, "", 5, 6)}), "a version that is lost")
}

// client is one goroutine's part of a history.
type client struct {
	*rig
	id     int
	rnd    *rand.Rand
	apply  *sync.Mutex
	clock  *index.Version
	start  time.Time
	events []porcupine.Operation
}

// history lets clients loose on an index.
func history(t *testing.T, d device.Device, seed uint64) []porcupine.Operation {
	t.Helper()
	x, err := mvcc.New(d, index.Format{Words: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	var apply sync.Mutex
	var clock index.Version
	start := time.Now()
	clients := make([]*client, 3)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range clients {
		c := &client{rig: clientOf(t, d, x), id: i, rnd: rand.New(rand.NewPCG(seed, uint64(i))), apply: &apply, clock: &clock, start: start}
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
	var all []porcupine.Operation
	for _, c := range clients {
		all = append(all, c.events...)
		c.close()
	}
	return all
}

// step does one call and notes it.
func (c *client) step() {
	in, out := call{version: index.Latest}, ""
	from := time.Since(c.start).Nanoseconds()
	switch c.rnd.IntN(5) {
	case 0, 1:
		for range 1 + c.rnd.IntN(6) {
			in.batch = append(in.batch, put{c.rnd.Uint64N(5), c.rnd.Uint64N(3), index.Op(c.rnd.IntN(3))})
		}
		c.apply.Lock()
		*c.clock++
		in.version = *c.clock
		c.put(in)
		c.apply.Unlock()
	case 2:
		c.apply.Lock()
		in.version = c.rnd.Uint64N(*c.clock + 1)
		c.apply.Unlock()
		out = c.scan(in.version)
	default:
		out = c.scan(in.version)
	}
	to := time.Since(c.start).Nanoseconds()
	c.events = append(c.events, porcupine.Operation{ClientId: c.id, Input: in, Call: from, Output: out, Return: to})
}

// put applies a batch.
func (c *client) put(in call) {
	c.batch.Reset()
	words := c.batch.Words(len(in.batch))
	for i, p := range in.batch {
		words[i] = p.key
		c.batch.Rows, c.batch.Ops = append(c.batch.Rows, p.row), append(c.batch.Ops, p.op)
	}
	e, err := c.batch.Upload(c.s)
	assert.NoError(c.t, err)
	assert.NoError(c.t, c.x.Apply(c.s, in.version, e))
}

// scan prints what there is at a version.
func (c *client) scan(v index.Version) string {
	sn := c.snapshot(v)
	defer sn.Release()
	assert.NoError(c.t, sn.Scan(c.s, index.Ranges{N: 1}, index.Order{Keys: true}, c.answer))
	keys, rows := c.words(c.answer.Keys()), c.words(c.answer.Rows())
	var all [][2]uint64
	for i := range keys {
		all = append(all, [2]uint64{keys[i], rows[i]})
	}
	return print(all)
}
