// A sort by digits of eight bits, the lowest first: see radix.go.
//
// A pass reads and writes every key once. A tile of keys counts its digits,
// finds by looking back, a thread a digit, how many of each come before it, and
// puts its keys into the order of their digits in shared memory, so that what
// goes to one place in memory goes there together.
#include "block.cuh"

// A tile of a pass: items a thread, for keys of 8 and of 4 bytes.
#define RADIX_WIDE 16
#define RADIX_NARROW 24

// Of a digit's word of a tile: its state in the two highest bits, and a count.
constexpr u32 digit_own = u32(1) << 30, digit_upto = u32(2) << 30, digit_count = digit_own - 1;

template <typename K>
INLINE u32 digit_of(K key, u32 shift) { return u32(key >> shift) & (radixDigits - 1); }

// count_digits adds the digits of n keys to a count for each pass.
template <typename K, u32 ITEMS>
INLINE void count_digits(const radixArgs &a, u64 n) {
  constexpr u32 passes = sizeof(K);
  SHARED(u32, count, passes * radixDigits);
  for (u32 i = thread(); i < passes * radixDigits; i += BLOCK) count[i] = 0;
  sync_block();
  const K *keys = at<K>(a.Keys);
  for (u64 base = u64(block()) * (ITEMS * BLOCK); base < n; base += u64(blocks()) * (ITEMS * BLOCK)) {
    K key[ITEMS];
    UNROLL for (u32 k = 0; k < ITEMS; k++) {
      const u64 i = base + k * BLOCK + thread();
      if (i < n) key[k] = keys[i];
    }
    UNROLL for (u32 k = 0; k < ITEMS; k++) {
      const bool here = base + k * BLOCK + thread() < n;
      for (u32 p = a.First; p < a.Last; p++) {
        const u32 d = here ? digit_of(key[k], 8 * p) : radixDigits;
        // Keys of one range have the same high digits: one adds for the warp.
        if (all(d == shfl(d, 0))) {
          if (lane() == 0 && here) atomic_add(&count[p * radixDigits + d], WARP);
        } else if (here) {
          atomic_add(&count[p * radixDigits + d], 1);
        }
      }
    }
  }
  sync_block();
  u32 *total = at<u32>(a.Places);
  for (u32 i = thread(); i < passes * radixDigits; i += BLOCK) {
    if (count[i] != 0) atomic_add(&total[i], count[i]);
  }
  // The last block makes each pass's counts the places where its digits begin.
  SHARED(u32, done, 1);
  fence();
  sync_block();
  if (thread() == 0) done[0] = atomic_add(at<u32>(a.Next), 1);
  sync_block();
  if (done[0] + 1 != blocks()) return;
  for (u32 p = a.First; p < a.Last; p++) {
    u32 all;
    const u32 c = ld_relaxed(&total[p * radixDigits + thread()]);
    st_relaxed(&total[p * radixDigits + thread()], block_scan<BLOCK>(c, Add(), 0u, all));
  }
}

KERNEL(radix_count_4, radixArgs, BLOCK, 8 * BLOCK) { count_digits<u32, 8>(a, n); }
KERNEL(radix_count_8, radixArgs, BLOCK, 8 * BLOCK) { count_digits<u64, 8>(a, n); }

// digits_before is how many keys of this thread's digit come in the tiles before.
// Some are read at a time: tiles that run together wait for each other by steps.
INLINE u32 digits_before(const u32 *words, u32 tile) {
  constexpr u32 K = 4;
  u32 before = 0;
  for (i64 t = i64(tile) - 1;;) {
    u32 w[K];
    UNROLL for (u32 k = 0; k < K; k++) {
      w[k] = t >= i64(k) ? ld_relaxed(&words[(t - k) * radixDigits + thread()]) : digit_upto;
    }
    bool wait = false;
    UNROLL for (u32 k = 0; k < K; k++) {
      wait |= w[k] < digit_own;
      if (wait) continue;
      before += w[k] & digit_count;
      if (w[k] >= digit_upto) return before;
      t--;
    }
    if (wait) nap();
  }
}

struct None {};

