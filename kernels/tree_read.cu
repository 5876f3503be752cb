// Questions to a tree: see tree_read.go.
#include "tree.cuh"

// A block's keys: so many for each four lanes, which look for some at once.
#define TREE_ROUNDS 8
#define TREE_AT_ONCE 2
#define TREE_KEYS (TREE_ROUNDS * BLOCK / 4)

// quad_row writes the row of entry pos of a leaf, of those with 32 bits, which four
// lanes have read: the one that has it does.
INLINE void quad_row(Pack<u32, 4> rows, u32 pos, u64 *to) {
  const u32 a = rows.v[0], b = rows.v[1], c = rows.v[2], d = rows.v[3];
  const u32 low = pos & 1 ? b : a, high = pos & 1 ? d : c;
  if (lane() % quad_lanes == pos / 4) *to = pos & 2 ? high : low;
}

// How many entries a key has, as find says it; more are counted by tree_give.
constexpr u32 found_more = 2;

// find looks for keys of one word, four lanes a key, as if each had one entry:
// rows of 32 bits are read with the leaf's words. (To sum up and write answers in
// the same launch, in blocks that wait for each other, was 15 % slower with keys of
// 32 bits, and as much faster with keys of 64.)
template <typename W, bool PACKED>
INLINE void find(const TreeRead &a, u64 n) {
  const Tree &t = a.T;
  const W *keys = at<W>(a.LoKeys);
  bool other = false;
  for (u32 r = 0; r < TREE_ROUNDS; r += TREE_AT_ONCE) {
    u64 i[TREE_AT_ONCE];
    u32 leaf[TREE_AT_ONCE], ref[TREE_AT_ONCE];
    W word[TREE_AT_ONCE];
    Found f[TREE_AT_ONCE];
    UNROLL for (u32 q = 0; q < TREE_AT_ONCE; q++) {
      i[q] = u64(block()) * TREE_KEYS + ((r + q) * BLOCK + thread()) / quad_lanes;
      word[q] = i[q] < n ? keys[i[q]] : W(0);
    }
    quad_descend<false>(t, word, leaf);
    UNROLL for (u32 q = 0; q < TREE_AT_ONCE; q++) ref[q] = ref_in<PACKED>(t, leaf[q]);
    Pack<u32, 4> rows[TREE_AT_ONCE];
    if (!t.Form.Wide) {
      UNROLL for (u32 q = 0; q < TREE_AT_ONCE; q++) {
        rows[q] = at<Pack<u32, 4>>(leaf_in<PACKED>(t, ref[q]) + t.Form.RowsAt)[lane() % quad_lanes];
      }
    }
    quad_find<PACKED>(t, ref, word, f);
    UNROLL for (u32 q = 0; q < TREE_AT_ONCE; q++) {
      if (i[q] >= n) continue;
      if (f[q].same && !t.Form.Wide) quad_row(rows[q], f[q].pos, &at<u64>(a.Rows)[i[q]]);
      if (lane() % quad_lanes) continue;
      u32 count = smaller(f[q].same, found_more);
      if (count == 1 && f[q].pos + 1 == length_of(ref[q]) && leaf[q] + 1 < t.Counts[0] &&
          word_of<W>(leaf_in<PACKED>(t, ref_in<PACKED>(t, leaf[q] + 1)), 0) == word[q]) {
        count = found_more;
      }
      if (count && t.Form.Wide) at<u64>(a.Rows)[i[q]] = row_of(t.Form, leaf_in<PACKED>(t, ref[q]), f[q].pos);
      at<u64>(a.Offsets)[i[q]] = i[q];
      at<u8>(a.Counts)[i[q]] = u8(count);
      other |= count != 1;
    }
  }
  if (number() == 0) at<u64>(a.Offsets)[n] = n;
  if (any(other) && lane() == 0) atomic_or(at<u32>(a.State), 1);
}

// 78 registers a thread left room for three blocks, with which lookups took a third
// longer than with five. The ends of ranges are found faster with the registers.
DENSE(tree_find_4, TreeRead, BLOCK, TREE_KEYS, 5) {
  if (a.T.Refs) find<u32, false>(a, n); else find<u32, true>(a, n);
}
DENSE(tree_find_8, TreeRead, BLOCK, TREE_KEYS, 4) {
  if (a.T.Refs) find<u64, false>(a, n); else find<u64, true>(a, n);
}

