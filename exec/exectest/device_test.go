package exectest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/cuda"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/device/faulty"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/exec/exectest"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/mirror"
)

// TestFaultsOnDevice lets every call fail that a query makes to a GPU: the query
// fails with that error, nothing is left in use, and the next query works. Only
// an allocation may fail for nothing: copies of columns go, and it is done again.
func TestFaultsOnDevice(t *testing.T) {
	gpu := devicetest.SIMT(t, cuda.Options{BatchRows: 128})
	db := exectest.Open(t)
	tab, other := db.Create("t", pair), db.Create("u", pair)
	var rows, few []exectest.Row
	for i := range 300 {
		rows = append(rows, two(int64(i%40), "a string that is long"))
	}
	for i := range 30 {
		few = append(few, two(int64(i), "short"))
	}
	db.Fill(tab, rows)
	db.Fill(other, few)
	for name, plan := range map[string]func() planner.Node{
		"scan": func() planner.Node {
			s := db.Scan(tab)
			s.Filter = cmp(planner.Gt, exectest.Ref(s, 0), exectest.Int(20))
			return s
		},
		"sort": func() planner.Node {
			s := db.Scan(tab)
			return &planner.Sort{Input: s, Keys: []planner.SortKey{{Expr: exectest.Ref(s, 0)}}}
		},
		"group": func() planner.Node {
			l, r := db.Scan(tab), db.Scan(other)
			j := &planner.Join{Kind: planner.Inner, Left: l, Right: r, Keys: []planner.JoinKey{{Left: exectest.Ref(l, 0), Right: exectest.Ref(r, 0)}}}
			return &planner.Aggregate{Input: j, Groups: []planner.NamedExpr{{Col: db.Col(pair[1]), Expr: exectest.Ref(l, 1)}},
				Aggs: []planner.Agg{{Col: db.Col(sqltype.Int64), Func: &catalog.Func{ID: catalog.FuncSum}, Args: []planner.Expr{exectest.Ref(r, 0)}}}}
		},
		"window": func() planner.Node {
			s := db.Scan(tab)
			back := planner.Frame{Unit: "ROWS", StartKind: "PRECEDING", StartOffset: exectest.Int(3), EndKind: "CURRENT ROW"}
			return &planner.Window{Input: s, Partition: []planner.Expr{exectest.Ref(s, 1)}, Order: []planner.SortKey{{Expr: exectest.Ref(s, 0)}}, Funcs: []planner.WindowFunc{
				{Col: db.Col(sqltype.Int64), Func: &catalog.Func{ID: catalog.FuncRank}},
				{Col: db.Col(sqltype.Int64), Func: &catalog.Func{ID: catalog.FuncSum}, Args: []planner.Expr{exectest.Ref(s, 0)}},
				{Col: db.Col(sqltype.Int64), Func: &catalog.Func{ID: catalog.FuncMax}, Args: []planner.Expr{exectest.Ref(s, 0)}, Frame: back},
			}}
		},
		"except": func() planner.Node {
			l, r := db.Scan(tab), db.Scan(other)
			return &planner.SetOp{Op: planner.Except, All: true, Left: l, Right: r, Columns: []planner.ColDef{db.Col(pair[0]), db.Col(pair[1])}}
		},
		"collect": func() planner.Node {
			s := db.Scan(tab)
			return &planner.Aggregate{Input: s, Groups: []planner.NamedExpr{{Col: db.Col(pair[0]), Expr: exectest.Ref(s, 0)}}, Aggs: []planner.Agg{
				{Col: db.Col(sqltype.Varchar), Func: &catalog.Func{ID: catalog.FuncStringAgg}, Args: []planner.Expr{exectest.Ref(s, 1)}},
				{Col: db.Col(sqltype.Varchar), Func: &catalog.Func{ID: catalog.FuncMax}, Args: []planner.Expr{exectest.Ref(s, 1)}},
				{Col: db.Col(pair[0]), Func: &catalog.Func{ID: catalog.FuncMode}, Args: []planner.Expr{exectest.Ref(s, 0)}},
			}}
		},
		"values": func() planner.Node { return pairs(db, two(1, "x"), two(2, "a string that is long")) },
	} {
		t.Run(name, func(t *testing.T) {
			n := plan()
			var memory *device.Scope
			copies := 0
			run := func(d device.Device) error {
				memory = device.NewScope(d, device.ScopeOptions{Name: "database"})
				defer memory.Close()
				m := mirror.New(device.NewScope(memory, device.ScopeOptions{Name: "resident"}))
				defer m.Close()
				query := device.NewScope(memory, device.ScopeOptions{Name: "query"})
				defer func() { require.Zero(t, query.Used(), "memory is left") }()
				here := device.NewScope(db.Dev, device.ScopeOptions{Name: "query"})
				defer here.Close()
				x := db.Store.Begin()
				defer x.Rollback()
				host := &exec.Env{Device: db.Dev, Memory: here, Data: exectest.Data(x.Statement()), Now: time.Unix(0, 0), Zone: time.UTC}
				env := *host
				env.Device, env.Memory, env.Host, env.Mirror = d, m.Over(query), host, m
				op, err := exec.Open(&env, &planner.Plan{Root: n})
				if err != nil {
					return err
				}
				defer op.Close() //nolint:errcheck // the query's error is looked at
				for {
					b, err := op.Next(t.Context())
					if err != nil {
						return err
					}
					if b != nil {
						continue
					}
					if f, ok := d.(*faulty.Device); !ok || !f.Failed() {
						copies = len(m.Residents())
					} else {
						require.Less(t, len(m.Residents()), copies, "a failure was not seen")
						return faulty.ErrFault
					}
					return nil
				}
			}
			require.NoError(t, run(gpu))
			faulty.Sweep(t, gpu, run, func() error { return run(gpu) })
		})
	}
}
