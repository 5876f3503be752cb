// What the threads of a block do together, in the words of warp.cuh.
#pragma once

#include "warp.cuh"
#include "layout.cuh"

// BLOCK is the threads of a block, where nothing speaks for another number. What
// KERNEL is given is a number to Go too: macros, no names of C++.
#define BLOCK 256

// each calls f for items 0 to n, K a thread and round, neighbours side by side.
// Any grid covers them.
template <u32 K, typename F>
INLINE void each(u64 n, F f) {
  for (u64 base = (u64)block() * (K * BLOCK); base < n; base += (u64)blocks() * (K * BLOCK)) {
    UNROLL for (u32 k = 0; k < K; k++) {
      const u64 i = base + k * BLOCK + thread();
      if (i < n) f(i);
    }
  }
}

// move gives store what load returns for items 0 to n. The K loads of a thread
// come before its first store, and overlap: what is stored is not loaded again.
template <u32 K, typename L, typename S>
INLINE void move(u64 n, L load, S store) {
  for (u64 base = (u64)block() * (K * BLOCK); base < n; base += (u64)blocks() * (K * BLOCK)) {
    const u64 first = base + thread();
    decltype(load(u64(0))) v[K];
    if (base + K * BLOCK <= n) {
      UNROLL for (u32 k = 0; k < K; k++) v[k] = load(first + k * BLOCK);
      UNROLL for (u32 k = 0; k < K; k++) store(first + k * BLOCK, v[k]);
    } else {
      UNROLL for (u32 k = 0; k < K; k++) {
        if (first + k * BLOCK < n) v[k] = load(first + k * BLOCK);
      }
      UNROLL for (u32 k = 0; k < K; k++) {
        if (first + k * BLOCK < n) store(first + k * BLOCK, v[k]);
      }
    }
  }
}

// bits writes a bitmap of n rows, in whole words of 64: bit i is f(i), and 0
// beyond the last row.
template <u32 K, typename F>
INLINE void bits(u64 n, u32 *out, F f) {
  const u64 end = (n + 63) / 64 * 64;
  for (u64 base = (u64)block() * (K * BLOCK); base < end; base += (u64)blocks() * (K * BLOCK)) {
    bool p[K];
    UNROLL for (u32 k = 0; k < K; k++) {
      const u64 i = base + k * BLOCK + thread();
      p[k] = i < n && f(i);
    }
    UNROLL for (u32 k = 0; k < K; k++) {
      const u64 i = base + k * BLOCK + thread();
      const u32 w = ballot(p[k]);
      if (lane() == 0 && i < end) out[i / 32] = w;
    }
  }
}

// bit reads bit i of a bitmap; a bitmap at 0 is all ones.
INLINE u32 bit(Ptr bitmap, u64 i) { return bitmap ? at<u32>(bitmap)[i / 32] >> (i % 32) & 1 : 1; }

// fail reports to a stream's status block; the first report stays.
INLINE void fail(Ptr status, u32 code, u32 line, u64 a = 0, u64 b = 0, u64 c = 0) {
  Status *s = at<Status>(status);
  if (atomic_cas(&s->Code, 0, code) != 0) return;
  s->Line = line;
  s->Detail[0] = a;
  s->Detail[1] = b;
  s->Detail[2] = c;
}

struct Add {
  template <typename T> INLINE T operator()(T a, T b) const { return a + b; }
};
struct Min {
  template <typename T> INLINE T operator()(T a, T b) const { return smaller(a, b); }
};
struct Max {
  template <typename T> INLINE T operator()(T a, T b) const { return larger(a, b); }
};

// warp_reduce gives every lane f over the values of all lanes.
template <typename T, typename F>
INLINE T warp_reduce(T v, F f) {
  UNROLL for (u32 d = WARP / 2; d > 0; d /= 2) v = f(v, shfl_xor(v, d));
  return v;
}

// warp_scan gives lane l f over the values of lanes 0 to l.
template <typename T, typename F>
INLINE T warp_scan(T v, F f) {
  UNROLL for (u32 d = 1; d < WARP; d *= 2) {
    const T before = shfl_up(v, d);
    if (lane() >= d) v = f(before, v);
  }
  return v;
}

// block_scan gives each thread f over the values of the threads before it,
// beginning with zero, and sets all to f over the whole block. THREADS is the
// block's size. It ends with a barrier: it may be called again at once.
template <u32 THREADS, typename T, typename F>
INLINE T block_scan(T v, F f, T zero, T &all) {
  constexpr u32 W = THREADS / WARP;
  SHARED(T, sums, W);
  const T upto = warp_scan(v, f);
  if (lane() == WARP - 1) sums[warp()] = upto;
  sync_block();
  T before = zero;
  all = zero;
  UNROLL for (u32 w = 0; w < W; w++) {
    if (w == warp()) before = all;
    all = f(all, sums[w]);
  }
  const T mine = shfl_up(upto, 1);
  if (lane() != 0) before = f(before, mine);
  sync_block();
  return before;
}

// block_reduce gives thread 0 f over the values of all threads.
template <u32 THREADS, typename T, typename F>
INLINE T block_reduce(T v, F f) {
  constexpr u32 W = THREADS / WARP;
  SHARED(T, sums, W);
  v = warp_reduce(v, f);
  if (lane() == 0) sums[warp()] = v;
  sync_block();
  if (thread() == 0) {
    UNROLL for (u32 w = 1; w < W; w++) v = f(v, sums[w]);
  }
  sync_block();
  return v;
}