#define TREE_GIVEN 2

// give puts what find has found in its place, where keys have other than one
// entry. Rows that find wrote are at Found.
template <typename W>
INLINE void give(const TreeRead &a, u64 n) {
  SHARED(u64, place, 1);
  const Tree &t = a.T;
  const u32 tile = take_tile(at<u32>(a.State));
  const u64 base = (u64(tile) * BLOCK + thread()) * TREE_GIVEN;
  u32 count[TREE_GIVEN];
  Spot spot[TREE_GIVEN];
  u64 own = 0, all;
  UNROLL for (u32 k = 0; k < TREE_GIVEN; k++) {
    count[k] = base + k < n ? u32(at<u8>(a.Counts)[base + k]) : 0;
    if (count[k] == found_more) {
      const W word = at<W>(a.LoKeys)[base + k];
      spot[k] = search(t, Place<W>{word, 0, 0, false});
      count[k] = rank_of(t, search(t, Place<W>{word, 0, ~u64(0), true})) - rank_of(t, spot[k]);
    }
    own += count[k];
  }
  u64 sum = block_scan<BLOCK>(own, Add(), u64(0), all);
  if (warp() == 0) {
    const u64 past = look_back(TileWords{at<u64>(a.State) + 1}, tile, all);
    if (lane() == 0) {
      place[0] = past;
      if (u64(tile + 1) * (TREE_GIVEN * BLOCK) >= n) at<u64>(a.Offsets)[n] = past + all;
    }
  }
  sync_block();
  sum += place[0];
  u64 *rows = at<u64>(a.Rows);
  UNROLL for (u32 k = 0; k < TREE_GIVEN; k++) {
    if (base + k >= n) break;
    at<u64>(a.Offsets)[base + k] = sum;
    if (count[k] == 1 && sum < a.Room) rows[sum] = at<u64>(a.Found)[base + k];
    if (count[k] > 1) {
      u32 ref = ref_of(t, spot[k].leaf);
      for (u64 j = sum; j < sum + count[k] && j < a.Room; j++) {
        rows[j] = row_of(t.Form, leaf_at(t, ref), spot[k].pos);
        if (++spot[k].pos == length_of(ref) && j + 1 < sum + count[k]) ref = ref_of(t, ++spot[k].leaf), spot[k].pos = 0;
      }
    }
    sum += count[k];
  }
}

KERNEL(tree_give_4, TreeRead, BLOCK, TREE_GIVEN * BLOCK) { give<u32>(a, n); }
KERNEL(tree_give_8, TreeRead, BLOCK, TREE_GIVEN * BLOCK) { give<u64>(a, n); }

// answer writes what is known of range i, entries from number low to high, and
// returns how many it answers with.
INLINE u32 answer(const TreeRead &a, u64 i, u32 low, u32 leaf, u32 high) {
  u64 count = low < high ? high - low : 0;
  if (a.Limit && count > a.Limit) count = a.Limit;
  at<u64>(a.Offsets)[i] = count;
  if (a.Begin) at<u64>(a.Begin)[i] = a.Backward ? (u64(high - count) << 32 | ~u32(0)) : (u64(low) << 32 | leaf);
  return u32(count);
}

// note_longest tells how long the longest range is, given each lane's.
INLINE void note_longest(const TreeRead &a, u32 count) {
  if (!a.Longest) return;
  const u32 most = warp_reduce(count, Max());
  if (lane() == 0 && most > ld_relaxed(at<u32>(a.Longest))) atomic_max(at<u32>(a.Longest), most);
}

