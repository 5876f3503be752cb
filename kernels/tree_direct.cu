// From one state of a tree to the next without a sort: see tree_direct.go.
#include "items.cuh"

// Keys of a block, and how many four lanes look for at once.
#define DIRECT_AT_ONCE 2
#define DIRECT_MET (DIRECT_AT_ONCE * BLOCK / 4)

INLINE u32 link_number(u32 link) { return (link & u32(linkNumber)) - 1; }
INLINE u32 link_place(u32 link) { return link >> linkPlace & 31; }
INLINE bool acts(u32 link) { return link & u32(linkActs); }
INLINE bool is_there(u32 link) { return link & u32(linkThere); }
INLINE u32 next_of(const TreeDirect &a, u32 link) { return at<u32>(a.Next)[link_number(link)]; }

// push hangs a change to its leaf, and says whether it is not for this way.
template <typename W>
INLINE bool push(const TreeDirect &a, u64 i, W word, u32 leaf, u32 ref, Found f) {
  const Tree &t = a.From;
  const u64 row = at<u64>(a.Rows)[i];
  const u32 op = a.Ops ? u32(at<u8>(a.Ops)[i]) : a.Op;
  if (op == op_upsert || (!t.Form.Wide && row >> 32)) return true;
  u32 pos = f.pos;
  bool there = false;
  if (f.same) {
    Ptr block = leaf_in<false>(t, ref);
    while (pos < f.pos + f.same && row_of(t.Form, block, pos) < row) pos++;
    if (pos == length_of(ref) && leaf + 1 < t.Counts[0]) { // the word goes on in the next leaf, maybe
      const Spot s = search(t, Place<W>{word, 0, row, false});
      leaf = s.leaf, pos = s.pos, ref = ref_in<false>(t, leaf), block = leaf_in<false>(t, ref);
    }
    there = pos < length_of(ref) && word_of<W>(block, pos) == word && row_of(t.Form, block, pos) == row;
  }
  const u32 link = (u32(i) + 1) | pos << linkPlace | ((op == op_delete) == there ? u32(linkActs) : 0) | (there ? u32(linkThere) : 0);
  const u32 before = atomic_swap(&at<u32>(a.Links)[leaf], link) & ~u32(linkMore);
  at<u32>(a.Next)[i] = before;
  if (before) atomic_or(&at<u32>(a.Links)[leaf], u32(linkMore));
  return false;
}

// meet looks for some keys with four lanes each, of which then each hangs one.
template <typename W>
INLINE void meet(const TreeDirect &a, u64 n) {
  constexpr u32 K = DIRECT_AT_ONCE;
  const u64 first = u64(block()) * DIRECT_MET + thread() / quad_lanes;
  W word[K];
  u32 leaf[K], ref[K];
  Found f[K];
  UNROLL for (u32 q = 0; q < K; q++) {
    const u64 i = first + q * (BLOCK / quad_lanes);
    word[q] = i < n ? at<W>(a.Keys)[i] : W(0);
  }
  quad_descend<false>(a.From, word, leaf);
  UNROLL for (u32 q = 0; q < K; q++) ref[q] = ref_in<false>(a.From, leaf[q]);
  quad_find<false>(a.From, ref, word, f);
  const u32 mine = lane() % quad_lanes;
  UNROLL for (u32 q = 1; q < K; q++) {
    if (q == mine) word[0] = word[q], leaf[0] = leaf[q], ref[0] = ref[q], f[0] = f[q];
  }
  const u64 i = first + mine * (BLOCK / quad_lanes);
  const bool other = mine < K && i < n && push<W>(a, i, word[0], leaf[0], ref[0], f[0]);
  if (any(other) && lane() == 0) atomic_or(&at<TreeMet>(a.Totals)->Other, 1);
}

DENSE(tree_meet_4, TreeDirect, BLOCK, DIRECT_MET, 4) { meet<u32>(a, n); }
DENSE(tree_meet_8, TreeDirect, BLOCK, DIRECT_MET, 4) { meet<u64>(a, n); }

