// Package wide is ordered indexes in a GPU's memory: a tree as wide as its memory
// is, of which every batch makes a new state, and levels of such trees.
//
// # btree and mvcc: a tree
//
//	state 41                     state 42 = latest
//	levels  [. .]                [. .]          16 words a node: last words of children,
//	        [....|....]          [.....|....]   which are where the words stand
//	last    [k k k k k k k]      [k k K K k k k k]     of each leaf: its last word,
//	refs    [a b c d e f g]      [a b c'C d e f g]     its slot and length,
//	sums    [0 9 ......   ]      [0 9 .......    ]     the entries before it
//	         │ │ │ └───────────────│─│─┘ │
//	slots   [a][b][c]            [c'][C]           leaves of up to 16 entries:
//	                                               first words | other words | rows
//
// A state is a directory, which is written anew by every batch, and leaves, which
// states share: a batch writes the leaves that it changes to free slots. There is
// no inner structure to be kept, so there is none to be locked, split or merged:
// on a GPU the directory, a twelfth of the whole, is written in the time of two
// dozen launches, of which a batch needs that many anyway.
//
//	Apply   order ─ locate ─ group ─ plan ─▶ totals ─▶ memory ─ directory ─ scatter ─ levels ─▶ publish
//	        what each change does, and where    │       what is written is known to nobody
//	                                         the host waits once, and again at the end
//
// That is for batches of more changes than leaves, that lie close together, or have upserts.
// One whose changes leaves have few of each is applied as it came (direct.go):
//
//	Apply   memory ─ meet ─ settle ─▶ totals ─▶ publish
//	                   │       └ a block writes what becomes of its leaves, where that is
//	                   │         known from the blocks before it, the nodes above too
//	                   └ each change finds its leaf, and is hung to its list
//
// in two launches and one wait: memory for what is written is found before anybody
// knows how much that is, by what the last batch took; settle counts on where it runs
// out of it, and all is done again. Lists are clear from the batch before. Those that are
// too long, an upsert or a row of more than 32 bits are found on the way, and have the
// batch go the other way.
//
// # lsm: levels
//
//	stack 7, the newest run first            stack 8 = current
//	  run  [k k k.]                          run  [k k k k k k k.]   leaves of 16 side by side,
//	  run  [k k k k k k k k k k k k k.]           ───────────┐       the levels of a tree above,
//	  run  [k k k k k k k ...         ]      run  [k k k ... ]       dead bits, and sums where there are any
//
//	Apply   order ─ resolve ─▶ totals ─ write ─ merge, merge ... ─▶ publish
//	        is it there?           │    the batch as a run   with runs not much larger
//
// A run is a packed tree: of its leaves all but the last are full, so that their
// places need no directory, and all that reads a tree reads a run; one run is read
// as a tree. An entry of a run is a change of the set of (key, row) pairs, as in
// package index/lsm: a live one adds a pair that is not there, a dead one takes one
// away that is. So a range's entries are counted by places and sums, whatever its
// size, and a live and a dead entry that meet in a merge both go. A batch whose
// rows are above all that were, as a table's new rows are, need not be resolved.
// Whether they are is known to the GPU: a batch is taken to be like the last one, and
// what it was like is looked at in the wait at its end (levels_likely.go). Those of up to
// a million changes are then not sorted by digits but in buckets, in two launches and
// together with up to two small runs that they would be merged with (kernels.RunsBatch).
//
// Ranges of several runs are merged in pieces, a thread each: one begins where its
// range does or at an entry whose number is a multiple of 32 in its run, and ends
// before the next such entry of any run. So it has at most 32 entries of each run,
// whatever the keys are, and where its answers go is known from the places at which
// it begins. A lookup adds up what all runs say of its key, and the rows by
// exclusive or, in which pairs that were taken away cancel each other out.
//
// Invariants:
//
//  1. Leaves have 1 to 16 entries, all different, ascending by key and row through
//     all leaves of a state.
//  2. Of a state, the directory says of each leaf what it is: the last entry's
//     first word, slot, length, and how many entries there are before it. A level
//     has the last word of each node of the one below. What fills up a node is
//     never counted, and so no word is reserved.
//  3. A state and all that it reaches never changes after it is published, and
//     it is published when the GPU is done with it.
//  4. A slot is in the latest state, or once in the ring. Slots of the ring from
//     the tail of the oldest state on may be read by a state, and are not taken.
//  5. A state is kept while it is the latest, while a snapshot holds it, and, with
//     history, while a version asks for it: it is what the last batch up to that
//     version made.
//  6. A batch that fails has written memory that no state has, and changed no
//     number that the next batch reads.
//  7. Tails of long keys are copied to chunks that states or stacks share, and that
//     go with the last one that has one.
//  8. Of the entries of one pair in all runs, from the oldest to the newest, the
//     first is live, and live and dead ones alternate. The oldest run has no dead
//     ones.
//  9. A run has more than five times the entries of the next newer one, small ones
//     counted as 16,384; and there are at most kernels.MaxRuns.
//  10. Runs and stacks never change. Apply and Prune write to nobody's memory until
//     they publish, and cannot fail after that.
//
// A place is found by first words alone: the first leaf whose last word is not
// below. Only where many leaves end with the same word, rows of one key or
// strings with eight common bytes, are the others told apart by what their last
// entry is, by halving. Lookups of one-word keys are one launch as long as each
// has one row: four lanes a key and two keys at once, each lane with one or two
// loads of 16 bytes a node. Where some key has none or many a second launch puts
// in order what the first has found.
//
// Ranks come from the sums, so counting a range takes two ways down however long
// it is. A scan's answers are written by ranges, 2 to 16 of them a warp, where these
// are of about one length; or else by warps that take 512 answers, whatever ranges
// they are of.
//
// btree and mvcc are this one structure. The latter keeps states for versions; a
// snapshot at any of them reads as fast as the latest, because it is a tree like
// any other. Prune forgets states, and writes all entries to full leaves when the
// state left over is sparse.
//
// # What was kept of the papers, and what was not
//
// The B-link tree of Awad's thesis (chapter 3) and its multiversion form (chapter
// 4) have nodes of 128 bytes read by 16 lanes, side links, latches and splits on
// the way down, versions as lists at every level, and epochs announced by blocks
// of threads. Kept: nodes of a line; copying instead of waiting; PALM's order of
// a batch (sort, locate, one owner a leaf). Changed: there are no latches, for a
// batch is applied as a whole; no pointers to children, so that a node of 64 bytes
// has 16 words, and four lanes read it with full masks; no lists of
// versions, through which readers at old snapshots go for ever longer; snapshots
// are held by the host, and what they read is not given back; memory grows by
// chunks, and that there is none is an error which leaves everything as it was.
//
// The LSM tree of Ashkiani et al. has levels that double, batches of one size that
// are sorted and merged as they are, tombstones, and ranges that sort all
// candidates. Kept: sorted arrays, whole levels merged at once, which a GPU does at
// the speed of its memory (a hundred million entries take a few milliseconds: there
// is no need to do it by steps as on a CPU); Prune merges some at a time. Changed:
// batches of any size, growth by six, which halves the runs that a reader looks at
// for a half more merging; changes in place of blind writes; ranges without a
// sort. There are no filters: of a key that a small run does not have its directory
// says so from the second cache, and eight keys of a warp would have to agree.
//
// The price of a tree that is written anew: a batch of ten rows writes a directory
// as a batch of a million does, in proportion to the index (12 to 16 bytes for each
// twelve entries), and each state of a history has one. Slots that were given back after an old snapshot
// was taken wait for its release, also those that are younger than it.
//
// # What was measured
//
// One H200, 50 million 32-bit keys and rows (bench/history, 2026-11-22): building
// 20 G/s, lookups 12.9 (16.3 at 16 million), ranges of 8 4.1 and of 1024 0.166,
// appending a million 5.4, inserting a million at random 1.9, ten thousand into 10
// million 0.15, erasing a tenth 2.6; 9.7 bytes a key when built, 16 when grown at random.
// Lookups at the oldest of 64 snapshots are as fast as at the latest, 13. Lookups wait for
// memory, so that as many warps as there is room for are worth more than registers.
//
// lsm, 2^27 keys in batches of 2^20: inserting 4.5 G/s, lookups in two runs 7.4;
// 17 million in batches of 2^16, in three runs: inserting 1.2 to 1.4, lookups 8, ranges of
// 8 1.9, of 1024 0.036; 8.3 bytes a key.
package wide
