// From one state of a tree to the next: see tree_write.go.
#include "items.cuh"

// heads says which changes are the first of their key.
template <typename W>
INLINE void heads(const TreeWrite &a, u64 n) {
  u32 *out = at<u32>(a.Leaf);
  const u64 i = number();
  if (i < n) out[i] = i == 0 || !same_key<W>(a.From.Form, a.Items, i - 1, i);
}

KERNEL(tree_heads_4, TreeWrite, BLOCK, BLOCK) { heads<u32>(a, n); }
KERNEL(tree_heads_8, TreeWrite, BLOCK, BLOCK) { heads<u64>(a, n); }

KERNEL(tree_upserts, TreeWrite, BLOCK, BLOCK) {
  u32 *key = at<u32>(a.Items.Same);
  const u64 i = number();
  if (i >= n) return;
  const u32 k = key[i] + at<u32>(a.Leaf)[i] - 1;
  key[i] = k;
  if (item_op(a.Items, i) == op_upsert) atomic_max(&at<u32>(a.Items.Upserts)[k], u32(index_of(a.Items.Index, i)) + 1);
}

template <typename W>
INLINE void locate(const TreeWrite &a, u64 n) {
  const TreeItems &x = a.Items;
  const Tree &t = a.From;
  const u64 i = number();
  if (i >= n) return;
  const W word = item_word<W>(x, i);
  const u64 row = item_row(x, i);
  const Ptr rest = t.Form.Rest ? item_rest(x, i) : 0;
  const bool last = x.Distinct || i + 1 == n || item_row(x, i + 1) != row || !same_key<W>(t.Form, x, i, i + 1);
  Spot s = {0, 0};
  bool there = false;
  if (t.Counts[0]) {
    s = search(t, Place<W>{word, rest, row, false});
    const u32 ref = ref_of(t, s.leaf);
    const Ptr leaf = leaf_at(t, ref);
    there = s.pos < length_of(ref) && word_of<W>(leaf, s.pos) == word && row_of(t.Form, leaf, s.pos) == row &&
            (t.Form.Rest == 0 || compare_rest(t.Form, rest_of(t.Form, leaf, s.pos), rest) == 0);
  }
  at<u32>(a.Leaf)[i] = s.leaf;
  u32 effect = 0;
  if (last) {
    const bool away = removes(x, i);
    effect = away == there ? (there ? u32(effectRemove) : u32(EffectAdd)) : 0;
  }
  at<u8>(a.At)[i] = u8(s.pos * 2 + there + effect);
}

KERNEL(tree_locate_4, TreeWrite, BLOCK, BLOCK) { locate<u32>(a, n); }
KERNEL(tree_locate_8, TreeWrite, BLOCK, BLOCK) { locate<u64>(a, n); }

// net is what a prefix has of entries that were added, and met of leaves.
INLINE u32 net(u64 prefix) { return u32(prefix >> 32); }
INLINE u32 met(u64 prefix) { return u32(prefix); }

#define TREE_GROUPED 8

