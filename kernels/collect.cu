// Aggregates that need all values of a group, in order: see collect.go and
// collect_steps.go.
#include "table.cuh"

// begins reports that position k is the first of its group.
INLINE bool begins(const u32 *rows, const u32 *ids, u64 k) { return k == 0 || ids[rows[k]] != ids[rows[k - 1]]; }

KERNEL(collect_heads, collectLaunch, BLOCK, 4 * BLOCK) {
  const u32 *rows = at<u32>(a.Rows), *ids = at<u32>(a.IDs);
  const bool last = a.Op == CollectLast;
  bits<4>(n, at<u32>(a.Bits), [=](u64 k) { return last ? k + 1 == n || begins(rows, ids, k + 1) : begins(rows, ids, k); });
}

// A run is neighbours of one group with equal values.
KERNEL(collect_runs, collectLaunch, BLOCK, 4 * BLOCK) {
  const u32 *rows = at<u32>(a.Rows), *ids = at<u32>(a.IDs);
  bits<4>(n, at<u32>(a.Bits), [&](u64 k) { return begins(rows, ids, k) || !same_value(a.Src, rows[k - 1], a.Src, rows[k], a.Form); });
}

// The longest run of a group, the first one of equal length: its length, and the
// opposite of where it begins. Best is 0 before.
KERNEL(collect_best, collectLaunch, BLOCK, 4 * BLOCK) {
  const u32 *starts = at<u32>(a.Starts), *rows = at<u32>(a.Rows), *ids = at<u32>(a.IDs);
  u64 *best = at<u64>(a.Best);
  const u64 all = a.N;
  each<4>(n, [=](u64 r) {
    const u64 from = starts[r], size = (r + 1 < n ? starts[r + 1] : all) - from;
    atomic_max(&best[ids[rows[from]]], size << 32 | u32(~from));
  });
}

// quantile is the value of a group's rows at fraction p.
INLINE u64 quantile(const collectLaunch &a, u64 from, u64 to, f64 p, u64 &row, u64 &hi) {
  const u32 *rows = at<u32>(a.Rows);
  const u64 size = to - from;
  if (a.Op == CollectQuantileDisc) {
    const f64 up = p * f64(size);
    i64 i = i64(up);
    if (f64(i) == up) i--;
    row = rows[from + (i < 0 ? 0 : i)];
    return value_at(a.Src, row, a.Form, hi);
  }
  const f64 place = p * f64(size - 1);
  const u64 lo = u64(place);
  const f64 part = place - f64(lo), *src = at<f64>(a.Src.Data);
  f64 x = src[rows[from + lo]];
  if (part > 0) {
    const f64 y = src[rows[from + lo + 1]];
    if (y != x) {
      const f64 step = (y - x) * part;
      x = x + step;
    }
  }
  row = rows[from];
  return of_f64(x);
}

// collect_pick writes the results that are one of the values, or between two.
KERNEL(collect_pick, collectLaunch, BLOCK, BLOCK) {
  const u32 *starts = at<u32>(a.Starts), *rows = at<u32>(a.Rows);
  each<1>(n, [&](u64 k) {
    const u64 from = starts[k], to = k + 1 < n ? starts[k + 1] : a.N, g = at<u32>(a.IDs)[rows[from]];
    u64 row = rows[from], hi = 0, lo = 0;
    switch (a.Op) {
      case CollectLast: row = rows[to - 1]; break;
      case CollectMode: row = rows[u32(~at<u64>(a.Best)[g])]; break;
    }
    if (a.Op == CollectQuantileCont || a.Op == CollectQuantileDisc) {
      if (!bit(a.Second.Valid, row)) return;
      const f64 p = at<f64>(a.Second.Data)[row];
      if (!(p >= 0 && p <= 1)) {
        if (atomic_cas(at<u64>(a.Bad), 0, 1) == 0) at<f64>(a.Bad)[1] = p;
        return;
      }
      lo = quantile(a, from, to, p, row, hi);
    } else {
      lo = value_at(a.Src, row, a.Form, hi);
    }
    if (!bit(a.Src.Valid, row)) return;
    atomic_or(&at<u32>(a.Dst.Valid)[g / 32], 1u << (g % 32));
    switch (a.Width) {
      case 1: at<u8>(a.Dst.Data)[g] = u8(lo); break;
      case 2: at<u16>(a.Dst.Data)[g] = u16(lo); break;
      case 4: at<u32>(a.Dst.Data)[g] = u32(lo); break;
      case 8: at<u64>(a.Dst.Data)[g] = lo; break;
      default: at<Pack<u64, 2>>(a.Dst.Data)[g] = Pack<u64, 2>{{lo, hi}};
    }
  });
}

