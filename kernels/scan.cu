// Running sums: see scan.go.
#include "scan.cuh"

// A warp has ROWS rows of 16 bytes a lane, one after the other; a tile is all
// rows of a block's warps.
#define ROWS 8

template <typename T>
struct Row {
  static constexpr u32 V = 16 / sizeof(T);
  Pack<T, V> v;

  // load reads the values from i on, zeros beyond n.
  INLINE void load(Ptr p, u64 i, u64 n, bool whole) {
    if (whole) {
      v = *at<Pack<T, V>>(p + i * sizeof(T));
      return;
    }
    UNROLL for (u32 j = 0; j < V; j++) v.v[j] = i + j < n ? at<T>(p)[i + j] : T(0);
  }

  INLINE u64 sum() const {
    u64 s = 0;
    UNROLL for (u32 j = 0; j < V; j++) s += v.v[j];
    return s;
  }

  // store writes, for each value, the sum of those before it.
  INLINE void store(Ptr p, u64 i, u64 n, bool whole, u64 before) {
    Pack<T, V> out;
    UNROLL for (u32 j = 0; j < V; j++) {
      out.v[j] = T(before);
      before += v.v[j];
    }
    if (whole) {
      *at<Pack<T, V>>(p + i * sizeof(T)) = out;
      return;
    }
    UNROLL for (u32 j = 0; j < V; j++) {
      if (i + j < n) at<T>(p)[i + j] = out.v[j];
    }
  }
};

template <typename T>
INLINE void scan(const scanArgs &a, u64 n) {
  constexpr u32 W = BLOCK / WARP, row = WARP * Row<T>::V;
  constexpr u64 all = u64(W) * ROWS * row;
  SHARED(u64, sums, WARP);
  const u32 tile = blocks() == 1 ? 0 : take_tile(at<u32>(a.State));
  const u64 base = tile * all, first = base + warp() * ROWS * row + lane() * Row<T>::V;
  const bool whole = base + all <= n && (a.In | a.Out) % 16 == 0;
  Row<T> rows[ROWS];
  UNROLL for (u32 k = 0; k < ROWS; k++) rows[k].load(a.In, first + k * row, n, whole);
  // before is the sum before each row of this lane, within the warp.
  u64 before[ROWS], own = 0;
  UNROLL for (u32 k = 0; k < ROWS; k++) {
    const u64 s = rows[k].sum(), upto = warp_scan(s, Add());
    before[k] = own + upto - s;
    own += shfl(upto, WARP - 1);
  }
  if (lane() == 0) sums[warp()] = own;
  sync_block();
  if (warp() == 0) {
    const u64 s = lane() < W ? sums[lane()] : 0, upto = warp_scan(s, Add()), sum = shfl(upto, WARP - 1);
    const u64 past = blocks() == 1 ? 0 : look_back_pair(at<TilePair>(a.State + 16), tile, sum);
    sums[lane()] = past + upto - s;
    if (lane() == 0 && base + all >= n) *at<u64>(a.Total) = past + sum;
  }
  sync_block();
  const u64 past = sums[warp()];
  UNROLL for (u32 k = 0; k < ROWS; k++) rows[k].store(a.Out, first + k * row, n, whole, past + before[k]);
}

KERNEL(scan4, scanArgs, BLOCK, ROWS * 4 * BLOCK) { scan<u32>(a, n); }
KERNEL(scan8, scanArgs, BLOCK, ROWS * 2 * BLOCK) { scan<u64>(a, n); }
