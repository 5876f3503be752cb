// Package mvcc is an ordered index with history: a tree for every version, of
// nodes that are never changed.
//
//	versions   ... 41      42      43 = latest        a state is a root and a few numbers
//	                │       │       │
//	inner          [ ]     [ ]     [ ]                a batch writes the nodes on its ways anew
//	               / \     / \     / \
//	leaves       [a] [b]─────┘ [b']───┘ [c']          and shares all others
//
//	node   birth, items (key, row), children, entries up to each child; a page of
//	       just its size (node.go)
//
//	Apply  sort ─ locate ─▶ edits of the leaves ─ splice ─▶ groups ─ cut ─▶ sizes
//	       of all levels, from the leaves up     ─ take pages ─ write ─▶ edits one level up
//	       then: a root, a state, published under a lock that is held for an instant
//
// Invariants:
//
//  1. The entries of a state ascend by (key, row), each once, through leaves of
//     one depth.
//  2. An inner item's (key, row) is a place: the entries of its child are not
//     before it, and before the next item's. The first child has what is before
//     all that, too.
//  3. An inner node knows the number of entries in its children up to each: ranks,
//     and so Count and the room for a Scan, take two ways down, however much is
//     counted.
//  4. A node is written once, before any state that can reach it is published. Its
//     birth is that state's number.
//  5. A page is taken while a state can reach it, and no longer: a node that the
//     batch of state d did without is kept by the latest state before d, and
//     goes, when that state goes, to the latest state before that one if that is
//     not older than the node's birth; otherwise it is given back. A state goes
//     when it answers for no version that may be asked for, and no snapshot holds it.
//  6. A batch that fails has taken pages and nothing else; they are given back.
//  7. A node has at most 96 items. One of fewer than 24 is written together with
//     a sibling, unless it has none.
//
// A snapshot is a state with a count of its holders, so that taking one costs the
// same at any version, and reading one does too. Its rows need no look at births
// and deaths afterwards. Readers wait for nobody; one goroutine writes.
//
// # What was kept of the paper, and what was not
//
// The multiversion B-tree of "A GPU Multiversion B-Tree" (Awad's thesis, chapter
// 4) has the newest version of a node in place and older ones in a list behind
// it, changes nodes in place under locks if no snapshot was taken since, keeps
// links to right siblings, and gives nodes back by epochs that each block of
// threads announces.
//
// Kept: a number for each moment, births in the nodes, scans at a snapshot, copying
// instead of waiting, and giving back what no epoch can reach.
//
// Changed: there are no lists. Whoever reads at the oldest of 64 snapshots goes
// through as many nodes as at the latest one; with lists at every level the
// published code is 7.5 times slower there. That makes parents change with their
// children, which the paper avoids because of contention: here a batch has one
// owner for each node, and many changes share their parents. Side links would have
// to be copied along whole levels, and are not needed: a scan keeps its way down.
// Snapshots announce themselves to the index, not only to kernels that run: the
// published code takes nodes away from snapshots that the host holds. There is no
// reserved key, no fixed pool, and running out of memory is an error.
//
// # What was measured
//
// Ten million 64-bit keys with rows, batches of 8,192, one core (of a Xeon of
// 2023), nanoseconds an entry, other packages' trees in the same run (bench,
// subcommand index; its history has the dates):
//
//   - Building 52, lookups 208, ranges of 100 652, insertions 676; the better rival
//     500, 590, 1,709 and 678. Of two cores, 30, 134, 382 and 479.
//   - Lookups at the oldest of 64 held snapshots have 1.0 of the rate at the latest.
//   - 20.4 bytes a key when built, 23.1 after a tenth more at random. Nodes of just
//     their size instead of half-empty ones of one size are what makes that so.
//   - Questions in the order of their keys instead of as they come: 340 to 240.
//   - Reading the lines of 16 old and new nodes ahead before writing: 1,100 to 670.
//   - A random insertion writes some 1.8 KB: 0.8 of its leaf, the rest of parents
//     that only few others share. That is what history costs: an insertion takes
//     as long as tidwall's, and btree, which changes leaves in place, a fraction.
//     Nodes of 32, 48, 64 and 96 items: 1,940, 1,250, 1,100 and 950 (before reading
//     ahead), and lookups 390, 320, 340 and 330.
//   - Entries with births and deaths in the leaves, changed in place, were tried as
//     a log of 8 versioned records at a leaf's head: the leaf's part of an insertion
//     takes 60 instead of the 285 of a copy, that of a lookup 78 instead of 58. It
//     was not taken: a parent's sums cannot be right for every version while its
//     children change without it, so that counts and the room for a scan would
//     take as long as what is counted, and every scan would merge and decide
//     entry by entry. It is what to try first should insertions matter more.
package mvcc
