package mvcc

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/page"
)

// visit is a node to be checked, child Slot of Parent (0: it is the root).
type visit struct {
	Node, Parent page.Number
	Slot         uint32
	Fault        fault
	Entries      uint32
	N            uint32
}

type checkArgs struct {
	Form   form
	Table  device.Ptr
	Level  uint32
	_      uint32
	Number uint64 // of the state
	Visits device.Ptr
	N      uint64
}

// fault is what is wrong with a node.
type fault uint32

const (
	sound fault = iota
	badLevel
	badSize
	badBirth
	badOrder
	badPlace
	badNeighbour
	badSum
)

func (f fault) String() string {
	switch f {
	case sound:
		return "sound"
	case badLevel:
		return "is of another level"
	case badSize:
		return "has too few or too many items"
	case badBirth:
		return "was born after the state that reaches it"
	case badOrder:
		return "has items that do not ascend (invariant 1)"
	case badPlace:
		return "has an item before its place in the parent (invariant 2)"
	case badNeighbour:
		return "has an item that is not before the next node's (invariant 1)"
	case badSum:
		return "has sums that are not its children's (invariant 3)"
	default:
		panic(fmt.Sprintf("mvcc: no fault %d", uint32(f)))
	}
}

// check looks at the nodes of one level of a state.
var check = &device.Kernel[checkArgs]{Name: "mvcc_check", Split: 256, Host: func(a *checkArgs, lo, hi int) {
	c := checker{a, page.Slots(a.Table)}
	visits := device.View[visit](a.Visits, int(a.N))
	for i := lo; i < hi; i++ {
		v := &visits[i]
		if v.Fault = c.node(v); v.Fault == sound && i+1 < len(visits) {
			v.Fault = c.neighbours(v.Node, visits[i+1].Node)
		}
	}
}}

type checker struct {
	*checkArgs
	slots pageTable
}

func (c *checker) node(v *visit) fault {
	f := &c.Form
	p := page.At(c.slots, v.Node)
	h := headOf(p)
	n := int(h.n)
	switch v.N = h.n; {
	case h.level != c.Level:
		return badLevel
	case n < 1 || n > maxItems:
		return badSize
	case h.birth > c.Number:
		return badBirth
	}
	for i := 1; i < n; i++ {
		if f.compareItems(p, i-1, p, i) >= 0 {
			return badOrder
		}
	}
	if v.Slot > 0 && f.compareItems(page.At(c.slots, v.Parent), int(v.Slot), p, 0) > 0 {
		return badPlace
	}
	if v.Entries = h.n; c.Level == 0 {
		return sound
	}
	v.Entries = 0
	sums := f.sumsOf(p, n)
	for i, kid := range f.kidsOf(p, n) {
		q := page.At(c.slots, kid)
		entries := headOf(q).n
		if c.Level > 1 {
			entries = f.sumsOf(q, int(entries))[entries-1]
		}
		if v.Entries += entries; v.Entries != sums[i] {
			return badSum
		}
	}
	return sound
}

// neighbours checks that node a ends before node b begins, and before its place.
func (c *checker) neighbours(a, b page.Number) fault {
	p, q := page.At(c.slots, a), page.At(c.slots, b)
	if c.Form.compareItems(p, int(headOf(p).n)-1, q, 0) >= 0 {
		return badNeighbour
	}
	return sound
}

// compareItems orders items of nodes.
func (f *form) compareItems(p device.Ptr, i int, q device.Ptr, j int) int {
	t := f.target(q+headBytes, j, 0)
	if f.kind == long {
		if c := f.compareWords(f.keyAt(p+headBytes, i), t.key); c != 0 {
			return c
		}
		if c := index.CompareTails(f.tailIn(p, i), f.tailIn(q, j)); c != 0 {
			return c
		}
	} else if c := f.compare(p, i, &t); c != 0 {
		return c
	}
	return cmp.Compare(f.rowsOf(p, int(headOf(p).n))[i], f.rowsOf(q, int(headOf(q).n))[j])
}

// Check verifies all states, and that no page is lost.
func (x *tree) Check(s device.Stream) error {
	x.mu.Lock()
	var states []*state
	for st := x.history.first; st != nil; st = st.next {
		st.refs++
		states = append(states, st)
	}
	x.mu.Unlock()
	reached := map[page.Number]bool{}
	var errs []error
	for _, st := range states {
		if st.root != 0 && !reached[st.root] {
			errs = append(errs, x.checkState(s, st, reached))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	x.mu.Lock()
	var garbage []page.Number
	for _, st := range states {
		st.refs--
		garbage = x.history.forget(st, garbage)
	}
	x.mu.Unlock()
	if n := x.store.Pages(); n != len(reached) {
		return fmt.Errorf("mvcc: %d pages are taken, and %d can be reached (invariant 5)", n, len(reached))
	}
	x.store.Give(garbage)
	return nil
}

// checkState verifies one state's tree, level by level, and notes its nodes.
func (x *tree) checkState(s device.Stream, st *state, reached map[page.Number]bool) error {
	visits := []visit{{Node: st.root}}
	for level := st.height - 1; level >= 0; level-- {
		if err := x.checkLevel(s, st, uint32(level), visits); err != nil {
			return err
		}
		if level == st.height-1 && int64(visits[0].Entries) != st.entries {
			return fmt.Errorf("mvcc: version %d has %d entries, and says %d", st.version, visits[0].Entries, st.entries)
		}
		var below []visit
		for _, v := range visits {
			reached[v.Node] = true
			if level == 0 {
				continue
			}
			kids := make([]page.Number, v.N)
			if err := download(s, kids, x.store.Address(v.Node)+headBytes+device.Ptr(x.form.keyBytes(len(kids))+8*len(kids))); err != nil {
				return err
			}
			for i, kid := range kids {
				below = append(below, visit{Node: kid, Parent: v.Node, Slot: uint32(i)})
			}
		}
		visits = below
	}
	return nil
}

// checkLevel lets the device look at nodes, and reads back what it says.
func (x *tree) checkLevel(s device.Stream, st *state, level uint32, visits []visit) error {
	room, err := x.mem.Alloc(len(visits) * int(unsafe.Sizeof(visit{})))
	if err != nil {
		return err
	}
	defer room.Release()
	if err := upload(s, room.Ptr(), visits); err != nil {
		return err
	}
	err = device.Launch(s, check, len(visits), checkArgs{Form: x.form, Table: x.store.Table(), Level: level,
		Number: st.number, Visits: room.Ptr(), N: uint64(len(visits))})
	if err != nil {
		return err
	}
	if err := download(s, visits, room.Ptr()); err != nil {
		return err
	}
	for _, v := range visits {
		if v.Fault != sound {
			return fmt.Errorf("mvcc: version %d: node %d %v", st.version, v.Node, v.Fault)
		}
	}
	return nil
}
