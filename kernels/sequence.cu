// Integers in a row: see sequence.go.
#include "block.cuh"

KERNEL(sequence, sequenceArgs, BLOCK, 8 * BLOCK) {
  i64 *out = at<i64>(a.Out);
  each<8>(n, [&](u64 i) { out[i] = a.First + i64(i) * a.Step; });
}
