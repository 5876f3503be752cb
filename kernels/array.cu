// Runs of bytes: see array.go and flags.go.
#include "block.cuh"

// Bytes of a block: 16 a thread, four times.
#define BYTES 16 * 4 * BLOCK

// write_bytes sets the n bytes at dst. quad(p) is the 16 bytes for aligned
// address p, byte(p) is one.
template <typename Q, typename B>
INLINE void write_bytes(Ptr dst, u64 n, Q quad, B byte) {
  const Ptr first = dst & ~Ptr(15), end = dst + n;
  const u64 quads = (end - first + 15) / 16;
  move<4>(
      quads,
      [&](u64 i) {
        const Ptr p = first + i * 16;
        Quad q = {};
        if (p >= dst && p + 16 <= end) q = quad(p);
        return q;
      },
      [&](u64 i, const Quad &q) {
        const Ptr p = first + i * 16;
        if (p >= dst && p + 16 <= end) {
          *at<Quad>(p) = q;
          return;
        }
        for (Ptr b = larger(p, dst); b < smaller(p + 16, end); b++) *at<u8>(b) = byte(b);
      });
}

// shifted is the 16 bytes at p, which is not aligned: words are aligned, and
// two of them hold each word that is wanted.
INLINE Quad shifted(Ptr p) {
  const Ptr first = p & ~Ptr(3);
  const u32 by = u32(p & 3);
  u32 w[5];
  UNROLL for (u32 i = 0; i < 4; i++) w[i] = at<u32>(first)[i];
  w[4] = by ? at<u32>(first)[4] : 0;
  Quad q;
  UNROLL for (u32 i = 0; i < 4; i++) q.w[i] = pick_bytes(w[i], w[i + 1], 0x3210 + 0x1111 * by);
  return q;
}

KERNEL(copy, copyArgs, BLOCK, BYTES) {
  const Ptr by = a.Src - a.Dst;
  if (by % 16 == 0) {
    write_bytes(a.Dst, n, [&](Ptr p) { return *at<Quad>(p + by); }, [&](Ptr p) { return *at<u8>(p + by); });
  } else {
    write_bytes(a.Dst, n, [&](Ptr p) { return shifted(p + by); }, [&](Ptr p) { return *at<u8>(p + by); });
  }
}

KERNEL(zero, copyArgs, BLOCK, BYTES) {
  write_bytes(a.Dst, n, [](Ptr) { return Quad{}; }, [](Ptr) { return u8(0); });
}

KERNEL(fill, addArgs, BLOCK, BYTES) {
  const u32 w = (a.Add & 0xff) * 0x01010101;
  write_bytes(a.Rows, n, [&](Ptr) { return Quad{{w, w, w, w}}; }, [&](Ptr) { return u8(w); });
}
