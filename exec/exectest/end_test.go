package exectest_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/faulty"
	"github.com/gpusql/gpusql/exec/exectest"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// plans are a plan for every way to read, keep and give rows.
func plans(t *testing.T, b *bench) map[string]planner.Node {
	scan := func(i int) *planner.Scan {
		n := b.Scan(b.tabs[i])
		n.Filter = cmp(planner.Ge, exectest.Ref(n, last), exectest.Int(2))
		return n
	}
	full := b.join(scan(0), scan(1), planner.Full)
	mark := b.join(scan(0), scan(1), planner.Mark)
	on := scan(0)
	by := []planner.SortKey{{Expr: exectest.Ref(on, 1)}, {Expr: exectest.Ref(on, last)}}
	def := scan(0)
	start := b.project(scan(1), []int{7})
	round := b.cte(5, start, 0)
	step := &planner.Project{Input: &planner.Filter{Input: round, Pred: cmp(planner.Lt, exectest.Ref(round, 0), exectest.Int(30))},
		Exprs: []planner.NamedExpr{{Col: b.Col(sqltype.Int64), Expr: plus(exectest.Ref(round, 0), exectest.Int(10))}}}
	l, r := b.project(scan(0), []int{1, 2}), b.project(scan(1), []int{1, 2})
	return map[string]planner.Node{
		"aggregate": b.aggregate(t, scan(0), 1, 0),
		"full":      full,
		"mark":      mark,
		"sort":      &planner.Sort{Input: on, Keys: by},
		"top":       &planner.TopN{Input: on, Keys: by, Limit: exectest.Int(5)},
		"distinct":  &planner.DistinctOn{Input: &planner.Sort{Input: on, Keys: by}, On: []planner.Expr{exectest.Ref(on, 1)}},
		"except":    &planner.SetOp{Op: planner.Except, Left: l, Right: r, Columns: l.Cols()},
		"with":      &planner.With{CTE: 4, Def: def, Body: b.join(b.cte(4, def, 0, 1, 2, 3, 4, 5, 6, 7), b.cte(4, def, 0, 1, 2, 3, 4, 5, 6, 7), planner.Semi)},
		"recursive": &planner.With{CTE: 5, Def: start, Step: step, Body: b.cte(5, start, 0)},
		"limit":     &planner.Limit{Input: b.join(scan(0), scan(1), planner.Right), Limit: exectest.Int(40), Offset: exectest.Int(3)},
		"insert":    insert(b.DB, b.tabs[2], pairs(b.DB, two(1, "a string that is long"), two(2, "b"))),
	}
}

func faultBench(t *testing.T) *bench {
	b := open(t, 60, 25)
	b.tabs = append(b.tabs, b.Create("pairs", pair, primary()))
	b.model = exectest.NewModel(b.tabs...)
	return b
}

// TestFaults lets every device call of a plan fail, by one worker and by two.
// A run then has the error, and leaves nothing: Run sees to it.
func TestFaults(t *testing.T) {
	b := faultBench(t)
	for name, n := range plans(t, b) {
		for _, c := range []exectest.Config{{Batch: 16, Workers: 1}, {Batch: 3, Workers: 2}} {
			fd := faulty.New(b.CPU)
			b.Dev = fd
			before := content(t, b.DB, b.tabs[2])
			fd.FailAt(1 << 40)
			_, err := b.Run(c, n)
			require.NoError(t, err)
			b.undo(t, name)
			calls := fd.Calls()
			for at := int64(1); at <= calls; at += 1 + calls/80 { // all of a small plan, some of a large one
				fd.FailAt(at)
				_, err := b.Run(c, n)
				// How many calls two workers make differs, and what one of them meets
				// after a LIMIT has its rows is nobody's concern.
				if fd.Failed() && (err != nil || name != "limit" || c.Workers == 1) {
					require.ErrorIs(t, err, faulty.ErrFault, "%s: call %d of %d", name, at, calls)
				}
				fd.FailAt(0)
				if err == nil {
					b.undo(t, name)
				}
				if name == "insert" {
					require.Equal(t, before, content(t, b.DB, b.tabs[2]))
				}
			}
		}
	}
	b.Dev = b.CPU
	noGoroutines(t)
}

// undo empties the table that plan insert fills.
func (b *bench) undo(t *testing.T, plan string) {
	if plan != "insert" {
		return
	}
	dev := b.Dev
	b.Dev = b.CPU
	defer func() { b.Dev = dev }()
	_, err := b.Run(exectest.Config{Workers: 1}, &planner.Delete{Table: b.tabs[2].Table, Input: withID(b.DB, b.tabs[2])})
	require.NoError(t, err)
}

// noGoroutines waits until the workers of all queries have ended.
func noGoroutines(t *testing.T) {
	t.Helper()
	buf := make([]byte, 1<<20)
	require.Eventually(t, func() bool {
		stacks := string(buf[:runtime.Stack(buf, true)])
		return !containsAny(stacks, "exec.(*exchange)", "exec.(*query).runOne", "exec.(*worker).run")
	}, 5*time.Second, time.Millisecond, "a worker is left")
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// watched is a device that calls due before every launch of any stream.
type watched struct {
	device.Device
	due func()
}

// NewStream implements device.Device.
func (d *watched) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return &watchedStream{s, d}, err
}

