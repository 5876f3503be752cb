// Package lsm is an ordered index for writers: a log-structured merge tree in a
// device's memory, by batches.
//
//	Apply: sort ─▶ deltas ─▶ level of their size ─▶ publish
//
//	state, immutable, the newest run first           run     segments that do not overlap,
//	  level 0  active  [ . ]                                 leads of their first entries
//	  level 1  active  [ . . ]  draining [ . ]       segment 128 KiB: keys | rows | dead bits
//	  level 2  active  [ . . . . ]                           | fences | filter
//	  level 3  active  [ . . . . . . . . . . ]
//	                        ▲        │
//	                        └────────┘ a few segments at a time are merged with
//	                                   what they overlap one level down
//
// An entry of a run is a change of the set of (key, row) pairs: a live one adds
// a pair that is not there, a dead one takes one away that is. So the runs can be
// summed up without being read: how many entries a range has is a difference of
// places, whatever its size, and where a dead entry meets its live one in a merge
// both go at once, at any level.
//
// Invariants:
//
//  1. The entries of a run ascend by (key, row), each pair once; its segments do
//     not overlap.
//  2. Runs, segments and states never change. A state counts who uses it, a run
//     the states and a segment the runs that have it; the last one gives the
//     memory back. Readers take no lock but for the pointer to the state.
//  3. Of the entries of one pair in all runs, from the oldest to the newest, the
//     first is live, and live and dead ones alternate. The oldest run has no
//     dead ones.
//  4. Level i has at most 256*8^i entries, active and draining together, when
//     Apply returns. Entries move only to older lists, and only neighbours in age
//     are merged.
//  5. Apply and Prune write to nobody's memory but their own until they publish,
//     and cannot fail after that.
//  6. A filter knows every key of its segment. Fences are the leads of every 16th
//     entry, and of every 16th of these.
//  7. A step of merging writes what drains of two segments and of at most sixteen
//     that these meet in the older run. How many steps an Apply makes is bounded
//     by the size of its batch, times the growth, a level.
//
// A level is emptied by a sweep: what is active becomes draining, and goes down
// from its least entry on at the pace that the new active one fills. So a merge
// of whole levels, which costs least, is spread over the batches that pay for it,
// and each of its steps is a state that can be read.
//
// # Measured against the GPU LSM (paper 003)
//
// Kept: levels that grow by a factor, sorted arrays, batches sorted by radix and
// merged as they are, tombstones, lookups that go on to an older level only when
// a newer one does not say.
//
// Changed:
//
//   - Batches have any size. Theirs have b entries, short ones are padded; here a
//     batch goes to the first level that has room, with the smaller levels.
//   - Deltas instead of blind writes. Theirs count by sorting all candidates
//     of a range; here a count is
//     two searches a run. The price is a look whether an entry is there, for
//     deletions and for insertions with a row id that is not above all before;
//     a table's new rows are.
//   - Filters of 8 bits a key, a word a key: in a run of 10 million a key that is
//     not there costs 80 ns, one that is there 320. With 10.7 bits it was the same.
//   - Fences: three loads of two lines in place of 23 dependent ones, and 32
//     questions at a time: 770 ns a lookup one by one, 320 together.
//   - Growth by 8 and sweeps: some 5 runs where doubling has 8 and more for the
//     same batches. With growth by 4 a lookup took a seventh more.
//   - Ranges of a few entries are merged run by run without a branch: 2.9 us for
//     100 entries in 6 runs; a choice among the runs for each entry took 5.7.
//   - No pauses: whole levels are never merged at once, nobody waits for clean-up,
//     and entries that took each other away are gone with the merge they met in.
//   - 18 to 20 bytes for a key and a row in place of 32: no second buffer of a
//     level's size is kept, a merge's memory is that of the segments it is at.
//   - Keys of any format: what kernels search by is the lead, the first word; the
//     other words and tails are looked at where leads are equal.
//
// The figures are of one core of a busy machine, 64-bit keys, 10 million of them,
// uniform; bench/history has those of a run.
package lsm