KERNEL(tree_group, TreeWrite, BLOCK, TREE_GROUPED * BLOCK) {
  SHARED(u64, place, 1);
  const u32 tile = take_tile(at<u32>(a.Grouped));
  const u64 base = (u64(tile) * BLOCK + thread()) * TREE_GROUPED;
  const bool whole = base + TREE_GROUPED <= n;
  u32 leaf[TREE_GROUPED];
  u8 effect[TREE_GROUPED];
  if (whole) {
    const Pack<u32, 4> x = at<Pack<u32, 4>>(a.Leaf)[base / 4], y = at<Pack<u32, 4>>(a.Leaf)[base / 4 + 1];
    const Pack<u8, TREE_GROUPED> e = at<Pack<u8, TREE_GROUPED>>(a.At)[base / TREE_GROUPED];
    UNROLL for (u32 k = 0; k < 4; k++) leaf[k] = x.v[k], leaf[4 + k] = y.v[k];
    UNROLL for (u32 k = 0; k < TREE_GROUPED; k++) effect[k] = e.v[k];
  } else {
    UNROLL for (u32 k = 0; k < TREE_GROUPED; k++) {
      leaf[k] = base + k < n ? at<u32>(a.Leaf)[base + k] : 0;
      effect[k] = base + k < n ? at<u8>(a.At)[base + k] : u8(0);
    }
  }
  u64 v[TREE_GROUPED], own = 0, all;
  u32 before = base > 0 && base < n ? at<u32>(a.Leaf)[base - 1] : ~u32(0), gone = 0;
  UNROLL for (u32 k = 0; k < TREE_GROUPED; k++) {
    const u32 e = effect[k];
    v[k] = u64(base + k < n && (leaf[k] != before || base + k == 0));
    v[k] += e & u32(EffectAdd) ? u64(1) << 32 : e & u32(effectRemove) ? ~u64(0) << 32 : 0;
    gone += e & u32(effectRemove) ? 1 : 0;
    own += v[k];
    before = leaf[k];
  }
  gone = warp_reduce(gone, Add());
  TreeTotals *totals = at<TreeTotals>(a.Totals);
  if (lane() == 0 && gone) atomic_add(&totals->Deleted, gone);
  u64 sum = block_scan<BLOCK>(own, Add(), u64(0), all);
  if (warp() == 0) {
    const u64 past = look_back(TilePairs{at<Pack<u64, 2>>(a.Grouped + 16)}, tile, all);
    if (lane() == 0) {
      place[0] = past;
      if (u64(tile + 1) * (TREE_GROUPED * BLOCK) >= n) {
        totals->Groups = met(past + all);
        totals->Added = net(past + all);
        at<u64>(a.Prefix)[n] = past + all;
        at<u32>(a.First)[met(past + all)] = u32(n);
      }
    }
  }
  sync_block();
  sum += place[0];
  UNROLL for (u32 k = 0; k < TREE_GROUPED; k++) {
    if (met(v[k])) at<u32>(a.First)[met(sum)] = u32(base + k);
    const u64 next = sum + v[k];
    v[k] = sum;
    sum = next;
  }
  if (whole) {
    Pack<u64, 2> *to = at<Pack<u64, 2>>(a.Prefix) + base / 2;
    UNROLL for (u32 k = 0; k < TREE_GROUPED; k += 2) to[k / 2] = {v[k], v[k + 1]};
  } else {
    UNROLL for (u32 k = 0; k < TREE_GROUPED; k++) {
      if (base + k < n) at<u64>(a.Prefix)[base + k] = v[k];
    }
  }
}

// A group of more changes than these has a thread for each.
constexpr u32 few_changes = 4 * u32(TreeLeaf);

#define TREE_PLANNED 4

KERNEL(tree_plan, TreeWrite, BLOCK, TREE_PLANNED * BLOCK) {
  SHARED(u64, place, 1);
  const u32 tile = take_tile(at<u32>(a.Planned));
  const u32 base = tile * (TREE_PLANNED * BLOCK) + thread();
  TreeTotals *totals = at<TreeTotals>(a.Totals);
  const u32 groups = totals->Groups;
  treeGroup x[TREE_PLANNED];
  u32 end[TREE_PLANNED];
  UNROLL for (u32 k = 0; k < TREE_PLANNED; k++) {
    x[k] = {};
    const u32 g = base + k * BLOCK;
    x[k].First = g < groups ? at<u32>(a.First)[g] : 0;
    end[k] = g < groups ? at<u32>(a.First)[g + 1] : 0;
  }
  UNROLL for (u32 k = 0; k < TREE_PLANNED; k++) {
    if (base + k * BLOCK < groups) x[k].Leaf = at<u32>(a.Leaf)[x[k].First];
    x[k].Count = net(at<u64>(a.Prefix)[end[k]]) - net(at<u64>(a.Prefix)[x[k].First]);
  }
  UNROLL for (u32 k = 0; k < TREE_PLANNED; k++) {
    if (base + k * BLOCK < groups && a.From.Counts[0]) x[k].Ref = at<u32>(a.From.Refs)[x[k].Leaf], x[k].Count += length_of(x[k].Ref);
  }
  u64 all = 0;
  UNROLL for (u32 k = 0; k < TREE_PLANNED; k++) {
    u64 row;
    x[k].Leaves = base + k * BLOCK < groups ? leaves_of(x[k].Count) : 0;
    x[k].Before = u32(all + block_scan<BLOCK>(u64(x[k].Leaves), Add(), u64(0), row));
    all += row;
    if (end[k] - x[k].First > few_changes) totals->Large = 1;
  }
  if (warp() == 0) {
    const u64 past = look_back(TileWords{at<u64>(a.Planned) + 1}, tile, all);
    if (lane() == 0) {
      place[0] = past;
      if (u64(tile + 1) * (TREE_PLANNED * BLOCK) >= n) totals->Leaves = past + all;
    }
  }
  sync_block();
  UNROLL for (u32 k = 0; k < TREE_PLANNED; k++) {
    const u32 g = base + k * BLOCK;
    if (g >= groups) break;
    x[k].Before += u32(place[0]);
    at<treeGroup>(a.Groups)[g] = x[k];
    if (a.From.Counts[0]) at<u32>(a.Touched)[x[k].Leaf] = g + 1;
  }
}

