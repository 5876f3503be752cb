// A tree's leaves and inner nodes, and the way to a place in them: see tree.go.
#pragma once

#include "scan.cuh"

// Place is where an entry belongs; after: behind the one that is the same.
template <typename W>
struct Place {
  W word;
  Ptr rest;
  u64 row;
  bool after;
};

// Spot is before an entry of a leaf, of the last leaf maybe behind the last one.
struct Spot { u32 leaf, pos; };

// number is this thread's in all blocks: kernels here do one thing a thread, for
// a loop's body in a lambda may have the whole argument copied to each thread's
// memory.
INLINE u64 number() { return u64(block()) * BLOCK + thread(); }

// fan is treeFan, and node_packs how many 16 bytes a node has.
constexpr u32 fan = u32(treeFan);
template <typename W>
constexpr u32 node_packs = fan * sizeof(W) / 16;

INLINE Ptr slot_at(Ptr slots, u64 block, u32 slot) {
  return at<Ptr>(slots)[slot >> TreeUnit] + (slot & ((1u << TreeUnit) - 1)) * block;
}
// ref_of is a leaf's ref, and leaf_at where it lies: a packed tree has both by number.
// Where a kernel does much of that, whether the tree is packed is asked once for all:
// who asks at each load has them wait for each other.
template <bool PACKED>
INLINE u32 ref_in(const Tree &t, u32 leaf) {
  if (!PACKED) return at<u32>(t.Refs)[leaf];
  return leaf * u32(TreeLeaf) + (leaf + 1 < t.Counts[0] ? u32(TreeLeaf) - 1 : (t.Entries - 1) % u32(TreeLeaf));
}
template <bool PACKED>
INLINE Ptr leaf_in(const Tree &t, u32 ref) {
  const u32 slot = ref / u32(TreeLeaf);
  return PACKED ? t.Slots + u64(slot) * t.Form.Block : slot_at(t.Slots, t.Form.Block, slot);
}
template <bool PACKED>
INLINE u32 sum_in(const Tree &t, u32 leaf) { return PACKED ? leaf * u32(TreeLeaf) : at<u32>(t.Sums)[leaf]; }
INLINE u32 ref_of(const Tree &t, u32 leaf) { return t.Refs ? ref_in<false>(t, leaf) : ref_in<true>(t, leaf); }
INLINE Ptr leaf_at(const Tree &t, u32 ref) { return t.Refs ? leaf_in<false>(t, ref) : leaf_in<true>(t, ref); }
INLINE u32 length_of(u32 ref) { return ref % u32(TreeLeaf) + 1; }

template <typename W>
INLINE W word_of(Ptr leaf, u32 i) { return at<W>(leaf)[i]; }
INLINE Ptr rest_of(const TreeForm &f, Ptr leaf, u32 i) { return leaf + f.RestAt + 8 * f.Rest * i; }
INLINE u64 row_of(const TreeForm &f, Ptr leaf, u32 i) {
  return f.Wide ? at<u64>(leaf + f.RowsAt)[i] : u64(at<u32>(leaf + f.RowsAt)[i]);
}

// compare_tails orders keys by what follows their words; at 0 there is nothing.
CALLED i32 compare_tails(Ptr a, Ptr b) {
  if (a == b) return 0;
  const u64 n = a ? *at<u64>(a) : 0, m = b ? *at<u64>(b) : 0;
  for (u64 i = 1; i <= n && i <= m; i++) {
    const u64 x = at<u64>(a)[i], y = at<u64>(b)[i];
    if (x != y) return x < y ? -1 : 1;
  }
  return n < m ? -1 : n > m;
}

// compare_rest orders keys whose first words are equal.
INLINE i32 compare_rest(const TreeForm &f, Ptr a, Ptr b) {
  const u32 words = f.Rest - f.Long;
  for (u32 i = 0; i < words; i++) {
    const u64 x = at<u64>(a)[i], y = at<u64>(b)[i];
    if (x != y) return x < y ? -1 : 1;
  }
  return f.Long ? compare_tails(at<u64>(a)[words], at<u64>(b)[words]) : 0;
}

// is_before says whether entry i of a leaf, whose word is the place's, is before it.
template <typename W>
INLINE bool is_before(const TreeForm &f, Ptr leaf, u32 i, const Place<W> &p) {
  if (f.Rest) {
    const i32 c = compare_rest(f, rest_of(f, leaf, i), p.rest);
    if (c) return c < 0;
  }
  const u64 row = row_of(f, leaf, i);
  return row < p.row || (p.after && row == p.row);
}

// descend gives the first leaf whose last word is not below a word, or the last leaf.
template <typename W>
INLINE u32 descend(const Tree &t, W word) {
  u32 i = 0;
  UNROLL for (u32 k = 0; k < treeLevels; k++) {
    const u32 h = treeLevels - 1 - k;
    if (h >= t.Height) continue;
    const W *node = at<W>(t.Levels[h]) + u64(i) * fan;
    u32 c = 0;
    UNROLL for (u32 half = fan / 2; half > 0; half /= 2) {
      if (node[c + half - 1] < word) c += half;
    }
    i = smaller(u32(i * fan + c), t.Counts[h] - 1);
  }
  return i;
}

