// Single values, as value.go and hash.go have them.
#pragma once

#include "block.cuh"

// mix is a multiply and fold.
INLINE u64 mix(u64 a, u64 b) {
  a ^= hashK0;
  b ^= hashK1;
  return mul_hi(a, b) ^ a * b;
}

INLINE u64 hash_word(u64 v) { return mix(v, hashK1 >> 1); }

// float_bits is a float's bits with one 0 and one NaN.
INLINE u64 float_bits(f64 f) {
  if (f == 0) return 0;
  if (f != f) return 0x7FF8000000000001;
  u64 v;
  __builtin_memcpy(&v, &f, 8);
  return v;
}

INLINE u32 float_bits(f32 f) {
  if (f == 0) return 0;
  if (f != f) return 0x7FC00001;
  u32 v;
  __builtin_memcpy(&v, &f, 4);
  return v;
}

// span_total is an interval in microseconds, a month being 30 days.
INLINE i128 span_total(const Span &v) {
  return i128(i64(v.Months) * 30 + v.Days) * 86400000000ll + v.Micros;
}

// word_at is the 8 bytes at p, which need not be aligned.
INLINE u64 word_at(Ptr p) {
  const u64 *words = at<u64>(p & ~Ptr(7));
  const u32 by = u32(p & 7) * 8;
  const u64 w = words[0];
  return by == 0 ? w : w >> by | words[1] << (64 - by);
}

// hash_string reads a long string's bytes.
INLINE u64 hash_string(const View &v) {
  const u32 n = u32(v.Lo);
  if (n <= InlineLen) return mix(v.Lo, hash_word(v.Hi));
  u64 h = n;
  Ptr p = v.Hi;
  u32 left = n;
  for (; left >= 16; left -= 16, p += 16) h = mix(word_at(p) ^ h, word_at(p + 8));
  u64 x = 0, y = 0;
  if (left >= 8) {
    x = word_at(p);
    p += 8;
    left -= 8;
  }
  for (u32 i = 0; i < left; i++) y |= u64(at<u8>(p)[i]) << (8 * i);
  return mix(x ^ h, y);
}

// A float's bits in the low end of a word, and back.
INLINE f64 as_f64(u64 v) { f64 f; __builtin_memcpy(&f, &v, 8); return f; }
INLINE u64 of_f64(f64 f) { u64 v; __builtin_memcpy(&v, &f, 8); return v; }
INLINE f32 as_f32(u64 v) { const u32 w = u32(v); f32 f; __builtin_memcpy(&f, &w, 4); return f; }
INLINE u64 of_f32(f32 f) { u32 v; __builtin_memcpy(&v, &f, 4); return v; }

// value_at is row i of a column, integers extended to 64 bits; hi is the second
// word of wide forms.
INLINE u64 value_at(const Vec &v, u64 i, u32 form, u64 &hi) {
  const Ptr data = v.Dict ? v.Dict : v.Data;
  if (v.Dict) i = at<u32>(v.Data)[i];
  hi = 0;
  switch (form) {
    case PhysBool: case PhysU8: return at<u8>(data)[i];
    case PhysI8: return u64(i64(at<i8>(data)[i]));
    case PhysI16: return u64(i64(at<i16>(data)[i]));
    case PhysU16: return at<u16>(data)[i];
    case PhysI32: return u64(i64(at<i32>(data)[i]));
    case PhysU32: case PhysF32: return at<u32>(data)[i];
    case PhysI64: case PhysU64: case PhysF64: return at<u64>(data)[i];
  }
  const Pack<u64, 2> p = at<Pack<u64, 2>>(data)[i];
  hi = p.v[1];
  return p.v[0];
}

template <typename V> INLINE i32 three_way(V a, V b) { return a < b ? -1 : b < a; }

// order_floats puts NaN above all, and equal to itself.
template <typename F> INLINE i32 order_floats(F a, F b) {
  if (a != a || b != b) return three_way(a != a, b != b);
  return three_way(a, b);
}