// Direct is a change of the batch as an entry.
template <typename W>
struct Direct { W word; u64 row; };
template <typename W>
INLINE Direct<W> direct_of(const TreeDirect &a, u32 link) {
  const u32 i = link_number(link);
  return {at<W>(a.Keys)[i], at<u64>(a.Rows)[i]};
}
template <typename W>
INLINE bool operator<(Direct<W> x, Direct<W> y) { return x.word != y.word ? x.word < y.word : x.row < y.row; }

// Gathered is what a list does to its leaf.
struct Gathered { u32 added; bool acts; };

// gather looks through a list. Of the changes of an entry the last one acts; the
// others are told not to. (To call it, instead of having a copy for each leaf of a thread,
// takes settle twice the time: what a call may change has to be put away.)
template <typename W>
INLINE Gathered gather(u32 *head, u32 *next, const W *keys, const u64 *rows, TreeMet *met) {
  constexpr u32 where = u32(31) << linkPlace | u32(linkThere);
  const u32 first = *head & ~u32(linkMore);
  Gathered g = {0, false};
  u32 many = 0;
  for (u32 x = first; x; x = next[link_number(x)]) {
    if (++many > linkMost) {
      atomic_or(&met->Long, 1);
      return g;
    }
  }
  u32 *place = head;
  for (u32 x = first; x; x = *place & ~u32(linkMore)) {
    const u32 i = link_number(x);
    bool replaced = false;
    for (u32 y = acts(x) ? first : 0; y && !replaced; y = next[link_number(y)]) {
      const u32 j = link_number(y);
      if ((x ^ y) & where || j <= i) continue;
      replaced = is_there(x) || (keys[i] == keys[j] && rows[i] == rows[j]);
    }
    if (replaced) *place &= ~u32(linkActs);
    else if (acts(x)) g.acts = true, g.added += is_there(x) ? ~u32(0) : 1;
    place = &next[i];
  }
  return g;
}

// name writes what the directory says of a leaf, and the nodes above that end with it.
template <typename W>
INLINE void name(const TreeDirect &a, u32 number, W word, u32 ref, u32 sum) {
  if (number >= a.Most) return;
  at<W>(a.To.Levels[0])[number] = word;
  at<u32>(a.To.Refs)[number] = ref;
  at<u32>(a.To.Sums)[number] = sum;
  u32 k = number + 1;
  UNROLL for (u32 h = 1; h < treeLevels; h++) {
    if (k % fan || !a.To.Levels[h]) return;
    k /= fan;
    at<W>(a.To.Levels[h])[k - 1] = word;
  }
}

INLINE u32 slot_for(const TreeDirect &a, u32 taken) { return at<u32>(a.Ring)[(a.Head + taken) & a.Mask]; }

// settle_entry writes entry number rank of a leaf that becomes others.
template <typename W>
INLINE void settle_entry(const TreeDirect &a, const treeGroup &g, u32 rank, W word, u64 row) {
  const Part p = part_of(g, rank);
  const u32 slot = slot_for(a, g.Before + p.leaf), pos = rank - p.begin;
  const Ptr leaf = slot_at(a.To.Slots, a.To.Form.Block, slot), rows = leaf + a.To.Form.RowsAt;
  at<W>(leaf)[pos] = word;
  if (a.To.Form.Wide) at<u64>(rows)[pos] = row; else at<u32>(rows)[pos] = u32(row);
  if (rank + 1 == p.end) name<W>(a, g.At + p.leaf, word, slot * u32(TreeLeaf) + pos, g.Sum + p.begin);
}