#define TREE_LEAVES 8

// directory finds where the leaves of the new state are, and moves those that
// stay: a warp takes leaves that lie together, a lane each 32nd of them.
template <typename W>
INLINE void directory(const TreeWrite &a, u64 n) {
  SHARED(u64, place, 1);
  const u32 tile = take_tile(at<u32>(a.Placed));
  const u64 base = u64(tile) * (BLOCK * TREE_LEAVES) + warp() * (WARP * TREE_LEAVES) + lane();
  u32 touched[TREE_LEAVES], ref[TREE_LEAVES];
  W last[TREE_LEAVES];
  u64 sum[TREE_LEAVES], all = 0;
  UNROLL for (u32 k = 0; k < TREE_LEAVES; k++) {
    const u64 i = base + k * WARP;
    touched[k] = i < n ? at<u32>(a.Touched)[i] : 0;
    ref[k] = i < n ? at<u32>(a.From.Refs)[i] : 0;
    last[k] = i < n ? at<W>(a.From.Levels[0])[i] : W(0);
    sum[k] = i < n ? u64(1) << 32 | length_of(ref[k]) : 0;
  }
  UNROLL for (u32 k = 0; k < TREE_LEAVES; k++) {
    if (!touched[k]) continue;
    const treeGroup &g = at<treeGroup>(a.Groups)[touched[k] - 1];
    sum[k] = u64(g.Leaves) << 32 | g.Count;
  }
  u64 own = 0;
  UNROLL for (u32 k = 0; k < TREE_LEAVES; k++) {
    const u64 upto = warp_scan(sum[k], Add());
    sum[k] = own + upto - sum[k];
    own += shfl(upto, WARP - 1);
  }
  const u64 before = shfl(block_scan<BLOCK>(lane() == 0 ? own : u64(0), Add(), u64(0), all), 0);
  if (warp() == 0) {
    const u64 past = look_back(TilePairs{at<Pack<u64, 2>>(a.Placed + 16)}, tile, all);
    if (lane() == 0) place[0] = past;
  }
  sync_block();
  UNROLL for (u32 k = 0; k < TREE_LEAVES; k++) sum[k] += before;
  UNROLL for (u32 k = 0; k < TREE_LEAVES; k++) {
    if (base + k * WARP >= n) break;
    const u32 to = u32((place[0] + sum[k]) >> 32), entries = u32(place[0] + sum[k]);
    if (touched[k]) {
      treeGroup &g = at<treeGroup>(a.Groups)[touched[k] - 1];
      g.At = to;
      g.Sum = entries;
    } else {
      at<W>(a.To.Levels[0])[to] = last[k];
      at<u32>(a.To.Refs)[to] = ref[k];
      at<u32>(a.To.Sums)[to] = entries;
    }
  }
}

KERNEL(tree_directory_4, TreeWrite, BLOCK, TREE_LEAVES * BLOCK) { directory<u32>(a, n); }
KERNEL(tree_directory_8, TreeWrite, BLOCK, TREE_LEAVES * BLOCK) { directory<u64>(a, n); }

// slot_for is the so manieth slot that is taken.
INLINE u32 slot_for(const TreeWrite &a, u32 taken) { return at<u32>(a.Ring)[(a.Head + taken) & a.Mask]; }

