package exec

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// joinFilter is what a join tells the scans of its probe side: which integers
// are keys of the build side. Rows with others would only be read, gathered and
// carried to the join to be dropped there.
//
//	join, built first ──▶ joinFilter ──┐
//	  │ probe side                     ▼
//	  join ── ... ── aggregate ── scan: which rows are worth reading
//
// It is filled when the build side is read, which is before a row of the probe
// side is; until then it lets everything pass.
type joinFilter struct {
	key  int // of the join's keys
	keys atomic.Pointer[kernels.KeyFilter]
}

// scanFilters are what operators above a scan tell it, by column.
type scanFilters struct {
	mu   sync.Mutex
	all  []scanFilter
	tops []scanTop
}

type scanFilter struct {
	column int // offset in the scan's Columns
	*joinFilter
}

// scanFiltersOf keys the filters of a scan, of a table or a file.
type scanFiltersOf struct{ n planner.Node }

func (q *query) scanFilters(n planner.Node) *scanFilters {
	return shared(q, scanFiltersOf{n}, func() *scanFilters { return &scanFilters{} })
}

func (s *scanFilters) add(column int, f *joinFilter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, scanFilter{column, f})
}

func (s *scanFilters) addTop(column int, t *topBound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tops = append(s.tops, scanTop{column, t})
}

// offerFilters finds the scans below the probe side whose columns are the
// join's keys. A row of the probe side without a match must give nothing.
func (j *hashJoin) offerFilters() []*joinFilter {
	s := j.shape
	if s.probeOuter || s.unknown || s.n.NullAware || !s.emitPairs && !s.swapped && s.kind != planner.Semi {
		return nil
	}
	var out []*joinFilter
	for i, e := range s.probeKeys {
		c, ok := e.(*planner.Col)
		if !ok || s.nullSafe[i] || !kernels.CanFilterKeys(c.T.Phys()) {
			continue
		}
		f := &joinFilter{key: i}
		if j.w.q.offer(s.probe, c.ID, func(s *scanFilters, column int) { s.add(column, f) }) {
			out = append(out, f)
		}
	}
	return out
}

// taker is told a scan that a column comes from, and where it has it.
type taker func(s *scanFilters, column int)

// offer gives a filter on column id of node n to the scans that the column
// comes from, as far as dropping rows there drops only rows of n that have such
// a value.
func (q *query) offer(n planner.Node, id planner.ColumnID, f taker) bool {
	o := offering{q, f, map[offered]bool{}}
	return o.to(n, id)
}

// offering is one call of offer. Many keys that are equal lead to the same columns
// again and again, in more ways than there are sets of joins: each is told once.
type offering struct {
	q    *query
	f    taker
	told map[offered]bool
}

type offered struct {
	n  planner.Node
	id planner.ColumnID
}

func (o *offering) to(n planner.Node, id planner.ColumnID) bool {
	done, ok := o.told[offered{n, id}]
	if !ok {
		done = o.tell(n, id)
		o.told[offered{n, id}] = done
	}
	return done
}

func (o *offering) tell(n planner.Node, id planner.ColumnID) bool {
	switch n := n.(type) {
	case *planner.Scan:
		at := slices.IndexFunc(n.Columns, func(c planner.ColDef) bool { return c.ID == id })
		if at < 0 || n.Access != nil || n.Source[at] == planner.RowIDColumn {
			return false
		}
		o.f(o.q.scanFilters(n), at)
		return true
	case *planner.FileScan:
		at := slices.IndexFunc(n.Columns, func(c planner.ColDef) bool { return c.ID == id })
		if at < 0 {
			return false
		}
		o.f(o.q.scanFilters(n), at)
		return true
	case *planner.Filter:
		return o.to(n.Input, id)
	case *planner.Project:
		return o.defined(n.Exprs, n.Input, id)
	case *planner.Aggregate:
		return n.Sets == nil && o.defined(n.Groups, n.Input, id)
	case *planner.Join:
		return o.joined(n, id)
	default:
		return false
	}
}

