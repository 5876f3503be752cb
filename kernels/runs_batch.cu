// A small batch becomes a run: see runs_batch.go.
#include "runs.cuh"

// Changes that a thread spreads: all are read before the first is put anywhere.
#define SPREAD_EACH 2

// begin_buckets notes how many changes are before each bucket's, and makes clear what
// the next batch counts with. The block that is done last does.
INLINE void begin_buckets(const RunsBatch &a) {
  constexpr u32 K = (1 << u32(batchBits)) / BLOCK;
  u32 *counts = at<u32>(a.Counts), *begins = at<u32>(a.Begins);
  const u32 buckets = 1 << a.Bits, each = (buckets + BLOCK - 1) / BLOCK, own = thread() * each;
  u32 count[K], sum = 0, all;
  UNROLL for (u32 k = 0; k < K; k++) {
    count[k] = k < each && own + k < buckets ? ld_relaxed(&counts[(own + k) * u32(batchApart)]) : 0;
    sum += count[k];
  }
  u32 before = block_scan<BLOCK>(sum, Add(), 0u, all);
  UNROLL for (u32 k = 0; k < K; k++) {
    if (k >= each || own + k >= buckets) continue;
    begins[own + k] = before;
    st_relaxed(&counts[(own + k) * u32(batchApart)], 0);
    before += count[k];
  }
  if (thread() == 0) begins[buckets] = all, st_relaxed(at<u32>(a.Done), 0);
  if (thread() < sizeof(TreeFacts) / 8) at<u64>(a.Other)[thread()] = 0;
}

// spread puts changes in their buckets, each behind those that came before, and sums
// up what they are like.
template <typename W>
INLINE void spread(const RunsBatch &a, u64 n) {
  constexpr u32 K = SPREAD_EACH;
  SHARED(u32, done, 1);
  TreeFacts *out = at<TreeFacts>(a.Facts);
  const u64 base = u64(block()) * (K * BLOCK) + thread();
  const u64 *rows = at<u64>(a.Rows);
  W word[K];
  u64 row[K], before[K];
  UNROLL for (u32 k = 0; k < K; k++) {
    const u64 i = smaller(base + k * BLOCK, n - 1);
    word[k] = at<W>(a.Keys)[i];
    row[k] = rows[i];
    before[k] = i ? rows[i - 1] : 0;
  }
  u64 bits = 0, nots = 0;
  bool wide = false, falls = false, same = false, full = false;
  UNROLL for (u32 k = 0; k < K; k++) {
    const u64 i = base + k * BLOCK;
    if (i >= n) break;
    bits |= word[k], nots |= W(~word[k]);
    wide |= row[k] >> 32 != 0;
    falls |= row[k] < before[k];
    same |= i > 0 && row[k] == before[k];
    if (i == 0) out->First = row[k];
    if (i == n - 1) out->Last = row[k];
    const u32 bucket = u32(word[k] >> (a.Shift % (8 * sizeof(W)))) & ((1u << a.Bits) - 1);
    const u32 p = atomic_add(&at<u32>(a.Counts)[bucket * u32(batchApart)], 1);
    full |= p >= a.Room;
    if (p >= a.Room) continue;
    at<Pack<W, 2>>(a.Found)[bucket * a.Room + p] = {{word[k], W(row[k])}};
  }
  note_bits(out, 0, bits, nots);
  if (any(wide) && lane() == 0) atomic_or(&out->Or[1], u64(1) << 32);
  if (any(falls) && lane() == 0) atomic_or(&out->RowsFall, 1);
  if (any(same) && lane() == 0) atomic_or(&out->RowsSame, 1);
  if (any(full) && lane() == 0) atomic_or(&out->Full, 1);
  fence();
  sync_block();
  if (thread() == 0) done[0] = atomic_add(at<u32>(a.Done), 1);
  sync_block();
  if (done[0] + 1 < blocks()) return;
  fence();
  begin_buckets(a);
}

KERNEL(runs_spread_4, RunsBatch, BLOCK, SPREAD_EACH * BLOCK) { spread<u32>(a, n); }
KERNEL(runs_spread_8, RunsBatch, BLOCK, SPREAD_EACH * BLOCK) { spread<u64>(a, n); }

// narrow_row is entry_row of a run whose rows have 32 bits.
INLINE u32 narrow_row(const Tree &t, u32 i) { return at<u32>(packed_leaf(t, i) + t.Form.RowsAt)[i % u32(TreeLeaf)]; }

