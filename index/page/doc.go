// Package page is the memory of an index: pages of any size in a device's
// memory, each addressed by a 32-bit number.
//
//	number   = slot << 11 | unit                    a unit is 64 bytes: 256 GiB in all
//	address  = Table[slot] + unit*64                one load more than a pointer
//
//	block    1 to 32 slots, one Buffer             larger blocks as the store grows
//	  slot   128 KiB, 16 chunks                     what the table has an address for
//	    chunk  8 KiB, pages of one size             a bit each, in a word
//	      page   2, 4, 6 ... 128 units              above: whole chunks, or whole blocks
//
// Invariants:
//
//  1. Number 0 is no page: slot 0 is never used.
//  2. A page never moves, and neither does a block. What a reader reaches
//     through a table, an old one too, stays where it is until it is given back.
//  3. Take gives all of the pages asked for or none, and leaves the store as it
//     was when it fails.
//  4. A chunk without pages belongs to no size, and a block without pages goes
//     back to the allocator: giving pages back gives memory back.
//  5. A page has at most a third more than was asked for, mostly less than an
//     eighth; where pages of a size up to three classes larger are free, one of
//     these is taken before new memory is.
//
// Who may still read a page is not known here: a page is given back when nobody
// does. Package mvcc says how it knows.
package page