// bounds is for ranges between keys of one word, four lanes a range: they look for
// both ends at once. An open end is looked for too, and not used.
template <typename W, bool PACKED>
INLINE void bounds(const TreeRead &a, u64 n) {
  const Tree &t = a.T;
  u32 longest = 0;
  for (u32 r = 0; r < TREE_ROUNDS; r++) {
    const u64 i = u64(block()) * TREE_KEYS + (r * BLOCK + thread()) / quad_lanes;
    const bool real = i < n;
    const W word[2] = {real && a.LoKeys ? at<W>(a.LoKeys)[i] : W(0), real && a.HiKeys ? at<W>(a.HiKeys)[i] : W(0)};
    u32 leaf[2];
    Found f[2];
    quad_descend<true>(t, word, leaf);
    const u32 ref[2] = {ref_in<PACKED>(t, leaf[0]), ref_in<PACKED>(t, leaf[1])};
    quad_find<PACKED>(t, ref, word, f);
    if (real && lane() % quad_lanes == 0) {
      const u32 high = a.HiKeys ? sum_in<PACKED>(t, leaf[1]) + f[1].pos : t.Entries;
      longest = larger(longest, answer(a, i, a.LoKeys ? sum_in<PACKED>(t, leaf[0]) + f[0].pos : 0, a.LoKeys ? leaf[0] : 0, high));
    }
  }
  note_longest(a, longest);
}

KERNEL(tree_bounds_4, TreeRead, BLOCK, TREE_KEYS) {
  if (a.T.Refs) bounds<u32, false>(a, n); else bounds<u32, true>(a, n);
}
KERNEL(tree_bounds_8, TreeRead, BLOCK, TREE_KEYS) {
  if (a.T.Refs) bounds<u64, false>(a, n); else bounds<u64, true>(a, n);
}

// bound_of is the place of key i of a bound.
template <typename W>
INLINE Place<W> bound_of(const Tree &t, Ptr keys, Ptr rows, u64 i, bool after) {
  const Ptr key = keys + i * t.Form.KeySize;
  return {*at<W>(key), key + sizeof(W), after ? ~u64(0) : rows ? at<u64>(rows)[i] : 0, after};
}

// spots is for ranges of any kind, a thread a range.
template <typename W>
INLINE u32 spot(const TreeRead &a, u64 i) {
  const Tree &t = a.T;
  if (a.Ops && at<u8>(a.Ops)[i] != a.Only) return answer(a, i, 0, 0, 0);
  Spot begin = {0, 0};
  if (a.LoKeys) begin = search(t, bound_of<W>(t, a.LoKeys, a.LoRows, i, false));
  const u32 high = a.HiKeys ? rank_of(t, search(t, bound_of<W>(t, a.HiKeys, a.HiRows, i, a.HiAfter))) : t.Entries;
  return answer(a, i, rank_of(t, begin), begin.leaf, high);
}
template <typename W>
INLINE void spots(const TreeRead &a, u64 n) {
  note_longest(a, number() < n ? spot<W>(a, number()) : 0);
}

KERNEL(tree_spots_4, TreeRead, BLOCK, BLOCK) { spots<u32>(a, n); }
KERNEL(tree_spots_8, TreeRead, BLOCK, BLOCK) { spots<u64>(a, n); }

// put_key writes a whole key to place j of an answer.
template <typename W>
INLINE void put_key(const TreeRead &a, u64 j, Ptr leaf, u32 i) {
  const Ptr key = a.Keys + j * a.T.Form.KeySize, rest = rest_of(a.T.Form, leaf, i);
  *at<W>(key) = word_of<W>(leaf, i);
  for (u32 w = 0; w < a.T.Form.Rest; w++) at<u64>(key + 8)[w] = at<u64>(rest)[w];
}