// put_at writes an entry to place pos of a leaf in a slot; who is the last of its
// leaf writes what the directory says of it.
template <typename W>
INLINE void put_at(const TreeWrite &a, u32 slot, Ptr leaf, u32 number, u32 pos, bool last, u32 sum, W word, Ptr rest, Ptr tail, u64 row) {
  const TreeForm &f = a.To.Form;
  at<W>(leaf)[pos] = word;
  u64 *to = at<u64>(rest_of(f, leaf, pos));
  for (u32 w = 0; w + f.Long < f.Rest; w++) to[w] = at<u64>(rest)[w];
  if (f.Long) to[f.Rest - 1] = tail;
  if (f.Wide) at<u64>(leaf + f.RowsAt)[pos] = row; else at<u32>(leaf + f.RowsAt)[pos] = u32(row);
  if (last) {
    at<W>(a.To.Levels[0])[number] = word;
    at<u32>(a.To.Refs)[number] = slot * u32(TreeLeaf) + pos;
    at<u32>(a.To.Sums)[number] = sum;
  }
}

// put writes entry number rank of a group to its leaf.
template <typename W>
INLINE void put(const TreeWrite &a, const treeGroup &g, u32 rank, W word, Ptr rest, Ptr tail, u64 row) {
  const Part p = part_of(g, rank);
  const u32 slot = slot_for(a, g.Before + p.leaf);
  put_at(a, slot, slot_at(a.To.Slots, a.To.Form.Block, slot), g.At + p.leaf, rank - p.begin, rank + 1 == p.end, g.Sum + p.begin, word, rest,
         tail, row);
}

// put_packed writes entry number rank of n, in leaves of treeFill, to its slot.
template <typename W>
INLINE void put_packed(const TreeWrite &a, u32 slot, Ptr leaf, u32 rank, u32 n, W word, Ptr rest, Ptr tail, u64 row) {
  const u32 pos = rank % u32(treeFill);
  put_at(a, slot, leaf, rank / u32(treeFill), pos, pos + 1 == u32(treeFill) || rank + 1 == n, rank - pos, word, rest, tail, row);
  if (pos + 1 != u32(treeFill)) return;
  // Memory that is written by whole sectors need not be read.
  at<W>(leaf)[pos + 1] = word;
  if (a.To.Form.Wide) at<u64>(leaf + a.To.Form.RowsAt)[pos + 1] = row; else at<u32>(leaf + a.To.Form.RowsAt)[pos + 1] = u32(row);
}

#define TREE_BUILT 4

// build writes all changes, which are in order, to new leaves. All that a thread
// reads comes before what it writes, or its reads would wait for each other.
template <typename W>
INLINE void build(const TreeWrite &a, u64 n) {
  const u64 base = u64(block()) * (TREE_BUILT * BLOCK) + thread();
  W word[TREE_BUILT];
  u64 row[TREE_BUILT];
  u32 slot[TREE_BUILT];
  Ptr leaf[TREE_BUILT];
  UNROLL for (u32 k = 0; k < TREE_BUILT; k++) {
    const u64 i = smaller(base + k * BLOCK, n - 1);
    word[k] = item_word<W>(a.Items, i), row[k] = item_row(a.Items, i), slot[k] = slot_for(a, u32(i) / u32(treeFill));
  }
  UNROLL for (u32 k = 0; k < TREE_BUILT; k++) leaf[k] = slot_at(a.To.Slots, a.To.Form.Block, slot[k]);
  UNROLL for (u32 k = 0; k < TREE_BUILT; k++) {
    const u64 i = base + k * BLOCK;
    if (i >= n) return;
    const Ptr rest = a.To.Form.Rest ? item_rest(a.Items, i) : 0;
    put_packed<W>(a, slot[k], leaf[k], u32(i), u32(n), word[k], rest, a.Tails ? at<Ptr>(a.Tails)[i] : 0, row[k]);
  }
}

KERNEL(tree_build_4, TreeWrite, BLOCK, TREE_BUILT * BLOCK) { build<u32>(a, n); }
KERNEL(tree_build_8, TreeWrite, BLOCK, TREE_BUILT * BLOCK) { build<u64>(a, n); }

// item writes change i of a group, if it comes.
template <typename W>
INLINE void item(const TreeWrite &a, const treeGroup &g, u64 i, u64 before) {
  const u32 code = at<u8>(a.At)[i];
  if (!(code & u32(EffectAdd))) return;
  const u32 rank = (code & u32(effectPlace)) / 2 + net(at<u64>(a.Prefix)[i]) - net(before);
  const Ptr rest = a.To.Form.Rest ? item_rest(a.Items, i) : 0;
  put<W>(a, g, rank, item_word<W>(a.Items, i), rest, a.Tails ? at<Ptr>(a.Tails)[i] : 0, item_row(a.Items, i));
}

