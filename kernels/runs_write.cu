// Batches become runs, and runs one: see runs.go.
#include "runs.cuh"

// A change that takes away comes to the run as well.
constexpr u32 effect_dead = EffectAdd | effectRemove;

// resolve finds out what a change does: nothing where another one of its entry
// comes behind it, or where the newest run that knows the entry says the same.
template <typename W>
INLINE void resolve(const RunsWrite &a, u64 n) {
  const TreeItems &x = a.Items;
  const TreeForm &f = a.To.Form;
  const u64 i = number();
  u32 effect = 0;
  if (i < n) {
    const W word = item_word<W>(x, i);
    const u64 row = item_row(x, i);
    const Ptr rest = f.Rest ? item_rest(x, i) : 0;
    const bool last = x.Distinct || i + 1 == n || item_row(x, i + 1) != row || !same_key<W>(f, x, i, i + 1);
    if (last) {
      bool there = false;
      for (u32 r = 0; r < a.R.N; r++) {
        const Tree &t = a.R.T[r];
        const Spot s = search(t, Place<W>{word, rest, row, false});
        const u32 e = s.leaf * u32(TreeLeaf) + s.pos;
        if (e < t.Entries && entry_word<W>(t, e) == word && entry_row(t, e) == row &&
            (f.Rest == 0 || compare_rest(f, entry_rest(t, e), rest) == 0)) {
          there = !is_dead(t, e);
          break;
        }
      }
      if (removes(x, i) == there) effect = there ? effect_dead : u32(EffectAdd);
    }
    at<u8>(a.Effects)[i] = u8(effect);
    at<u32>(a.Places)[i] = effect != 0;
  }
  const u32 dead = popc(ballot(effect == effect_dead));
  if (dead && lane() == 0) atomic_add(&at<u64>(a.Totals)[1], dead);
}

KERNEL(runs_resolve_4, RunsWrite, BLOCK, BLOCK) { resolve<u32>(a, n); }
KERNEL(runs_resolve_8, RunsWrite, BLOCK, BLOCK) { resolve<u64>(a, n); }

INLINE void bury(const Tree &t, u32 i) { atomic_or(&at<u32>(t.Dead)[i / 32], 1u << (i % 32)); }

template <typename W>
INLINE void write_run(const RunsWrite &a, u64 n) {
  const TreeItems &x = a.Items;
  const u64 i = number();
  if (i >= n) return;
  u32 effect = u32(EffectAdd), to = u32(i);
  if (a.Effects) effect = at<u8>(a.Effects)[i], to = at<u32>(a.Places)[i];
  if (!effect) return;
  const Ptr rest = a.To.Form.Rest ? item_rest(x, i) : 0;
  const u64 row = item_row(x, i);
  put_words<W>(a.To, to, item_word<W>(x, i), rest, a.Tails ? at<Ptr>(a.Tails)[i] : 0);
  put_row(a.To, to, row);
  if (effect == effect_dead) bury(a.To, to);
}

KERNEL(runs_write_4, RunsWrite, BLOCK, BLOCK) { write_run<u32>(a, n); }
KERNEL(runs_write_8, RunsWrite, BLOCK, BLOCK) { write_run<u64>(a, n); }

// A tile of a merge: entries of both runs. That a thread has an odd number of them
// has threads side by side read different banks.
#define RUNS_MERGED 9
#define RUNS_TILE (RUNS_MERGED * BLOCK)

// first_of says whether entry i of the older run comes before entry j of the newer
// one, or is the same.
template <typename W>
INLINE bool first_of(const RunsMerge &a, W x, W y, u32 i, u32 j) {
  return x != y ? x < y : compare_equal(a.Old, i, a.New, j) <= 0;
}

// split is how many of the first d entries of both are of the older run. A warp
// comes, and halves 32 times at once.
template <typename W>
INLINE u32 split(const RunsMerge &a, u64 d) {
  const u64 old_n = a.Old.Entries, new_n = a.New.Entries;
  u64 low = d > new_n ? d - new_n : 0, high = smaller(d, old_n);
  while (low < high) {
    const u64 i = low + (high - low) * lane() / WARP; // probes ascend from low
    const u32 j = u32(d - 1 - i);
    const bool before = first_of(a, entry_word<W>(a.Old, u32(i)), entry_word<W>(a.New, j), u32(i), j);
    const u32 c = popc(ballot(before));
    const u64 next = low + (high - low) * c / WARP;
    low = c ? low + (high - low) * (c - 1) / WARP + 1 : low;
    high = c == WARP ? high : next;
  }
  return u32(low);
}

// twins says whether entry i of the older run is entry j of the newer one.
template <typename W>
INLINE bool twins(const RunsMerge &a, u32 i, u32 j) {
  return i < a.Old.Entries && j < a.New.Entries && entry_word<W>(a.Old, i) == entry_word<W>(a.New, j) &&
         compare_equal(a.Old, i, a.New, j) == 0;
}

