// Flags and row numbers: see flags.go.
#include "block.cuh"

KERNEL(add_to, addArgs, BLOCK, 8 * BLOCK) {
  u32 *rows = at<u32>(a.Rows);
  move<8>(n, [&](u64 i) { return rows[i]; }, [&](u64 i, u32 v) { rows[i] = v + a.Add; });
}

KERNEL(numbers, addArgs, BLOCK, 8 * BLOCK) {
  u32 *rows = at<u32>(a.Rows);
  each<8>(n, [&](u64 i) { rows[i] = u32(i); });
}

KERNEL(flag_heads, flagArgs, BLOCK, 8 * BLOCK) {
  const u32 *heads = at<u32>(a.Rows);
  u8 *flags = at<u8>(a.Flags);
  move<8>(n, [&](u64 i) { return heads[i]; }, [&](u64 i, u32 h) { flags[i] = h != 0; });
}

// Rows may name one flag several times: who sets it first is not told, but one
// does. Count is 0 before.
KERNEL(flag_rows, flagArgs, BLOCK, 8 * BLOCK) {
  const u32 *rows = at<u32>(a.Rows);
  u64 again = 0;
  move<8>(n, [&](u64 i) { return rows[i]; }, [&](u64, u32 r) {
    // A flag is a byte of the word that atomics can reach.
    u32 *word = at<u32>((a.Flags + r) & ~Ptr(3));
    const u32 mine = 1u << (u32(a.Flags + r) & 3) * 8;
    again += (atomic_or(word, mine) & mine) != 0;
  });
  again = block_reduce<BLOCK>(again, Add());
  if (thread() == 0 && again != 0) atomic_add(at<u64>(a.Count), again);
}

KERNEL(or_flags, flagArgs, BLOCK, 8 * BLOCK) {
  const u8 *other = at<u8>(a.Other);
  u8 *flags = at<u8>(a.Flags);
  move<8>(n, [&](u64 i) { return u8(flags[i] | other[i]); }, [&](u64 i, u8 f) { flags[i] = f; });
}

KERNEL(and_bits, flagArgs, BLOCK, 4 * BLOCK) {
  const u64 *x = at<u64>(a.Rows), *y = at<u64>(a.Other);
  u64 *out = at<u64>(a.Flags);
  move<4>(n, [&](u64 i) { return x[i] & y[i]; }, [&](u64 i, u64 w) { out[i] = w; });
}

KERNEL(mark_known, flagArgs, BLOCK, 8 * BLOCK) {
  const u8 *flags = at<u8>(a.Flags), *unknown = at<u8>(a.Other);
  bits<8>(n, at<u32>(a.Count), [&](u64 i) {
    if (flags[i] != 0) return true;
    if (a.Other) return unknown[i] == 0;
    return a.Rows && bit(a.Rows, i);
  });
}