// items writes the entries that come of groups of many.
template <typename W>
INLINE void items(const TreeWrite &a, u64 n) {
  const u64 i = number();
  if (i >= n) return;
  const u64 prefix = at<u64>(a.Prefix)[i];
  u32 number = met(prefix);
  // The leaves met before a change are its own too, unless it is the first.
  if (number == met(at<u64>(a.Prefix)[i + 1])) number--;
  const treeGroup g = at<treeGroup>(a.Groups)[number];
  if (at<u32>(a.First)[number + 1] - g.First > few_changes) item<W>(a, g, i, at<u64>(a.Prefix)[g.First]);
}

KERNEL(tree_items_4, TreeWrite, BLOCK, BLOCK) { items<u32>(a, n); }
KERNEL(tree_items_8, TreeWrite, BLOCK, BLOCK) { items<u64>(a, n); }

// stay writes an entry that stays.
template <typename W>
INLINE void stay(const TreeWrite &a, const treeGroup &g, Ptr leaf, u32 pos, u32 rank) {
  const TreeForm &f = a.From.Form;
  const Ptr rest = rest_of(f, leaf, pos);
  put<W>(a, g, rank, word_of<W>(leaf, pos), rest, f.Long ? at<u64>(rest)[f.Rest - 1] : 0, row_of(f, leaf, pos));
}

// scatter_one is scatter for a group of one change, as most are of a batch that is
// much smaller than the tree: it needs no sums.
template <typename W>
INLINE void scatter_one(const TreeWrite &a, const treeGroup &g, u32 group, u32 pos) {
  const u32 code = at<u8>(a.At)[g.First], place = (code & u32(effectPlace)) / 2;
  const Ptr leaf = leaf_in<false>(a.From, g.Ref);
  if (pos == 0) {
    at<u32>(a.Ring)[(a.Tail + group) & a.Mask] = g.Ref / u32(TreeLeaf);
    if (code & u32(EffectAdd)) {
      const Ptr rest = a.To.Form.Rest ? item_rest(a.Items, g.First) : 0;
      put<W>(a, g, place, item_word<W>(a.Items, g.First), rest, a.Tails ? at<Ptr>(a.Tails)[g.First] : 0, item_row(a.Items, g.First));
    }
  }
  if (pos >= length_of(g.Ref)) return;
  if (code & u32(effectRemove) && pos == place) return;
  const u32 shift = pos < place ? 0 : code & u32(EffectAdd) ? 1 : code & u32(effectRemove) ? ~u32(0) : 0;
  stay<W>(a, g, leaf, pos, pos + shift);
}

// scatter writes the leaves of a group, a thread an entry of the old one: the
// entries that stay and those that come, and gives the old slot back.
template <typename W>
INLINE void scatter(const TreeWrite &a, u64 n) {
  const u64 t = number();
  if (t >= n) return;
  const u32 pos = u32(t % TreeLeaf);
  const treeGroup g = at<treeGroup>(a.Groups)[t / TreeLeaf];
  const u32 ref = g.Ref, end = at<u32>(a.First)[t / TreeLeaf + 1];
  if (end - g.First == 1 && a.From.Counts[0]) return scatter_one<W>(a, g, u32(t / TreeLeaf), pos);
  const u64 before = at<u64>(a.Prefix)[g.First];
  if (pos == 0 && a.From.Counts[0]) at<u32>(a.Ring)[(a.Tail + t / TreeLeaf) & a.Mask] = ref / u32(TreeLeaf);
  for (u32 i = g.First + pos; i < end && end - g.First <= few_changes; i += u32(TreeLeaf)) item<W>(a, g, i, before);
  if (!a.From.Counts[0] || pos >= length_of(ref)) return;
  // The first change that is not before this entry.
  const u8 *code = at<u8>(a.At);
  u32 low = g.First, high = end;
  while (low < high) {
    const u32 middle = low + (high - low) / 2;
    if ((code[middle] & u32(effectPlace)) < 2 * pos + 1) low = middle + 1; else high = middle;
  }
  for (u32 i = low; i < end && (code[i] & u32(effectPlace)) == 2 * pos + 1; i++) {
    if (code[i] & u32(effectRemove)) return;
  }
  const u32 rank = pos + net(at<u64>(a.Prefix)[low]) - net(before);
  stay<W>(a, g, leaf_in<false>(a.From, ref), pos, rank);
}

