// The rows that a condition takes, in order: see select.go.
#include "scan.cuh"

// A tile is what a block takes: 16 rows a thread, one after the other.
#define TILE 16 * BLOCK

// nibble is the lowest bits of the four bytes of w.
INLINE u32 nibble(u32 w) { return ((w & 0x01010101) * 0x01020408) >> 24; }

// low_bits are the lowest bits of the n bytes at p from byte i on, at most 16.
// p is aligned, and i a multiple of 16.
INLINE u32 low_bits(Ptr p, u64 i, u64 n) {
  u32 m = 0;
  if (i + 16 <= n) {
    const Quad q = *at<Quad>(p + i);
    UNROLL for (u32 k = 0; k < 4; k++) m |= nibble(q.w[k]) << 4 * k;
  } else {
    for (u32 k = 0; i + k < n; k++) m |= u32(at<u8>(p)[i + k] & 1) << k;
  }
  return m;
}

// select writes the numbers of the rows that mask(i) has ones for: 16 rows from
// row i on, i a multiple of 16, none beyond n.
template <typename M>
INLINE void select(const selectArgs &a, u64 n, M mask) {
  SHARED(u32, rows, 16 * BLOCK);
  SHARED(u64, place, 1);
  u32 *next = at<u32>(a.State);
  u64 *words = at<u64>(a.State) + 1;
  const u32 tile = blocks() == 1 ? 0 : take_tile(next);
  const u64 base = u64(tile) * (TILE), mine = base + 16 * thread();
  u32 m = mine < n ? mask(mine) : 0;
  u32 all;
  u32 k = block_scan<BLOCK>(popc(m), Add(), 0u, all);
  if (warp() == 0 && blocks() > 1) {
    const u64 before = look_back(words, tile, all);
    if (lane() == 0) place[0] = before;
  } else if (thread() == 0) {
    place[0] = 0;
  }
  while (m) {
    rows[k++] = u32(mine) + ctz(m);
    m &= m - 1;
  }
  sync_block();
  u32 *out = at<u32>(a.Out) + place[0];
  for (u32 i = thread(); i < all; i += BLOCK) out[i] = rows[i];
  if (base + (TILE) >= n && thread() == 0) *at<u64>(a.Count) = place[0] + all;
}

// half is bits i to i+16 of a bitmap, ones without one.
INLINE u32 half(Ptr bitmap, u64 i) { return bitmap ? at<u16>(bitmap)[i / 16] : 0xffff; }

INLINE u32 upto(u64 i, u64 n) { return n - i >= 16 ? 0xffff : (1u << (n - i)) - 1; }

KERNEL(select_true, selectArgs, BLOCK, TILE) {
  select(a, n, [&](u64 i) { return low_bits(a.Pred.Data, i, n) & half(a.Pred.Valid, i); });
}

KERNEL(select_not_true, selectArgs, BLOCK, TILE) {
  select(a, n, [&](u64 i) { return ~(low_bits(a.Pred.Data, i, n) & half(a.Pred.Valid, i)) & upto(i, n); });
}

// The bitmap begins at any bit: DictLen says at which.
KERNEL(select_bits, selectArgs, BLOCK, TILE) {
  const u32 *words = at<u32>(a.Mask);
  const u64 last = (a.Pred.DictLen + n - 1) / 32;
  select(a, n, [&](u64 i) {
    const u64 bit = a.Pred.DictLen + i, w = bit / 32;
    const u64 both = words[w] | u64(w < last ? words[w + 1] : 0) << 32;
    return u32(both >> (bit % 32)) & upto(i, n);
  });
}

KERNEL(where_true, selectArgs, BLOCK, 8 * BLOCK) {
  const u8 *pred = at<u8>(a.Pred.Data);
  bits<8>(n, at<u32>(a.Out), [&](u64 i) { return pred[i] & 1 && bit(a.Pred.Valid, i) && bit(a.Mask, i); });
}