// fill_ranges writes the answers of ranges that are all of some length, M of them a
// warp: each lane looks at a leaf of one of them, and then half warps take the
// leaves that have answers, a lane an entry.
template <typename W, bool PACKED, u32 M>
INLINE void fill_ranges(const TreeRead &a, u64 n) {
  constexpr u32 C = WARP / M, K = 4;
  const Tree &t = a.T;
  const u64 i = (u64(block()) * (BLOCK / WARP) + warp()) * M + lane() / C;
  u64 all_begin = 0;
  u32 low = 0, high = 0, leaf = lane() % C;
  if (i < n) {
    const u64 b = at<u64>(a.Begin)[i];
    all_begin = at<u64>(a.Offsets)[i];
    low = u32(b >> 32);
    high = low + u32(at<u64>(a.Offsets)[i + 1] - all_begin);
    leaf += PACKED ? low / u32(TreeLeaf) : u32(b);
  }
  // Answers of a warp are so near each other that 32 bits say where.
  u64 *const rows = at<u64>(a.Rows) + shfl(all_begin, 0);
  const u32 begin = u32(all_begin - shfl(all_begin, 0)) - low;
  const u32 pos = lane() % u32(TreeLeaf);
  // What is known of the next leaf is read before answers are written.
  const u32 count = low < high ? t.Counts[0] : 0;
  u32 ref = leaf < count ? ref_in<PACKED>(t, leaf) : 0, sum = leaf < count ? sum_in<PACKED>(t, leaf) : 0;
  for (bool more = true; more;) {
    u32 span = 0; // which entries of the leaf are answers
    u32 to = 0;   // where its first one would be
    Ptr from = 0;
    more = false;
    if (leaf < count && sum < high) {
      const u32 length = length_of(ref);
      span = (low > sum ? low - sum : 0) | smaller(high - sum, length) << 8;
      to = begin + sum;
      from = leaf_in<PACKED>(t, ref);
      more = lane() % C == C - 1 && sum + length < high;
    }
    more = any(more);
    leaf += C;
    if (more && leaf < count) ref = ref_in<PACKED>(t, leaf), sum = sum_in<PACKED>(t, leaf);
    for (u32 left = ballot(span != 0); left;) {
      Ptr leaves[K];
      u64 row[K];
      u32 places[K];
      bool here[K];
      UNROLL for (u32 k = 0; k < K; k++) {
        const u32 x = ctz(left);
        left &= left - 1;
        const u32 y = ctz(left);
        left &= left - 1;
        const u32 own = lane() < WARP / 2 ? x : y, s = shfl(span, own % WARP);
        here[k] = own < WARP && pos >= (s & 255) && pos < s >> 8;
        leaves[k] = shfl(from, own % WARP);
        places[k] = shfl(to, own % WARP) + pos;
      }
      UNROLL for (u32 k = 0; k < K; k++) row[k] = here[k] ? row_of(t.Form, leaves[k], pos) : 0;
      UNROLL for (u32 k = 0; k < K; k++) {
        if (!here[k]) continue;
        u64 *to = rows + i32(places[k]);
        *to = row[k];
        if (a.Keys) put_key<W>(a, u64(to - at<u64>(a.Rows)), leaves[k], pos);
      }
    }
  }
}

// Ranges of a warp: short ones have few leaves each.
#define TREE_TINY 16
#define TREE_SHORT 8
#define TREE_MIDDLE 2

#define FILL_RANGES(name, M)                                                                         \
  DENSE(name##_4, TreeRead, BLOCK, M * BLOCK / 32, 6) {                                              \
    if (a.T.Refs) fill_ranges<u32, false, M>(a, n); else fill_ranges<u32, true, M>(a, n);            \
  }                                                                                                  \
  DENSE(name##_8, TreeRead, BLOCK, M * BLOCK / 32, 6) {                                              \
    if (a.T.Refs) fill_ranges<u64, false, M>(a, n); else fill_ranges<u64, true, M>(a, n);            \
  }

FILL_RANGES(tree_tiny, TREE_TINY)
FILL_RANGES(tree_short, TREE_SHORT)
FILL_RANGES(tree_middle, TREE_MIDDLE)

// Answers that a warp writes, and how many of these a lane has at once.
#define TREE_ANSWERS 512
#define TREE_AT_A_TIME 4
// So many answers of one range are written by the leaf.
#define TREE_LONG 64
// From so many entries on a leaf is looked for by halving.
#define TREE_FAR 512

// range_before is the last range that begins at answer j or before: a warp halves
// five times at once.
INLINE u64 range_before(const TreeRead &a, u64 j) {
  const u64 *offsets = at<u64>(a.Offsets);
  u64 low = 0, high = a.N;
  while (high - low > 1) {
    const u64 probe = low + (high - low) * (lane() + 1) / (WARP + 1);
    const u32 c = popc(ballot(offsets[probe] <= j));
    const u64 size = high - low;
    if (c < WARP) high = low + size * (c + 1) / (WARP + 1);
    low += size * c / (WARP + 1);
  }
  return low;
}