KERNEL(tree_scatter_4, TreeWrite, BLOCK, BLOCK) { scatter<u32>(a, n); }
KERNEL(tree_scatter_8, TreeWrite, BLOCK, BLOCK) { scatter<u64>(a, n); }

// all writes every entry to new leaves, in another form maybe.
template <typename W>
INLINE void all_entries(const TreeWrite &a, u64 n) {
  const u64 t = number();
  if (t >= n) return;
  const u32 pos = u32(t % TreeLeaf), ref = at<u32>(a.From.Refs)[t / TreeLeaf];
  if (pos >= length_of(ref)) return;
  const u32 rank = at<u32>(a.From.Sums)[t / TreeLeaf] + pos;
  const Ptr leaf = leaf_at(a.From, ref);
  const u32 slot = slot_for(a, rank / u32(treeFill));
  put_packed<W>(a, slot, slot_at(a.To.Slots, a.To.Form.Block, slot), rank, a.From.Entries, word_of<W>(leaf, pos), rest_of(a.From.Form, leaf, pos), a.Tails ? at<Ptr>(a.Tails)[rank] : 0,
                row_of(a.From.Form, leaf, pos));
}

KERNEL(tree_all_4, TreeWrite, BLOCK, BLOCK) { all_entries<u32>(a, n); }
KERNEL(tree_all_8, TreeWrite, BLOCK, BLOCK) { all_entries<u64>(a, n); }

// upper writes the nodes above the leaves: each word is the last one of some
// leaves. What fills a node up is above all words or equal to the last.
template <typename W>
INLINE void upper(const TreeWrite &a, u64 n) {
  const Tree &t = a.To;
  const W *last = at<W>(t.Levels[0]);
  u64 i = number();
  if (i >= n) return;
  if (i == 0 && t.Refs) at<u32>(t.Sums)[t.Counts[0]] = t.Entries;
  u64 step = 1;
  UNROLL for (u32 h = 0; h < treeLevels; h++) {
    if (h >= t.Height) return;
    const u64 count = t.Counts[h], whole = (count + fan - 1) / fan * fan, from = h == 0 ? count : 0;
    if (i < whole - from) {
      const u64 k = from + i;
      at<W>(t.Levels[h])[k] = k < count ? last[smaller((k + 1) * step, u64(t.Counts[0])) - 1] : ~W(0);
      return;
    }
    i -= whole - from;
    step *= fan;
  }
}

KERNEL(tree_upper_4, TreeWrite, BLOCK, BLOCK) { upper<u32>(a, n); }
KERNEL(tree_upper_8, TreeWrite, BLOCK, BLOCK) { upper<u64>(a, n); }

KERNEL(tree_item_tails, TreeWrite, BLOCK, BLOCK) {
  const u64 i = number();
  if (i >= n) return;
  const bool comes = at<u8>(a.At)[i] & u32(EffectAdd);
  at<Ptr>(a.Tails)[i] = comes ? at<u64>(item_rest(a.Items, i))[a.From.Form.Rest - 1] : 0;
}

KERNEL(tree_entry_tails, TreeWrite, BLOCK, BLOCK) {
  const u64 t = number();
  if (t >= n) return;
  const u32 pos = u32(t % TreeLeaf), ref = ref_of(a.From, u32(t / TreeLeaf));
  if (pos >= length_of(ref)) return;
  const TreeForm &f = a.From.Form;
  at<Ptr>(a.Tails)[sum_of(a.From, u32(t / TreeLeaf)) + pos] = at<u64>(rest_of(f, leaf_at(a.From, ref), pos))[f.Rest - 1];
}

KERNEL(tree_tail_sizes, TreeWrite, BLOCK, BLOCK) {
  const u64 i = number();
  if (i >= n) return;
  const Ptr tail = at<Ptr>(a.Tails)[i];
  at<u64>(a.Sizes)[i] = tail ? *at<u64>(tail) + 1 : 0;
}

