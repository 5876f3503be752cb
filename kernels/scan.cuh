// Sums over all blocks in one pass: each block publishes its own sum, then the
// sum of all before it, which it finds by looking back.
//
//	tile:      0      1      2      3      4
//	word:    upto   upto    own    own    none yet
//	                  ▲─────────────┘ tile 3 adds own 2 and upto 1: its before
//
// A tile's number is drawn from a counter, so that the tiles before it belong to
// blocks that run already: nobody waits for a block that may not be running.
// Value and state are one word, hence accesses are relaxed: no other memory
// hangs on them.
#pragma once

#include "block.cuh"

// Of a tile's word: the two highest bits are its state, the others a sum.
constexpr u64 tile_own = u64(1) << 62, tile_upto = u64(2) << 62, tile_sum = tile_own - 1;

// take_tile draws this block's tile number; first is 0 before the launch.
INLINE u32 take_tile(u32 *first) {
  SHARED(u32, tile, 1);
  if (thread() == 0) tile[0] = atomic_add(first, 1);
  sync_block();
  return tile[0];
}

// look_back publishes a tile's sum, below 2^62, and gives the sum of all tiles
// before. Words are 0 before the launch. One warp calls it.
INLINE u64 look_back(u64 *words, u32 tile, u64 sum) {
  if (tile == 0) {
    if (lane() == 0) st_relaxed(&words[0], tile_upto | sum);
    return 0;
  }
  if (lane() == 0) st_relaxed(&words[tile], tile_own | sum);
  u64 before = 0;
  for (i64 last = i64(tile) - 1;; last -= WARP) {
    const i64 t = last - lane();
    u64 w = t < 0 ? tile_upto : ld_relaxed(&words[t]);
    while (any(w < tile_own)) {
      nap();
      if (w < tile_own) w = ld_relaxed(&words[t]);
    }
    // Sums of their own, up to and with the first that is of all.
    const u32 upto = ballot(w >= tile_upto);
    const bool counts = upto == 0 || lane() <= ctz(upto);
    before += warp_reduce(counts ? w & tile_sum : u64(0), Add());
    if (upto != 0) break;
  }
  if (lane() == 0) st_relaxed(&words[tile], tile_upto | (before + sum));
  return before;
}

// TilePair is a tile's words for sums of all 64 bits: each has the state and
// half of the sum. Words of different states are read again.
struct TilePair {
  u64 lo, hi;
};

INLINE void put_pair(TilePair *p, u64 state, u64 sum) {
  st_relaxed(&p->lo, state | (sum & 0xffffffff));
  st_relaxed(&p->hi, state | sum >> 32);
}

// get_pair gives the state, 0 where it is not settled.
INLINE u64 get_pair(const TilePair *p, u64 &sum) {
  const u64 lo = ld_relaxed(&p->lo), hi = ld_relaxed(&p->hi);
  sum = hi << 32 | (lo & 0xffffffff);
  return (lo ^ hi) >> 62 ? 0 : lo & ~tile_sum;
}

// look_back_pair is look_back for sums of 64 bits, which may wrap.
INLINE u64 look_back_pair(TilePair *words, u32 tile, u64 sum) {
  if (tile == 0) {
    if (lane() == 0) put_pair(&words[0], tile_upto, sum);
    return 0;
  }
  if (lane() == 0) put_pair(&words[tile], tile_own, sum);
  u64 before = 0;
  for (i64 last = i64(tile) - 1;; last -= WARP) {
    const i64 t = last - lane();
    u64 v = 0;
    u64 state = t < 0 ? tile_upto : get_pair(&words[t], v);
    while (any(state == 0)) {
      nap();
      if (state == 0) state = get_pair(&words[t], v);
    }
    const u32 upto = ballot(state == tile_upto);
    const bool counts = upto == 0 || lane() <= ctz(upto);
    before += warp_reduce(counts ? v : u64(0), Add());
    if (upto != 0) break;
  }
  if (lane() == 0) put_pair(&words[tile], tile_upto, before + sum);
  return before;
}
