package exec_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/faulty"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// TestFaults lets every device call of a query fail: the query fails with that
// error, and gives all its memory back.
func TestFaults(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	left, right := randomTable(r, 70, 5), randomTable(r, 20, 5)
	join := func(kind planner.JoinKind) planner.Node {
		return &planner.Join{Kind: kind, Left: left.node(1), Right: right.node(11),
			Keys: []planner.JoinKey{{Left: ref(1, 1), Right: ref(11, 1)}},
			On:   &planner.Cmp{Op: planner.Lt, L: ref(1, 2), R: ref(11, 2)}, Mark: planner.ColDef{ID: 30, Type: sqltype.Bool}}
	}
	agg := &planner.Aggregate{Input: join(planner.Full),
		Groups: []planner.NamedExpr{{Col: planner.ColDef{ID: 40, Type: sqltype.Varchar}, Expr: ref(1, 1)}},
		Aggs: []planner.Agg{
			{Col: planner.ColDef{ID: 41, Type: sqltype.Varchar}, Func: &catalog.Func{ID: catalog.FuncMin}, Args: []planner.Expr{ref(11, 1)}},
			{Col: planner.ColDef{ID: 42, Type: sqltype.Int64}, Func: &catalog.Func{ID: catalog.FuncCount}, Args: []planner.Expr{ref(1, 0)}, Distinct: true},
		}}
	key := planner.SortKey{Expr: &planner.Col{ID: 42, T: sqltype.Int64}}
	window := &planner.Window{Input: left.node(1), Partition: []planner.Expr{ref(1, 0)}, Order: []planner.SortKey{{Expr: ref(1, 1)}},
		Funcs: []planner.WindowFunc{
			{Col: planner.ColDef{ID: 50, Type: sqltype.Varchar}, Func: &catalog.Func{ID: catalog.FuncMax}, Args: []planner.Expr{ref(1, 1)}},
			{Col: planner.ColDef{ID: 51, Type: sqltype.Varchar}, Func: &catalog.Func{ID: catalog.FuncStringAgg}, Args: []planner.Expr{ref(1, 1)},
				Frame: planner.Frame{Unit: "ROWS", StartKind: "CURRENT ROW", EndKind: "UNBOUNDED FOLLOWING"}},
		}}
	for name, n := range map[string]planner.Node{
		"window":    window,
		"collect":   &planner.Aggregate{Input: left.node(1), Aggs: collectAggs()},
		"aggregate": &planner.Sort{Input: agg, Keys: []planner.SortKey{key}},
		"mark":      join(planner.Mark),
		"top":       &planner.TopN{Input: left.node(1), Keys: []planner.SortKey{{Expr: ref(1, 1)}}, Limit: &planner.Const{Value: sqltype.NewInt64(3)}},
	} {
		t.Run(name, func(t *testing.T) {
			cpu := device.NewCPU(device.CPUOptions{Streams: 1})
			var mem *device.Scope
			faulty.Sweep(t, cpu, func(d device.Device) error {
				mem = device.NewScope(d, device.ScopeOptions{Name: "query"})
				env := &exec.Env{Device: d, Memory: mem, Workers: 1, BatchRows: 64, Now: time.Unix(0, 0), Zone: time.UTC}
				op, err := exec.Open(env, &planner.Plan{Root: n})
				if err != nil {
					return err
				}
				defer op.Close() //nolint:errcheck // the query's error is looked at
				for {
					b, err := op.Next(context.Background())
					if b == nil || err != nil {
						return err
					}
				}
			}, func() error {
				require.Zero(t, mem.Used(), "leak")
				return nil
			})
			require.NoError(t, cpu.Close())
		})
	}
}
