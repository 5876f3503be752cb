// Numbers of groups: see group.go and group_steps.go.
#include "table.cuh"

template <u32 W>
INLINE void find_groups(const groupLaunch &a, u64 n) {
  Slot<W> *slots = at<Slot<W>>(a.Slots);
  const Pack<u64, W> *keys = at<Pack<u64, W>>(a.Keys);
  const u64 *hashes = at<u64>(a.Hashes);
  u32 *ids = at<u32>(a.IDs);
  each<4>(n, [&](u64 i) {
    const Pack<u64, W> key = keys[i];
    const u64 h = hashes[i];
    u64 id;
    enter<W>(slots, a.Mask, h, key.v, id, [&] {
      const u64 g = atomic_add(at<u64>(a.Count), 1);
      at<Pack<u64, W>>(a.GroupKeys)[g] = key;
      at<u64>(a.GroupHashes)[g] = h;
      return g + 1;
    });
    ids[i] = u32(id) - 1;
  });
}

KERNEL(group_word, groupLaunch, BLOCK, 4 * BLOCK) { find_groups<1>(a, n); }
KERNEL(group_pair, groupLaunch, BLOCK, 4 * BLOCK) { find_groups<2>(a, n); }

// keep copies row i of a key column to group g.
INLINE void keep(const tableColumn &c, u64 i, u64 g) {
  u32 *valid = at<u32>(c.Dst.Valid) + g / 32;
  const u32 one = u32(1) << (g % 32);
  if (!bit(c.Src.Valid, i)) {
    atomic_and(valid, ~one);
    if (c.Form == PhysStr) at<View>(c.Dst.Data)[g] = View{0, 0};
    return;
  }
  atomic_or(valid, one);
  const Ptr from = c.Src.Dict ? c.Src.Dict : c.Src.Data;
  if (c.Src.Dict) i = at<u32>(c.Src.Data)[i];
  switch (c.Width) {
    case 1: at<u8>(c.Dst.Data)[g] = at<u8>(from)[i]; return;
    case 2: at<u16>(c.Dst.Data)[g] = at<u16>(from)[i]; return;
    case 4: at<u32>(c.Dst.Data)[g] = at<u32>(from)[i]; return;
    case 8: at<u64>(c.Dst.Data)[g] = at<u64>(from)[i]; return;
  }
  at<Pack<u64, 2>>(c.Dst.Data)[g] = at<Pack<u64, 2>>(from)[i];
}

KERNEL(group_columns, groupLaunch, BLOCK, 4 * BLOCK) {
  u64 *slots = at<u64>(a.Slots);
  const tableColumn *columns = at<tableColumn>(a.Columns);
  const u64 *hashes = at<u64>(a.Hashes);
  u32 *ids = at<u32>(a.IDs);
  each<4>(n, [&](u64 i) {
    const u64 h = hashes[i], tag = h & tag_mask;
    for (u64 p = h & a.Mask;;) {
      u64 s = ld_acquire(&slots[p]);
      if (s == 0 && (s = atomic_cas(&slots[p], 0, tag | number_busy)) == 0) {
        const u64 g = atomic_add(at<u64>(a.Count), 1);
        for (u32 c = 0; c < a.Many; c++) keep(columns[c], i, g);
        at<u64>(a.GroupHashes)[g] = h;
        fence();
        st_release(&slots[p], tag | (g + 1));
        ids[i] = u32(g);
        return;
      }
      if ((s & tag_mask) == tag) {
        if (u32(s) == number_busy || u32(s) == 0) {
          nap();
          continue;
        }
        s = ld_acquire(&slots[p]);
        if (u32(s) == number_busy) {
          nap();
          continue;
        }
        if (same_row(columns, a.Many, i, u32(s) - 1)) {
          ids[i] = u32(s) - 1;
          return;
        }
      }
      p = (p + 1) & a.Mask;
    }
  });
}

// The groups that there are go into a new table: each has a key of its own.
template <u32 W>
INLINE void place_groups(const groupLaunch &a, u64 n) {
  Slot<W> *slots = at<Slot<W>>(a.Slots);
  each<4>(n, [&](u64 g) {
    u64 p = at<u64>(a.GroupHashes)[g] & a.Mask;
    while (atomic_cas(&slots[p].id, 0, a.First + g + 1) != 0) p = (p + 1) & a.Mask;
    UNROLL for (u32 w = 0; w < W; w++) slots[p].key[w] = at<u64>(a.GroupKeys)[g * W + w];
  });
}

KERNEL(slot_word, groupLaunch, BLOCK, 4 * BLOCK) { place_groups<1>(a, n); }
KERNEL(slot_pair, groupLaunch, BLOCK, 4 * BLOCK) { place_groups<2>(a, n); }

KERNEL(slot_columns, groupLaunch, BLOCK, 4 * BLOCK) {
  u64 *slots = at<u64>(a.Slots);
  each<4>(n, [&](u64 g) {
    const u64 h = at<u64>(a.GroupHashes)[g], s = (h & tag_mask) | (a.First + g + 1);
    u64 p = h & a.Mask;
    while (atomic_cas(&slots[p], 0, s) != 0) p = (p + 1) & a.Mask;
  });
}
