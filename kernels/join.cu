// Rows by key: see join.go and join_steps.go. Rows of one key hang in a chain,
// in any order.
#include "scan.cuh"
#include "table.cuh"

template <u32 W>
INLINE void build(const joinLaunch &a, u64 n) {
  Slot<W> *slots = at<Slot<W>>(a.Slots);
  const Pack<u64, W> *keys = at<Pack<u64, W>>(a.Keys);
  u32 *next = at<u32>(a.Next);
  each<4>(n, [&](u64 i) {
    u32 before = 0;
    if (bit(a.Skip, i)) {
      const Pack<u64, W> key = keys[i];
      const u64 mine = a.First + i + 1;
      bool claimed = false;
      u64 id;
      Slot<W> *s = enter<W>(slots, a.Mask, at<u64>(a.Hashes)[i], key.v, id, [&] {
        claimed = true;
        return mine;
      });
      while (!claimed) {  // before those that hang there
        const u64 was = atomic_cas(&s->id, id, mine);
        if (was == id) break;
        id = was;
      }
      if (!claimed) before = u32(id);
    }
    next[i] = before;
  });
}

KERNEL(join_build_word, joinLaunch, BLOCK, 4 * BLOCK) { build<1>(a, n); }
KERNEL(join_build_pair, joinLaunch, BLOCK, 4 * BLOCK) { build<2>(a, n); }

KERNEL(join_build_columns, joinLaunch, BLOCK, 4 * BLOCK) {
  u64 *slots = at<u64>(a.Slots);
  const tableColumn *columns = at<tableColumn>(a.Columns);
  u32 *next = at<u32>(a.Next);
  each<4>(n, [&](u64 i) {
    next[i] = 0;
    if (!bit(a.Skip, i)) return;
    const u64 h = at<u64>(a.Hashes)[i], tag = h & tag_mask, mine = tag | (a.First + i + 1);
    for (u64 p = h & a.Mask;; p = (p + 1) & a.Mask) {
      u64 s = atomic_cas(&slots[p], 0, mine);  // the row's keys are where they are: there is nothing to wait for
      if (s == 0) return;
      if ((s & tag_mask) != tag || !same_row(columns, a.Many, i, u32(s) - 1)) continue;
      for (;;) {
        next[i] = u32(s);
        fence();
        const u64 was = atomic_cas(&slots[p], s, mine);
        if (was == s) return;
        s = was;
      }
    }
  });
}

template <u32 W>
INLINE void probe(const joinLaunch &a, u64 n) {
  const Slot<W> *slots = at<Slot<W>>(a.Slots);
  const Pack<u64, W> *keys = at<Pack<u64, W>>(a.Keys);
  u32 *heads = at<u32>(a.Heads);
  move<4>(
      n,
      [&](u64 i) {
        if (!bit(a.Skip, i)) return u32(0);
        const Pack<u64, W> key = keys[i];
        return u32(find<W>(slots, a.Mask, at<u64>(a.Hashes)[i], key.v));
      },
      [&](u64 i, u32 head) { heads[i] = head; });
}

KERNEL(join_probe_word, joinLaunch, BLOCK, 4 * BLOCK) { probe<1>(a, n); }
KERNEL(join_probe_pair, joinLaunch, BLOCK, 4 * BLOCK) { probe<2>(a, n); }

KERNEL(join_probe_columns, joinLaunch, BLOCK, 4 * BLOCK) {
  u32 *heads = at<u32>(a.Heads);
  each<4>(n, [&](u64 i) {
    heads[i] = bit(a.Skip, i) ? find_row(at<u64>(a.Slots), a.Mask, at<u64>(a.Hashes)[i], at<tableColumn>(a.Columns), a.Many, i) : 0;
  });
}

INLINE i64 integer_at(const Vec &v, u64 i, u32 width) {
  switch (width) {
    case 1: return at<i8>(v.Data)[i];
    case 2: return at<i16>(v.Data)[i];
    case 4: return at<i32>(v.Data)[i];
  }
  return at<i64>(v.Data)[i];
}

// join_range lowers and raises the two words at Low, which begin at the ends of the range.
KERNEL(join_range, joinLaunch, BLOCK, 8 * BLOCK) {
  i64 low = i64(~u64(0) >> 1), high = ~low;
  each<8>(n, [&](u64 i) {
    if (!bit(a.Skip, i)) return;
    const i64 v = integer_at(a.Key, i, a.Width);
    low = smaller(low, v);
    high = larger(high, v);
  });
  low = block_reduce<BLOCK>(low, Min());
  high = block_reduce<BLOCK>(high, Max());
  if (thread() == 0) {
    atomic_min(at<i64>(a.Low), low);
    atomic_max(at<i64>(a.Low) + 1, high);
  }
}

KERNEL(join_build_direct, joinLaunch, BLOCK, 4 * BLOCK) {
  u32 *next = at<u32>(a.Next), *slots = at<u32>(a.Slots);
  each<4>(n, [&](u64 i) {
    next[i] = bit(a.Skip, i) ? atomic_swap(&slots[integer_at(a.Key, i, a.Width) - a.Base], u32(a.First + i + 1)) : 0;
  });
}

KERNEL(join_probe_direct, joinLaunch, BLOCK, 4 * BLOCK) {
  const u32 *slots = at<u32>(a.Slots);
  u32 *heads = at<u32>(a.Heads);
  move<4>(
      n,
      [&](u64 i) {
        const u64 d = u64(integer_at(a.Key, i, a.Width) - a.Base);
        return d < a.Span && bit(a.Skip, i) ? slots[d] : u32(0);
      },
      [&](u64 i, u32 head) { heads[i] = head; });
}

// first_match is where row i begins, given where the launch goes on.
INLINE u32 first_match(const joinLaunch &a, u64 i) {
  const u64 *cursor = at<u64>(a.Cursor);
  if (i < cursor[0]) return 0;
  return i == cursor[0] && cursor[1] != 0 ? u32(cursor[1]) : at<u32>(a.Heads)[i];
}

// join_count counts the matches of each row that is not done.
KERNEL(join_count, joinLaunch, BLOCK, 4 * BLOCK) {
  u64 *counts = at<u64>(a.Low);
  const u32 *next = at<u32>(a.Next);
  each<4>(n, [&](u64 i) {
    u64 c = 0;
    for (u32 b = first_match(a, i); b != 0; b = next[b - 1]) c++;
    counts[i] = c;
  });
}

// join_pairs writes the pairs below Cap; the row in which that lies, if any,
// says where to go on, in the cursor that is read after this launch.
KERNEL(join_pairs, joinLaunch, BLOCK, 4 * BLOCK) {
  const u64 *places = at<u64>(a.Low);
  const u32 *next = at<u32>(a.Next);
  u32 *probes = at<u32>(a.Probes), *rows = at<u32>(a.Build);
  each<4>(n, [&](u64 i) {
    u64 k = places[i];
    for (u32 b = first_match(a, i); b != 0; b = next[b - 1], k++) {
      if (k == a.Cap) {
        u64 *on = at<u64>(a.Cursor) + 3;
        on[0] = i;
        on[1] = b;
      }
      if (k >= a.Cap) return;
      probes[k] = u32(i);
      rows[k] = b - 1;
    }
  });
}
