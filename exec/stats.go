package exec

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpusql/gpusql/planner"
)

// Stats is what each node of a plan did in one execution. Its zero value is
// ready. Node may be called while the query runs.
type Stats struct {
	mu    sync.Mutex
	nodes map[planner.Node]*NodeStats
}

// NodeStats is what one node did: counters that workers add to.
type NodeStats struct {
	Rows    atomic.Int64
	Batches atomic.Int64
	// Time is what workers spent in the node and below it, summed.
	Time atomic.Int64
	// Spilled is the bytes that the node wrote to temporary files.
	Spilled atomic.Int64
}

// Node is the counters of n, made at the first call.
func (s *Stats) Node(n planner.Node) *NodeStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nodes == nil {
		s.nodes = map[planner.Node]*NodeStats{}
	}
	c := s.nodes[n]
	if c == nil {
		c = &NodeStats{}
		s.nodes[n] = c
	}
	return c
}

// alias has a node that stands for another count as that, and what is below it
// that is not in the plan.
func (s *Stats) alias(n, as planner.Node) {
	c := s.Node(as)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[n] = c
	if j, ok := n.(*planner.Join); ok {
		s.nodes[j.Left] = c
	}
}

// Elapsed is the time as a duration.
func (n *NodeStats) Elapsed() time.Duration { return time.Duration(n.Time.Load()) }
