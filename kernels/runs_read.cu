// Questions to several runs: see runs.go.
#include "runs.cuh"

// A block's questions: so many for each four lanes.
#define RUNS_ROUNDS 8
#define RUNS_ASKED (RUNS_ROUNDS * BLOCK / 4)

// find looks for keys of one word in every run, four lanes a key: pairs that are
// there and taken away again cancel each other out, in the count and, by exclusive
// or, among the rows. So the row that is left over is that of the key, if it has one.
template <typename W>
INLINE void runs_find(const RunsRead &a, u64 n) {
  const W *keys = at<W>(a.LoKeys);
  u32 what = 0;
  for (u32 r = 0; r < RUNS_ROUNDS; r++) {
    const u64 i = u64(block()) * RUNS_ASKED + (r * BLOCK + thread()) / quad_lanes;
    const W word[1] = {i < n ? keys[i] : W(0)};
    u32 count = 0;
    u64 row = 0;
    bool more = false;
    for (u32 x = 0; x < a.R.N; x++) {
      const Tree &t = a.R.T[x];
      u32 leaf[1];
      Found f[1];
      quad_descend<false>(t, word, leaf);
      const u32 ref[1] = {ref_in<true>(t, leaf[0])};
      quad_find<true>(t, ref, word, f);
      if (f[0].same == 0 || lane() % quad_lanes) continue;
      const u32 first = leaf[0] * u32(TreeLeaf) + f[0].pos, end = first + f[0].same;
      for (u32 e = first; e < end; e++) {
        count += is_dead(t, e) ? ~u32(0) : 1;
        row ^= entry_row(t, e);
      }
      more |= end % u32(TreeLeaf) == 0 && end < t.Entries && entry_word<W>(t, end) == word[0];
    }
    if (i >= n || lane() % quad_lanes) continue;
    if (more || count > 1) count = 2;
    at<u64>(a.Offsets)[i] = i;
    at<u8>(a.Counts)[i] = u8(count);
    if (count == 1) at<u64>(a.Rows)[i] = row;
    what |= count == 1 ? 0 : count == 0 ? RunsNotOne : RunsNotOne | RunsMany;
  }
  if (number() == 0) at<u64>(a.Offsets)[n] = n;
  UNROLL for (u32 d = WARP / 2; d > 0; d /= 2) what |= shfl_xor(what, d);
  if (what && lane() == 0) atomic_or(at<u32>(a.State), what);
}

KERNEL(runs_find_4, RunsRead, BLOCK, RUNS_ASKED) { runs_find<u32>(a, n); }
KERNEL(runs_find_8, RunsRead, BLOCK, RUNS_ASKED) { runs_find<u64>(a, n); }

typedef Pack<u32, 2> Ends; // where a range begins in a run, and where it ends

// cuts is how many entries inside a span begin a piece.
INLINE u32 cuts(Ends s) {
  return s.v[0] < s.v[1] ? (s.v[1] - 1) / u32(runsPiece) - s.v[0] / u32(runsPiece) : 0;
}

// note adds what a run has of range i.
INLINE void note(const RunsRead &a, u64 i, u32 x, Ends s, u64 &count, u64 &all) {
  const Tree &t = a.R.T[x];
  if (s.v[1] < s.v[0]) s.v[1] = s.v[0];
  const u32 live = live_before(t, s.v[1]) - live_before(t, s.v[0]);
  count += t.Dead ? u64(i64(i32(live))) : u64(live);
  all += s.v[1] - s.v[0];
  if (a.Spans) at<Ends>(a.Spans)[i * a.R.N + x] = s;
}

// sum_up writes how many entries range i has. With a limit, and d dead ones, the
// first limit + 2d of each run have all that is asked for.
INLINE void sum_up(const RunsRead &a, u64 i, u64 count, u64 all) {
  const u64 most = a.Limit + (all - count);
  const bool less = a.Limit && count > a.Limit;
  if (less) count = a.Limit;
  at<u64>(a.Offsets)[i] = count;
  if (!a.Spans) return;
  u64 pieces = 1;
  for (u32 x = 0; x < a.R.N; x++) {
    Ends &s = at<Ends>(a.Spans)[i * a.R.N + x];
    Ends t = s;
    if (less && t.v[1] - t.v[0] > most) {
      if (a.Backward) t.v[0] = t.v[1] - u32(most); else t.v[1] = t.v[0] + u32(most);
      s = t;
    }
    pieces += cuts(t);
  }
  at<u64>(a.Pieces)[i] = count ? pieces : 0;
}

