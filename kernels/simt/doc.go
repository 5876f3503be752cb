// Package simt builds the emulator: a shared library with the part of the CUDA
// driver's interface that package device/cuda calls, and with every kernel
// compiled for the processor, so that tests of all layers run CUDA code on a
// machine without a GPU.
//
//	kernels/*.cu, *.cuh ──┐
//	host/simt.h           ├── g++ ──▶ libsimt.so ◀── device/cuda (Options.Library)
//	host/*.cpp          ──┘            driver.cpp: streams, memory, errors
//	                                   simt.cpp: threads as fibers, warps, blocks
//
// Every thread of a block is a fiber that runs until it meets others at a warp
// word or a barrier, or gives its turn away at an atomic; who goes on is drawn
// from a seed. What the emulator sees and a GPU does not say:
//
//	lanes that meet at different places, or do not all come     the launch fails
//	a thread that leaves before a barrier                       the launch fails
//	waiting for a block that need not be running                the launch does not end
//	addresses beyond an allocation of the driver, or freed      the launch fails
//	addresses that are not aligned, indexes beyond an array     the launch fails
//	memory that was never written                               reads as 0xA5
//	accesses of two threads that nothing orders                 the launch fails (GPUSQL_SIMT_RACES=1)
//	results that are read before anybody waited                 are not there yet
//
// The environment adapts it, at the start of a process: GPUSQL_SIMT_SEED,
// GPUSQL_SIMT_PREEMPT (how often an atomic gives its turn away, of 256),
// GPUSQL_SIMT_BLOCKS (most blocks at once), GPUSQL_SIMT_TURNS (most turns of a
// launch) and GPUSQL_SIMT_MEMORY (bytes). With GPUSQL_SIMT_RACES every access of
// a kernel is looked at, which is some ten times slower: two to one byte, one of
// them a write, have a barrier of the block between them, a word of the warp, or,
// from block to block, a release and an acquire or fences. Words that are atomic
// race with nothing.
//
// Invariants:
//
//  1. The library is built when a source is newer, by whoever comes first; the
//     others wait.
//  2. Without a C++ compiler there is no emulator, and tests say so.
package simt