// text_at is a row of a column of strings.
INLINE View text_at(const Vec &v, u64 row) {
  u64 hi;
  const u64 lo = value_at(v, row, PhysStr, hi);
  return View{lo, hi};
}

// separator stands before each string but a group's first.
INLINE View separator(const collectLaunch &a, u64 row) {
  if (a.Second.Data == 0) return View{1 | u64(',') << 32, 0};
  return bit(a.Second.Valid, row) ? text_at(a.Second, row) : View{0, 0};
}

KERNEL(collect_sizes, collectLaunch, BLOCK, 4 * BLOCK) {
  const u32 *rows = at<u32>(a.Rows), *ids = at<u32>(a.IDs);
  each<4>(n, [&](u64 k) {
    const u64 row = rows[k];
    at<u64>(a.Places)[k] = length(text_at(a.Src, row)) + (begins(rows, ids, k) ? 0 : length(separator(a, row)));
  });
}

// copy_by_warp copies the bytes of the lanes' strings, one lane's after the other.
INLINE void copy_by_warp(const View &v, Ptr to) {
  for (u32 left = ballot(length(v) != 0); left != 0; left &= left - 1) {
    const u32 who = ctz(left);
    const View s{shfl(v.Lo, who), shfl(v.Hi, who)};
    u8 *dst = at<u8>(shfl(to, who));
    for (u32 b = lane(); b < length(s); b += WARP) dst[b] = byte(s, b);
  }
}

KERNEL(collect_join, collectLaunch, BLOCK, BLOCK) {
  const u32 *rows = at<u32>(a.Rows), *ids = at<u32>(a.IDs);
  const u64 k = u64(block()) * BLOCK + thread();
  View sep{0, 0}, text{0, 0};
  Ptr to = 0;
  if (k < n) {
    to = a.Base + at<u64>(a.Places)[k];
    text = text_at(a.Src, rows[k]);
    if (!begins(rows, ids, k)) sep = separator(a, rows[k]);
  }
  copy_by_warp(sep, to);
  copy_by_warp(text, to + length(sep));
}

// collect_views makes views of what collect_join wrote. Places has one more, all.
KERNEL(collect_views, collectLaunch, BLOCK, BLOCK) {
  const u32 *starts = at<u32>(a.Starts);
  const u64 *places = at<u64>(a.Places);
  each<1>(n, [&](u64 k) {
    const u64 from = places[starts[k]], size = places[k + 1 < n ? starts[k + 1] : a.N] - from, g = at<u32>(a.IDs)[at<u32>(a.Rows)[starts[k]]];
    if (size > 0x7fffffff) {
      atomic_or(at<u64>(a.Bad), 1);
      return;
    }
    View v{size, 0};
    for (u32 b = 0; b < (size > InlineLen ? 4 : u32(size)); b++) {
      const u64 c = at<u8>(a.Base + from)[b];
      if (b < 4) v.Lo |= c << (32 + 8 * b);
      else v.Hi |= c << (8 * (b - 4));
    }
    if (size > InlineLen) v.Hi = a.Base + from;
    at<View>(a.Dst.Data)[g] = v;
    atomic_or(&at<u32>(a.Dst.Valid)[g / 32], 1u << (g % 32));
  });
}
