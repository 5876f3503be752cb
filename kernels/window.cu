// Window functions: see window.go, window_frame.go and window_list.go.
#include "scan.cuh"
#include "table.cuh"

KERNEL(window_mark, windowMarkLaunch, BLOCK, BLOCK) {
  const tableColumn *columns = at<tableColumn>(a.Columns);
  const u32 *rows = at<u32>(a.X.Rows), parts = a.Parts, keys = a.Keys;
  u32 *marks = at<u32>(a.X.Group);
  const u64 from = a.From;
  each<1>(n, [=](u64 k) {
    const u64 i = from + k;
    u32 mark = markPeer;
    if (i == 0 || !same_row(columns, parts, rows[i - 1], rows[i])) mark = markPartition;
    else if (!same_row(columns + parts, keys, rows[i - 1], rows[i])) mark = markGroup;
    marks[i] = mark;
  });
}

// The groups and partitions up to each position are counted at once, in the
// halves of a word: window_count makes what Scan adds up.
INLINE u64 counted(u32 mark) { return u64(mark == markPartition) << 32 | (mark != markPeer); }

KERNEL(window_count, windowIndexLaunch, BLOCK, 4 * BLOCK) {
  const u32 *marks = at<u32>(a.X.Group);
  u64 *counts = at<u64>(a.Counts);
  move<4>(n, [=](u64 i) { return counted(marks[i]); }, [=](u64 i, u64 c) { counts[i] = c; });
}

// window_groups notes where each begins; a position's Start is the number of its
// partition until window_bounds.
KERNEL(window_groups, windowIndexLaunch, BLOCK, 4 * BLOCK) {
  u32 *group = at<u32>(a.X.Group), *groups = at<u32>(a.X.Groups), *start = at<u32>(a.X.Start), *parts = at<u32>(a.Parts);
  const u64 *counts = at<u64>(a.Counts);
  each<4>(n, [=](u64 i) {
    const u32 mark = group[i];
    const u64 upto = counts[i] + counted(mark);
    const u32 g = u32(upto), p = u32(upto >> 32);
    if (mark != markPeer) groups[g - 1] = u32(i);
    if (mark == markPartition) parts[p - 1] = u32(i);
    group[i] = g - 1;
    start[i] = p - 1;
    if (i + 1 == n) groups[g] = parts[p] = u32(n);
  });
}

KERNEL(window_bounds, windowIndexLaunch, BLOCK, 4 * BLOCK) {
  u32 *start = at<u32>(a.X.Start), *end = at<u32>(a.X.End);
  const u32 *parts = at<u32>(a.Parts);
  each<4>(n, [=](u64 i) {
    const u32 p = start[i];
    start[i] = parts[p];
    end[i] = parts[p + 1];
  });
}

// Place is where a position stands.
struct Place {
  i64 i, start, end, group;
  INLINE Place(const WindowIndex &x, u64 at_) : i(i64(at_)), start(at<u32>(x.Start)[at_]), end(at<u32>(x.End)[at_]), group(at<u32>(x.Group)[at_]) {}
};

// bucket is the number of a partition's part that a row at offset is in, from 1.
INLINE i64 bucket(i64 offset, i64 size, i64 buckets) {
  const i64 rows = size / buckets, more = size % buckets;
  return 1 + (offset < more * (rows + 1) ? offset / (rows + 1) : more + (offset - more * (rows + 1)) / rows);
}

KERNEL(window_rank, windowRankLaunch, BLOCK, 4 * BLOCK) {
  if (a.Op == RankNtile) {
    bits<4>(n, at<u32>(a.Dst.Valid), [&](u64 k) {
      const Place p(a.X, a.At + k);
      const u64 row = at<u32>(a.X.Rows)[p.start];
      if (!bit(a.Arg.Valid, row)) return false;
      const i64 buckets = at<i64>(a.Arg.Data)[row];
      if (buckets <= 0) {
        atomic_or(at<u32>(a.Bad), 1);
        return false;
      }
      at<i32>(a.Dst.Data)[k] = i32(bucket(p.i - p.start, p.end - p.start, buckets));
      return true;
    });
    return;
  }
  each<4>(n, [&](u64 k) {
    const Place p(a.X, a.At + k);
    const i64 size = p.end - p.start, first = at<u32>(a.X.Groups)[p.group], past = at<u32>(a.X.Groups)[p.group + 1];
    u64 v = 0;
    switch (a.Op) {
      case RankRowNumber: v = u64(p.i - p.start + 1); break;
      case RankRank: v = u64(first - p.start + 1); break;
      case RankDense: v = u64(p.group - at<u32>(a.X.Group)[p.start] + 1); break;
      case RankPercent: v = of_f64(size > 1 ? f64(first - p.start) / f64(size - 1) : 0); break;
      case RankCumeDist: v = of_f64(f64(past - p.start) / f64(size)); break;
    }
    at<u64>(a.Dst.Data)[k] = v;
  });
}

