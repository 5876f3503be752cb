// Hashes of rows: see hash.go, whose values these are.
#include "value.cuh"

template <typename W>
INLINE void hash(const hashArgs &a, u64 n, W word) {
  u64 *out = at<u64>(a.Out);
  move<4>(
      n,
      [&](u64 i) {
        u64 h = hashNull;
        if (bit(a.Src.Valid, i)) h = word(i);
        return a.First ? h : mix(out[i], h);
      },
      [&](u64 i, u64 h) { out[i] = h; });
}

template <typename T>
INLINE void hash_int(const hashArgs &a, u64 n) {
  const T *src = at<T>(a.Src.Data);
  hash(a, n, [&](u64 i) { return hash_word(u64(i64(src[i]))); });
}

#define HASH_INT(name, type) \
  KERNEL(hash_##name, hashArgs, BLOCK, 4 * BLOCK) { hash_int<type>(a, n); }
HASH_INT(bool, u8)
HASH_INT(i8, i8)
HASH_INT(i16, i16)
HASH_INT(i32, i32)
HASH_INT(i64, i64)
HASH_INT(u8, u8)
HASH_INT(u16, u16)
HASH_INT(u32, u32)
HASH_INT(u64, u64)

KERNEL(hash_f32, hashArgs, BLOCK, 4 * BLOCK) {
  const f32 *src = at<f32>(a.Src.Data);
  hash(a, n, [&](u64 i) { return hash_word(float_bits(f64(src[i]))); });
}

KERNEL(hash_f64, hashArgs, BLOCK, 4 * BLOCK) {
  const f64 *src = at<f64>(a.Src.Data);
  hash(a, n, [&](u64 i) { return hash_word(float_bits(src[i])); });
}

KERNEL(hash_i128, hashArgs, BLOCK, 4 * BLOCK) {
  const Pack<u64, 2> *src = at<Pack<u64, 2>>(a.Src.Data);
  hash(a, n, [&](u64 i) {
    const Pack<u64, 2> v = src[i];
    return mix(v.v[0], hash_word(v.v[1]));
  });
}

KERNEL(hash_span, hashArgs, BLOCK, 4 * BLOCK) {
  const Span *src = at<Span>(a.Src.Data);
  hash(a, n, [&](u64 i) {
    const u128 t = u128(span_total(src[i]));
    return mix(u64(t), hash_word(u64(t >> 64)));
  });
}

KERNEL(hash_str, hashArgs, BLOCK, 4 * BLOCK) {
  const View *src = at<View>(a.Src.Dict ? a.Src.Dict : a.Src.Data);
  const u32 *codes = at<u32>(a.Src.Data);
  hash(a, n, [&](u64 i) { return hash_string(src[a.Src.Dict ? codes[i] : i]); });
}

KERNEL(hash_zero, hashArgs, BLOCK, 8 * BLOCK) {
  u64 *out = at<u64>(a.Out);
  each<8>(n, [&](u64 i) { out[i] = 0; });
}