// runs_bounds is for ranges between keys of one word, four lanes a range.
template <typename W>
INLINE void runs_bounds(const RunsRead &a, u64 n) {
  for (u32 r = 0; r < RUNS_ROUNDS; r++) {
    const u64 i = u64(block()) * RUNS_ASKED + (r * BLOCK + thread()) / quad_lanes;
    const bool real = i < n;
    const W word[2] = {real && a.LoKeys ? at<W>(a.LoKeys)[i] : W(0), real && a.HiKeys ? at<W>(a.HiKeys)[i] : W(0)};
    u64 count = 0, all = 0;
    for (u32 x = 0; x < a.R.N; x++) {
      const Tree &t = a.R.T[x];
      u32 leaf[2];
      Found f[2];
      quad_descend<true>(t, word, leaf);
      const u32 ref[2] = {ref_in<true>(t, leaf[0]), ref_in<true>(t, leaf[1])};
      quad_find<true>(t, ref, word, f);
      if (!real || lane() % quad_lanes) continue;
      const u32 low = a.LoKeys ? leaf[0] * u32(TreeLeaf) + f[0].pos : 0;
      note(a, i, x, {{low, a.HiKeys ? leaf[1] * u32(TreeLeaf) + f[1].pos : t.Entries}}, count, all);
    }
    if (real && lane() % quad_lanes == 0) sum_up(a, i, count, all);
  }
}

KERNEL(runs_bounds_4, RunsRead, BLOCK, RUNS_ASKED) { runs_bounds<u32>(a, n); }
KERNEL(runs_bounds_8, RunsRead, BLOCK, RUNS_ASKED) { runs_bounds<u64>(a, n); }

// end_of is where a run has the place of key i of a bound.
template <typename W>
INLINE u32 end_of(const Tree &t, Ptr keys, Ptr rows, u64 i, bool after) {
  const Ptr key = keys + i * t.Form.KeySize;
  const Spot s = search(t, Place<W>{*at<W>(key), key + sizeof(W), after ? ~u64(0) : rows ? at<u64>(rows)[i] : 0, after});
  return s.leaf * u32(TreeLeaf) + s.pos;
}

// runs_spots is for ranges of any kind, a thread a range.
template <typename W>
INLINE void runs_spots(const RunsRead &a, u64 n) {
  const u64 i = number();
  if (i >= n) return;
  const bool asked = !a.Ops || at<u8>(a.Ops)[i] == a.Only;
  u64 count = 0, all = 0;
  for (u32 x = 0; x < a.R.N; x++) {
    const Tree &t = a.R.T[x];
    Ends s = {{0, asked ? t.Entries : 0}};
    if (asked && a.LoKeys) s.v[0] = end_of<W>(t, a.LoKeys, a.LoRows, i, false);
    if (asked && a.HiKeys) s.v[1] = end_of<W>(t, a.HiKeys, a.HiRows, i, a.HiAfter);
    note(a, i, x, s, count, all);
  }
  sum_up(a, i, count, all);
}

KERNEL(runs_spots_4, RunsRead, BLOCK, BLOCK) { runs_spots<u32>(a, n); }
KERNEL(runs_spots_8, RunsRead, BLOCK, BLOCK) { runs_spots<u64>(a, n); }

INLINE u64 row_at(Ptr row, u32 wide) { return wide ? *at<u64>(row) : u64(*at<u32>(row)); }

// put_entry writes an entry to place j of an answer.
template <typename W>
INLINE void put_entry(const RunsRead &a, u64 j, W word, Ptr rest, u64 row) {
  at<u64>(a.Rows)[j] = row;
  if (!a.Keys) return;
  const TreeForm &f = a.R.T[0].Form;
  const Ptr key = a.Keys + j * f.KeySize;
  *at<W>(key) = word;
  for (u32 w = 0; w < f.Rest; w++) at<u64>(key + 8)[w] = at<u64>(rest)[w];
}

