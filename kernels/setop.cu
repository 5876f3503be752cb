// Rows by the counts of their groups: see setop.go.
#include "block.cuh"

// A count of 32 bits does not wrap: a launch has fewer rows than what is left
// between most and a count that is far from it.
KERNEL(count_groups, pickArgs, BLOCK, 8 * BLOCK) {
  const u32 *ids = at<u32>(a.IDs);
  each<8>(n, [&](u64 i) {
    u32 *count = &at<u32>(a.Counts)[ids[i]];
    for (u32 was = ld_relaxed(count); was < a.Most;) {
      if (a.Most - was >= n) {
        atomic_add(count, 1);
        return;
      }
      const u32 is = atomic_cas(count, was, was + 1);
      if (is == was) return;
      was = is;
    }
  });
}

// PickFresh. A count is 0 or 1; in between it is the opposite of the number of
// the first row, which is above both. Rows of groups that are known change nothing.
KERNEL(pick_first, pickArgs, BLOCK, 8 * BLOCK) {
  const u32 *ids = at<u32>(a.IDs);
  each<8>(n, [&](u64 i) {
    u32 *count = &at<u32>(a.Counts)[ids[i]];
    const u32 was = ld_relaxed(count);
    if (was != 1 && was < ~u32(i)) atomic_max(count, ~u32(i));
  });
}

KERNEL(pick_fresh, pickArgs, BLOCK, 8 * BLOCK) {
  const u32 *ids = at<u32>(a.IDs), *counts = at<u32>(a.Counts);
  bits<8>(n, at<u32>(a.Out), [&](u64 i) { return counts[ids[i]] == ~u32(i); });
}

KERNEL(pick_done, pickArgs, BLOCK, 8 * BLOCK) {
  const u32 *ids = at<u32>(a.IDs);
  each<8>(n, [&](u64 i) {
    u32 *count = &at<u32>(a.Counts)[ids[i]];
    if (ld_relaxed(count) != 1) st_relaxed(count, 1);
  });
}

// PickTake and PickLeave: who can take one off a count, and who cannot.
KERNEL(pick_counted, pickArgs, BLOCK, 8 * BLOCK) {
  const u32 *ids = at<u32>(a.IDs);
  bits<8>(n, at<u32>(a.Out), [&](u64 i) {
    u32 *count = &at<u32>(a.Counts)[ids[i]];
    u32 was = ld_relaxed(count);
    while (was > 0) {
      const u32 is = atomic_cas(count, was, was - 1);
      if (is == was) break;
      was = is;
    }
    return (was > 0) == (a.Mode == PickTake);
  });
}
