// Package exec runs plans: every node of package planner has an operator here,
// which works on batches by launching steps of package kernels.
//
//	plan            a worker's operators                         shared by all workers
//
//	Aggregate       aggregate                                    groups, merged: built once
//	   |               |  reads by as many workers as pay
//	Join            hashJoin --- looks up in ------------------> table of the build side: built once
//	   |  \            |      \
//	   |   Scan        |       scan --- (read while building)
//	Filter          filter
//	   |               |  batches of some thousand rows
//	Scan            scan --- takes the next morsel from -------> dispenser
//	                   |
//	                 steps on the worker's stream: hash, gather, select, ...
//
// A plan is run by one worker or several. Each has a stream and a tree of
// operators of its own; what belongs to a node as a whole (a hash table, the
// morsels still to be read) is made by the first operator that needs it and
// found by the others under the node, see shared. Open sees to it that a node
// stands in one place of the plan only. An exchange at the top, or an
// operator that reads its input whole, starts the workers, and waits for them.
//
// Invariants:
//
//  1. An operator belongs to one goroutine; shared state has a lock, or does
//     not change once it is built.
//  2. A batch is valid until the next call of the operator that gave it; who
//     needs a row longer copies it (rowStore), with the bytes of its strings
//     unless the column says that they last.
//  3. A batch has at least one row, and no more than the query's batch rows,
//     rounded up to 64 for groups.
//  4. All memory comes from Env.Memory. What a worker holds alone goes at Close
//     of its operator; what is shared goes when the query is closed.
//  5. Rows of a node are given once: by many operators that share a dispenser,
//     or by the one that claims the node.
//  6. Small inputs are read by the caller: no goroutine is started for them.
//  7. A context's end is seen before every step: a worker's stream asks (see
//     device.Watched), and a step that works on more than a batch is a loop of
//     launches.
//  8. A panic is an error of the query that met it.
//  9. Only columns of text have dictionaries above a scan.
//  10. No operator looks at device memory: it launches steps and downloads
//     counts.
//  11. On a device that does not see the host's memory a node runs on one side
//     (runsOnHost), and only what crosses is copied (see crossing.go). What has
//     no code there is found before the query starts (CheckDevice).
//  12. An operator that keeps rows asks for room before it takes more (claim), and
//     with none puts its own on disk (exec/spill), on devices that see the host's
//     memory: in runs and parts, or, where rows must be reached by number (CTEs,
//     DISTINCT ON, recursive UNIONs, changes), in files that are mapped (ground).
package exec
