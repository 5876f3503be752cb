// The rows that a condition takes, in order: see select.go.
#include "scan.cuh"

// A tile is what a block takes: PARTS times 16 rows a thread. A warp has a run of
// them, of which each part is 512 rows.
#define PART (16 * BLOCK)
#define PARTS 8

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
template <typename A, typename M>
INLINE void select(const A &a, u64 n, M mask) {
  constexpr u32 WARPS = BLOCK / WARP, RUN = 16 * WARP;
  SHARED(u32, rows, WARPS * RUN);
  SHARED(u32, sums, WARPS);
  SHARED(u64, place, 1);
  const u32 tile = blocks() == 1 ? 0 : take_tile(at<u32>(a.State));
  const u64 base = u64(tile) * PARTS * PART, mine = base + warp() * (PARTS * RUN) + 16 * lane();
  // A part of a warp has no more rows than 16 bits count: four parts are counted at once.
  u32 m[PARTS];
  u64 count[PARTS / 4] = {}, upto[PARTS / 4], all[PARTS / 4];
  u32 sum = 0;
  UNROLL for (u32 p = 0; p < PARTS; p++) m[p] = mine + p * RUN < n ? mask(mine + p * RUN) : 0;
  UNROLL for (u32 p = 0; p < PARTS; p++) count[p / 4] |= u64(popc(m[p])) << 16 * (p % 4);
  UNROLL for (u32 q = 0; q < PARTS / 4; q++) {
    upto[q] = warp_scan(count[q], Add());
    all[q] = shfl(upto[q], WARP - 1);
    UNROLL for (u32 p = 0; p < 4; p++) sum += u32(all[q] >> 16 * p) & 0xffff;
  }
  if (lane() == 0) sums[warp()] = sum;
  sync_block();
  u32 before = 0, block_sum = 0;
  UNROLL for (u32 w = 0; w < WARPS; w++) {
    if (w == warp()) before = block_sum;
    block_sum += sums[w];
  }
  if (warp() == 0) {
    const u64 past = blocks() == 1 ? 0 : look_back(TileWords{at<u64>(a.State) + 1}, tile, block_sum);
    if (lane() == 0) {
      place[0] = past;
      if (base + PARTS * PART >= n) *at<u64>(a.Count) = past + block_sum;
    }
  }
  // The numbers of a part come together in shared memory; those of all parts, where
  // they are few.
  u32 *const own = rows + warp() * RUN;
  auto put = [&](u32 p, u32 from) {
    for (u32 k = from + (u32((upto[p / 4] - count[p / 4]) >> 16 * (p % 4)) & 0xffff), left = m[p]; left; left &= left - 1) {
      own[k++] = u32(mine) + p * RUN + ctz(left);
    }
  };
  sync_block();
  u32 *out = at<u32>(a.Out) + place[0] + before;
  const bool few = sum <= RUN;
  u32 done = 0;
  UNROLL for (u32 p = 0; p < PARTS; p++) {
    const u32 here = u32(all[p / 4] >> 16 * (p % 4)) & 0xffff;
    put(p, few ? done : 0);
    done += here;
    if (few && p + 1 < PARTS) continue;
    sync_warp();
    const u32 most = few ? sum : here;
    for (u32 i = lane(); i < most; i += WARP) out[i] = own[i];
    sync_warp();
    out += here;
  }
}

// half is bits i to i+16 of a bitmap, ones without one.
INLINE u32 half(Ptr bitmap, u64 i) { return bitmap ? at<u16>(bitmap)[i / 16] : 0xffff; }

INLINE u32 upto(u64 i, u64 n) { return n - i >= 16 ? 0xffff : (1u << (n - i)) - 1; }

KERNEL(select_true, selectArgs, BLOCK, PARTS * PART) {
  select(a, n, [&](u64 i) { return low_bits(a.Pred.Data, i, n) & half(a.Pred.Valid, i); });
}

KERNEL(select_not_true, selectArgs, BLOCK, PARTS * PART) {
  select(a, n, [&](u64 i) { return ~(low_bits(a.Pred.Data, i, n) & half(a.Pred.Valid, i)) & upto(i, n); });
}

// The bitmap begins at any bit: DictLen says at which.
KERNEL(select_bits, selectArgs, BLOCK, PARTS * PART) {
  const u32 *words = at<u32>(a.Mask);
  const u64 last = (a.Pred.DictLen + n - 1) / 32;
  select(a, n, [&](u64 i) {
    const u64 bit = a.Pred.DictLen + i, w = bit / 32;
    const u64 both = words[w] | u64(w < last ? words[w + 1] : 0) << 32;
    return u32(both >> (bit % 32)) & upto(i, n);
  });
}

KERNEL(select_part, partArgs, BLOCK, PARTS * PART) {
  const u64 *hashes = at<u64>(a.Hashes);
  select(a, n, [&](u64 i) {
    u32 m = 0;
    for (u32 k = 0; k < 16 && i + k < n; k++) m |= u32((hashes[i + k] >> 32) * a.Parts >> 32 == a.Part) << k;
    return m;
  });
}

KERNEL(where_true, selectArgs, BLOCK, 8 * BLOCK) {
  const u8 *pred = at<u8>(a.Pred.Data);
  bits<8>(n, at<u32>(a.Out), [&](u64 i) { return pred[i] & 1 && bit(a.Pred.Valid, i) && bit(a.Mask, i); });
}