// merge_tile merges a part of both runs: from is the place in shared memory of
// each entry that is written. An entry that both have is in neither afterwards:
// one takes away what the other has added. ONLY counts what is left.
template <typename W, bool ONLY>
INLINE void merge_tile(const RunsMerge &a) {
  SHARED(W, word, RUNS_TILE);
  SHARED(u16, from, RUNS_TILE);
  SHARED(u32, ends, 2);
  const u64 tile = block(), first = tile * RUNS_TILE;
  const u32 size = u32(smaller(u64(RUNS_TILE), a.N - first));
  if (warp() < 2) {
    const u32 e = split<W>(a, warp() ? first + size : first);
    if (lane() == 0) ends[warp()] = e;
  }
  sync_block();
  const u32 i0 = ends[0], olds = ends[1] - i0, j0 = u32(first - i0), news = size - olds;
  UNROLL for (u32 k = 0; k < RUNS_MERGED; k++) {
    const u32 s = k * BLOCK + thread();
    if (s < size) word[s] = s < olds ? entry_word<W>(a.Old, i0 + s) : entry_word<W>(a.New, j0 + s - olds);
  }
  sync_block();
  const u32 d = smaller(thread() * u32(RUNS_MERGED), size);
  u32 low = d > news ? d - news : 0, high = smaller(d, olds);
  while (low < high) {
    const u32 i = (low + high) / 2, j = d - 1 - i;
    if (first_of(a, word[i], word[olds + j], i0 + i, j0 + j)) low = i + 1; else high = i;
  }
  const u32 mine = smaller(size - d, u32(RUNS_MERGED));
  u32 i = low, j = d - low, old = 0, gone = 0; // a bit an entry: of the older run, in both
  ROLLED for (u32 k = 0; k < mine; k++) {
    const bool o = j == news || (i < olds && first_of(a, word[i], word[olds + j], i0 + i, j0 + j));
    if (a.Tiles && twins<W>(a, i0 + i - !o, j0 + j)) gone |= 1u << k;
    old |= u32(o) << k;
    i += o, j += !o;
  }
  u32 all = size, place = d, to = u32(first);
  if (a.Tiles) {
    place = block_scan<BLOCK>(mine - popc(gone), Add(), 0u, all);
    if (ONLY) {
      if (thread() == 0) at<u32>(a.Tiles)[tile] = all;
      return;
    }
    to = at<u32>(a.Tiles)[tile];
  }
  i = low, j = d - low;
  for (u32 k = 0; k < mine; k++) {
    const bool o = old >> k & 1;
    if (!(gone >> k & 1)) from[place++] = u16(o ? i : olds + j);
    i += o, j += !o;
  }
  sync_block();
  u64 row[RUNS_MERGED];
  UNROLL for (u32 k = 0; k < RUNS_MERGED; k++) {
    const u32 p = k * BLOCK + thread();
    if (p >= all) break;
    const u32 s = from[p];
    row[k] = s < olds ? entry_row(a.Old, i0 + s) : entry_row(a.New, j0 + s - olds);
  }
  UNROLL for (u32 k = 0; k < RUNS_MERGED; k++) {
    const u32 p = k * BLOCK + thread();
    if (p >= all) break;
    const u32 s = from[p], e = s < olds ? i0 + s : j0 + s - olds;
    Ptr rest = 0, tail = 0;
    if (a.To.Form.Rest) {
      rest = s < olds ? entry_rest(a.Old, e) : entry_rest(a.New, e);
      if (a.To.Form.Long) tail = a.Tails ? at<u64>(a.Tails)[e] : at<u64>(rest)[a.To.Form.Rest - 1];
    }
    put_words<W>(a.To, to + p, word[s], rest, tail);
    put_row(a.To, to + p, row[k]);
    if (a.To.Dead && (s < olds ? is_dead(a.Old, e) : is_dead(a.New, e))) bury(a.To, to + p);
  }
}

KERNEL(runs_count_4, RunsMerge, BLOCK, RUNS_TILE) { merge_tile<u32, true>(a); }
KERNEL(runs_count_8, RunsMerge, BLOCK, RUNS_TILE) { merge_tile<u64, true>(a); }
DENSE(runs_merge_4, RunsMerge, BLOCK, RUNS_TILE, 6) { merge_tile<u32, false>(a); }
DENSE(runs_merge_8, RunsMerge, BLOCK, RUNS_TILE, 6) { merge_tile<u64, false>(a); }

// runs_sums writes the live entries of each leaf less the dead ones, and 0 at last.
KERNEL(runs_sums, RunsMerge, BLOCK, BLOCK) {
  const u64 i = number();
  if (i >= n) return;
  const Tree &t = a.To;
  u32 live = 0;
  if (i < t.Counts[0]) live = length_of(ref_of(t, u32(i))) - 2 * popc(u32(at<u16>(t.Dead)[i]));
  at<u32>(t.Sums)[i] = live;
}