// place_bucket puts a bucket's changes, and what older runs have between its ends, in
// order: by eight more bits of the key, and each among the few that have the same ones.
// What an older run has below all buckets is in the first, and what is above in the last.
template <typename W>
INLINE void place_bucket(const RunsBatch &a) {
  constexpr u32 K = u32(batchRoom) / BLOCK, X = u32(batchOlds);
  SHARED(W, words, batchRoom);
  SHARED(u32, rows, batchRoom);
  SHARED(u32, many, BLOCK);
  SHARED(u32, begins, BLOCK + 1);
  SHARED(u32, ends, 2 * X);
  const u32 bucket = block(), top = a.Shift + a.Bits, first = at<u32>(a.Begins)[bucket];
  const u32 news = smaller(at<u32>(a.Begins)[bucket + 1] - first, a.Room);
  const u64 all_bits = at<TreeFacts>(a.Facts)->Or[0], above = top < 64 ? all_bits >> top << top : 0;
  const W low = W(above | u64(bucket) << (a.Shift % 64));
  many[thread()] = 0;
  if (warp() < a.Olds) {
    const Tree &t = a.Old[warp()];
    const bool high = lane() / quad_lanes == 1;
    const W word[1] = {W(high ? low + (W(1) << (a.Shift % (8 * sizeof(W)))) : low)};
    u32 leaf[1];
    Found f[1];
    quad_descend<false>(t, word, leaf);
    const u32 ref[1] = {ref_in<true>(t, leaf[0])};
    quad_find<true>(t, ref, word, f);
    u32 at_entry = leaf[0] * u32(TreeLeaf) + f[0].pos;
    if (!high && bucket == 0) at_entry = 0;
    if (high && bucket + 1 == 1u << a.Bits) at_entry = t.Entries;
    if (lane() == 0) ends[2 * warp()] = at_entry;
    if (lane() == quad_lanes) ends[2 * warp() + 1] = at_entry;
  }
  sync_block();
  u32 count = news, begin = first, from[X], length[X];
  UNROLL for (u32 x = 0; x < X; x++) {
    from[x] = x < a.Olds ? ends[2 * x] : 0;
    length[x] = x < a.Olds ? ends[2 * x + 1] - from[x] : 0;
    count += length[x], begin += from[x];
  }
  if (count > u32(batchRoom)) {
    if (thread() == 0) atomic_or(&at<TreeFacts>(a.Facts)->Full, 1);
    return;
  }
  const u32 finer = smaller(a.Shift, 8u);
  W word[K];
  u32 row[K], part[K], place[K];
  UNROLL for (u32 k = 0; k < K; k++) {
    u32 i = k * BLOCK + thread();
    if (i >= count) break;
    if (i < news) {
      const Pack<W, 2> e = at<Pack<W, 2>>(a.Found)[bucket * a.Room + i];
      word[k] = e.v[0], row[k] = u32(e.v[1]);
      continue;
    }
    i -= news;
    UNROLL for (u32 x = 0; x < X; x++) {
      if (i < length[x]) word[k] = entry_word<W>(a.Old[x], from[x] + i), row[k] = narrow_row(a.Old[x], from[x] + i);
      i = i < length[x] ? ~u32(0) : i - length[x]; // ~0 is in no run
    }
  }
  UNROLL for (u32 k = 0; k < K; k++) {
    if (k * BLOCK + thread() >= count) break;
    part[k] = word[k] < low ? 0 : u32(smaller(u64(W(word[k] - low)) >> (a.Shift - finer), (u64(1) << finer) - 1));
    place[k] = atomic_add(&many[part[k]], 1);
  }
  sync_block();
  u32 sum;
  begins[thread()] = block_scan<BLOCK>(many[thread()], Add(), 0u, sum);
  if (thread() == 0) begins[BLOCK] = count;
  sync_block();
  UNROLL for (u32 k = 0; k < K; k++) {
    if (k * BLOCK + thread() >= count) break;
    words[begins[part[k]] + place[k]] = word[k];
    rows[begins[part[k]] + place[k]] = row[k];
  }
  sync_block();
  UNROLL for (u32 k = 0; k < K; k++) {
    if (k * BLOCK + thread() >= count) break;
    const u32 own = begins[part[k]] + place[k];
    place[k] = begins[part[k]];
    for (u32 i = begins[part[k]]; i < begins[part[k] + 1]; i++) { // the same one twice: as they lie
      place[k] += words[i] != word[k] ? words[i] < word[k] : rows[i] < row[k] || (rows[i] == row[k] && i < own);
    }
  }
  sync_block();
  UNROLL for (u32 k = 0; k < K; k++) {
    if (k * BLOCK + thread() >= count) break;
    words[place[k]] = word[k];
    rows[place[k]] = row[k];
  }
  sync_block();
  for (u32 i = thread(); i < count && begin + i < a.To.Entries; i += BLOCK) {
    put_words<W>(a.To, begin + i, words[i], 0, 0);
    put_row(a.To, begin + i, rows[i]);
  }
}

DENSE(runs_place_4, RunsBatch, BLOCK, 1, 4) { place_bucket<u32>(a); }
DENSE(runs_place_8, RunsBatch, BLOCK, 1, 4) { place_bucket<u64>(a); }