KERNEL(tree_tail_copy, TreeWrite, BLOCK, BLOCK) {
  const u64 i = number();
  if (i >= n) return;
  const Ptr tail = at<Ptr>(a.Tails)[i], to = a.Base + 8 * at<u64>(a.Sizes)[i];
  if (!tail) return;
  const u64 words = *at<u64>(tail);
  for (u64 w = 0; w <= words; w++) at<u64>(to)[w] = at<u64>(tail)[w];
  at<Ptr>(a.Tails)[i] = to;
}

KERNEL(tree_ring, TreeRing, BLOCK, BLOCK) {
  const u64 i = number();
  if (i >= n) return;
  const u64 to = a.Head - a.N + i;
  at<u32>(a.To)[to & a.ToMask] = i < a.N ? u32(a.First + i) : at<u32>(a.From)[to & a.FromMask];
}

// check looks at a leaf: what it has ascends, and goes on behind the leaf before;
// the directory says what is so.
template <typename W>
INLINE void check(const TreeCheck &a, u64 n) {
  const Tree &t = a.T;
  const u64 d = number();
  if (d >= n) return;
  const u32 ref = ref_of(t, d), count = length_of(ref);
  if (t.Refs) {
    if (ref / TreeLeaf >= a.Slots) return fail(a.Status, StatusBug, __LINE__, d, ref);
    if (atomic_add(&at<u32>(a.Marks)[ref / TreeLeaf], 1) != 0) fail(a.Status, StatusBug, __LINE__, d, ref);
    if (at<u32>(t.Sums)[d + 1] - at<u32>(t.Sums)[d] != count) fail(a.Status, StatusBug, __LINE__, d, count);
  } else if (t.Dead) {
    const u32 dead = popc(u32(at<u16>(t.Dead)[d]));
    if (at<u32>(t.Sums)[d + 1] - at<u32>(t.Sums)[d] != count - 2 * dead) fail(a.Status, StatusBug, __LINE__, d, dead);
  }
  const Ptr leaf = leaf_at(t, ref);
  if (at<W>(t.Levels[0])[d] != word_of<W>(leaf, count - 1)) fail(a.Status, StatusBug, __LINE__, d, count);
  for (u32 i = 0; i < count; i++) {
    Ptr other = leaf;
    u32 before = i - 1;
    if (i == 0) {
      if (d == 0) continue;
      const u32 r = ref_of(t, d - 1);
      other = leaf_at(t, r);
      before = length_of(r) - 1;
    }
    const Place<W> p = {word_of<W>(leaf, i), rest_of(t.Form, leaf, i), row_of(t.Form, leaf, i), false};
    const W word = word_of<W>(other, before);
    if (word > p.word || (word == p.word && !is_before(t.Form, other, before, p))) fail(a.Status, StatusBug, __LINE__, d, i);
  }
  u64 step = 1;
  for (u32 h = 0; h < t.Height; h++) {
    const W *words = at<W>(t.Levels[h]);
    const u64 k = d / step, end = smaller((k + 1) * step, n) - 1;
    if (words[k] != at<W>(t.Levels[0])[end]) fail(a.Status, StatusBug, __LINE__, d, h);
    step *= fan;
  }
}

KERNEL(tree_check_4, TreeCheck, BLOCK, BLOCK) { check<u32>(a, n); }
KERNEL(tree_check_8, TreeCheck, BLOCK, BLOCK) { check<u64>(a, n); }

KERNEL(tree_check_free, TreeCheck, BLOCK, BLOCK) {
  const u64 i = number();
  if (i >= n) return;
  const u32 slot = at<u32>(a.Ring)[(a.Head + i) & a.Mask];
  if (slot >= a.Slots) return fail(a.Status, StatusBug, __LINE__, i, slot);
  if (atomic_add(&at<u32>(a.Marks)[slot], 1) != 0) fail(a.Status, StatusBug, __LINE__, i, slot);
}