// radix_pass orders a portion of n keys by one digit, stably.
template <typename K, typename V, u32 ITEMS>
INLINE void radix_pass(const radixArgs &a, u64 n) {
  constexpr u32 WARPS = BLOCK / WARP, SIZE = ITEMS * BLOCK;
  constexpr u32 counters = 2 * WARPS * radixDigits * sizeof(u32);
  constexpr u32 wide = sizeof(K) < sizeof(V) ? sizeof(V) : sizeof(K);
  SHARED(u64, room, (counters < SIZE * wide ? SIZE * wide : counters) / sizeof(u64));
  SHARED(u32, place, radixDigits);
  SHARED(u32, tiles, 1);
  u32 *count = (u32 *)room;                   // of each warp, of each digit
  u32 *lanes = count + WARPS * radixDigits;  // the lanes of a warp that have the digit
  u32 *words = at<u32>(a.State) + radixDigits;

  for (u32 i = thread(); i < 2 * WARPS * radixDigits; i += BLOCK) count[i] = 0;
  if (thread() == 0) tiles[0] = atomic_add(at<u32>(a.State), 1);
  sync_block();
  const u32 tile = tiles[0];
  const u64 first = u64(tile) * SIZE;
  const u32 here = n - first < SIZE ? u32(n - first) : SIZE;

  // Behind the last key there are keys of ones: they sort behind it.
  K key[ITEMS];
  const u32 mine = warp() * (WARP * ITEMS) + lane();
  const K *keys = at<K>(a.Keys) + first;
  UNROLL for (u32 k = 0; k < ITEMS; k++) {
    key[k] = mine + k * WARP < here ? keys[mine + k * WARP] : ~K(0);
  }
  u32 *const counts = count + warp() * radixDigits;
  UNROLL for (u32 k = 0; k < ITEMS; k++) atomic_add(&counts[digit_of(key[k], a.Shift)], 1);
  sync_block();

  const u32 d = thread();
  u32 sum = 0;
  UNROLL for (u32 w = 0; w < WARPS; w++) {
    const u32 c = count[w * radixDigits + d];
    count[w * radixDigits + d] = sum;
    sum += c;
  }
  const u32 real = d == radixDigits - 1 ? sum - (SIZE - here) : sum;
  st_relaxed(&words[u64(tile) * radixDigits + d], (tile == 0 ? digit_upto : digit_own) | real);
  u32 all;
  const u32 begin = block_scan<BLOCK>(sum, Add(), 0u, all);
  UNROLL for (u32 w = 0; w < WARPS; w++) count[w * radixDigits + d] += begin;
  sync_block();

  // A key's rank: the lanes of its digit say so in one word, and the first of
  // them counts them all.
  u32 rank[ITEMS];
  u32 *const marks = lanes + warp() * radixDigits;
  UNROLL for (u32 k = 0; k < ITEMS; k++) {
    const u32 digit = digit_of(key[k], a.Shift);
    atomic_or(&marks[digit], u32(1) << lane());
    sync_warp();
    const u32 same = marks[digit], earlier = popc(same & below());
    rank[k] = counts[digit] + earlier;
    sync_warp();
    if (earlier == 0) {
      counts[digit] += popc(same);
      marks[digit] = 0;
    }
    sync_warp();
  }

  const u32 before = tile == 0 ? 0 : digits_before(words, tile);
  if (tile != 0) st_relaxed(&words[u64(tile) * radixDigits + d], digit_upto | (before + real));
  u32 *places = at<u32>(a.Places);
  place[d] = places[d] + before - begin;
  sync_block();

  K *sorted = (K *)room;
  UNROLL for (u32 k = 0; k < ITEMS; k++) sorted[rank[k]] = key[k];
  sync_block();
  K *out = at<K>(a.OutKeys);
  u32 to[ITEMS];
  UNROLL for (u32 k = 0; k < ITEMS; k++) {
    const u32 i = thread() + k * BLOCK;
    const K x = sorted[i];
    to[k] = place[digit_of(x, a.Shift)] + i;
    if (i < here) out[to[k]] = x;
  }
  if constexpr (sizeof(V) > 1) {
    const V *values = at<V>(a.Values) + first;
    V value[ITEMS];
    UNROLL for (u32 k = 0; k < ITEMS; k++) {
      if (mine + k * WARP < here) value[k] = values[mine + k * WARP];
    }
    sync_block();
    V *moved = (V *)room;
    UNROLL for (u32 k = 0; k < ITEMS; k++) moved[rank[k]] = value[k];
    sync_block();
    V *outv = at<V>(a.OutValues);
    UNROLL for (u32 k = 0; k < ITEMS; k++) {
      const u32 i = thread() + k * BLOCK;
      if (i < here) outv[to[k]] = moved[i];
    }
  }
  // The last tile has seen all others: it says where the next portion goes on.
  if (a.Next != 0 && first + here == n) at<u32>(a.Next)[d] = places[d] + before + real;
}

