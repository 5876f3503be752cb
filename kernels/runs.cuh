// Entries of packed trees by number, and of runs: see runs.go.
#pragma once

#include "items.cuh"

INLINE Ptr packed_leaf(const Tree &t, u32 i) { return t.Slots + u64(i / u32(TreeLeaf)) * t.Form.Block; }
template <typename W>
INLINE W entry_word(const Tree &t, u32 i) { return word_of<W>(packed_leaf(t, i), i % u32(TreeLeaf)); }
INLINE Ptr entry_rest(const Tree &t, u32 i) { return rest_of(t.Form, packed_leaf(t, i), i % u32(TreeLeaf)); }
INLINE u64 entry_row(const Tree &t, u32 i) { return row_of(t.Form, packed_leaf(t, i), i % u32(TreeLeaf)); }
INLINE bool is_dead(const Tree &t, u32 i) { return t.Dead && at<u32>(t.Dead)[i / 32] >> (i % 32) & 1; }

// live_before is the live entries before entry i less the dead ones.
INLINE u32 live_before(const Tree &t, u32 i) {
  if (!t.Dead) return i;
  const u32 k = i % u32(TreeLeaf);
  u32 n = at<u32>(t.Sums)[i / u32(TreeLeaf)] + k;
  if (k) n -= 2 * popc(u32(at<u16>(t.Dead)[i / u32(TreeLeaf)]) & ((1u << k) - 1));
  return n;
}

// compare_entries orders entries whose words are equal by what else they have.
CALLED i32 compare_entries(Ptr a, Ptr b, u32 rest, u32 is_long, u64 row_a, u64 row_b) {
  for (u32 i = 0; i + is_long < rest; i++) {
    const u64 x = at<u64>(a)[i], y = at<u64>(b)[i];
    if (x != y) return x < y ? -1 : 1;
  }
  if (is_long) {
    const i32 c = compare_tails(at<u64>(a)[rest - 1], at<u64>(b)[rest - 1]);
    if (c) return c;
  }
  return row_a < row_b ? -1 : row_a > row_b;
}

// compare_equal is compare_entries of entry i of s and j of t.
INLINE i32 compare_equal(const Tree &s, u32 i, const Tree &t, u32 j) {
  return compare_entries(entry_rest(s, i), entry_rest(t, j), s.Form.Rest, s.Form.Long, entry_row(s, i), entry_row(t, j));
}

// end_nodes writes the nodes that end with entry i of a run, and behind the last entry
// what fills nodes up.
template <typename W>
INLINE void end_nodes(const Tree &t, u32 i, W word) {
  const bool last = i + 1 == t.Entries;
  u32 k = i;
  bool ends = true;
  ROLLED for (u32 h = 0; h < t.Height; h++) {
    const u32 each = h == 0 ? u32(TreeLeaf) : fan;
    ends = ends && k % each == each - 1;
    k /= each;
    if (!ends && !last) return;
    W *words = at<W>(t.Levels[h]);
    words[k] = word;
    ROLLED for (u32 j = k + 1; last && j % fan; j++) words[j] = ~W(0);
  }
}

// put_words writes an entry of a run but for its row.
template <typename W>
INLINE void put_words(const Tree &t, u32 i, W word, Ptr rest, Ptr tail) {
  const u32 pos = i % u32(TreeLeaf);
  const Ptr leaf = packed_leaf(t, i);
  at<W>(leaf)[pos] = word;
  const TreeForm &f = t.Form;
  u64 *to = at<u64>(rest_of(f, leaf, pos));
  for (u32 w = 0; w + f.Long < f.Rest; w++) to[w] = at<u64>(rest)[w];
  if (f.Long) to[f.Rest - 1] = tail;
  if (pos == u32(TreeLeaf) - 1 || i + 1 == t.Entries) end_nodes<W>(t, i, word);
}

INLINE void put_row(const Tree &t, u32 i, u64 row) {
  const Ptr rows = packed_leaf(t, i) + t.Form.RowsAt;
  if (t.Form.Wide) at<u64>(rows)[i % u32(TreeLeaf)] = row; else at<u32>(rows)[i % u32(TreeLeaf)] = u32(row);
}