// settle_list writes what becomes of a leaf with a list, a lane an entry of the leaf
// and a change: half a warp does, and the other half another leaf, or nothing.
template <typename W>
INLINE void settle_list(const TreeDirect &a, const treeGroup *own) {
  const treeGroup g = own ? *own : treeGroup{};
  const u32 pos = lane() % u32(TreeLeaf);
  const bool old = own && pos < length_of(g.Ref);
  Direct<W> entry = {}, change = {};
  if (old) {
    const Ptr leaf = leaf_in<false>(a.From, g.Ref);
    entry = {word_of<W>(leaf, pos), row_of(a.From.Form, leaf, pos)};
  }
  u32 mine = 0, many = 0;
  for (u32 x = own ? g.First & ~u32(linkMore) : 0; any(x != 0) && many < linkMost; many++) {
    if (many == pos) mine = x;
    if (x) x = next_of(a, x);
  }
  const bool comes = acts(mine) && !is_there(mine);
  if (comes) change = direct_of<W>(a, mine);
  u32 rank = pos, to = link_place(mine);
  bool stays = old;
  for (u32 k = 0; k < many; k++) {
    const u32 from = lane() / u32(TreeLeaf) * u32(TreeLeaf) + k, y = shfl(mine, from), place = link_place(y);
    const Direct<W> other = shfl(change, from);
    if (!acts(y)) continue;
    const bool below = place < link_place(mine);
    if (is_there(y)) {
      rank -= place < pos, to -= below;
      if (place == pos) stays = false;
    } else {
      rank += place <= pos, to += below || (place == link_place(mine) && other < change);
    }
  }
  if (stays) settle_entry<W>(a, g, rank, entry.word, entry.row);
  if (comes) settle_entry<W>(a, g, to, change.word, change.row);
}

// put_rows writes four rows side by side.
INLINE void put_rows(const TreeForm &f, Ptr leaf, u32 pos, const u64 (&row)[4]) {
  if (f.Wide) {
    Pack<u64, 2> *to = at<Pack<u64, 2>>(leaf + f.RowsAt) + pos / 2;
    to[0] = {{row[0], row[1]}};
    to[1] = {{row[2], row[3]}};
  } else {
    at<Pack<u32, 4>>(leaf + f.RowsAt)[pos / 4] = {{u32(row[0]), u32(row[1]), u32(row[2]), u32(row[3])}};
  }
}

// settle_one is settle_list for one change, as most leaves have that are met: four
// lanes write the whole leaf, 16 bytes at a time, and what is behind its last
// entry is that one again.
template <typename W>
INLINE void settle_one(const TreeDirect &a, const treeGroup &g, u32 q) {
  constexpr u32 V = 16 / sizeof(W);
  const Ptr leaf = leaf_in<false>(a.From, g.Ref);
  const u32 place = link_place(g.First);
  const bool away = is_there(g.First);
  const Direct<W> e = away ? Direct<W>{} : direct_of<W>(a, g.First);
  for (u32 j = 0; j < g.Leaves; j++) {
    const u32 begin = g.Count * j / g.Leaves, end = g.Count * (j + 1) / g.Leaves;
    const u32 slot = slot_for(a, g.Before + j);
    W word[4];
    u64 row[4];
    UNROLL for (u32 k = 0; k < 4; k++) {
      const u32 rank = smaller(begin + 4 * q + k, end - 1);
      const bool own = !away && rank == place;
      const u32 from = away ? rank + (rank >= place) : rank - (rank > place);
      word[k] = own ? e.word : word_of<W>(leaf, from);
      row[k] = own ? e.row : row_of(a.From.Form, leaf, from);
    }
    const Ptr to = slot_at(a.To.Slots, a.To.Form.Block, slot);
    UNROLL for (u32 k = 0; k < 4; k += V) {
      Pack<W, V> p;
      UNROLL for (u32 l = 0; l < V; l++) p.v[l] = word[k + l];
      at<Pack<W, V>>(to)[(4 * q + k) / V] = p;
    }
    put_rows(a.To.Form, to, 4 * q, row);
    if (q == (end - begin - 1) / 4) name<W>(a, g.At + j, word[3], slot * u32(TreeLeaf) + (end - begin - 1), g.Sum + begin);
  }
}

