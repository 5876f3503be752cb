// Whether a device computes, and fails as it should: see probe.go.
#include "block.cuh"

KERNEL(probe_fill, ProbeArgs, 256, 256 * 4) {
  u64 *out = at<u64>(a.Out);
  each<4>(n, [&](u64 i) { out[i] = i * a.Factor + a.Add; });
}

// Every warp's lane 0 reports; one of them is heard.
KERNEL(probe_fail, ProbeArgs, 256, 256) {
  if (lane() == 0) fail(a.Status, a.Code, __LINE__, a.Add, n);
}
