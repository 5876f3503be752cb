// Aggregates: see aggregate.go for the states, and aggregate_steps.go.
//
// Few groups would have all threads add to the same words: one group is folded
// by block, some by warp into copies of their own, and many are added to where
// they are.
#include "value.cuh"
#include "int128.cuh"

#define FEW 32

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

// The states. add joins two; put adds one to a state that others add to.
struct Count {
  u64 n;
  INLINE void add(const Count &o) { n += o.n; }
  INLINE void put(Count *to) const { if (n) atomic_add(&to->n, n); }
  INLINE static Count of(const aggLaunch &, u64, u64) { return Count{1}; }
};

struct Sum {
  u64 lo, hi, n;
  INLINE void add(const Sum &o) {
    lo += o.lo;
    hi += o.hi + (lo < o.lo);
    n += o.n;
  }
  INLINE void put(Sum *to) const {
    if (n == 0) return;
    const u64 was = atomic_add(&to->lo, lo), up = hi + (was + lo < lo);
    if (up) atomic_add(&to->hi, up);
    atomic_add(&to->n, n);
  }
  INLINE static Sum of(const aggLaunch &a, u64 v, u64 hi) {
    if (a.Form == PhysI128) return Sum{v, hi, 1};
    const bool uns = a.Form == PhysBool || (a.Form >= PhysU8 && a.Form <= PhysU64);
    return Sum{v, uns ? 0 : u64(i64(v) >> 63), 1};
  }
};

struct FloatSum {
  f64 sum;
  u64 n;
  INLINE void add(const FloatSum &o) {
    sum += o.sum;
    n += o.n;
  }
  INLINE void put(FloatSum *to) const {
    if (n == 0) return;
    atomic_add(&to->sum, sum);
    atomic_add(&to->n, n);
  }
  INLINE static FloatSum of(const aggLaunch &a, u64 v, u64) { return FloatSum{float_of(v, a.Form), 1}; }
};

// Best holds the rank of the greatest value, or the opposite of that of the least.
struct Best {
  u64 rank, none, seen;
  INLINE void add(const Best &o) {
    rank = larger(rank, o.rank);
    seen |= o.seen;
  }
  INLINE void put(Best *to) const {
    if (!seen) return;
    if (ld_relaxed(&to->rank) < rank) atomic_max(&to->rank, rank);
    if (!ld_relaxed(&to->seen)) st_relaxed(&to->seen, 1);
  }
  INLINE static Best of(const aggLaunch &a, u64 v, u64) {
    const u64 r = rank_of(v, a.Form);
    return Best{a.Least ? ~r : r, 0, 1};
  }
};

// Any holds one of the values.
struct Any {
  u64 lo, hi, seen;
  INLINE void add(const Any &o) { if (!seen) *this = o; }
  INLINE void put(Any *to) const {
    if (!seen || ld_relaxed(&to->seen) || atomic_cas(&to->seen, 0, 1) != 0) return;
    to->lo = lo;
    to->hi = hi;
  }
  INLINE static Any of(const aggLaunch &, u64 v, u64 hi) { return Any{v, hi, 1}; }
};

// warp_fold gives every lane the states of all lanes added up.
template <typename S>
INLINE S warp_fold(S v) {
  constexpr u32 W = sizeof(S) / sizeof(u64);
  UNROLL for (u32 d = WARP / 2; d > 0; d /= 2) {
    u64 words[W];
    __builtin_memcpy(words, &v, sizeof(S));
    UNROLL for (u32 w = 0; w < W; w++) words[w] = shfl_xor(words[w], d);
    S other;
    __builtin_memcpy(&other, words, sizeof(S));
    v.add(other);
  }
  return v;
}

// fold_block adds each thread's state to the first group's.
template <typename S>
INLINE void fold_block(const aggLaunch &a, S mine) {
  SHARED(S, part, BLOCK / WARP);
  mine = warp_fold(mine);
  if (lane() == 0) part[warp()] = mine;
  sync_block();
  if (thread() != 0) return;
  for (u32 w = 1; w < BLOCK / WARP; w++) mine.add(part[w]);
  mine.put(at<S>(a.State));
}

