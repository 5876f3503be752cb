// Bitmaps: see bits.go.
#include "block.cuh"

// A thread writes a word of 64 bits; no two write the same.
KERNEL(copy_bits, bitsArgs, BLOCK, 64 * 4 * BLOCK) {
  const u64 *src = at<u64>(a.Src);
  u64 *dst = at<u64>(a.Dst) + a.DstAt / 64;
  const u32 skip = a.DstAt % 64;
  const u64 last = (a.SrcAt + n - 1) / 64;  // word of the source
  each<4>((skip + n + 63) / 64, [&](u64 w) {
    // The word's bits are those of the source from bit w*64 - skip on.
    const u32 from = w == 0 ? skip : 0;
    const u64 bit = w * 64 + from - skip;
    const u32 take = u32(smaller(u64(64 - from), n - bit));
    u64 v = ~u64(0);
    if (a.Src) {
      const u64 at = (a.SrcAt + bit) / 64;
      const u32 by = (a.SrcAt + bit) % 64;
      v = src[at] >> by;
      if (by != 0 && at < last) v |= src[at + 1] << (64 - by);
    }
    v = (v & ~u64(0) >> (64 - take)) << from;
    if (from != 0) v |= dst[0] & ((u64(1) << from) - 1);
    dst[w] = v;
  });
}
