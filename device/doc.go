// Package device is a processor with its memory: what runs steps, and where
// columns lie.
//
//	operator ── Alloc ──▶ Scope (a query) over Scope (the database) ─▶ Device ─▶ Buffer
//	    │                    limit, used          limit, used            │
//	    └── Launch(kernel, n, arg) ──▶ Stream ── Host(lo, hi) ───────────┘
//	                                      │   └── split over the cores when n is large
//	                                      └── Code (or Steps) where Host cannot see the memory
//
// Invariants:
//
//  1. A device's memory is never in Go's heap: the collector neither sees nor
//     moves it, and a Ptr may be kept in a Buffer, a View or a Vec.
//  2. A Buffer is aligned to 64 bytes, and released once; Release is a no-op
//     afterwards.
//  3. What a stream is given runs in order. A kernel that panics gives an error
//     (a *KernelError) and leaves the stream usable.
//  4. Pieces of a launch begin at multiples of 64 items.
//  5. Out of memory of the last tier (see Overflow) is an error that says how much was asked for, what is in
//     use, and which setting limits it. Whoever gets it has lost nothing else.
//  6. A closed Scope holds nothing: what its user forgot is given back. A Device
//     that is closed while something of it is in use says so, and then gives
//     that back too.
//  7. A kernel that has no code for a device is an error there that names both;
//     nothing is run somewhere else instead.
//
// With the build tag "invariants" released memory is overwritten, so that a use
// after release is seen by the tests.
package device
