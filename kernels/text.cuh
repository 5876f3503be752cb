// Strings behind views.
#pragma once

#include "value.cuh"

INLINE u32 length(const View &v) { return u32(v.Lo); }

// byte is a view's byte i, which it has.
INLINE u8 byte(const View &v, u32 i) {
  if (length(v) > InlineLen) return at<u8>(v.Hi)[i];
  return i < 4 ? u8(v.Lo >> (32 + 8 * i)) : u8(v.Hi >> (8 * (i - 4)));
}

// bytes_at are eight bytes of a view from byte i on, the first the highest, 0
// from byte end on.
INLINE u64 bytes_at(const View &v, u32 i, u32 end) {
  if (length(v) > InlineLen && i + 8 <= end) return __builtin_bswap64(word_at(v.Hi + i));
  u64 w = 0;
  for (u32 k = 0; k < 8; k++) w = w << 8 | (i + k < end ? byte(v, i + k) : 0);
  return w;
}

// compare_views is -1, 0 or 1 as a is below, equal to or above b by bytes.
CALLED i32 compare_views(const View &a, const View &b) {
  const u32 pa = __builtin_bswap32(u32(a.Lo >> 32)), pb = __builtin_bswap32(u32(b.Lo >> 32));
  if (pa != pb) return pa < pb ? -1 : 1;
  const u32 n = length(a), m = length(b), common = n < m ? n : m;
  for (u32 i = 4; i < common; i += 8) {
    const u64 x = bytes_at(a, i, common), y = bytes_at(b, i, common);
    if (x != y) return x < y ? -1 : 1;
  }
  return n < m ? -1 : n > m;
}

INLINE bool equal_views(const View &a, const View &b) {
  if (a.Lo != b.Lo) return false;
  return a.Hi == b.Hi || (length(a) > InlineLen && compare_views(a, b) == 0);
}

// compare_words orders two values of a form, none NULL, as value_at gives them.
CALLED i32 compare_words(u64 a_lo, u64 a_hi, u64 b_lo, u64 b_hi, u32 form) {
  switch (form) {
    case PhysStr: return compare_views(View{a_lo, a_hi}, View{b_lo, b_hi});
    case PhysF32: return order_floats(as_f32(a_lo), as_f32(b_lo));
    case PhysF64: return order_floats(as_f64(a_lo), as_f64(b_lo));
    case PhysU64: return three_way(a_lo, b_lo);
    case PhysI128: return three_way(i128(u128(a_hi) << 64 | a_lo), i128(u128(b_hi) << 64 | b_lo));
    case PhysSpan:
      return three_way(span_total(Span{i32(a_lo), i32(a_lo >> 32), i64(a_hi)}), span_total(Span{i32(b_lo), i32(b_lo >> 32), i64(b_hi)}));
  }
  return three_way(i64(a_lo), i64(b_lo));
}

CALLED bool starts_with(const View &s, const View &with) {
  const u32 n = length(with);
  if (length(s) < n) return false;
  for (u32 i = 0; i < n; i++) {
    if (byte(s, i) != byte(with, i)) return false;
  }
  return true;
}

// follows reports a byte that is not the first of its character.
INLINE bool follows(u8 b) { return (b & 0xc0) == 0x80; }

CALLED u64 characters(const View &s) {
  u64 n = 0;
  for (u32 i = 0; i < length(s); i++) n += !follows(byte(s, i));
  return n;
}

// like matches by % and _, without an escape. A % that was passed is come back
// to, one character further on; an earlier one never needs to be.
CALLED bool like(const View &s, const View &pattern) {
  const u32 n = length(s), m = length(pattern);
  u32 i = 0, j = 0, back_i = 0, back_j = ~0u;
  while (i < n) {
    const u8 p = j < m ? byte(pattern, j) : 0;
    if (j < m && p == '%') {
      back_j = ++j;
      back_i = i;
    } else if (j < m && p == '_') {
      i++;
      while (i < n && follows(byte(s, i))) i++;
      j++;
    } else if (j < m && p == byte(s, i)) {
      i++;
      j++;
    } else if (back_j != ~0u) {
      back_i++;
      while (back_i < n && follows(byte(s, back_i))) back_i++;
      i = back_i;
      j = back_j;
    } else {
      return false;
    }
  }
  while (j < m && byte(pattern, j) == '%') j++;
  return j == m;
}
