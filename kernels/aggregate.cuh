// The states of aggregates, as aggregate.go has them. add joins two, the one
// before first; put adds one to a state that others add to; of is that of a value.
#pragma once

#include "text.cuh"
#include "int128.cuh"

INLINE f64 float_of(u64 w, u32 form) { return form == PhysF32 ? f64(as_f32(w)) : as_f64(w); }

// rank_of orders the values of a form as unsigned words; value_of is its way back.
INLINE u64 rank_of(u64 v, u32 form) {
  if (form == PhysF32 || form == PhysF64) {
    const u64 w = float_bits(float_of(v, form));
    return w >> 63 ? ~w : w | u64(1) << 63;
  }
  return form == PhysBool || (form >= PhysU8 && form <= PhysU64) ? v : v ^ u64(1) << 63;
}

INLINE u64 value_of(u64 rank, u32 form) {
  if (form == PhysF32 || form == PhysF64) return rank >> 63 ? rank & ~(u64(1) << 63) : ~rank;
  return form == PhysBool || (form >= PhysU8 && form <= PhysU64) ? rank : rank ^ u64(1) << 63;
}

// alone calls f with a state's word, of which the bit held says that somebody
// is at work on the state, and writes what f makes of the word.
template <typename F>
INLINE void alone(u64 *word, u64 held, F f) {
  for (;;) {
    const u64 was = ld_relaxed(word);
    if (!(was & held) && atomic_cas(word, was, was | held) == was) {
      fence();
      const u64 is = f(was);
      fence();
      st_release(word, is);
      return;
    }
    nap();
  }
}

struct Count {
  u64 n;
  INLINE void add(const Count &o, const aggLike &) { n += o.n; }
  INLINE void put(Count *to, const aggLike &) const { if (n) atomic_add(&to->n, n); }
  INLINE static Count of(const aggLike &, u64, u64) { return Count{1}; }
};

struct Sum {
  u64 lo, hi, n;
  INLINE void add(const Sum &o, const aggLike &) {
    lo += o.lo;
    hi += o.hi + (lo < o.lo);
    n += o.n;
  }
  INLINE void put(Sum *to, const aggLike &) const {
    if (n == 0) return;
    const u64 was = atomic_add(&to->lo, lo), up = hi + (was + lo < lo);
    if (up) atomic_add(&to->hi, up);
    atomic_add(&to->n, n);
  }
  INLINE static Sum of(const aggLike &like, u64 v, u64 hi) {
    if (like.Form == PhysI128) return Sum{v, hi, 1};
    const bool uns = like.Form == PhysBool || (like.Form >= PhysU8 && like.Form <= PhysU64);
    return Sum{v, uns ? 0 : u64(i64(v) >> 63), 1};
  }
};

struct FloatSum {
  f64 sum;
  u64 n;
  INLINE void add(const FloatSum &o, const aggLike &) {
    sum += o.sum;
    n += o.n;
  }
  INLINE void put(FloatSum *to, const aggLike &) const {
    if (n == 0) return;
    atomic_add(&to->sum, sum);
    atomic_add(&to->n, n);
  }
  INLINE static FloatSum of(const aggLike &like, u64 v, u64) { return FloatSum{float_of(v, like.Form), 1}; }
};

constexpr u64 top_bit = u64(1) << 63;

// Product's n has its top bit while somebody multiplies.
struct Product {
  f64 product;
  u64 n;
  INLINE void add(const Product &o, const aggLike &) {
    if (o.n == 0) return;
    product = n == 0 ? o.product : product * o.product;
    n += o.n;
  }
  INLINE void put(Product *to, const aggLike &like) const {
    if (n == 0) return;
    alone(&to->n, top_bit, [&](u64 was) {
      Product p{to->product, was};
      p.add(*this, like);
      to->product = p.product;
      return p.n;
    });
  }
  INLINE static Product of(const aggLike &like, u64 v, u64) { return Product{float_of(v, like.Form), 1}; }
};

// The bits of AggBitAnd are those that some value lacks: a state of zeros lacks none.
struct BitFold {
  u64 v, seen;
  INLINE void add(const BitFold &o, const aggLike &like) {
    v = like.Kind == AggBitXor ? v ^ o.v : v | o.v;
    seen |= o.seen;
  }
  INLINE void put(BitFold *to, const aggLike &like) const {
    if (!seen) return;
    if (like.Kind == AggBitXor) atomic_xor(&to->v, v);
    else atomic_or(&to->v, v);
    if (!ld_relaxed(&to->seen)) st_relaxed(&to->seen, 1);
  }
  INLINE static BitFold of(const aggLike &like, u64 v, u64) { return BitFold{like.Kind == AggBitAnd ? ~v : v, 1}; }
};

// Best holds the rank of the greatest value, or the opposite of that of the least.
struct Best {
  u64 rank, none, seen;
  INLINE void add(const Best &o, const aggLike &) {
    rank = larger(rank, o.rank);
    seen |= o.seen;
  }
  INLINE void put(Best *to, const aggLike &) const {
    if (!seen) return;
    if (ld_relaxed(&to->rank) < rank) atomic_max(&to->rank, rank);
    if (!ld_relaxed(&to->seen)) st_relaxed(&to->seen, 1);
  }
  INLINE static Best of(const aggLike &like, u64 v, u64) {
    const u64 r = rank_of(v, like.Form);
    return Best{like.Kind == AggMin ? ~r : r, 0, 1};
  }
};

