// Package btree is an index as a B-tree of pages, changed by batches.
//
//	root {top, height, entries, seq}                      Apply: sort ─ locate ─ leaves ─ plan ─ carry
//	   │
//	inner  [bounds | children]  64 children               Snapshot: a root, and an epoch that
//	   ├──────────┬─────────┐                             keeps what it reads
//	leaf        leaf      leaf   [words | rest | rows], some room in each line
//	                                   └ tails: long keys' ends, in pages of slots
//
//	epoch 7 ──▶ epoch 9 ──▶ newest        what came out of the tree is on the list of
//	  dead        dead                    the newest epoch; at its Release what an older
//	                                      one reads passes on, and the rest is given back
//
// Invariants:
//
//  1. Entries ascend by (key, row), within leaves and over them; leaves are all at
//     one depth. A separator is above the entry before it, not above the one after.
//  2. A node that a batch leaves with less than a quarter of what fits is joined
//     with its neighbours under the same parent; inner nodes have two children at
//     least. Small nodes are the last of a level, and what was alone under a
//     parent that was joined itself: at most one for each parent that went.
//  3. Words where a node has no entry are the greatest there is; the header has the
//     first word of each other line, and a leaf's the number of entries in each
//     (node.go, lines.go).
//  4. A node that is born after the newest held epoch is nobody's but the
//     writer's, and changed in place. Others are never written again.
//  5. Nothing fails after the last memory was taken; leaves that were changed in
//     place before are changed back.
//  6. A node is on one list: of the tree, of one epoch, or of the free pages.
//  7. A tail's uses are its entry and separators of the newest state.
//
// # What is from the papers
//
// Of PALM [1] the shape of Apply is kept: a batch is sorted, its leaves are found,
// each node has one owner and none is latched, changes are carried up level by
// level, and searches go on in groups so that their cache misses overlap. Changed:
//
//   - Leaves are sorted, for scans in order. PALM's are not, and searched by SIMD.
//     So that an insertion moves little, each line of words has room of its own:
//     it touches the header and two lines of a leaf, where one array would be half
//     a leaf, and takes two thirds of the time. Leaves are of one size, and two full
//     ones become three: leaves of many sizes were written anew for one insertion
//     in eight, and left pages of the sizes that were outgrown.
//   - Leaves have 15 lines. Of leaves with 7, of which an eighth was left free, one
//     in eight was full when a tree had grown by a tenth, and splits were a third
//     of an insertion. Twice as many entries are twice as near to their mean, and
//     a fuller page leaves a fifth free for fewer bytes: hardly any is split, and
//     when the tree has grown by a tenth few lines are full and push into others.
//   - A batch is searched from the root down by splitting it among children: a
//     node is looked at once however many entries go there. Nothing has to be
//     handed from one thread to another, for groups of a level are disjoint.
//   - A leaf is searched and changed while it is in the cache, not in two stages.
//   - Underflow joins neighbours under the same parent in the same batch. PALM
//     takes the node's entries out and inserts them again afterwards.
//   - Queries are not in the batch: they have snapshots. PALM's are served before
//     the modifications of their batch.
//
// The B-link tree of Lehman and Yao, and of the GPU trees [0], lets readers pass
// writers by links to the right. Here readers pass writers by not meeting them:
// snapshots read nodes that nobody writes, which gives linearizable scans for any
// number of leaves, and costs a copy of a leaf at its first change after a
// snapshot. A new snapshot waits for an Apply of few entries (smallBatch), which
// may be changing nodes in place; larger ones copy all they change, and let it
// pass.
//
// What is measured, and how, is in bench/history/2026-11-22-index.md.
//
// [0] Awad et al., Engineering a high-performance GPU B-tree, 2019, and A GPU
// multiversion B-tree, 2022.
// [1] Sewall et al., PALM: Parallel architecture-friendly latch-free modifications
// to B+ trees on many-core processors, 2011.
package btree