// seek moves leaves to those that have ranks: they are near.
template <bool PACKED, u32 K>
INLINE void seek(const Tree &t, const u32 (&rank)[K], u32 (&leaf)[K]) {
  u32 next[K];
  UNROLL for (u32 k = 0; k < K; k++) {
    leaf[k] = PACKED ? rank[k] / u32(TreeLeaf) : smaller(leaf[k], t.Counts[0] - 1);
    next[k] = sum_in<PACKED>(t, leaf[k]);
  }
  if (PACKED) return;
  UNROLL for (u32 k = 0; k < K; k++) {
    while (next[k] > rank[k]) next[k] = sum_in<PACKED>(t, --leaf[k]);
  }
  for (bool more = true; more;) {
    more = false;
    UNROLL for (u32 k = 0; k < K; k++) next[k] = sum_in<PACKED>(t, leaf[k] + 1);
    UNROLL for (u32 k = 0; k < K; k++) {
      if (next[k] <= rank[k]) leaf[k]++, more = true;
    }
  }
}

// fill_long writes answers from to stop of one range: lanes side by side take the
// entries of a leaf, of several pairs of leaves at once.
template <typename W, bool PACKED>
INLINE void fill_long(const TreeRead &a, u64 range, u64 from, u64 stop) {
  constexpr u32 K = 4;
  const Tree &t = a.T;
  const u64 begin = at<u64>(a.Offsets)[range], end = at<u64>(a.Offsets)[range + 1], b = at<u64>(a.Begin)[range];
  const u32 first = u32(b >> 32), lowest = first + u32(a.Backward ? end - stop : from - begin);
  const u32 highest = lowest + u32(stop - from), leaves = t.Counts[0], pos = lane() % u32(TreeLeaf);
  u32 leaf = PACKED ? lowest / u32(TreeLeaf) : u32(b);
  if (!PACKED && (leaf == ~u32(0) || lowest - first >= TreeLeaf)) {
    u32 below = 0, above = leaves; // the last leaf that begins at the entry or before
    while (above - below > 1) {
      const u64 size = above - below;
      const u32 c = popc(ballot(sum_in<PACKED>(t, below + u32(size * (lane() + 1) / (WARP + 1))) <= lowest));
      if (c < WARP) above = below + u32(size * (c + 1) / (WARP + 1));
      below += u32(size * c / (WARP + 1));
    }
    leaf = below;
  }
  for (bool more = true; more; leaf += K * WARP / TreeLeaf) {
    u32 rank[K], ref[K];
    u64 row[K];
    UNROLL for (u32 k = 0; k < K; k++) {
      const u32 d = smaller(leaf + k * (WARP / u32(TreeLeaf)) + lane() / u32(TreeLeaf), leaves - 1);
      ref[k] = ref_in<PACKED>(t, d);
      rank[k] = sum_in<PACKED>(t, d) + pos;
      more = d + 1 < leaves && rank[k] - pos < highest;
      // The last leaf is read by all that are beyond it, and written by one.
      if (pos >= length_of(ref[k]) || d != leaf + k * (WARP / u32(TreeLeaf)) + lane() / u32(TreeLeaf)) rank[k] = highest;
    }
    UNROLL for (u32 k = 0; k < K; k++) row[k] = row_of(t.Form, leaf_in<PACKED>(t, ref[k]), smaller(pos, length_of(ref[k]) - 1));
    UNROLL for (u32 k = 0; k < K; k++) {
      if (rank[k] < lowest || rank[k] >= highest) continue;
      const u64 j = a.Backward ? end - 1 - (rank[k] - first) : begin + (rank[k] - first);
      at<u64>(a.Rows)[j] = row[k];
      if (a.Keys) put_key<W>(a, j, leaf_in<PACKED>(t, ref[k]), pos);
    }
    more = any(more);
  }
}

