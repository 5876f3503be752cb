// Rows by number: see gather.go and fetch.go.
#include "block.cuh"

constexpr u32 Missing32 = ~0u;

template <typename T>
INLINE void gather(const gatherArgs &a, u64 n) {
  const T *src = at<T>(a.Src.Data);
  const u32 *idx = at<u32>(a.Idx);
  T *dst = at<T>(a.Dst.Data);
  move<4>(n, [&](u64 i) { return src[idx[i]]; }, [&](u64 i, const T &v) { dst[i] = v; });
}

template <typename T>
INLINE void gather_missing(const gatherArgs &a, u64 n) {
  const T *src = at<T>(a.Src.Data);
  const u32 *idx = at<u32>(a.Idx);
  T *dst = at<T>(a.Dst.Data);
  move<4>(
      n,
      [&](u64 i) {
        const u32 r = idx[i];
        T v = {};
        if (r != Missing32) v = src[r];
        return v;
      },
      [&](u64 i, const T &v) { dst[i] = v; });
}

// A code under a NULL may be beyond the dictionary.
template <typename T>
INLINE void flatten(const gatherArgs &a, u64 n) {
  const u32 *codes = at<u32>(a.Src.Data);
  const T *dict = at<T>(a.Src.Dict);
  T *dst = at<T>(a.Dst.Data);
  move<4>(
      n,
      [&](u64 i) {
        const u32 c = codes[i];
        T v = {};
        if (c < a.Src.DictLen) v = dict[c];
        return v;
      },
      [&](u64 i, const T &v) { dst[i] = v; });
}

// A warp has a word of the destination's bitmap, and the rows in it.
template <typename T>
INLINE void fetch(const fetchArgs &a, u64 n) {
  const u32 *idx = at<u32>(a.Idx), *codes = at<u32>(a.Src.Data);
  const T *src = at<T>(a.Src.Dict ? a.Src.Dict : a.Src.Data);
  T *dst = at<T>(a.Dst.Data);
  u32 *valid = at<u32>(a.Dst.Valid);
  const u64 first = a.At / 32 * 32, end = a.At + n;
  for (u64 base = first + (u64)block() * BLOCK; base < end; base += (u64)blocks() * BLOCK) {
    const u64 row = base + thread();
    const bool mine = row >= a.At && row < end;
    bool one = false;
    if (mine) {
      const u32 r = idx[row - a.At];
      one = bit(a.Src.Valid, r);
      if (!a.Src.Dict) {
        dst[row] = src[r];
      } else if (codes[r] < a.Src.DictLen) {  // beyond it: under a NULL
        dst[row] = src[codes[r]];
      }
    }
    const u32 ones = ballot(one);
    if (lane() == 0 && row < end) {
      // Bits of rows before are kept; those behind are nobody's yet.
      const u32 kept = row < a.At ? valid[row / 32] & ((1u << (a.At - row)) - 1) : 0;
      valid[row / 32] = kept | ones;
    }
  }
}

#define WIDTHS(width, type)                                                                   \
  KERNEL(gather##width, gatherArgs, BLOCK, 4 * BLOCK) { gather<type>(a, n); }                 \
  KERNEL(gather_missing##width, gatherArgs, BLOCK, 4 * BLOCK) { gather_missing<type>(a, n); } \
  KERNEL(flatten##width, gatherArgs, BLOCK, 4 * BLOCK) { flatten<type>(a, n); }               \
  KERNEL(fetch##width, fetchArgs, BLOCK, BLOCK) { fetch<type>(a, n); }

WIDTHS(1, u8)
WIDTHS(2, u16)
WIDTHS(4, u32)
WIDTHS(8, u64)
WIDTHS(16, Quad)

KERNEL(gather_valid, gatherArgs, BLOCK, 4 * BLOCK) {
  const u32 *idx = at<u32>(a.Idx);
  bits<4>(n, at<u32>(a.Dst.Valid), [&](u64 i) {
    const u32 r = idx[i];
    return r != Missing32 && bit(a.Src.Valid, r);
  });
}