// ends_before says whether all of a leaf is before a place.
template <typename W>
INLINE bool ends_before(const Tree &t, u32 leaf, const Place<W> &p) {
  const W last = at<W>(t.Levels[0])[leaf];
  if (last != p.word) return last < p.word;
  const u32 ref = ref_of(t, leaf);
  return is_before(t.Form, leaf_at(t, ref), length_of(ref) - 1, p);
}

// search finds a place: the leaf that ends not before it is looked for by first
// words, and among those that end with the same word by all that there is.
template <typename W>
INLINE Spot search(const Tree &t, const Place<W> &p) {
  const u32 last = t.Counts[0] - 1;
  u32 leaf = descend(t, p.word);
  if (leaf < last && (t.Form.Rest || p.row || p.after) && ends_before(t, leaf, p)) {
    u32 low = leaf, step = 1; // low ends before the place
    while (low + step < last && ends_before(t, low + step, p)) {
      low += step;
      step *= 2;
    }
    u32 high = smaller(low + step, last);
    while (high - low > 1) {
      const u32 middle = low + (high - low) / 2;
      if (ends_before(t, middle, p)) low = middle; else high = middle;
    }
    leaf = high;
  }
  const u32 ref = ref_of(t, leaf), n = length_of(ref);
  const Ptr block = leaf_at(t, ref);
  const W *words = at<W>(block);
  u32 pos = 0;
  UNROLL for (u32 half = TreeLeaf / 2; half > 0; half /= 2) {
    if (pos + half <= n && words[pos + half - 1] < p.word) pos += half;
  }
  while (pos < n && (words[pos] < p.word || (words[pos] == p.word && is_before(t.Form, block, pos, p)))) pos++;
  return {leaf, pos};
}

// sum_of is the entries before a leaf.
INLINE u32 sum_of(const Tree &t, u32 leaf) { return t.Refs ? sum_in<false>(t, leaf) : sum_in<true>(t, leaf); }
INLINE u32 rank_of(const Tree &t, Spot s) { return sum_of(t, s.leaf) + s.pos; }

// Four lanes look at a node together: the words of a node that are below a word
// are counted by 16 or 32 bytes each.
constexpr u32 quad_lanes = 4;

// quad_sum is the sum over the four lanes of a group. All lanes of the warp come.
INLINE u32 quad_sum(u32 v) {
  v += shfl_xor(v, 1);
  return v + shfl_xor(v, 2);
}

// quad_descend is descend for K words at once, whose waits overlap. The ends of a
// range are NEAR each other: as long as all ranges of a warp have both in one node,
// it is read once.
template <bool NEAR, typename W, u32 K>
INLINE void quad_descend(const Tree &t, const W (&word)[K], u32 (&leaf)[K]) {
  constexpr u32 V = 16 / sizeof(W), P = node_packs<W> / quad_lanes;
  typedef Pack<W, V> Words;
  UNROLL for (u32 q = 0; q < K; q++) leaf[q] = 0;
  UNROLL for (u32 k = 0; k < treeLevels; k++) {
    const u32 h = treeLevels - 1 - k;
    if (h >= t.Height) continue;
    const bool one = NEAR && all(leaf[0] == leaf[K - 1]);
    Words v[K][P];
    UNROLL for (u32 q = 0; q < K; q++) {
      const Words *node = at<Words>(t.Levels[h]) + u64(leaf[q]) * node_packs<W> + lane() % quad_lanes;
      UNROLL for (u32 j = 0; j < P; j++) {
        if (q > 0 && one) v[q][j] = v[0][j]; else v[q][j] = node[j * quad_lanes];
      }
    }
    UNROLL for (u32 q = 0; q < K; q++) {
      u32 c = 0;
      UNROLL for (u32 j = 0; j < P; j++) {
        UNROLL for (u32 l = 0; l < V; l++) c += v[q][j].v[l] < word[q];
      }
      c = smaller(quad_sum(c), fan - 1);
      leaf[q] = smaller(u32(leaf[q] * fan + c), t.Counts[h] - 1);
    }
  }
}

// Found is what four lanes see of a word in a leaf: entries below it and equal to it.
struct Found { u32 pos, same; };

template <bool PACKED, typename W, u32 K>
INLINE void quad_find(const Tree &t, const u32 (&ref)[K], const W (&word)[K], Found (&found)[K]) {
  constexpr u32 V = 16 / sizeof(W), P = TreeLeaf / V / quad_lanes;
  typedef Pack<W, V> Words;
  Words v[K][P];
  UNROLL for (u32 q = 0; q < K; q++) {
    const Words *block = at<Words>(leaf_in<PACKED>(t, ref[q])) + lane() % quad_lanes;
    UNROLL for (u32 j = 0; j < P; j++) v[q][j] = block[j * quad_lanes];
  }
  UNROLL for (u32 q = 0; q < K; q++) {
    const u32 n = length_of(ref[q]);
    u32 c = 0;
    UNROLL for (u32 j = 0; j < P; j++) {
      UNROLL for (u32 l = 0; l < V; l++) {
        const bool here = (j * quad_lanes + lane() % quad_lanes) * V + l < n;
        c += (here && v[q][j].v[l] < word[q]) + ((here && v[q][j].v[l] == word[q]) << 8);
      }
    }
    c = quad_sum(c);
    found[q] = {c & 0xff, c >> 8};
  }
}
