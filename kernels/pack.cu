// Keys of one or two words: see pack.go.
#include "value.cuh"

template <typename B>
INLINE void pack(const packArgs &a, u64 n, B word) {
  u64 *out = at<u64>(a.Out);
  const bool wide = a.Bits == 64 && a.Null;  // value and NULL in two words
  move<4>(
      n,
      [&](u64 i) {
        u64 v = word(i);
        const bool null = !bit(a.Src.Valid, i);
        if (null) v = a.Null && !wide ? u64(1) << a.Bits : 0;
        if (!wide && !a.First) v = out[i * a.Stride + a.Word] | v << a.Shift;
        return v;
      },
      [&](u64 i, u64 v) {
        if (wide) {
          out[i * a.Stride] = v;
          out[i * a.Stride + 1] = !bit(a.Src.Valid, i);
        } else {
          out[i * a.Stride + a.Word] = v;
        }
      });
}

#define PACK(name, type, word)                               \
  KERNEL(pack_##name, packArgs, BLOCK, 4 * BLOCK) {          \
    const type *src = at<type>(a.Src.Data);                  \
    pack(a, n, [&](u64 i) { return u64(word(src[i])); });    \
  }
PACK(1, u8, u8)
PACK(2, u16, u16)
PACK(4, u32, u32)
PACK(8, u64, u64)
PACK(f32, f32, float_bits)
PACK(f64, f64, float_bits)

template <typename T>
INLINE void unpack(const packArgs &a, u64 n) {
  const u64 *keys = at<u64>(a.Out);
  T *dst = at<T>(a.Src.Data);
  move<4>(n, [&](u64 i) { return T(keys[i * a.Stride + a.Word] >> a.Shift); }, [&](u64 i, T v) { dst[i] = v; });
  if (!a.Src.Valid) return;
  bits<4>(n, at<u32>(a.Src.Valid), [&](u64 i) {
    if (!a.Null) return true;
    if (a.Bits == 64) return keys[i * a.Stride + 1] == 0;
    return (keys[i * a.Stride + a.Word] >> (a.Shift + a.Bits) & 1) == 0;
  });
}

#define UNPACK(width, type) \
  KERNEL(unpack##width, packArgs, BLOCK, 4 * BLOCK) { unpack<type>(a, n); }
UNPACK(1, u8)
UNPACK(2, u16)
UNPACK(4, u32)
UNPACK(8, u64)
