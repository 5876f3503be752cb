// Changes in order, and what they do: see tree_write.go.
#pragma once

#include "tree.cuh"

INLINE u64 index_of(Ptr index, u64 i) { return index ? u64(at<u32>(index)[i]) : i; }

template <typename W>
INLINE W item_word(const TreeItems &x, u64 i) { return *at<W>(x.Words + i * x.Stride); }
INLINE u64 item_row(const TreeItems &x, u64 i) { return x.Rows32 ? u64(at<u32>(x.Rows)[i]) : at<u64>(x.Rows)[i]; }
INLINE Ptr item_rest(const TreeItems &x, u64 i) { return x.Keys + index_of(x.Index, i) * x.KeySize + 8; }
INLINE u32 item_op(const TreeItems &x, u64 i) { return x.Ops ? u32(at<u8>(x.Ops)[index_of(x.Index, i)]) : x.Op; }

constexpr u32 op_delete = 1, op_upsert = 2; // index.Op

template <typename W>
INLINE bool same_key(const TreeForm &f, const TreeItems &x, u64 i, u64 j) {
  return item_word<W>(x, i) == item_word<W>(x, j) && (f.Rest == 0 || compare_rest(f, item_rest(x, i), item_rest(x, j)) == 0);
}

// removes says whether a change takes its entry away: an upsert behind it does too.
INLINE bool removes(const TreeItems &x, u64 i) {
  return item_op(x, i) == op_delete ||
         (x.Upserts && u32(index_of(x.Index, i)) + 1 < at<u32>(x.Upserts)[at<u32>(x.Same)[i]]);
}

// Part is one of the leaves that a group's entries go to, and those of them that do.
struct Part { u32 leaf, begin, end; };

// part_of is where entry number rank of a group goes. They are spread evenly.
INLINE Part part_of(const treeGroup &g, u32 rank) {
  if (g.Leaves == 1) return {0, 0, g.Count};
  const u32 j = u32(((u64(rank) + 1) * g.Leaves - 1) / g.Count);
  return {j, u32(u64(g.Count) * j / g.Leaves), u32(u64(g.Count) * (j + 1) / g.Leaves)};
}

// leaves_of is in how many leaves so many entries go: many are packed, and few
// are split in the middle.
INLINE u32 leaves_of(u32 count) {
  return (count + (count > 2 * TreeLeaf ? treeFill : TreeLeaf) - 1) / (count > 2 * TreeLeaf ? treeFill : TreeLeaf);
}

struct Or { INLINE u64 operator()(u64 a, u64 b) const { return a | b; } };

// note_bits adds the bits that a block has met of a word, and those that some have
// not. Most blocks have nothing to add.
INLINE void note_bits(TreeFacts *out, u32 w, u64 bits, u64 nots) {
  bits = block_reduce<BLOCK>(bits, Or());
  nots = block_reduce<BLOCK>(nots, Or());
  if (thread() != 0) return;
  if (bits & ~ld_relaxed(&out->Or[w])) atomic_or(&out->Or[w], bits);
  if (nots & ~ld_relaxed(&out->Not[w])) atomic_or(&out->Not[w], nots);
}
