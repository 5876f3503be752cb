// Numbers of 128 bits: what a compiler for GPUs leaves to a library.
#pragma once

#include "warp.cuh"

INLINE i64 mul_hi_signed(i64 a, i64 b) { return i64(i128(a) * b >> 64); }

INLINE u128 magnitude(i128 v) { return v < 0 ? 0 - u128(v) : u128(v); }

// mul_u128 is a * b; false when that needs more bits.
CALLED bool mul_u128(u128 a, u128 b, u128 &r) {
  const u64 ah = u64(a >> 64), al = u64(a), bh = u64(b >> 64), bl = u64(b);
  const u128 low = u128(al) * bl;
  const u128 cross = u128(ah) * bl + u128(al) * bh;  // one of them is 0, or it does not fit
  const u128 high = (low >> 64) + cross;
  r = high << 64 | u64(low);
  return !(ah && bh) && high >> 64 == 0;
}

// signed_128 gives a magnitude its sign; false when it does not fit.
INLINE bool signed_128(u128 m, bool minus, i128 &r) {
  r = i128(minus ? 0 - m : m);
  return minus ? m <= u128(1) << 127 : m < u128(1) << 127;
}

INLINE bool mul_128(i128 a, i128 b, i128 &r) {
  u128 m;
  const bool fits = mul_u128(magnitude(a), magnitude(b), m);
  return signed_128(m, (a ^ b) < 0, r) && fits;
}

// div_u128 is n / d and what is left, for d above 0.
CALLED u128 div_u128(u128 n, u128 d, u128 &rest) {
  if (n >> 64 == 0 && d >> 64 == 0) {
    rest = u64(n) % u64(d);
    return u64(n) / u64(d);
  }
  const u32 lead_n = n >> 64 ? clz(u64(n >> 64)) : 64 + clz(u64(n));
  const u32 lead_d = d >> 64 ? clz(u64(d >> 64)) : 64 + clz(u64(d));
  u128 q = 0;
  if (lead_n <= lead_d) {
    u32 by = lead_d - lead_n;
    d <<= by;
    for (;; by--) {
      q <<= 1;
      if (n >= d) {
        n -= d;
        q |= 1;
      }
      if (by == 0) break;
      d >>= 1;
    }
  }
  rest = n;
  return q;
}

CALLED i128 rem_128(i128 a, i128 b) {
  u128 rest;
  div_u128(magnitude(a), magnitude(b), rest);
  return i128(a < 0 ? 0 - rest : rest);
}

// round_u128 is n / d, halves up.
INLINE u128 round_u128(u128 n, u128 d) {
  u128 rest;
  const u128 q = div_u128(n, d, rest);
  return q + (rest >= d - rest ? 1 : 0);
}

// div_round_128 is a / p, halves away from zero, for p above 0.
CALLED i128 div_round_128(i128 a, i128 p) {
  const u128 q = round_u128(magnitude(a), u128(p));
  return i128(a < 0 ? 0 - q : q);
}

// mul_div_128 is a * m / b, halves away from zero, m a power of ten; false when
// that does not fit. The product may need 256 bits: then m goes digit by digit.
CALLED bool mul_div_128(i128 a, i128 m, i128 b, i128 &r) {
  const u128 d = magnitude(b);
  const bool minus = (a ^ b) < 0;
  u128 n;
  if (mul_u128(magnitude(a), u128(m), n)) return signed_128(round_u128(n, d), minus, r);
  u128 rest;
  u128 q = div_u128(magnitude(a), d, rest);
  for (u128 left = u128(m); left > 1;) {
    u128 none;
    left = div_u128(left, 10, none);
    u128 digit = 0, sum = 0;
    for (u32 i = 0; i < 10; i++) {  // sum = rest * 10 mod d; d is at most 2^127
      sum += rest;
      if (sum >= d) {
        sum -= d;
        digit++;
      }
    }
    u128 tens;
    if (!mul_u128(q, 10, tens)) return false;
    q = tens + digit;
    rest = sum;
  }
  if (rest >= d - rest) q++;
  return signed_128(q, minus, r);
}

// within reports that v lies between -limit and limit, both excluded.
INLINE bool within(i128 v, i128 limit) { return magnitude(v) < u128(limit); }

// decimal_f64 is the double nearest to v / p, p the power of ten of whole as a
// number and of pd as a double.
CALLED f64 decimal_f64(i64 v, f64 pd, u64 whole) {
  const i64 exact = i64(1) << 53;
  if (v < exact && v > -exact) return f64(v) / pd;
  // The quotient to more bits than a double has, the last one also standing for the rest.
  u128 rest;
  u128 q = div_u128(magnitude(v) << 64, whole, rest);
  u32 down = 0;
  while (q >> 63 != 0) {  // below 2^63, which converts with one rounding
    rest |= q & 1;
    q >>= 1;
    down++;
  }
  f64 f = f64(i64(u64(q) | (rest != 0)));
  for (i32 e = i32(down) - 64; e < 0; e++) f *= 0.5;
  for (i32 e = i32(down) - 64; e > 0; e--) f *= 2;
  return v < 0 ? -f : f;
}

// round_even is the nearest whole number, halves to even.
INLINE f64 round_even(f64 f) { return __builtin_rint(f); }
