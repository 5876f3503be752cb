// Sums over all blocks in one pass: each block publishes its own sum, then the
// sum of all before it, which it finds by looking back.
//
//	tile:      0      1      2      3      4
//	word:    upto   upto    own    own    none yet
//	                  ▲─────────────┘ tile 3 adds own 2 and upto 1: its before
//
// A tile's number is drawn from a counter, so that the tiles before it belong to
// blocks that run already: nobody waits for a block that may not be running.
// Value and state are in one word, hence accesses are relaxed: no other memory
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

// TileWords are the tiles' words for sums below 2^62, such as numbers of rows.
struct TileWords {
  u64 *words;

  INLINE void put(u32 tile, u64 state, u64 sum) const { st_relaxed(&words[tile], state | sum); }
  // get gives a tile's state, 0 when it has none yet.
  INLINE u64 get(i64 tile, u64 &sum) const {
    const u64 w = ld_relaxed(&words[tile]);
    sum = w & tile_sum;
    return w & ~tile_sum;
  }
};

// TilePairs are for sums of all 64 bits, which may wrap: two words a tile, each
// with the state and a half. Where states differ, somebody writes just now.
struct TilePairs {
  Pack<u64, 2> *pairs;

  INLINE void put(u32 tile, u64 state, u64 sum) const {
    st_relaxed(&pairs[tile], {{state | (sum & 0xffffffff), state | sum >> 32}});
  }
  INLINE u64 get(i64 tile, u64 &sum) const {
    const Pack<u64, 2> p = ld_relaxed(&pairs[tile]);
    sum = p.v[1] << 32 | (p.v[0] & 0xffffffff);
    return (p.v[0] ^ p.v[1]) >> 62 ? 0 : p.v[0] & ~tile_sum;
  }
};

// look_back publishes a tile's sum, and gives the sum of all tiles before. What
// it publishes in is 0 before the launch. One warp calls it. (To read the words
// of several warps at once, for fewer rounds, was slower.)
template <typename P>
INLINE u64 look_back(P words, u32 tile, u64 sum) {
  if (tile == 0) {
    if (lane() == 0) words.put(0, tile_upto, sum);
    return 0;
  }
  if (lane() == 0) words.put(tile, tile_own, sum);
  u64 before = 0;
  u32 upto = 0;
  for (i64 t = i64(tile) - 1 - lane(); upto == 0; t -= WARP) {
    u64 v = 0, state = t < 0 ? tile_upto : words.get(t, v);
    while (any(state == 0)) {
      nap();
      if (state == 0) state = words.get(t, v);
    }
    // Sums of their own, up to and with the first that is of all.
    upto = ballot(state == tile_upto);
    if (upto == 0 || lane() <= ctz(upto)) before += v;
  }
  before = warp_reduce(before, Add());
  if (lane() == 0) words.put(tile, tile_upto, before + sum);
  return before;
}
