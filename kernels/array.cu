// Runs of bytes, and strings that get bytes of their own: see array.go and
// flags.go.
#include "block.cuh"

// Bytes of a block: 16 a thread, four times.
#define BYTES 16 * 4 * BLOCK

// write_bytes sets the n bytes at dst. quad(p) is the 16 bytes for aligned
// address p, byte(p) is one: those before and after the aligned ones are the
// first block's.
template <typename Q, typename B>
INLINE void write_bytes(Ptr dst, u64 n, Q quad, B byte) {
  const Ptr end = dst + n, first = smaller((dst + 15) & ~Ptr(15), end), last = larger(end & ~Ptr(15), first);
  move<4>((last - first) / 16, [&](u64 i) { return quad(first + i * 16); },
          [&](u64 i, const Quad &q) { *at<Quad>(first + i * 16) = q; });
  if (block() == 0 && thread() < 32) {
    const Ptr p = thread() < 16 ? dst + thread() : last + thread() - 16;
    if (p < (thread() < 16 ? first : end)) *at<u8>(p) = byte(p);
  }
}

// shifted is the 16 bytes at p, which is not aligned: they lie in two that are.
INLINE Quad shifted(Ptr p) {
  typedef Pack<u64, 2> Two;
  const Two lo = *at<Two>(p & ~Ptr(15)), hi = *at<Two>((p & ~Ptr(15)) + 16);
  const u64 x = p & 8 ? lo.v[1] : lo.v[0], y = p & 8 ? hi.v[0] : lo.v[1], z = p & 8 ? hi.v[1] : hi.v[0];
  const u32 by = u32(p & 7) * 8;
  const u64 a = by ? x >> by | y << (64 - by) : x, b = by ? y >> by | z << (64 - by) : y;
  return {{u32(a), u32(a >> 32), u32(b), u32(b >> 32)}};
}

KERNEL(copy, copyArgs, BLOCK, BYTES) {
  const Ptr by = a.Src - a.Dst;
  if (by % 16 == 0) {
    write_bytes(a.Dst, n, [&](Ptr p) { return *at<Quad>(p + by); }, [&](Ptr p) { return *at<u8>(p + by); });
  } else {
    write_bytes(a.Dst, n, [&](Ptr p) { return shifted(p + by); }, [&](Ptr p) { return *at<u8>(p + by); });
  }
}

// A block copies a part: 8 bytes at a time where both ends are aligned so.
KERNEL(copy_parts, partsArgs, BLOCK, 1) {
  const CopyPart p = a.Parts[block()];
  const u64 words = (p.Dst | p.Src) % 8 == 0 ? p.Bytes / 8 : 0;
  for (u64 i = thread(); i < words; i += BLOCK) at<u64>(p.Dst)[i] = at<u64>(p.Src)[i];
  for (u64 i = 8 * words + thread(); i < p.Bytes; i += BLOCK) at<u8>(p.Dst)[i] = at<u8>(p.Src)[i];
}

KERNEL(zero, copyArgs, BLOCK, BYTES) {
  const u32 w = hidden(0);
  write_bytes(a.Dst, n, [&](Ptr) { return Quad{{w, w, w, w}}; }, [](Ptr) { return u8(0); });
}

KERNEL(fill, addArgs, BLOCK, BYTES) {
  const u32 w = (a.Add & 0xff) * 0x01010101;
  write_bytes(a.Rows, n, [&](Ptr) { return Quad{{w, w, w, w}}; }, [&](Ptr) { return u8(w); });
}

// long_length is the bytes that string i has elsewhere; those of a NULL do not count.
INLINE u64 long_length(const ownArgs &a, u64 i) {
  const u32 len = u32(at<View>(a.Src.Data)[i].Lo);
  return len > InlineLen && bit(a.Src.Valid, i) ? len : 0;
}

// Size is 0 before.
KERNEL(long_bytes, ownArgs, BLOCK, 8 * BLOCK) {
  u64 sum = 0;
  move<8>(n, [&](u64 i) { return long_length(a, i); }, [&](u64, u64 len) { sum += len; });
  sum = block_reduce<BLOCK>(sum, Add());
  if (thread() == 0 && sum != 0) atomic_add(at<u64>(a.Size), sum);
}

// Size, 0 before, is how much of the room at Base is taken. A block takes what
// its rows need, and a warp copies its 32 strings one after the other.
KERNEL(own_strings, ownArgs, BLOCK, BLOCK) {
  SHARED(u64, place, 1);
  View *views = at<View>(a.Src.Data);
  const u64 i = (u64)block() * BLOCK + thread();
  const u64 len = i < n ? long_length(a, i) : 0;
  u64 all;
  const u64 before = block_scan<BLOCK>(len, Add(), u64(0), all);
  if (thread() == 0) place[0] = atomic_add(at<u64>(a.Size), all);
  sync_block();
  Ptr src = 0;
  const Ptr dst = a.Base + place[0] + before;
  if (len != 0) {
    src = views[i].Hi;
    views[i].Hi = dst;
  } else if (i < n && u32(views[i].Lo) > InlineLen) {
    views[i] = View{};
  }
  for (u32 left = ballot(len != 0); left != 0; left &= left - 1) {
    const u32 who = ctz(left);
    const u8 *from = at<u8>(shfl(src, who));
    u8 *to = at<u8>(shfl(dst, who));
    const u64 bytes = shfl(len, who);
    for (u64 b = lane(); b < bytes; b += WARP) to[b] = from[b];
  }
}
