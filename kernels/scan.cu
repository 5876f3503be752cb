// Running sums: see scan.go.
#include "scan.cuh"

// A thread sums PACKS times 16 bytes that lie one after the other. They come and
// go by way of shared memory, where each thread's are followed by 16 bytes that
// nobody uses: threads side by side then meet different banks.
#define PACKS 8

INLINE u32 padded(u32 pack) { return pack + pack / PACKS; }

template <typename T>
INLINE void scan(const scanArgs &a, u64 n) {
  constexpr u32 V = 16 / sizeof(T);
  constexpr u64 items = PACKS * V * BLOCK;
  typedef Pack<T, V> P;
  SHARED(P, packs, (PACKS + 1) * BLOCK);
  SHARED(u64, place, 1);
  const u32 tile = blocks() == 1 ? 0 : take_tile(at<u32>(a.State));
  const u64 base = tile * items;
  const bool whole = base + items <= n && (a.In | a.Out) % 16 == 0;

  if (whole) {
    P v[PACKS];
    UNROLL for (u32 k = 0; k < PACKS; k++) v[k] = at<P>(a.In + base * sizeof(T))[k * BLOCK + thread()];
    UNROLL for (u32 k = 0; k < PACKS; k++) packs[padded(k * BLOCK + thread())] = v[k];
  } else {
    for (u32 i = thread(); i < items; i += BLOCK) {
      packs[padded(i / V)].v[i % V] = base + i < n ? at<T>(a.In)[base + i] : T(0);
    }
  }
  sync_block();
  P *mine = packs + thread() * (PACKS + 1);
  u64 own = 0, all;
  UNROLL for (u32 k = 0; k < PACKS; k++) {
    const P p = mine[k];
    UNROLL for (u32 j = 0; j < V; j++) own += p.v[j];
  }
  u64 sum = block_scan<BLOCK>(own, Add(), u64(0), all);
  if (warp() == 0) {
    const u64 past = blocks() == 1 ? 0 : look_back(TilePairs{at<Pack<u64, 2>>(a.State + 16)}, tile, all);
    if (lane() == 0) {
      place[0] = past;
      if (base + items >= n) *at<u64>(a.Total) = past + all;
    }
  }
  sync_block();
  sum += place[0];
  UNROLL for (u32 k = 0; k < PACKS; k++) {
    P p = mine[k];
    UNROLL for (u32 j = 0; j < V; j++) {
      const T v = p.v[j];
      p.v[j] = T(sum);
      sum += v;
    }
    mine[k] = p;
  }
  sync_block();
  if (whole) {
    UNROLL for (u32 k = 0; k < PACKS; k++) {
      at<P>(a.Out + base * sizeof(T))[k * BLOCK + thread()] = packs[padded(k * BLOCK + thread())];
    }
  } else {
    for (u32 i = thread(); i < items && base + i < n; i += BLOCK) at<T>(a.Out)[base + i] = packs[padded(i / V)].v[i % V];
  }
}

KERNEL(scan4, scanArgs, BLOCK, PACKS * 4 * BLOCK) { scan<u32>(a, n); }
KERNEL(scan8, scanArgs, BLOCK, PACKS * 2 * BLOCK) { scan<u64>(a, n); }
