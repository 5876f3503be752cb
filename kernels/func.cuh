// Functions over strings and times: see func_string.go, func_round.go and
// sqltype's calendar, whose words they have.
#pragma once

#include "calendar.cuh"
#include "int128.cuh"
#include "text.cuh"

// bytes_of is bytes from to to of a string, which it shares.
CALLED View bytes_of(const View &s, u32 from, u32 to) {
  View v{to - from, 0};
  for (u32 i = 0; i < (to - from > InlineLen ? 4 : to - from); i++) {
    const u64 b = byte(s, from + i);
    if (i < 4) v.Lo |= b << (32 + 8 * i);
    else v.Hi |= b << (8 * (i - 4));
  }
  if (to - from > InlineLen) v.Hi = s.Hi + from;
  return v;
}

// part_of_text is count characters from character first on, the first being 1.
CALLED View part_of_text(const View &s, u64 first, u64 count) {
  const u32 n = length(s);
  u32 from = 0;
  u64 seen = 1;
  for (; from < n && seen < first; seen++) {
    from++;
    while (from < n && follows(byte(s, from))) from++;
  }
  u32 to = from;
  for (seen = 0; to < n && seen < count; seen++) {
    to++;
    while (to < n && follows(byte(s, to))) to++;
  }
  return bytes_of(s, from, to);
}

// last_of_text is the last count characters.
CALLED View last_of_text(const View &s, u64 count) {
  u32 from = length(s);
  for (; from > 0 && count > 0; count--) {
    from--;
    while (from > 0 && follows(byte(s, from))) from--;
  }
  return bytes_of(s, from, length(s));
}

// trimmed is without the blanks at its ends: 1 is the left one, 2 the right one.
CALLED View trimmed(const View &s, u64 ends) {
  u32 from = 0, to = length(s);
  while ((ends & 1) && from < to && byte(s, from) == ' ') from++;
  while ((ends & 2) && from < to && byte(s, to - 1) == ' ') to--;
  return bytes_of(s, from, to);
}

// index_of is the byte where part first begins in s; -1: nowhere.
CALLED i64 index_of(const View &s, const View &part) {
  const u32 n = length(s), m = length(part);
  for (u32 i = 0; i + m <= n; i++) {
    u32 k = 0;
    while (k < m && byte(s, i + k) == byte(part, k)) k++;
    if (k == m) return i;
  }
  return -1;
}

CALLED bool ends_with(const View &s, const View &with) {
  const u32 n = length(s), m = length(with);
  for (u32 k = 0; k < m; k++) {
    if (m > n || byte(s, n - m + k) != byte(with, k)) return false;
  }
  return true;
}

// Text is a string that is made byte by byte; one that a View does not hold is
// written to where there is room for it.
struct Text {
  View v;
  Ptr to;
  u32 n;
  INLINE void put(u8 b) {
    if (n < 4) v.Lo |= u64(b) << (32 + 8 * n);
    else if (!to && n < InlineLen) v.Hi |= u64(b) << (8 * (n - 4));
    if (to) at<u8>(to)[n] = b;
    n++;
  }
  INLINE void put(const View &s) {
    for (u32 i = 0; i < length(s); i++) put(byte(s, i));
  }
};

// text_room begins a string of so many bytes: used counts the bytes of all. A
// string that there is no room for is empty.
INLINE bool text_room(Ptr used, Ptr room, u64 all, u32 size, Text &t) {
  t = Text{{size, 0}, 0, 0};
  if (size <= InlineLen) return true;
  const u64 before = atomic_add(at<u64>(used), size);
  if (before + size > all) {
    t.v.Lo = 0;
    return false;
  }
  t.v.Hi = t.to = room + before;
  return true;
}

// A letter of UTF-8 and its bytes.
struct Letter { u32 code, bytes; };

INLINE Letter letter_at(const View &s, u32 i) {
  const u32 b = byte(s, i);
  if (b < 0x80) return Letter{b, 1};
  const u32 more = b < 0xe0 ? 1 : b < 0xf0 ? 2 : 3;
  u32 code = b & (0x3f >> more);
  for (u32 k = 1; k <= more && i + k < length(s); k++) code = code << 6 | (byte(s, i + k) & 0x3f);
  return Letter{code, more + 1};
}

// in_case is a letter in the other case: list has those beyond ASCII.
INLINE u32 in_case(u32 code, bool upper, const u64 *list) {
  if (code < 0x80) return code - (upper ? 'a' : 'A') < 26 ? code ^ 0x20 : code;
  u64 lo = 0, hi = list[0];
  while (lo < hi) {
    const u64 mid = (lo + hi) / 2;
    if (u32(list[1 + mid] >> 32) < code) lo = mid + 1;
    else hi = mid;
  }
  return lo < list[0] && u32(list[1 + lo] >> 32) == code ? u32(list[1 + lo]) : code;
}

