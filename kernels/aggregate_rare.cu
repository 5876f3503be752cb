// Aggregates whose states take more than an atomic: see aggregate.cuh.
#include "aggregate.cuh"

AGGREGATE(product, Product)
AGGREGATE(bits, BitFold)
AGGREGATE(cell, Cell)
AGGREGATE(moments, Moments)
AGGREGATE(pairs, Pairs)

// A string that came into a state is still its batch's: agg_borrowed finds, for
// each row, whether its group's is one that no other row's group had before, and
// how many bytes these have; agg_own copies them to Base. Size is 0 before.
KERNEL(agg_borrowed, aggOwnLaunch, BLOCK, BLOCK) {
  Cell *cells = at<Cell>(a.State);
  const u64 i = u64(block()) * BLOCK + thread();
  bool mine = false;
  u64 size = 0;
  if (i < n) {
    Cell &c = cells[a.IDs ? at<u32>(a.IDs)[i] : 0];
    mine = (ld_relaxed(&c.seen) & cell_borrowed) && (atomic_and(&c.seen, ~cell_borrowed) & cell_borrowed);
    if (mine) size = u32(c.lo);
  }
  const u32 word = ballot(mine);
  if (lane() == 0 && i < (n + 63) / 64 * 64) at<u32>(a.Rows)[i / 32] = word;
  size = block_reduce<BLOCK>(size, Add());
  if (thread() == 0 && size != 0) atomic_add(at<u64>(a.Size), size);
}

KERNEL(agg_own, aggOwnLaunch, BLOCK, BLOCK) {
  Cell *cells = at<Cell>(a.State);
  const u64 i = u64(block()) * BLOCK + thread();
  const bool mine = i < n && bit(a.Rows, i);
  Ptr from = 0, to = 0;
  u64 size = 0;
  if (mine) {
    Cell &c = cells[a.IDs ? at<u32>(a.IDs)[i] : 0];
    size = u32(c.lo);
    from = c.hi;
    to = c.hi = a.Base + atomic_add(at<u64>(a.Size), size);
  }
  for (u32 left = ballot(mine); left != 0; left &= left - 1) {
    const u32 who = ctz(left);
    const u8 *src = at<u8>(shfl(from, who));
    u8 *dst = at<u8>(shfl(to, who));
    const u64 bytes = shfl(size, who);
    for (u64 b = lane(); b < bytes; b += WARP) dst[b] = src[b];
  }
}
