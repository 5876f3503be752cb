// Package btree is an ordered index in memory: a B+tree whose nodes are never
// changed once a snapshot can reach them.
//
//	root ──▶ inner [ . | k1,r1 | k2,r2 ]        Apply sorts its batch and walks it
//	            │        │       │               down the tree once; the nodes on the
//	          leaf     leaf    leaf              way are written anew, and the new root
//	          k r k r  k r     k r ...           is published at the end. Old roots are
//	                                             the snapshots; the collector ends them.
//
// Invariants:
//
//  1. Every leaf has the same depth. Entries ascend by (key, row) through the leaves.
//  2. A separator is the first entry of the subtree on its right.
//  3. A node has 1 to 128 entries or children. Deletions join one that falls
//     below 32 with a neighbour under the same parent.
//  4. A published node is never written to.
package btree
