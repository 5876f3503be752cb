// What the driver and the scheduler share.
#pragma once

#include <string>

#include "../../warp.cuh"

namespace simt {

// Settings come from the environment, once: GPUSQL_SIMT_SEED and so on.
struct Settings {
  u64 seed = 1;
  u64 preempt = 32;           // of 256: how often an atomic gives the turn away
  u64 blocks = 4;             // most that are under way at once
  u64 turns = 1ull << 24;     // a launch that needs more does not end
  u64 memory = 4ull << 30;    // bytes of the device
};
extern Settings settings;

const entry *find(const char *name);
// read_text reads PTX that was made of a query's expressions; null and why not.
const text *read_text(const char *ptx, std::string &wrong);
entry entry_of(const text &t);
void run_text(const text &t, const void *arg, u64 n);
void catch_faults();
struct launch {
  const entry *kernel;
  unsigned blocks, threads, shared;  // shared: bytes of dynamic shared memory
  const void *arg;
  u64 n;
};
// failure is what went wrong with a launch, or with the device since.
struct failure {
  int result = 0;  // a CUresult
  std::string text;
};
failure run(const launch &l);

}  // namespace simt