// facts sums up what keys are like.
template <typename W>
INLINE void facts(const TreeKeys &a, u64 n) {
  TreeFacts *out = at<TreeFacts>(a.Out);
  const u32 words = a.Form.Rest + 1 - a.Form.Long, size = a.Form.KeySize;
  const u64 step = u64(blocks()) * BLOCK;
  bool fallen = false, rows = false, same = false, tails = false;
  u64 any_word = 0, not_word = 0, any_row = 0, not_row = 0;
  for (u64 i = number(); i < n; i += step) {
    const Ptr key = a.Keys + i * size, before = i ? key - size : key;
    const u64 row = at<u64>(a.Rows)[i], row_before = at<u64>(a.Rows)[i ? i - 1 : i];
    const W v = *at<W>(key), u = *at<W>(before);
    any_word |= v, not_word |= W(~v), any_row |= row, not_row |= ~row;
    rows |= row < row_before;
    same |= i > 0 && row == row_before;
    if (a.Low) at<u32>(a.Low)[i] = u32(row);
    if (i == 0) out->First = row;
    if (i == n - 1) out->Last = row;
    if (a.Form.Long && at<u64>(key)[words]) tails = true;
    if (v > u || fallen) continue;
    const i32 c = v < u ? 1 : a.Form.Rest ? compare_rest(a.Form, before + 8, key + 8) : 0;
    fallen = c > 0 || (c == 0 && row < row_before);
  }
  note_bits(out, 0, any_word, not_word);
  note_bits(out, words, any_row, not_row);
  for (u32 w = 1; w < words; w++) {
    u64 any_bits = 0, not_bits = 0;
    for (u64 i = number(); i < n; i += step) {
      const u64 v = at<u64>(a.Keys + i * size)[w];
      any_bits |= v, not_bits |= ~v;
    }
    note_bits(out, w, any_bits, not_bits);
  }
  if (any(fallen) && lane() == 0) atomic_or(&out->Fallen, 1);
  if (any(rows) && lane() == 0) atomic_or(&out->RowsFall, 1);
  if (any(same) && lane() == 0) atomic_or(&out->RowsSame, 1);
  if (any(tails) && lane() == 0) atomic_or(&out->Tails, 1);
}

KERNEL(tree_facts_4, TreeKeys, BLOCK, 4 * BLOCK) { facts<u32>(a, n); }
KERNEL(tree_facts_8, TreeKeys, BLOCK, 4 * BLOCK) { facts<u64>(a, n); }

// words writes a word of keys, or the row, in the order of the index.
template <typename W>
INLINE void words(const TreeKeys &a, u64 n) {
  const u32 rows = a.Form.Rest + 1 - a.Form.Long;
  if (a.Word == rows) {
    move<4>(n, [&](u64 i) { return at<u64>(a.Rows)[index_of(a.Index, i)]; }, [&](u64 i, u64 v) { at<u64>(a.Out)[i] = v; });
  } else if (a.Word == 0) {
    move<4>(n, [&](u64 i) { return *at<W>(a.Keys + index_of(a.Index, i) * a.Form.KeySize); }, [&](u64 i, W v) { at<W>(a.Out)[i] = v; });
  } else {
    move<4>(n, [&](u64 i) { return at<u64>(a.Keys + index_of(a.Index, i) * a.Form.KeySize)[a.Word]; }, [&](u64 i, u64 v) { at<u64>(a.Out)[i] = v; });
  }
}

KERNEL(tree_words_4, TreeKeys, BLOCK, 4 * BLOCK) { words<u32>(a, n); }
KERNEL(tree_words_8, TreeKeys, BLOCK, 4 * BLOCK) { words<u64>(a, n); }

// merge makes runs in the order of tails twice as long: a change counts those of
// the other run that come before it.
KERNEL(tree_merge, TreeKeys, BLOCK, BLOCK) {
  const u32 *index = at<u32>(a.Index);
  const u64 tail = 8 * u64(a.Form.Rest + 1 - a.Form.Long), width = a.Width;
  const u64 i = number();
  if (i >= n) return;
  const u64 run = i / width, pair = run / 2 * 2 * width;
  const bool left = run % 2 == 0;
  const u64 from = smaller(left ? pair + width : pair, n), to = smaller(left ? pair + 2 * width : pair + width, n);
  const u32 mine = index[i];
  const Ptr x = *at<Ptr>(a.Keys + u64(mine) * a.Form.KeySize + tail);
  u64 low = from, high = to;
  while (low < high) {
    const u64 middle = (low + high) / 2;
    const i32 c = compare_tails(*at<Ptr>(a.Keys + u64(index[middle]) * a.Form.KeySize + tail), x);
    if (c < 0 || (c == 0 && !left)) low = middle + 1; else high = middle;
  }
  at<u32>(a.Out)[i - run * width + pair + (low - from)] = mine;
}
