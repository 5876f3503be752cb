// Flags and row numbers: see flags.go.
#include "block.cuh"

KERNEL(add_to, addArgs, BLOCK, 8 * BLOCK) {
  u32 *rows = at<u32>(a.Rows);
  each<8>(n, [&](u64 i) { rows[i] += a.Add; });
}