func (o *offering) defined(defs []planner.NamedExpr, in planner.Node, id planner.ColumnID) bool {
	for _, d := range defs {
		if c, ok := d.Expr.(*planner.Col); ok && d.Col.ID == id {
			return o.to(in, c.ID)
		}
	}
	return false
}

// joined goes to the side that has the column, and to the other when the
// join makes the two equal.
func (o *offering) joined(n *planner.Join, id planner.ColumnID) bool {
	if n.Dependent || n.NullAware {
		return false
	}
	has := func(n planner.Node) bool {
		return slices.ContainsFunc(n.Cols(), func(c planner.ColDef) bool { return c.ID == id })
	}
	both := n.Kind == planner.Inner || n.Kind == planner.Semi
	done := false
	if has(n.Left) && n.Kind != planner.Right && n.Kind != planner.Full {
		done = o.to(n.Left, id)
	}
	if has(n.Right) && n.Kind == planner.Inner && !n.Lookup {
		done = o.to(n.Right, id)
	}
	for _, k := range n.Keys {
		l, lok := k.Left.(*planner.Col)
		r, rok := k.Right.(*planner.Col)
		if !both || !lok || !rok || k.NullSafe {
			continue
		}
		if l.ID == id && !n.Lookup {
			done = o.to(n.Right, r.ID) || done
		}
		if r.ID == id && n.Kind == planner.Inner {
			done = o.to(n.Left, l.ID) || done
		}
	}
	return done
}

// fill makes the filters of the build side's keys.
func (st *joinShared) fill(w *worker, keys []kernels.Vec, shape *joinShape) error {
	for _, f := range st.filters {
		p := shape.layout.Phys[f.key]
		k, err := kernels.NewKeyFilter(w.q.env.Memory, w.stream, keys[f.key], p, st.rows.n)
		if err != nil {
			return err
		}
		f.keys.Store(k)
	}
	return nil
}

// keyPicker applies a scan's filters, for one worker.
type keyPicker struct {
	from    *scanFilters
	begun   bool
	filters []scanFilter
	gains   []gain
	index   arrow.Slab
}

// gain is what a filter has done so far.
type gain struct{ in, out int }

// A filter that keeps more than seven of eight rows of its first trialRows
// costs more than it saves.
const trialRows = 1 << 16

func (g *gain) pays() bool { return g.in < trialRows || g.out < g.in-g.in/8 }

// begin looks for filters that are there; joins above the scan are built by now.
func (p *keyPicker) begin() {
	if p.begun {
		return
	}
	p.begun = true
	p.from.mu.Lock()
	defer p.from.mu.Unlock()
	for _, f := range p.from.all {
		if f.keys.Load() != nil {
			p.filters = append(p.filters, f)
		}
	}
	p.gains = make([]gain, len(p.filters))
}

// pick keeps those of the n rows at idx (0: all) that pass, and gives their
// numbers, 0 for all.
func (p *keyPicker) pick(w *worker, column func(i int) (arrow.Column, error), idx device.Ptr, rows, n int) (device.Ptr, int, error) {
	for i, f := range p.filters {
		if !p.gains[i].pays() {
			continue
		}
		c, err := column(f.column)
		if err != nil {
			return 0, 0, err
		}
		if c.Vec.Dict != 0 {
			continue
		}
		out, err := p.index.Reserve(w.q.env.Memory, kernels.SelectBytes(rows))
		if err != nil {
			return 0, 0, err
		}
		k, err := f.keys.Load().Pick(w.stream, c.Vec, c.Type.Phys(), idx, n, out)
		if err != nil {
			return 0, 0, err
		}
		p.gains[i].in += n
		p.gains[i].out += k
		if k == 0 {
			return 0, 0, nil
		}
		if k < n || idx != 0 {
			idx, n = out, k
		}
	}
	return idx, n, nil
}
