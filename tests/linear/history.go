package linear

import (
	"fmt"
	"slices"
)

// History is transactions that clients ran.
type History []Transaction

// Transaction is what one transaction did. Begin and End are times on one clock,
// of before its first statement and after its last one.
type Transaction struct {
	Ops        []Op
	Begin, End int64
	Outcome    Outcome
}

// Outcome is how a transaction ended.
type Outcome uint8

// The outcomes.
const (
	Committed Outcome = iota
	Aborted
)

// Op is an append of Value to the list Key or, with Read, what was read of it.
type Op struct {
	Key   int
	Value int
	Read  bool
	List  []int
}

// place is a list and a value in it.
type place struct{ key, value int }

// analysis is what is known of a history.
type analysis struct {
	h       History
	writers map[place]int // who appended
	last    map[place]bool
	orders  map[int][]int // the longest that was read of each list
	found   []string
	edges   [][]edge
}

// edge says that a transaction comes before another one.
type edge struct {
	to   int
	anti bool // it read what the other one overwrote
	why  string
}

// Anomalies are what snapshot isolation does not allow in a history, in words.
func (h History) Anomalies() []string {
	a := &analysis{h: h, writers: map[place]int{}, last: map[place]bool{}, orders: map[int][]int{}, edges: make([][]edge, len(h))}
	a.appends()
	for i := range h {
		if h[i].Outcome == Committed {
			a.reads(i)
		}
	}
	if len(a.found) > 0 {
		return a.found // orders cannot be told
	}
	a.depend()
	a.cycles()
	return a.found
}

func (a *analysis) anomaly(format string, args ...any) {
	a.found = append(a.found, fmt.Sprintf(format, args...))
}

// appends notes who appended what, and which of a transaction's values of a list
// is its last.
func (a *analysis) appends() {
	for i, t := range a.h {
		last := map[int]int{}
		for _, op := range t.Ops {
			if op.Read {
				continue
			}
			if _, twice := a.writers[place{op.Key, op.Value}]; twice {
				panic(fmt.Sprintf("linear: %d is appended to list %d twice", op.Value, op.Key))
			}
			a.writers[place{op.Key, op.Value}] = i
			last[op.Key] = op.Value
		}
		for k, v := range last {
			a.last[place{k, v}] = true
		}
	}
}

// reads checks what a transaction read against what it did itself, and against
// what others read.
func (a *analysis) reads(i int) {
	seen := map[int][]int{} // lists as the transaction must see them
	known := map[int]bool{}
	for _, op := range a.h[i].Ops {
		if !op.Read {
			seen[op.Key] = append(slices.Clip(seen[op.Key]), op.Value)
			continue
		}
		own := seen[op.Key]
		switch {
		case known[op.Key] && !slices.Equal(own, op.List):
			a.anomaly("transaction %d reads list %d as %v, and it was %v: not repeatable", i, op.Key, op.List, own)
		case !known[op.Key] && (len(op.List) < len(own) || !slices.Equal(own, op.List[len(op.List)-len(own):])):
			a.anomaly("transaction %d reads list %d as %v without its own %v", i, op.Key, op.List, own)
		}
		a.outside(i, op, len(op.List)-len(own))
		seen[op.Key], known[op.Key] = op.List, true
		a.order(op)
	}
}

// outside checks the values of a read that others wrote, the first n.
func (a *analysis) outside(i int, op Op, n int) {
	for at, v := range op.List {
		w, ok := a.writers[place{op.Key, v}]
		switch {
		case !ok:
			a.anomaly("transaction %d reads %d in list %d, which nobody appended", i, v, op.Key)
		case slices.Contains(op.List[:at], v):
			a.anomaly("transaction %d reads %d in list %d twice", i, v, op.Key)
		case w != i && a.h[w].Outcome == Aborted:
			a.anomaly("transaction %d reads %d in list %d of transaction %d, which aborted", i, v, op.Key, w)
		case w != i && at == n-1 && !a.last[place{op.Key, v}]:
			a.anomaly("transaction %d reads list %d up to %d, in the middle of transaction %d", i, op.Key, v, w)
		}
	}
}

// order notes the longest list that was read: all others are its beginnings.
func (a *analysis) order(op Op) {
	long, short := a.orders[op.Key], op.List
	if len(long) < len(short) {
		long, short = short, long
	}
	if !slices.Equal(long[:len(short)], short) {
		a.anomaly("list %d was read as %v and as %v", op.Key, long, short)
		return
	}
	a.orders[op.Key] = long
}

// depend draws the edges.
func (a *analysis) depend() {
	for k, list := range a.orders {
		for i := 1; i < len(list); i++ {
			a.edge(a.writers[place{k, list[i-1]}], a.writers[place{k, list[i]}], false, "ww")
		}
	}
	for i, t := range a.h {
		if t.Outcome != Committed {
			continue
		}
		for _, op := range t.Ops {
			if !op.Read {
				continue
			}
			if n := len(op.List); n > 0 {
				a.edge(a.writers[place{op.Key, op.List[n-1]}], i, false, "wr")
			}
			if list := a.orders[op.Key]; len(op.List) < len(list) {
				a.edge(i, a.writers[place{op.Key, list[len(op.List)]}], true, "rw")
			}
		}
		for j, u := range a.h {
			if u.Outcome == Committed && t.End < u.Begin {
				a.edge(i, j, false, "before")
			}
		}
	}
	a.lost()
}

func (a *analysis) edge(from, to int, anti bool, why string) {
	if from != to {
		a.edges[from] = append(a.edges[from], edge{to, anti, why})
	}
}

// lost names appends of committed transactions that are not in their lists,
// although a transaction that began later read them.
func (a *analysis) lost() {
	for i, t := range a.h {
		if t.Outcome != Committed {
			continue
		}
		for _, op := range t.Ops {
			if op.Read || slices.Contains(a.orders[op.Key], op.Value) {
				continue
			}
			for j, u := range a.h {
				reads := func(o Op) bool { return o.Read && o.Key == op.Key }
				if u.Outcome == Committed && u.Begin > t.End && slices.ContainsFunc(u.Ops, reads) {
					a.anomaly("transaction %d appended %d to list %d, and transaction %d does not read it: lost", i, op.Value, op.Key, j)
					break
				}
			}
		}
	}
}

// cycles looks for a way back to a transaction on which no two anti-dependencies
// follow each other. A state is a transaction and whether it was come to by one.
func (a *analysis) cycles() {
	const unseen, open, closed = 0, 1, 2
	color := make([]uint8, 2*len(a.h))
	var path []string
	var visit func(state int) bool
	visit = func(state int) bool {
		color[state] = open
		for _, e := range a.edges[state/2] {
			next := 2 * e.to
			if e.anti {
				if state%2 == 1 {
					continue
				}
				next++
			}
			step := fmt.Sprintf("%d -%s-> %d", state/2, e.why, e.to)
			if color[next] == open || color[next] == unseen && visit(next) {
				path = append(path, step)
				return true
			}
		}
		color[state] = closed
		return false
	}
	for state := range color {
		if color[state] == unseen && visit(state) {
			slices.Reverse(path)
			a.anomaly("a cycle at the end of %v", path)
			return
		}
	}
}