// Of a Cell's word seen: it has a value; somebody changes it; the value is a
// string that put brought, whose bytes belong to others.
constexpr u64 cell_seen = 1, cell_held = 2, cell_borrowed = 4;

// Cell holds a value of two words: the first, the least or the greatest.
struct Cell {
  u64 lo, hi, seen;
  INLINE bool beats(const Cell &o, const aggLike &like) const {
    if (!(o.seen & cell_seen)) return true;
    if (like.Kind == AggFirst) return false;
    const i32 c = compare_words(lo, hi, o.lo, o.hi, like.Form);
    return like.Kind == AggMin ? c < 0 : c > 0;
  }
  INLINE void add(const Cell &o, const aggLike &like) {
    if ((o.seen & cell_seen) && o.beats(*this, like)) *this = o;
  }
  INLINE void put(Cell *to, const aggLike &like) const {
    if (!(seen & cell_seen) || (like.Kind == AggFirst && (ld_relaxed(&to->seen) & cell_seen))) return;
    alone(&to->seen, cell_held, [&](u64 was) {
      if (!beats(Cell{to->lo, to->hi, was}, like)) return was;
      to->lo = lo;
      to->hi = hi;
      return cell_seen | (like.Form == PhysStr && u32(lo) > InlineLen ? cell_borrowed : 0);
    });
  }
  INLINE static Cell of(const aggLike &, u64 v, u64 hi) { return Cell{v, hi, cell_seen}; }
};

// Any holds one of the values.
struct Any {
  u64 lo, hi, seen;
  INLINE void add(const Any &o, const aggLike &) { if (!seen) *this = o; }
  INLINE void put(Any *to, const aggLike &) const {
    if (!seen || ld_relaxed(&to->seen) || atomic_cas(&to->seen, 0, 1) != 0) return;
    to->lo = lo;
    to->hi = hi;
  }
  INLINE static Any of(const aggLike &, u64 v, u64 hi) { return Any{v, hi, 1}; }
};

// The number of values of Moments and Pairs is a float that is not negative:
// its sign says that somebody adds.
struct Moments {
  f64 n, mean, m2;
  INLINE void add(const Moments &o, const aggLike &) {
    if (o.n == 0) return;
    const f64 sum = n + o.n, d = o.mean - mean;
    m2 += o.m2 + d * d * n * o.n / sum;
    mean += d * o.n / sum;
    n = sum;
  }
  INLINE void put(Moments *to, const aggLike &like) const {
    if (n == 0) return;
    alone((u64 *)&to->n, top_bit, [&](u64 was) {
      Moments m{as_f64(was), to->mean, to->m2};
      m.add(*this, like);
      to->mean = m.mean;
      to->m2 = m.m2;
      return of_f64(m.n);
    });
  }
  INLINE static Moments of(const aggLike &, u64 v, u64) { return Moments{1, as_f64(v), 0}; }
};

// Pairs are of two values: the second one comes as the second word.
struct Pairs {
  f64 n, x, y, xx, yy, xy;
  INLINE void add(const Pairs &o, const aggLike &) {
    if (o.n == 0) return;
    const f64 sum = n + o.n, dx = o.x - x, dy = o.y - y, f = n * o.n / sum;
    xx += o.xx + dx * dx * f;
    yy += o.yy + dy * dy * f;
    xy += o.xy + dx * dy * f;
    x += dx * o.n / sum;
    y += dy * o.n / sum;
    n = sum;
  }
  INLINE void put(Pairs *to, const aggLike &like) const {
    if (n == 0) return;
    alone((u64 *)&to->n, top_bit, [&](u64 was) {
      Pairs p = *to;
      p.n = as_f64(was);
      p.add(*this, like);
      to->x = p.x;
      to->y = p.y;
      to->xx = p.xx;
      to->yy = p.yy;
      to->xy = p.xy;
      return of_f64(p.n);
    });
  }
  INLINE static Pairs of(const aggLike &, u64 y, u64 x) { return Pairs{1, as_f64(x), as_f64(y), 0, 0, 0}; }
};

// FEW groups are folded by warp into copies of their own: few groups would have
// all threads add to the same words. One group is folded by block, and many are
// added to where they are.
#define FEW 32

// warp_fold gives every lane the states of all lanes added up.
template <typename S>
INLINE S warp_fold(S v, const aggLike &like) {
  constexpr u32 W = sizeof(S) / sizeof(u64);
  UNROLL for (u32 d = WARP / 2; d > 0; d /= 2) {
    u64 words[W];
    __builtin_memcpy(words, &v, sizeof(S));
    UNROLL for (u32 w = 0; w < W; w++) words[w] = shfl_xor(words[w], d);
    S other;
    __builtin_memcpy(&other, words, sizeof(S));
    v.add(other, like);
  }
  return v;
}

