// Package change brings a batch of changes into the order of an index, each
// entry once.
//
//	index.Entries, as they came            Sorted, ascending by (key, row)
//	  (k2, 7) insert                         (k1, 4) delete
//	  (k1, 4) insert            ──▶          (k2, 9) insert, clear
//	  (k2, 9) upsert                            │
//	  (k1, 4) delete                            └ first all that the index has of k2 goes
//
// Invariants:
//
//  1. The outcome means what the entries would one after the other: the last
//     change of an entry wins, and what stands before an upsert of the same key
//     is forgotten.
//  2. Changes of a key with an upsert among them all have the bit Clear; those
//     of other keys have none. One that only clears is a deletion.
//  3. A batch that is in order and free of repetition already is not copied.
//
// The order is found by the words of the keys, the first first: those that
// differ in a few leading bits are spread by these, few are inserted one by one,
// and only keys with equal words are looked at again.
package change