// fill writes answers, whatever ranges they are of: a warp takes a run of them, each
// lane some that are a warp apart. Offsets of the ranges that may be meant are read
// by all lanes, and each finds its own among them.
template <typename W, bool PACKED>
INLINE void fill(const TreeRead &a, u64 n) {
  constexpr u32 K = TREE_AT_A_TIME;
  const Tree &t = a.T;
  const u64 *offsets = at<u64>(a.Offsets);
  u64 from = (u64(block()) * (BLOCK / WARP) + warp()) * TREE_ANSWERS;
  const u64 to = smaller(n, from + TREE_ANSWERS);
  if (from >= n) return;
  u64 low = range_before(a, from);
  u64 known = a.N; // the range of the last answer, whose rank is noted, in leaf hint
  u32 hint = 0, noted = 0;
  while (from < to) {
    const u32 past = popc(ballot(low + 1 + lane() < a.N && offsets[low + 1 + lane()] <= from));
    low = past < WARP ? low + past : range_before(a, from);
    const u64 stop = smaller(offsets[low + 1], to);
    if (stop - from >= TREE_LONG) {
      fill_long<W, PACKED>(a, low, from, stop);
      from = stop;
      continue;
    }
    // What is beyond the last answer is that one again, and not written.
    u64 range[K], j[K];
    UNROLL for (u32 k = 0; k < K; k++) {
      j[k] = smaller(from + k * WARP + lane(), to - 1);
      const u64 end = low + 1 + lane() < a.N ? offsets[low + 1 + lane()] : ~u64(0);
      u32 c = 0; // so many of these ends are at j or before
      UNROLL for (u32 half = WARP / 2; half > 0; half /= 2) {
        if (shfl(end, c + half - 1) <= j[k]) c += half;
      }
      if (shfl(end, c) <= j[k]) c++;
      range[k] = low + c;
      if (c == WARP) {
        u64 high = a.N; // many ranges have nothing
        while (high - range[k] > 1) {
          const u64 middle = (range[k] + high) / 2;
          if (offsets[middle] <= j[k]) range[k] = middle; else high = middle;
        }
      }
      low = shfl(range[k], WARP - 1);
    }
    u64 begin[K];
    u32 rank[K], leaf[K];
    UNROLL for (u32 k = 0; k < K; k++) {
      begin[k] = at<u64>(a.Begin)[range[k]];
      rank[k] = u32(a.Backward ? offsets[range[k] + 1] - 1 - j[k] : j[k] - offsets[range[k]]);
    }
    UNROLL for (u32 k = 0; k < K; k++) {
      const u32 d = rank[k];
      rank[k] += u32(begin[k] >> 32);
      leaf[k] = u32(begin[k]) + d / u32(TreeLeaf);
      if (range[k] == known) {
        leaf[k] = rank[k] >= noted ? hint + (rank[k] - noted) / u32(TreeLeaf) : hint - smaller(hint, (noted - rank[k]) / u32(TreeLeaf));
      } else if (!PACKED && (u32(begin[k]) == ~u32(0) || d >= TREE_FAR)) {
        u32 below = 0, above = t.Counts[0]; // the last leaf that begins at the entry or before
        while (above - below > 1) {
          const u32 middle = below + (above - below) / 2;
          if (sum_in<PACKED>(t, middle) <= rank[k]) below = middle; else above = middle;
        }
        leaf[k] = below;
      }
    }
    seek<PACKED>(t, rank, leaf);
    known = shfl(range[K - 1], WARP - 1);
    hint = shfl(leaf[K - 1], WARP - 1);
    noted = shfl(rank[K - 1], WARP - 1);
    u32 ref[K];
    u64 row[K];
    UNROLL for (u32 k = 0; k < K; k++) ref[k] = ref_in<PACKED>(t, leaf[k]);
    UNROLL for (u32 k = 0; k < K; k++) row[k] = row_of(t.Form, leaf_in<PACKED>(t, ref[k]), rank[k] - sum_in<PACKED>(t, leaf[k]));
    UNROLL for (u32 k = 0; k < K; k++) {
      if (from + k * WARP + lane() >= to) continue;
      at<u64>(a.Rows)[j[k]] = row[k];
      if (a.Keys) put_key<W>(a, j[k], leaf_in<PACKED>(t, ref[k]), rank[k] - sum_in<PACKED>(t, leaf[k]));
    }
    from += K * WARP;
  }
}

DENSE(tree_fill_4, TreeRead, BLOCK, TREE_ANSWERS * BLOCK / 32, 4) {
  if (a.T.Refs) fill<u32, false>(a, n); else fill<u32, true>(a, n);
}
DENSE(tree_fill_8, TreeRead, BLOCK, TREE_ANSWERS * BLOCK / 32, 4) {
  if (a.T.Refs) fill<u64, false>(a, n); else fill<u64, true>(a, n);
}