// fold_block adds each thread's state to the first group's.
template <typename S>
INLINE void fold_block(const aggLaunch &a, S mine) {
  SHARED(S, part, BLOCK / WARP);
  mine = warp_fold(mine, a.Like);
  if (lane() == 0) part[warp()] = mine;
  sync_block();
  if (thread() != 0) return;
  for (u32 w = 1; w < BLOCK / WARP; w++) mine.add(part[w], a.Like);
  mine.put(at<S>(a.State), a.Like);
}

// one_group folds all rows.
template <typename S, typename L>
INLINE void one_group(const aggLaunch &a, u64 n, L load) {
  S mine = {};
  each<4>(n, [&](u64 i) {
    S v;
    if (load(i, v)) mine.add(v, a.Like);
  });
  fold_block(a, mine);
}

// one_group_words is the same for values of 8 bytes: many loads are under way.
template <typename S>
INLINE void one_group_words(const aggLaunch &a, u64 n) {
  constexpr u32 K = 8;
  S mine = {};
  const u64 *src = at<u64>(a.Src.Data);
  for (u64 base = u64(block()) * (K * BLOCK); base < n; base += u64(blocks()) * (K * BLOCK)) {
    u64 v[K];
    UNROLL for (u32 k = 0; k < K; k++) {
      const u64 i = base + k * BLOCK + thread();
      v[k] = i < n ? src[i] : 0;
    }
    UNROLL for (u32 k = 0; k < K; k++) {
      const u64 i = base + k * BLOCK + thread();
      if (i < n && bit(a.Src.Valid, i)) mine.add(S::of(a.Like, v[k], 0), a.Like);
    }
  }
  fold_block(a, mine);
}

// few_groups gives each warp a copy of all groups: the lanes of one group are
// folded, and one of them adds.
template <typename S, typename L>
INLINE void few_groups(const aggLaunch &a, u64 n, L load) {
  constexpr u32 WARPS = BLOCK / WARP;
  SHARED(S, part, WARPS * FEW);
  for (u32 i = thread(); i < WARPS * FEW; i += BLOCK) part[i] = S{};
  sync_block();
  S *mine = part + warp() * FEW;
  for (u64 base = u64(block()) * BLOCK; base < n; base += u64(blocks()) * BLOCK) {
    const u64 i = base + thread();
    S v = {};
    const bool is = i < n && load(i, v);
    const u32 id = is ? at<u32>(a.IDs)[i] : 0;
    u32 left = ballot(is);
    while (left != 0) {
      const u32 g = shfl(id, ctz(left)), same = ballot(is && id == g);
      const S sum = warp_fold(is && id == g ? v : S{}, a.Like);
      if (lane() == 0) mine[g].add(sum, a.Like);
      left &= ~same;
    }
    sync_warp();
  }
  sync_block();
  for (u32 g = thread(); g < a.Groups; g += BLOCK) {
    S all = {};
    for (u32 w = 0; w < WARPS; w++) all.add(part[w * FEW + g], a.Like);
    all.put(at<S>(a.State) + g, a.Like);
  }
}

template <typename S, typename L>
INLINE void fold(const aggLaunch &a, u64 n, L load) {
  if (a.IDs == 0) {
    one_group<S>(a, n, load);
  } else if (a.Groups <= FEW) {
    few_groups<S>(a, n, load);
  } else {
    S *state = at<S>(a.State);
    each<4>(n, [&](u64 i) {
      S v;
      if (load(i, v)) v.put(&state[at<u32>(a.IDs)[i]], a.Like);
    });
  }
}

// update adds rows to states; merge adds states, of which Rows says which.
template <typename S>
INLINE void update(const aggLaunch &a, u64 n) {
  const bool words = a.Like.Form == PhysI64 || a.Like.Form == PhysU64 || a.Like.Form == PhysF64;
  if (a.IDs == 0 && words && a.Src.Data && !a.Src.Dict && !a.Second.Data) {
    one_group_words<S>(a, n);
    return;
  }
  fold<S>(a, n, [&](u64 i, S &v) {
    if (!bit(a.Src.Valid, i)) return false;
    u64 hi = 0;
    const u64 lo = a.Src.Data ? value_at(a.Src, i, a.Like.Form, hi) : 0;
    if (a.Second.Data) {
      if (!bit(a.Second.Valid, i)) return false;
      u64 none;
      hi = value_at(a.Second, i, a.Like.Form, none);
    }
    v = S::of(a.Like, lo, hi);
    return true;
  });
}

template <typename S>
INLINE void merge(const aggLaunch &a, u64 n) {
  fold<S>(a, n, [&](u64 i, S &v) {
    v = at<S>(a.From)[a.Rows ? at<u32>(a.Rows)[i] : i];
    return true;
  });
}

#define AGGREGATE(name, state)                                                     \
  KERNEL(agg_##name, aggLaunch, BLOCK, 4 * BLOCK) { update<state>(a, n); }         \
  KERNEL(agg_merge_##name, aggLaunch, BLOCK, 4 * BLOCK) { merge<state>(a, n); }
