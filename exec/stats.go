package exec

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/planner"
)

// Stats is what each node of a plan did in one execution. Its zero value is
// ready. Node may be called while the query runs.
type Stats struct {
	// Plan is what planning took, noted by whoever planned.
	Plan time.Duration
	// Device is what the streams of a device that does not see the host's
	// memory were given.
	Device device.Traffic

	mu    sync.Mutex
	nodes map[planner.Node]*NodeStats
	// spilt is where nodes that are not in the plan count what they put on disk.
	spilt map[planner.Node]*NodeStats
}

// NodeStats is what one node did: counters that workers add to.
type NodeStats struct {
	Rows    atomic.Int64
	Batches atomic.Int64
	// Time is what workers spent in the node and below it, summed.
	Time atomic.Int64
	// Bytes is the size of what the node gave: values, codes and views.
	Bytes atomic.Int64
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

// alias has a node that stands for another count as that. What the nodes between
// it and the other's inputs put on disk is the other's, too.
func (s *Stats) alias(n, as planner.Node) {
	c := s.Node(as)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[n] = c
	if s.spilt == nil {
		s.spilt = map[planner.Node]*NodeStats{}
	}
	inputs := as.Inputs()
	var below func(planner.Node)
	below = func(n planner.Node) {
		for _, in := range n.Inputs() {
			if !slices.Contains(inputs, in) {
				s.spilt[in] = c
				below(in)
			}
		}
	}
	below(n)
}

// spills is where a node counts what it puts on disk.
func (s *Stats) spills(n planner.Node) *atomic.Int64 {
	s.mu.Lock()
	c := s.spilt[n]
	s.mu.Unlock()
	if c == nil {
		c = s.Node(n)
	}
	return &c.Spilled
}

// Elapsed is the time as a duration.
func (n *NodeStats) Elapsed() time.Duration { return time.Duration(n.Time.Load()) }