// runs_fill writes a piece of an answer. It begins where its range does, or at an
// entry whose number is a multiple of runsPiece in its run, and ends before the
// next one that is, of whatever run: at most runsPiece entries of each.
template <typename W>
INLINE void runs_fill(const RunsRead &a, u64 n) {
  constexpr u32 R = MaxRuns;
  const u64 j = number();
  if (j >= n) return;
  const u64 *pieces = at<u64>(a.Pieces), *offsets = at<u64>(a.Offsets);
  u64 range = 0, high = a.N; // the last range whose pieces begin at j or before
  while (high - range > 1) {
    const u64 middle = (range + high) / 2;
    if (pieces[middle] <= j) range = middle; else high = middle;
  }
  u64 cut = j - pieces[range];
  u32 cur[R], begin[R], end[R], from = R;
  UNROLL for (u32 x = 0; x < R; x++) {
    Ends s = {{0, 0}};
    if (x < a.R.N) s = at<Ends>(a.Spans)[range * a.R.N + x];
    cur[x] = begin[x] = s.v[0];
    end[x] = s.v[1];
    const u32 c = cuts(s);
    if (cut > 0 && from == R) {
      if (cut <= c) {
        cur[x] = (s.v[0] / u32(runsPiece) + u32(cut)) * u32(runsPiece);
        from = x;
      } else {
        cut -= c;
      }
    }
  }
  if (from < R) {
    u32 entry = 0;
    UNROLL for (u32 x = 0; x < R; x++) if (x == from) entry = cur[x];
    const Tree &own = a.R.T[from];
    const W word = entry_word<W>(own, entry);
    bool other = false; // another run has the same entry, and it begins a piece there too
    UNROLL for (u32 x = 0; x < R; x++) {
      if (x == from || begin[x] >= end[x]) continue;
      const Tree &t = a.R.T[x];
      u32 low = begin[x], high = end[x];
      bool same = false;
      while (low < high) {
        const u32 middle = low + (high - low) / 2;
        const W v = entry_word<W>(t, middle);
        const i32 c = v != word ? (v < word ? -1 : 1) : compare_equal(t, middle, own, entry);
        if (c < 0) low = middle + 1; else high = middle, same |= c == 0;
      }
      cur[x] = low;
      other |= same && x < from && low % u32(runsPiece) == 0 && low > begin[x];
    }
    if (other) return;
  }
  u32 place = 0, all = 0;
  W head[R];
  UNROLL for (u32 x = 0; x < R; x++) {
    if (begin[x] >= end[x]) continue;
    const Tree &t = a.R.T[x];
    const u32 b = live_before(t, begin[x]);
    place += live_before(t, cur[x]) - b;
    if (a.Backward) all += live_before(t, end[x]) - b;
    if (cur[x] < end[x]) head[x] = entry_word<W>(t, cur[x]);
  }
  const u64 to = offsets[range], room = offsets[range + 1] - to;
  for (bool first = true;; first = false) {
    W word = 0;
    u32 same = 0, wide = 0; // the runs whose heads are the least entry, and where it is
    Ptr rest = 0, row = 0;
    bool next = false; // a piece begins there
    UNROLL for (u32 x = 0; x < R; x++) {
      if (cur[x] >= end[x] || (same && head[x] > word)) continue;
      const TreeForm &f = a.R.T[x].Form;
      const Ptr leaf = packed_leaf(a.R.T[x], cur[x]), p = rest_of(f, leaf, cur[x] % u32(TreeLeaf));
      const Ptr q = leaf + f.RowsAt + (4 + 4 * f.Wide) * (cur[x] % u32(TreeLeaf));
      i32 c = -1;
      if (same && head[x] == word) c = compare_entries(p, rest, f.Rest, f.Long, row_at(q, f.Wide), row_at(row, wide));
      if (c > 0) continue;
      if (c < 0) same = 0, next = false, word = head[x], rest = p, row = q, wide = f.Wide;
      same |= 1u << x;
      next |= cur[x] % u32(runsPiece) == 0 && cur[x] > begin[x];
    }
    if (!same || (next && !first)) return;
    if (popc(same) & 1) {
      const u64 k = a.Backward ? u64(u32(all - 1 - place)) : u64(place);
      if (k < room) put_entry<W>(a, to + k, word, rest, row_at(row, wide));
      if (!a.Backward && k + 1 >= room) return;
      place++;
    }
    UNROLL for (u32 x = 0; x < R; x++) {
      if (same >> x & 1 && ++cur[x] < end[x]) head[x] = entry_word<W>(a.R.T[x], cur[x]);
    }
  }
}

KERNEL(runs_fill_4, RunsRead, BLOCK, BLOCK) { runs_fill<u32>(a, n); }
KERNEL(runs_fill_8, RunsRead, BLOCK, BLOCK) { runs_fill<u64>(a, n); }