// finish_levels writes the ends of all levels: what fills a node up is above all
// words or equal to the last.
template <typename W>
INLINE void finish_levels(const TreeDirect &a) {
  const u64 size = ld_relaxed(&at<TreeMet>(a.Totals)->Size);
  u32 count = u32(size >> 32);
  if (count == 0 || count > a.Most) return;
  if (thread() == 0) at<u32>(a.To.Sums)[count] = u32(size);
  const W last = ld_relaxed(&at<W>(a.To.Levels[0])[count - 1]);
  for (u32 h = 0; h < treeLevels && a.To.Levels[h]; h++) {
    const u32 k = (count - 1) / fan * fan + thread();
    if (thread() < fan && k + 1 >= count) at<W>(a.To.Levels[h])[k] = k + 1 == count ? last : ~W(0);
    count = (count + fan - 1) / fan;
    if (count == 1) return;
  }
}

#define DIRECT_LEAVES 4

// settle writes the new state: where a leaf comes is known from those before it, in
// one pass; the slots that a block takes are the next ones that nobody has. A warp
// looks at leaves that lie together, a lane at each 32nd of them; what they become is
// written by some lanes a leaf. Who is done last writes the levels' ends, and makes clear
// what the next batch counts with.
template <typename W>
INLINE void settle(const TreeDirect &a, u64 n) {
  constexpr u32 K = DIRECT_LEAVES;
  SHARED(treeGroup, group, K * BLOCK);
  SHARED(u64, place, 2);
  SHARED(u32, done, 1);
  TreeMet *met = at<TreeMet>(a.Totals);
  if (met->Other) return;
  const u32 tile = take_tile(at<u32>(a.State));
  const u64 base = u64(tile) * (K * BLOCK) + warp() * (WARP * K) + lane();
  u32 link[K], ref[K], count[K];
  W last[K];
  UNROLL for (u32 k = 0; k < K; k++) {
    const u64 i = base + k * WARP;
    link[k] = i < n ? at<u32>(a.Links)[i] : 0;
    ref[k] = i < n ? at<u32>(a.From.Refs)[i] : 0;
    last[k] = i < n ? at<W>(a.From.Levels[0])[i] : W(0);
  }
  // What a list does to its leaf is seen on the way through it, unless changes may be
  // of one entry or there are too many; the lists of a thread are gone through side by side.
  u32 x[K], added[K];
  u64 seen[K];
  bool again[K];
  UNROLL for (u32 k = 0; k < K; k++) x[k] = link[k] & ~u32(linkMore), added[k] = 0, seen[k] = 0, again[k] = false;
  bool more = true;
  for (u32 many = 0; more; many++) {
    more = false;
    UNROLL for (u32 k = 0; k < K; k++) {
      if (!x[k]) continue;
      const u64 where = u64(1) << (link_place(x[k]) * 2 + is_there(x[k]));
      again[k] |= (seen[k] & where) != 0 || many == linkMost;
      seen[k] |= where;
      if (acts(x[k])) added[k] += is_there(x[k]) ? ~u32(0) : 1;
      x[k] = link[k] & u32(linkMore) && !again[k] ? next_of(a, x[k]) : 0;
      more |= x[k] != 0;
    }
  }
  u64 size[K], take[K]; // leaves and entries; lists, leaves that become others, and what they become
  UNROLL for (u32 k = 0; k < K; k++) {
    const u64 i = base + k * WARP;
    bool does = seen[k] != 0 && (added[k] != 0 || link[k] & u32(linkMore));
    if (again[k]) {
      const Gathered g = gather<W>(&at<u32>(a.Links)[i], at<u32>(a.Next), at<W>(a.Keys), at<u64>(a.Rows), at<TreeMet>(a.Totals));
      link[k] = at<u32>(a.Links)[i];
      added[k] = g.added;
      does = g.acts;
    }
    count[k] = i < n ? length_of(ref[k]) + added[k] : 0;
    if (link[k]) at<u32>(a.Links)[i] = 0;
    if (!does) link[k] = 0;
    const u64 leaves = link[k] ? leaves_of(count[k]) : u64(i < n);
    size[k] = leaves << 32 | count[k];
    take[k] = link[k] ? u64(link[k] & u32(linkMore) ? 1 : 0) << 48 | u64(1) << 32 | leaves : 0;
  }
  u64 sizes = 0, takes = 0, all, taken; // of a warp, of the block
  UNROLL for (u32 k = 0; k < K; k++) {
    const u64 s = warp_scan(size[k], Add()), t = warp_scan(take[k], Add());
    size[k] = sizes + s - size[k];
    take[k] = takes + t - take[k];
    sizes += shfl(s, WARP - 1);
    takes += shfl(t, WARP - 1);
  }
  sizes = shfl(block_scan<BLOCK>(lane() == 0 ? sizes : u64(0), Add(), u64(0), all), 0);
  takes = shfl(block_scan<BLOCK>(lane() == 0 ? takes : u64(0), Add(), u64(0), taken), 0);
  const u32 lists = u32(taken >> 48), groups = u32(taken >> 32) & 0xffff;
  if (warp() == 1 && lane() == 0) place[1] = taken ? atomic_add(&met->Taken, u64(groups) << 32 | u32(taken)) : 0;
  if (warp() == 0) {
    const u64 past = look_back(TilePairs{at<Pack<u64, 2>>(a.State + 16)}, tile, all);
    if (lane() == 0) {
      place[0] = past;
      if (u64(tile + 1) * (K * BLOCK) >= n) st_relaxed(&met->Size, past + all);
    }
  }
  sync_block();
  const u32 slots = u32(place[1]), first = u32(place[1] >> 32), ones = groups - lists;
  const bool fits = u64(slots) + u32(taken) <= a.Slots;
  UNROLL for (u32 k = 0; k < K; k++) {
    const u64 i = base + k * WARP, s = place[0] + sizes + size[k], t = takes + take[k];
    if (i >= n) break;
    if (link[k]) { // those with lists behind the others
      const u32 before = u32(t >> 48), g = link[k] & u32(linkMore) ? ones + before : (u32(t >> 32) & 0xffff) - before;
      group[g] = {link[k], u32(i), ref[k], count[k], leaves_of(count[k]), slots + u32(t), u32(s >> 32), u32(s)};
    } else {
      name<W>(a, u32(s >> 32), last[k], ref[k], u32(s));
    }
  }
  sync_block();
  if (fits) {
    for (u32 g = thread(); g < groups; g += BLOCK) at<u32>(a.Ring)[(a.Tail + first + g) & a.Mask] = group[g].Ref / u32(TreeLeaf);
    for (u32 g = thread() / quad_lanes; g < ones; g += BLOCK / quad_lanes) settle_one<W>(a, group[g], thread() % quad_lanes);
    constexpr u32 halves = BLOCK / u32(TreeLeaf);
    for (u32 g = 2 * warp(); g < lists; g += halves) {
      const u32 l = g + lane() / u32(TreeLeaf);
      settle_list<W>(a, l < lists ? &group[ones + l] : nullptr);
    }
  }
  fence();
  sync_block();
  if (thread() == 0) done[0] = atomic_add(&met->Done, 1);
  sync_block();
  if (done[0] + 1 < blocks()) return;
  fence();
  finish_levels<W>(a);
  Pack<u64, 2> *state = at<Pack<u64, 2>>(a.State);
  for (u32 i = thread(); i < 1 + blocks(); i += BLOCK) state[i] = {{0, 0}};
  if (thread() == 0) *at<TreeMet>(a.Other) = TreeMet{};
}

// Without a bound the rare ways take so many registers that a fifth more time is lost
// than with room for four blocks; for five and six they are too few.
DENSE(tree_settle_4, TreeDirect, BLOCK, DIRECT_LEAVES * BLOCK, 4) { settle<u32>(a, n); }
DENSE(tree_settle_8, TreeDirect, BLOCK, DIRECT_LEAVES * BLOCK, 4) { settle<u64>(a, n); }
