// A small batch becomes a run: see runs_batch.go.
#include "runs.cuh"

// spread puts a change in its bucket, behind those that came before.
template <typename W>
INLINE void spread(const RunsBatch &a, u64 n) {
  const u64 i = number();
  if (i >= n) return;
  const W word = at<W>(a.Keys)[i];
  const u32 bucket = u32(word >> (a.Shift % (8 * sizeof(W)))) & ((1u << a.Bits) - 1);
  const u32 k = atomic_add(&at<u32>(a.Counts)[bucket * u32(batchApart)], 1);
  if (k >= u32(batchRoom)) {
    atomic_or(&at<TreeFacts>(a.Facts)->Full, 1);
    return;
  }
  at<W>(a.Words)[bucket * u32(batchRoom) + k] = word;
  at<u32>(a.Low)[bucket * u32(batchRoom) + k] = u32(at<u64>(a.Rows)[i]);
}

KERNEL(runs_spread_4, RunsBatch, BLOCK, BLOCK) { spread<u32>(a, n); }
KERNEL(runs_spread_8, RunsBatch, BLOCK, BLOCK) { spread<u64>(a, n); }

// place_bucket finds the places of a bucket's changes: each thread counts, for some of
// them, those of all that come before.
template <typename W>
INLINE void place_bucket(const RunsBatch &a) {
  constexpr u32 K = u32(batchRoom) / BLOCK;
  SHARED(W, words, batchRoom);
  SHARED(u32, rows, batchRoom);
  SHARED(u32, begin, 1);
  const u32 bucket = block(), *counts = at<u32>(a.Counts), count = smaller(counts[bucket * u32(batchApart)], u32(batchRoom));
  u32 before = 0;
  for (u32 b = thread(); b < bucket; b += BLOCK) before += counts[b * u32(batchApart)];
  before = block_reduce<BLOCK>(before, Add());
  if (thread() == 0) begin[0] = before;
  W word[K];
  u32 row[K], rank[K];
  UNROLL for (u32 k = 0; k < K; k++) {
    const u32 i = k * BLOCK + thread();
    word[k] = i < count ? at<W>(a.Words)[bucket * u32(batchRoom) + i] : ~W(0);
    row[k] = i < count ? at<u32>(a.Low)[bucket * u32(batchRoom) + i] : ~u32(0);
    rank[k] = 0;
    words[i] = word[k], rows[i] = row[k];
  }
  sync_block();
  for (u32 i = 0; i < count; i++) {
    const W other = words[i];
    const u32 other_row = rows[i];
    UNROLL for (u32 k = 0; k < K; k++) rank[k] += other < word[k] || (other == word[k] && other_row < row[k]);
  }
  UNROLL for (u32 k = 0; k < K; k++) {
    const u32 to = begin[0] + rank[k];
    if (k * BLOCK + thread() >= count || to >= a.N) continue;
    put_words<W>(a.To, to, word[k], 0, 0);
    put_row(a.To, to, row[k]);
  }
}

KERNEL(runs_place_4, RunsBatch, BLOCK, 1) { place_bucket<u32>(a); }
KERNEL(runs_place_8, RunsBatch, BLOCK, 1) { place_bucket<u64>(a); }
