// One value of many: see reduce.go.
#include "block.cuh"

// Each block folds what it has to one value, and that into the result, which is
// zero, the neutral value, before.
template <typename F, typename A>
INLINE void reduce(const reduceArgs &a, u64 n, i64 zero, F f, A atomic) {
  constexpr u32 K = 4;
  const i64 *in = at<i64>(a.In);
  const u64 skip = a.In % 16 / 8;  // pairs begin at 16 bytes
  i64 v = zero;
  if (skip && block() == 0 && thread() == 0) v = f(v, in[0]);
  const u64 pairs = (n - skip) / 2;
  if ((n - skip) % 2 && block() == 0 && thread() == 0) v = f(v, in[n - 1]);
  const Pack<i64, 2> *pair = at<Pack<i64, 2>>(a.In + skip * 8);
  move<K>(pairs, [&](u64 i) { return pair[i]; }, [&](u64, const Pack<i64, 2> &p) { v = f(v, f(p.v[0], p.v[1])); });
  v = block_reduce<BLOCK>(v, f);
  if (thread() == 0) atomic(at<i64>(a.Out), v);
}

KERNEL(reduce_sum, reduceArgs, BLOCK, 8 * BLOCK) {
  reduce(a, n, 0, Add(), [](i64 *p, i64 v) { atomic_add(p, v); });
}

KERNEL(reduce_min, reduceArgs, BLOCK, 8 * BLOCK) {
  reduce(a, n, i64(~u64(0) >> 1), Min(), [](i64 *p, i64 v) { atomic_min(p, v); });
}

KERNEL(reduce_max, reduceArgs, BLOCK, 8 * BLOCK) {
  reduce(a, n, -i64(~u64(0) >> 1) - 1, Max(), [](i64 *p, i64 v) { atomic_max(p, v); });
}
