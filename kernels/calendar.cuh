// Days and timestamps, as sqltype has them: day 0 is 1970-01-01, years are
// astronomical.
#pragma once

#include "warp.cuh"
#include "layout.cuh"

constexpr i64 microsPerDay = 86400000000ll;

INLINE i64 floor_div(i64 a, i64 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

struct Civil {
  i64 year;
  i32 month, day;
};

// civil counts in years that begin in March, so that the odd day comes last.
CALLED Civil civil(i64 days) {
  const i64 z = days + 719468;
  const i64 era = floor_div(z, 146097);
  const i64 doe = z - era * 146097;
  const i64 yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const i64 doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const i32 mp = i32((5 * doy + 2) / 153);
  const i32 month = mp < 10 ? mp + 3 : mp - 9;
  return Civil{yoe + era * 400 + (month <= 2), month, i32(doy - (153 * mp + 2) / 5 + 1)};
}

INLINE i64 days_from_civil(i64 year, i32 month, i32 day) {
  const i64 y = year - (month <= 2);
  const i64 era = floor_div(y, 400);
  const i64 yoe = y - era * 400;
  const i64 doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

INLINE i32 days_in(i64 year, i32 month) {
  if (month != 2) return 30 + ((month + (month >> 3)) & 1);
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
}

// add_interval is a timestamp an interval on, or back; false when that leaves
// lo to hi.
CALLED bool add_interval(i64 ts, Span v, bool back, i64 lo, i64 hi, i64 &out) {
  out = 0;
  const i64 least = i64(u64(1) << 63);
  if (back && (v.Micros == least || v.Days == i32(u32(1) << 31) || v.Months == i32(u32(1) << 31))) return false;
  if (back) v = Span{-v.Months, -v.Days, -v.Micros};
  i64 days = floor_div(ts, microsPerDay);
  const i64 micros = ts - days * microsPerDay;
  if (v.Months != 0) {
    const Civil c = civil(days);
    const i64 m = c.year * 12 + (c.month - 1) + v.Months, year = floor_div(m, 12);
    if (year < -(1 << 23) || year > 1 << 20) return false;
    const i32 month = i32(m - year * 12) + 1, most = days_in(year, month);
    days = days_from_civil(year, month, c.day < most ? c.day : most);
  }
  const i64 over = v.Micros / microsPerDay;
  days += v.Days + over;
  if (days < -(i64(1) << 31) || days > i64(1) << 31) return false;
  const i128 sum = i128(days) * microsPerDay + (micros + v.Micros - over * microsPerDay);
  if (sum < lo || sum > hi) return false;
  out = i64(sum);
  return true;
}