// one_group folds all rows.
template <typename S, typename L>
INLINE void one_group(const aggLaunch &a, u64 n, L load) {
  S mine = {};
  each<4>(n, [&](u64 i) {
    S v;
    if (load(i, v)) mine.add(v);
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
      if (i < n && bit(a.Src.Valid, i)) mine.add(S::of(a, v[k], 0));
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
      const S sum = warp_fold(is && id == g ? v : S{});
      if (lane() == 0) mine[g].add(sum);
      left &= ~same;
    }
    sync_warp();
  }
  sync_block();
  for (u32 g = thread(); g < a.Groups; g += BLOCK) {
    S all = {};
    for (u32 w = 0; w < WARPS; w++) all.add(part[w * FEW + g]);
    all.put(at<S>(a.State) + g);
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
      if (load(i, v)) v.put(&state[at<u32>(a.IDs)[i]]);
    });
  }
}

// update adds rows to states; merge adds states, of which Rows says which.
template <typename S>
INLINE void update(const aggLaunch &a, u64 n) {
  const bool words = a.Form == PhysI64 || a.Form == PhysU64 || a.Form == PhysF64;
  if (a.IDs == 0 && words && a.Src.Data && !a.Src.Dict) {
    one_group_words<S>(a, n);
    return;
  }
  fold<S>(a, n, [&](u64 i, S &v) {
    if (!bit(a.Src.Valid, i)) return false;
    u64 hi = 0;
    const u64 lo = a.Src.Data ? value_at(a.Src, i, a.Form, hi) : 0;
    v = S::of(a, lo, hi);
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
AGGREGATE(count, Count)
AGGREGATE(sum, Sum)
AGGREGATE(float, FloatSum)
AGGREGATE(best, Best)
AGGREGATE(any, Any)

// wide_float is a number of 128 bits as a double, rounded as the host does.
INLINE f64 wide_float(u64 lo, u64 hi) {
  const bool minus = i64(hi) < 0;
  const u128 m = magnitude(i128(u128(hi) << 64 | lo));
  const f64 f = f64(u64(m >> 64)) * 18446744073709551616.0 + f64(u64(m));
  return minus ? -f : f;
}

// agg_final makes results of states; a sum that does not fit says so.
KERNEL(agg_final, aggFinalLaunch, BLOCK, 4 * BLOCK) {
  bits<4>(n, at<u32>(a.Dst.Valid), [&](u64 i) {
    u64 lo = 0, hi = 0;
    bool is = true;
    switch (a.Kind) {
      case AggCount: lo = at<Count>(a.State)[i].n; break;
      case AggSum: {
        const Sum s = at<Sum>(a.State)[i];
        is = s.n > 0;
        if (a.Float) {
          f64 f = wide_float(s.lo, s.hi) / a.Divisor;
          if (a.Average) f /= f64(s.n);
          lo = of_f64(f);
          is = is || (a.Total && !a.Average);
          break;
        }
        lo = s.lo;
        hi = s.hi;
        const i128 v = i128(u128(hi) << 64 | lo), most = i128(u128(0x4B3B4CA85A86C47A) << 64 | 0x098A224000000000);
        if ((a.Width < 16 && hi != u64(i64(lo) >> 63)) || !within(v, most)) atomic_or(at<u32>(a.Bad), 1);
        break;
      }
      case AggSumFloat: {
        const FloatSum s = at<FloatSum>(a.State)[i];
        lo = of_f64(a.Average ? s.sum / f64(s.n) : s.sum);
        is = s.n > 0 || a.Total;
        break;
      }
      case AggMin: case AggMax: {
        const Best b = at<Best>(a.State)[i];
        lo = value_of(a.Kind == AggMin ? ~b.rank : b.rank, a.Form);
        is = b.seen != 0;
        break;
      }
      case AggFirst: {
        const Any s = at<Any>(a.State)[i];
        lo = s.lo;
        hi = s.hi;
        is = s.seen != 0;
        break;
      }
    }
    if (!is) lo = hi = 0;
    // A REAL's minimum is ranked as a DOUBLE; AggFirst has its bits.
    if (a.Real && a.Kind != AggFirst) {
      at<f32>(a.Dst.Data)[i] = f32(float_of(lo, PhysF64));
      return is;
    }
    switch (a.Width) {
      case 1: at<u8>(a.Dst.Data)[i] = u8(lo); break;
      case 2: at<u16>(a.Dst.Data)[i] = u16(lo); break;
      case 4: at<u32>(a.Dst.Data)[i] = u32(lo); break;
      case 8: at<u64>(a.Dst.Data)[i] = lo; break;
      default: at<Pack<u64, 2>>(a.Dst.Data)[i] = Pack<u64, 2>{{lo, hi}};
    }
    return is;
  });
}