INLINE u32 utf8_bytes(u32 code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }

CALLED u32 cased_length(const View &s, bool upper, const u64 *list) {
  u32 size = 0;
  for (u32 i = 0; i < length(s);) {
    const Letter l = letter_at(s, i);
    size += utf8_bytes(in_case(l.code, upper, list));
    i += l.bytes;
  }
  return size;
}

CALLED void put_cased(Text &t, const View &s, bool upper, const u64 *list) {
  for (u32 i = 0; i < length(s);) {
    const Letter l = letter_at(s, i);
    const u32 c = in_case(l.code, upper, list), n = utf8_bytes(c);
    if (n == 1) t.put(u8(c));
    else t.put(u8((0xf00 >> n & 0xf0) | c >> 6 * (n - 1)));
    for (u32 k = n - 1; k-- > 0;) t.put(u8(0x80 | (c >> 6 * k & 0x3f)));
    i += l.bytes;
  }
}

// digits_of is how many digits a number has, and its sign.
INLINE u32 digits_of(u64 v, bool minus) {
  u32 n = 1 + minus;
  for (; v >= 10; v /= 10) n++;
  return n;
}

CALLED void put_number(Text &t, u64 v, bool minus) {
  if (minus) t.put('-');
  u64 unit = 1;
  for (u64 rest = v; rest >= 10; rest /= 10) unit *= 10;
  for (; unit > 0; unit /= 10) t.put(u8('0' + v / unit % 10));
}

// trunc_date is date_trunc to months or to weeks, of a day.
CALLED i64 trunc_months(i64 day, i64 months) {
  const Civil c = civil(day);
  return days_from_civil(c.year, i32((c.month - 1) / months * months) + 1, 1);
}

INLINE i64 trunc_week(i64 day) { return day - (day + 3 - floor_div(day + 3, 7) * 7); }

// Ways to drop digits, as rounding of func_round.go has them.
enum { Nearest, Trunc, Ceil, Floor };

// round_decimal is v / p, without a fraction.
CALLED i128 round_decimal(i128 v, i128 p, u64 how) {
  if (how == Nearest) return div_round_128(v, p);
  u128 rest;
  const u128 q = div_u128(magnitude(v), u128(p), rest);
  i128 r = i128(v < 0 ? 0 - q : q);
  if (rest != 0 && how == Ceil && v > 0) r++;
  if (rest != 0 && how == Floor && v < 0) r--;
  return r;
}

INLINE f64 round_float(f64 f, u64 how) {
  switch (how) {
    case Trunc: return __builtin_trunc(f);
    case Ceil: return __builtin_ceil(f);
    case Floor: return __builtin_floor(f);
  }
  return round_even(f);
}

// round_half_up is the nearest whole number, halves away from zero.
INLINE f64 round_half_up(f64 f) {
  const f64 t = __builtin_trunc(f);
  return __builtin_fabs(f - t) >= 0.5 ? t + __builtin_copysign(1.0, f) : t;
}

// round_digits is f with as many digits as shift, a power of ten, says.
CALLED f64 round_digits(f64 f, f64 shift, bool before_point, u64 how) {
  if (f - f != 0) return f;
  if (before_point) {
    const f64 r = f / shift;
    return (how == Trunc ? __builtin_trunc(r) : round_half_up(r)) * shift;
  }
  const f64 r = f * shift;
  if (r - r != 0) return f;
  return (how == Trunc ? __builtin_trunc(r) : round_half_up(r)) / shift;
}

INLINE u32 leading(u128 v) { return v >> 64 ? clz(u64(v >> 64)) : u64(v) ? 64 + clz(u64(v)) : 128; }

// wide_decimal_f64 is the double nearest to v / p, of 128 bits: 62 bits of the
// quotient, the last one also standing for the rest, are converted with one
// rounding. p is below 2^127.
CALLED f64 wide_decimal_f64(i128 v, u128 p) {
  u128 rest;
  u128 q = div_u128(magnitude(v), p, rest);
  u32 lead = leading(q);
  i32 e = 0;
  if (lead < 66) {
    e = i32(66 - lead);
    rest |= q << (128 - e);
    q >>= e;
  } else {
    if (q == 0 && rest != 0) {  // its first bits would be zeros
      u32 skip = leading(rest) - leading(p);
      if (rest << skip >= p) skip--;
      rest <<= skip;
      e = -i32(skip);
    }
    const u32 more = lead - 66;
    for (u32 i = 0; i < more; i++) {
      rest <<= 1;
      const bool one = rest >= p;
      rest -= one ? p : 0;
      q = q << 1 | one;
    }
    e -= i32(more);
  }
  const f64 f = f64(i64(u64(q) | (rest != 0))) * as_f64(u64(1023 + e) << 52);
  return v < 0 ? -f : f;
}