KERNEL(radix_pass_4, radixArgs, BLOCK, RADIX_NARROW * BLOCK) { radix_pass<u32, None, RADIX_NARROW>(a, n); }
KERNEL(radix_pass_4_4, radixArgs, BLOCK, RADIX_NARROW * BLOCK) { radix_pass<u32, u32, RADIX_NARROW>(a, n); }
KERNEL(radix_pass_4_8, radixArgs, BLOCK, RADIX_WIDE * BLOCK) { radix_pass<u32, u64, RADIX_WIDE>(a, n); }
KERNEL(radix_pass_8, radixArgs, BLOCK, RADIX_WIDE * BLOCK) { radix_pass<u64, None, RADIX_WIDE>(a, n); }
KERNEL(radix_pass_8_4, radixArgs, BLOCK, RADIX_WIDE * BLOCK) { radix_pass<u64, u32, RADIX_WIDE>(a, n); }
KERNEL(radix_pass_8_8, radixArgs, BLOCK, RADIX_WIDE * BLOCK) { radix_pass<u64, u64, RADIX_WIDE>(a, n); }

// radix_few sorts by all digits at once. What it writes may be what it has read.
template <typename K, typename V>
INLINE void radix_few(const radixArgs &a, u64 n) {
  constexpr u32 ITEMS = radixFew / BLOCK;
  SHARED(K, all, radixFew);
  const u32 digits = a.Last - a.First;
  const K mask = (~K(0) >> 8 * (u32(sizeof(K)) - digits)) << 8 * a.First;
  K key[ITEMS];
  V value[ITEMS];
  u32 rank[ITEMS];
  UNROLL for (u32 k = 0; k < ITEMS; k++) {
    const u32 i = k * BLOCK + thread();
    rank[k] = 0;
    key[k] = 0;
    if (i >= n) continue;
    key[k] = at<K>(a.Keys)[i];
    if constexpr (sizeof(V) > 1) value[k] = at<V>(a.Values)[i];
    all[i] = key[k] & mask;
  }
  sync_block();
  for (u32 j = 0; j < n; j++) {
    const K other = all[j];
    UNROLL for (u32 k = 0; k < ITEMS; k++) {
      const K own = key[k] & mask;
      if (k * BLOCK < n) rank[k] += other < own || (other == own && j < k * BLOCK + thread());
    }
  }
  UNROLL for (u32 k = 0; k < ITEMS; k++) {
    if (k * BLOCK + thread() >= n) continue;
    at<K>(a.OutKeys)[rank[k]] = key[k];
    if constexpr (sizeof(V) > 1) at<V>(a.OutValues)[rank[k]] = value[k];
  }
}

KERNEL(radix_few_4, radixArgs, BLOCK, 1024) { radix_few<u32, None>(a, n); }
KERNEL(radix_few_4_4, radixArgs, BLOCK, 1024) { radix_few<u32, u32>(a, n); }
KERNEL(radix_few_4_8, radixArgs, BLOCK, 1024) { radix_few<u32, u64>(a, n); }
KERNEL(radix_few_8, radixArgs, BLOCK, 1024) { radix_few<u64, None>(a, n); }
KERNEL(radix_few_8_4, radixArgs, BLOCK, 1024) { radix_few<u64, u32>(a, n); }
KERNEL(radix_few_8_8, radixArgs, BLOCK, 1024) { radix_few<u64, u64>(a, n); }
