// Package mirror keeps columns of tables in the memory of a device that does not
// see the host's, where tables lie.
//
//	table   segment 0 │ segment 1 │ segment 2 │ segment 3 │ segment 4 ...
//	          └────────── run of 2 ──┘             └ open: by itself
//	                     │ Pin: the first use uploads a column of a run
//	device          [ column 0 ][ column 2 ]       copies stay while there is room
//
// A run is as many segments as make a batch of the device, so that a scan gives
// columns of millions of rows as they lie there. Which rows a snapshot sees is
// said by the host's births and deaths, and is not mirrored.
//
// Invariants:
//
//  1. Only settled rows are mirrored: they never change. A segment with rows that
//     may still be taken back is copied for one query, and forgotten; so is a
//     column that finds no room, into memory that the query has.
//  2. A copy has a key: the run's segments and the column. A segment that grew
//     makes a new copy; the old one stays for those who have pinned it.
//  3. A pinned copy stays. Any other goes when memory is short, the one used
//     longest ago first, or when a segment of its goes.
//  4. Two that ask for the same column upload it once: the second waits.
//  5. An upload is done before anybody else may read it.
package mirror
