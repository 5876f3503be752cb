package exec_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// watched is a device of one stream that looks at what it is given.
type watched struct {
	device.Device
	calls  int
	submit func(w device.Work)
}

func (d *watched) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return &watchedStream{s, d}, err
}

type watchedStream struct {
	device.Stream
	dev *watched
}

func (s *watchedStream) Submit(w device.Work) error {
	s.dev.calls++
	s.dev.submit(w)
	return s.Stream.Submit(w)
}

// longPlans are plans that each have a kind of work over all of their rows,
// which are far more than a piece has on a device of small batches.
func longPlans() map[string]planner.Node {
	r := rand.New(rand.NewPCG(3, 4))
	many := func(base planner.ColumnID) planner.Node { // 1200 rows of a table and of another one
		return &planner.Join{Kind: planner.Inner, Left: randomTable(r, 30, 20).node(base), Right: randomTable(r, 40, 25).node(base + 3)}
	}
	key := func(base planner.ColumnID, i int) planner.SortKey { return planner.SortKey{Expr: ref(base, i)} }
	join := func(kind planner.JoinKind, col int) planner.Node {
		return &planner.Join{Kind: kind, Left: randomTable(r, 9, 9).node(1), Right: many(11),
			Keys: []planner.JoinKey{{Left: ref(1, col), Right: ref(11, col)}}}
	}
	group := func(of ...planner.Expr) *planner.Aggregate {
		a := &planner.Aggregate{Input: many(1), Aggs: []planner.Agg{
			{Col: planner.ColDef{ID: 61, Type: sqltype.Varchar}, Func: &catalog.Func{ID: catalog.FuncMin}, Args: []planner.Expr{ref(4, 1)}},
			{Col: planner.ColDef{ID: 62, Type: sqltype.Int64}, Func: &catalog.Func{ID: catalog.FuncCount}, Args: []planner.Expr{ref(4, 2)}, Distinct: true},
			{Col: planner.ColDef{ID: 63, Type: sqltype.Varchar}, Func: &catalog.Func{ID: catalog.FuncStringAgg}, Args: []planner.Expr{ref(4, 1)}},
		}}
		for i, e := range of {
			a.Groups = append(a.Groups, planner.NamedExpr{Col: planner.ColDef{ID: planner.ColumnID(50 + i), Type: e.Type()}, Expr: e})
		}
		return a
	}
	rows := func(op planner.SetOpKind, all bool) planner.Node {
		var cols []planner.ColDef
		for i := range 6 {
			cols = append(cols, planner.ColDef{ID: planner.ColumnID(70 + i), Type: tableTypes[i%3]})
		}
		return &planner.SetOp{Op: op, All: all, Left: many(1), Right: many(11), Columns: cols}
	}
	return map[string]planner.Node{
		"sort":         &planner.Sort{Input: many(1), Keys: []planner.SortKey{key(4, 2), key(1, 1)}},
		"sort text":    &planner.Sort{Input: many(1), Keys: []planner.SortKey{key(4, 1), key(1, 2)}},
		"top":          &planner.TopN{Input: many(1), Keys: []planner.SortKey{key(4, 1)}, Limit: number(300)},
		"join":         join(planner.Full, 0),
		"join wide":    join(planner.Inner, 2),
		"join text":    join(planner.Left, 1),
		"mark":         &planner.Join{Kind: planner.Mark, NullAware: true, Left: randomTable(r, 9, 9).node(1), Right: many(11), Keys: []planner.JoinKey{{Left: ref(1, 0), Right: ref(11, 0)}}, Mark: planner.ColDef{ID: 40, Type: sqltype.Bool}},
		"one group":    group(),
		"group":        group(ref(4, 2), ref(1, 2)),
		"group text":   group(ref(4, 1), ref(1, 1)),
		"union":        rows(planner.Union, false),
		"except":       rows(planner.Except, true),
		"window":       longWindow(many(1)),
		"window order": &planner.Window{Input: many(1), Funcs: []planner.WindowFunc{{Col: planner.ColDef{ID: 50, Type: sqltype.Int64}, Func: &catalog.Func{ID: catalog.FuncRowNumber}}}},
	}
}