// reach finds a bound by value: the first position whose key is not before the
// value, or at the end, the first that is after it. Peers of a NULL are NULLs.
CALLED i64 reach(const WindowIndex &x, const windowBound &b, const Place &p, bool end) {
  const u32 *rows = at<u32>(x.Rows);
  const u64 row = rows[p.i];
  if (!bit(b.Value.Valid, row)) return at<u32>(x.Groups)[p.group + (end ? 1 : 0)];
  u64 hi, key_hi;
  const u64 lo = value_at(b.Value, row, b.Form, hi);
  i64 from = p.start, to = p.end;
  while (from < to) {
    const i64 mid = (from + to) / 2;
    const u64 r = rows[mid];
    bool beyond = !b.NullsFirst;
    if (bit(b.Key.Valid, r)) {
      const u64 key = value_at(b.Key, r, b.Form, key_hi);
      i32 c = compare_words(key, key_hi, lo, hi, b.Form);
      if (b.Desc) c = -c;
      beyond = c > 0 || (c == 0 && !end);
    }
    if (beyond) to = mid;
    else from = mid + 1;
  }
  return from;
}

INLINE i64 clamp(i64 v, i64 lo, i64 hi) { return v < lo ? lo : v > hi ? hi : v; }

// bound is a frame's begin, or the position past its end.
INLINE i64 bound(const windowFrameLaunch &a, const windowBound &b, const Place &p, bool end) {
  if (b.Kind == BoundFirst) return p.start;
  if (b.Kind == BoundLast) return p.end;
  const i64 offset = b.Kind == BoundCurrent ? 0 : b.Kind == BoundPreceding ? -b.Offset : b.Offset;
  if (a.Unit == FrameRows) return p.i + clamp(offset, p.start - p.end, p.end - p.start) + end;
  if (a.Unit == FrameGroups) {
    const i64 first = at<u32>(a.X.Group)[p.start], last = at<u32>(a.X.Group)[p.end - 1];
    const i64 g = p.group + clamp(offset, first - p.group - 1, last - p.group + 1) + end;
    return g < first ? p.start : g > last ? p.end : i64(at<u32>(a.X.Groups)[g]);
  }
  if (b.Kind == BoundCurrent) return at<u32>(a.X.Groups)[p.group + end];
  return reach(a.X, b, p, end);
}

// A Frame is the runs of positions of one row.
struct Run {
  u32 lo, hi;
  INLINE Run cut(u32 from, u32 to) const {
    const u32 l = larger(lo, from), h = smaller(hi, to);
    return Run{l, larger(l, h)};
  }
  INLINE u32 size() const { return hi - lo; }
};

struct Frame { Run run[3]; };

KERNEL(window_frames, windowFrameLaunch, BLOCK, BLOCK) {
  Frame *out = at<Frame>(a.Out);
  each<1>(n, [&](u64 k) {
    const Place p(a.X, a.At + k);
    const i64 lo = clamp(bound(a, a.Start, p, false), p.start, p.end);
    const Run f{u32(lo), u32(clamp(bound(a, a.End, p, true), lo, p.end))};
    const u32 i = u32(p.i), first = at<u32>(a.X.Groups)[p.group], past = at<u32>(a.X.Groups)[p.group + 1];
    switch (a.Exclude) {
      case ExcludeNone: out[k] = Frame{{f, Run{0, 0}, Run{0, 0}}}; break;
      case ExcludeRow: out[k] = Frame{{f.cut(0, i), f.cut(0, 0), f.cut(i + 1, ~0u)}}; break;
      case ExcludeGroup: out[k] = Frame{{f.cut(0, first), f.cut(0, 0), f.cut(past, ~0u)}}; break;
      case ExcludeTies: out[k] = Frame{{f.cut(0, first), f.cut(i, i + 1), f.cut(past, ~0u)}}; break;
    }
  });
}

constexpr i64 no_row = -1;

// offset_of is the row's second argument, 1 without one; false: it is NULL.
INLINE bool offset_of(const windowPickLaunch &a, i64 i, i64 &offset) {
  offset = 1;
  if (a.Offset.Data == 0) return true;
  const u64 row = at<u32>(a.X.Rows)[i];
  if (!bit(a.Offset.Valid, row)) return false;
  offset = at<i64>(a.Offset.Data)[row];
  return true;
}

// passing goes so many rows on or back from p that have values; the position may
// be outside of the partition.
INLINE i64 passing(const windowPickLaunch &a, const Place &p, i64 offset) {
  const i64 step = offset < 0 ? -1 : 1;
  i64 to = p.i;
  for (i64 left = offset < 0 ? -offset : offset; left > 0;) {
    to += step;
    if (to < p.start || to >= p.end) break;
    left -= bit(a.Src.Valid, at<u32>(a.X.Rows)[to]);
  }
  return to;
}

