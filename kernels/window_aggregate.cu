// Aggregates over frames: see window_aggregate.go.
//
// What a state is, is said at run time: there is code for each size.
#include "aggregate.cuh"

template <u32 W> struct State { u64 w[W]; };

template <typename S, u32 W>
INLINE void join_as(State<W> &to, const State<W> &from, const aggLike &like) {
  static_assert(sizeof(S) == sizeof(State<W>), "a state's size");
  S x, y;
  __builtin_memcpy(&x, &to, sizeof(S));
  __builtin_memcpy(&y, &from, sizeof(S));
  x.add(y, like);
  __builtin_memcpy(&to, &x, sizeof(S));
}

// join adds the state of later positions.
template <u32 W>
INLINE void join(State<W> &to, const State<W> &from, const aggLike &like) {
  if constexpr (W == 1) {
    join_as<Count>(to, from, like);
  } else if constexpr (W == 2) {
    switch (like.Kind) {
      case AggSumFloat: join_as<FloatSum>(to, from, like); return;
      case AggProduct: join_as<Product>(to, from, like); return;
    }
    join_as<BitFold>(to, from, like);
  } else if constexpr (W == 3) {
    switch (like.Kind) {
      case AggSum: join_as<Sum>(to, from, like); return;
      case AggMoments: join_as<Moments>(to, from, like); return;
    }
    if (like.Kind == AggFirst && like.Form != PhysStr) join_as<Any>(to, from, like);
    else if (like.Form >= PhysI128) join_as<Cell>(to, from, like);
    else join_as<Best>(to, from, like);
  } else {
    join_as<Pairs>(to, from, like);
  }
}

// A Segment is the state of positions since the last one where a partition
// begins; begins: there is one.
template <u32 W>
struct Segment {
  State<W> s;
  u64 begins;
};

template <u32 W>
struct Join {
  const aggLike like;
  INLINE Segment<W> operator()(Segment<W> a, const Segment<W> &b) const {
    if (b.begins) return b;
    join(a.s, b.s, like);
    return a;
  }
};

// Running states come about in three launches: a tile's by themselves; what the
// tiles before each one carry into it; and that added.
template <u32 W>
INLINE void run_tiles(const windowAggLaunch &a, u64 n) {
  State<W> *states = at<State<W>>(a.State);
  const u32 *start = at<u32>(a.X.Start);
  const u64 k = u64(block()) * BLOCK + thread(), i = a.From + k;
  Segment<W> v = {}, all;
  if (k < n) v = Segment<W>{states[i], start[i] == i};
  const Join<W> f{a.Like};
  v = f(block_scan<BLOCK>(v, f, Segment<W>{}, all), v);
  if (k < n) states[i] = v.s;
  if (thread() == 0) at<Segment<W>>(a.Tiles)[block()] = all;
}

template <u32 W>
INLINE void run_carries(const windowAggLaunch &a, u64 n) {
  Segment<W> *tiles = at<Segment<W>>(a.Tiles);
  const Join<W> f{a.Like};
  Segment<W> carry = {}, all;
  if (a.From > 0) carry.s = at<State<W>>(a.State)[a.From - 1];
  for (u64 base = 0; base < n; base += BLOCK) {
    const u64 t = base + thread();
    const Segment<W> v = t < n ? tiles[t] : Segment<W>{};
    const Segment<W> before = f(carry, block_scan<BLOCK>(v, f, Segment<W>{}, all));
    if (t < n) tiles[t] = before;
    carry = f(carry, all);
  }
}

template <u32 W>
INLINE void run_carried(const windowAggLaunch &a, u64 n) {
  const u64 tile = a.From + u64(block()) * BLOCK, i = tile + thread();
  if (i >= a.From + n || at<u32>(a.X.Start)[i] >= tile) return;
  State<W> *states = at<State<W>>(a.State), s = at<Segment<W>>(a.Tiles)[block()].s;
  join(s, states[i], a.Like);
  states[i] = s;
}

template <u32 W>
INLINE void tree(const windowAggLaunch &a, u64 n) {
  State<W> *states = at<State<W>>(a.State);
  each<1>(n, [=](u64 k) {
    const u64 i = a.From + k;
    State<W> s = states[2 * i];
    join(s, states[2 * i + 1], a.Like);
    states[i] = s;
  });
}

struct FrameRuns { u32 at[6]; };

// frames merges the states of each frame: those of nodes to the left and to the
// right go up to where they meet.
template <u32 W>
INLINE void frames(const windowAggLaunch &a, u64 n) {
  const State<W> *states = at<State<W>>(a.State);
  each<1>(n, [=](u64 k) {
    const FrameRuns f = at<FrameRuns>(a.Frames)[k];
    State<W> out = {};
    for (u32 r = 0; r < 6; r += 2) {
      State<W> right = {};
      for (u64 lo = f.at[r] + a.N, hi = f.at[r + 1] + a.N; lo < hi; lo /= 2, hi /= 2) {
        if (lo & 1) join(out, states[lo++], a.Like);
        if (hi & 1) {
          State<W> s = states[--hi];
          join(s, right, a.Like);
          right = s;
        }
      }
      join(out, right, a.Like);
    }
    at<State<W>>(a.Out)[k] = out;
  });
}

#define WINDOW_AGGREGATE(W)                                                              \
  KERNEL(window_tiles_##W, windowAggLaunch, BLOCK, BLOCK) { run_tiles<W>(a, n); }       \
  KERNEL(window_carries_##W, windowAggLaunch, BLOCK, 1 << 30) { run_carries<W>(a, n); } \
  KERNEL(window_carried_##W, windowAggLaunch, BLOCK, BLOCK) { run_carried<W>(a, n); }   \
  KERNEL(window_tree_##W, windowAggLaunch, BLOCK, BLOCK) { tree<W>(a, n); }             \
  KERNEL(window_merge_##W, windowAggLaunch, BLOCK, BLOCK) { frames<W>(a, n); }
WINDOW_AGGREGATE(1)
WINDOW_AGGREGATE(2)
WINDOW_AGGREGATE(3)
WINDOW_AGGREGATE(6)

// The states of frames that end at a position are those that run up to it.
KERNEL(window_last, windowAggLaunch, BLOCK, 4 * BLOCK) {
  const u64 *states = at<u64>(a.State);
  u64 *out = at<u64>(a.Out);
  each<4>(n, [=](u64 k) {
    const FrameRuns f = at<FrameRuns>(a.Frames)[k];
    const bool some = f.at[0] < f.at[1];
    for (u32 w = 0; w < a.Words; w++) out[k * a.Words + w] = some ? states[u64(f.at[1] - 1) * a.Words + w] : 0;
  });
}