func longWindow(in planner.Node) planner.Node {
	sum := func(id planner.ColumnID, f planner.Frame) planner.WindowFunc {
		return planner.WindowFunc{Col: planner.ColDef{ID: id, Type: sqltype.Varchar}, Func: &catalog.Func{ID: catalog.FuncMax}, Args: []planner.Expr{ref(4, 1)}, Frame: f}
	}
	return &planner.Window{Input: in, Order: []planner.SortKey{{Expr: ref(1, 0)}}, Funcs: []planner.WindowFunc{
		sum(50, planner.Frame{}),
		sum(51, planner.Frame{Unit: "ROWS", StartKind: "CURRENT ROW", EndKind: "UNBOUNDED FOLLOWING"}),
		{Col: planner.ColDef{ID: 52, Type: sqltype.Varchar}, Func: &catalog.Func{ID: catalog.FuncMode}, Args: []planner.Expr{ref(4, 1)},
			Frame: planner.Frame{Unit: "ROWS", StartKind: "UNBOUNDED PRECEDING", EndKind: "UNBOUNDED FOLLOWING"}},
	}}
}

// runWatched runs a plan by one worker in batches of 64, and checks that it
// gives all memory back.
func runWatched(t *testing.T, ctx context.Context, d device.Device, n planner.Node) error {
	mem := device.NewScope(d, device.ScopeOptions{Name: "query"})
	defer func() { require.Zero(t, mem.Used(), "leak") }()
	env := &exec.Env{Device: d, Memory: mem, Workers: 1, BatchRows: 64, Now: time.Unix(0, 0), Zone: time.UTC}
	op, err := exec.Open(env, &planner.Plan{Root: n})
	require.NoError(t, err)
	defer op.Close() //nolint:errcheck // the query's error is looked at
	for {
		b, err := op.Next(ctx)
		if b == nil || err != nil {
			return err
		}
	}
}

// TestPieces says that no launch has work without bound: between two of them a
// worker asks whether to go on.
func TestPieces(t *testing.T) {
	cpu := device.NewCPU(device.CPUOptions{Streams: 1, BatchRows: 64})
	s, err := cpu.NewStream()
	require.NoError(t, err)
	most := kernels.PieceItems(s)
	require.Equal(t, 128, most)
	require.NoError(t, s.Close())
	bytes := map[string]bool{"copy": true, "zero": true, "fill": true}
	for name, n := range longPlans() {
		t.Run(name, func(t *testing.T) {
			d := &watched{Device: cpu, submit: func(w device.Work) {
				if bytes[w.Name()] {
					require.LessOrEqual(t, w.Items(), 256*most, w.Name())
				} else {
					require.LessOrEqual(t, w.Items(), most, w.Name())
				}
			}}
			require.NoError(t, runWatched(t, context.Background(), d, n))
			require.Greater(t, d.calls, 100)
		})
	}
	require.NoError(t, cpu.Close())
}

// TestCancel cancels a query during each of its launches, one after the other:
// no other launch follows.
func TestCancel(t *testing.T) {
	cpu := device.NewCPU(device.CPUOptions{Streams: 1, BatchRows: 64})
	for name, n := range longPlans() {
		t.Run(name, func(t *testing.T) {
			d := &watched{Device: cpu, submit: func(device.Work) {}}
			require.NoError(t, runWatched(t, context.Background(), d, n))
			all := d.calls
			for at := 1; at < all; at += 1 + all/40 {
				ctx, cancel := context.WithCancel(context.Background())
				d.calls = 0
				d.submit = func(device.Work) {
					if d.calls == at {
						cancel()
					}
				}
				require.ErrorIs(t, runWatched(t, ctx, d, n), context.Canceled)
				require.Equal(t, at, d.calls, "launches")
			}
		})
	}
	require.NoError(t, cpu.Close())
}