// framed is the row that first_value, last_value and nth_value name.
INLINE i64 framed(const windowPickLaunch &a, const Place &p, const Frame &f) {
  const u32 *rows = at<u32>(a.X.Rows);
  i64 nth = 1;
  if (a.Op == PickNth) {
    if (!offset_of(a, p.i, nth)) return no_row;
    if (nth <= 0 && !a.SkipNulls) atomic_or(at<u32>(a.Bad), 1);
    if (nth <= 0) return no_row;
  }
  if (a.Op == PickLast) {
    for (i32 s = 2; s >= 0; s--) {
      for (u32 i = f.run[s].hi; i > f.run[s].lo; i--) {
        if (!a.SkipNulls || bit(a.Src.Valid, rows[i - 1])) return rows[i - 1];
      }
    }
    return no_row;
  }
  for (u32 s = 0; s < 3; s++) {
    if (!a.SkipNulls) {
      if (nth <= f.run[s].size()) return rows[f.run[s].lo + nth - 1];
      nth -= f.run[s].size();
      continue;
    }
    for (u32 i = f.run[s].lo; i < f.run[s].hi; i++) {
      nth -= bit(a.Src.Valid, rows[i]);
      if (nth == 0) return rows[i];
    }
  }
  return no_row;
}

KERNEL(window_pick, windowPickLaunch, BLOCK, 4 * BLOCK) {
  bits<4>(n, at<u32>(a.Dst.Valid), [&](u64 k) {
    const Place p(a.X, a.At + k);
    i64 row = no_row, offset;
    bool other = false;
    if (a.Op != PickLag && a.Op != PickLead) {
      row = framed(a, p, at<Frame>(a.Frames)[k]);
    } else if (offset_of(a, p.i, offset)) {
      offset = clamp(offset, p.start - p.end, p.end - p.start);
      if (a.Op == PickLag) offset = -offset;
      const i64 to = a.SkipNulls ? passing(a, p, offset) : p.i + offset;
      other = to < p.start || to >= p.end;
      if (!other || a.Default.Data) row = at<u32>(a.X.Rows)[other ? p.i : to];
    }
    const Vec &src = other ? a.Default : a.Src;
    u64 lo = 0, hi = 0;
    const bool is = row != no_row && bit(src.Valid, row);
    if (is) lo = value_at(src, row, a.Form, hi);
    switch (a.Width) {
      case 1: at<u8>(a.Dst.Data)[k] = u8(lo); break;
      case 2: at<u16>(a.Dst.Data)[k] = u16(lo); break;
      case 4: at<u32>(a.Dst.Data)[k] = u32(lo); break;
      case 8: at<u64>(a.Dst.Data)[k] = lo; break;
      default: at<Pack<u64, 2>>(a.Dst.Data)[k] = Pack<u64, 2>{{lo, hi}};
    }
    return is;
  });
}

INLINE u64 rows_of(const Frame &f) { return u64(f.run[0].size()) + f.run[1].size() + f.run[2].size(); }

INLINE bool same_frame(const Frame &f, const Frame &g) {
  bool same = true;
  for (u32 s = 0; s < 3; s++) same = same && f.run[s].lo == g.run[s].lo && f.run[s].hi == g.run[s].hi;
  return same;
}

// window_differ says 1 where the next frame is another one, and of the last one:
// Scan makes numbers of that. Count, 0 before, gets the rows of different frames.
KERNEL(window_differ, windowListLaunch, BLOCK, 4 * BLOCK) {
  const Frame *frames = at<Frame>(a.Frames);
  u32 *ids = at<u32>(a.IDs);
  u64 rows = 0;
  each<4>(n, [&](u64 k) {
    const bool last = k + 1 == n || !same_frame(frames[k], frames[k + 1]);
    ids[k] = last;
    if (last) rows += rows_of(frames[k]);
  });
  rows = block_reduce<BLOCK>(rows, Add());
  if (thread() == 0 && rows != 0) atomic_add(at<u64>(a.Count), rows);
}

// A frame's rows are listed at its last row.
KERNEL(window_sizes, windowListLaunch, BLOCK, 4 * BLOCK) {
  const Frame *frames = at<Frame>(a.Frames);
  const u32 *ids = at<u32>(a.IDs);
  u64 *places = at<u64>(a.Places);
  each<4>(n, [=](u64 k) { places[k] = k + 1 == n || ids[k] != ids[k + 1] ? rows_of(frames[k]) : 0; });
}

// A warp lists the rows of a frame.
KERNEL(window_list, windowListLaunch, BLOCK, BLOCK / 32) {
  const u64 k = (u64(block()) * BLOCK + thread()) / WARP;
  if (k >= n) return;
  const u32 *ids = at<u32>(a.IDs), *rows = at<u32>(a.X.Rows);
  const u32 id = ids[k];
  if (k + 1 < n && ids[k + 1] == id) return;
  const Frame f = at<Frame>(a.Frames)[k];
  u64 to = at<u64>(a.Places)[k];
  for (u32 s = 0; s < 3; s++) {
    for (u32 i = lane(); i < f.run[s].size(); i += WARP) {
      at<u32>(a.List)[to + i] = rows[f.run[s].lo + i];
      at<u32>(a.ListIDs)[to + i] = id;
    }
    to += f.run[s].size();
  }
}