type watchedStream struct {
	device.Stream
	d *watched
}

func (s *watchedStream) Device() device.Device { return s.d }

func (s *watchedStream) Submit(w device.Work) error {
	s.d.due()
	return s.Stream.Submit(w)
}

// at has f called at launch n of all that the database's queries make.
func (b *bench) at(n int64, f func()) {
	var calls atomic.Int64
	b.Dev = &watched{b.CPU, func() {
		if calls.Add(1) == n {
			f()
		}
	}}
}

// TestPanics has a step panic, on any worker: the query has an internal error,
// and the next one works.
func TestPanics(t *testing.T) {
	b := faultBench(t)
	for name, n := range plans(t, b) {
		for _, c := range []exectest.Config{{Batch: 64, Workers: 1}, {Batch: 3, Workers: 2}} {
			for at := int64(1); ; at += 1 + at/2 {
				panicked := false
				b.at(at, func() {
					panicked = true
					panic("a step that panics")
				})
				_, err := b.Run(c, n)
				if !panicked {
					require.NoError(t, err)
					b.undo(t, name)
					break
				}
				if err == nil && name == "limit" && c.Workers > 1 {
					continue // it came after the LIMIT had its rows
				}
				var e *sqltype.Error
				require.ErrorAs(t, err, &e, "%s: launch %d", name, at)
				require.Equal(t, sqltype.CodeInternal, e.Code)
				require.ErrorContains(t, err, "a step that panics")
			}
		}
	}
	b.Dev = b.CPU
	noGoroutines(t)
}

// TestCancel ends the context at any launch.
func TestCancel(t *testing.T) {
	b := faultBench(t)
	for name, n := range plans(t, b) {
		for _, c := range []exectest.Config{{Batch: 64, Workers: 1}, {Batch: 3, Workers: 2}} {
			for at := int64(1); ; at += 1 + at/2 {
				ctx, cancel := context.WithCancel(context.Background())
				var ended atomic.Bool
				b.at(at, func() {
					ended.Store(true)
					cancel()
				})
				_, err := b.RunContext(ctx, c, n)
				cancel()
				if err != nil {
					requireCanceled(t, err)
				} else {
					b.undo(t, name)
				}
				if !ended.Load() {
					break
				}
			}
		}
	}
	b.Dev = b.CPU
	noGoroutines(t)
}

func requireCanceled(t *testing.T, err error) {
	t.Helper()
	var e *sqltype.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, sqltype.CodeCanceled, e.Code)
	require.ErrorIs(t, err, context.Canceled)
}

// TestCancelLong ends queries that would run for hours.
func TestCancelLong(t *testing.T) {
	b := open(t, 1000)
	series := func() planner.Node {
		return &planner.TableFunc{Name: "generate_series", Args: []planner.Expr{exectest.Int(1), exectest.Int(1 << 50)}, Columns: []planner.ColDef{b.Col(sqltype.Int64)}}
	}
	s := series()
	none := &planner.Filter{Input: s, Pred: cmp(planner.Lt, exectest.Ref(s, 0), exectest.Int(0))}
	l, r := b.Scan(b.tabs[0]), b.Scan(b.tabs[0])
	cross := &planner.Join{Left: l, Right: r}
	more := b.Scan(b.tabs[0])
	refused := &planner.Join{Kind: planner.Anti, Left: &planner.Join{Left: cross, Right: more}, Right: b.Scan(b.tabs[0]),
		On: cmp(planner.Lt, exectest.Ref(l, last), exectest.Int(0))}
	one := &planner.Values{Columns: []planner.ColDef{b.Col(sqltype.Int64)}, Rows: [][]planner.Expr{{exectest.Int(1)}}}
	in := b.cte(1, one, 0)
	step := &planner.Project{Input: in, Exprs: []planner.NamedExpr{{Col: b.Col(sqltype.Int64), Expr: plus(exectest.Ref(in, 0), exectest.Int(1))}}}
	counts := func(in planner.Node) planner.Node {
		return &planner.Aggregate{Input: in, Aggs: []planner.Agg{b.agg(t, "count", nil)}}
	}
	for name, n := range map[string]planner.Node{
		"series":    counts(series()),
		"filter":    none,
		"cross":     counts(&planner.Join{Left: cross, Right: more}),
		"refused":   refused,
		"recursive": &planner.With{CTE: 1, Def: one, Step: step, StepAll: true, Body: b.cte(1, one, 0)},
		"loop":      &planner.With{CTE: 1, Def: one, Step: step, Body: b.cte(1, one, 0)},
	} {
		for _, c := range []exectest.Config{{Workers: 1}, {Batch: 64, Workers: 2}} {
			ctx, cancel := context.WithCancel(context.Background())
			var at time.Time
			b.at(2000, func() {
				at = time.Now()
				cancel()
			})
			_, err := b.RunContext(ctx, c, n)
			t.Logf("%s, %d workers: %v after the end of the context", name, c.Workers, time.Since(at))
			cancel()
			requireCanceled(t, err)
		}
	}
	b.Dev = b.CPU
	noGoroutines(t)
}
