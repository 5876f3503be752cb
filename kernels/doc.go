// Package kernels is the steps that operators launch: loops over columns in a
// device's memory, written once for each device and knowing nothing of SQL
// statements.
//
//	exec operator ──▶ step (a func here) ──▶ device.Launch ──▶ Host body, rows lo..hi
//	     │
//	     └─ expressions ──▶ Builder ──▶ Program (data) ──▶ Evaluator, one a worker
//
// A column is a Vec: addresses and no ownership. An expression is a Program:
//
//	Inputs   Consts    Code, in order                          Out
//	col0 ─┐
//	col1 ─┼─ 1.00 ──▶  r3 = sub.i64 1.00, col1                  r5
//	      │            m4 = mask_true col2            rows
//	      └─────────▶  r5 = div.i64 col0, r3 where m4 ◀─┘
//
// The Evaluator takes a batch in chunks of chunkRows rows, each through all of
// the code, so that temporaries stay in the first cache. Before that, the part
// of the code that depends on one dictionary encoded column only is run on the
// dictionary's values, once for the batches in a row that have it.
//
// A GPU runs a Program in one launch: an interpreter (eval.cu), or over many rows
// code that is made of it (compiled.go), which the driver compiles and the device
// keeps by shape. A Fold has aggregates behind that, in the same launch.
//
// Invariants:
//
//  1. A step reads and writes memory that its caller owns; it keeps no address
//     after it returns. Only an Evaluator and the containers (Array,
//     StringHeap, Heap) own memory, all of it from the Allocator given.
//  2. A value under a NULL may be anything that is safe to read: a step
//     computes with it and never fails because of it.
//  3. Bits of a bitmap beyond the last row, and codes under a NULL, may be
//     anything.
//  4. A dictionary's address names its content within a batch only: who
//     remembers something about a dictionary looks at its content again.
//  5. A Program, its Sets and its functions never change and are shared by
//     workers; all that changes is in an Evaluator, which is one worker's.
//  6. An instruction is an error only for rows of its mask, and by rule 2 only
//     where no argument is NULL (unless a function asks to see NULLs). Values
//     outside the mask are unspecified; strings there are not followed.
//  7. A register is written by one instruction, before any that reads it.
//  8. The results of a Program have the form of their type, whatever form they
//     were computed in; a Speculative instruction never gives a wrong value, it
//     gives the batch to Program.Wide.
//  9. A launch works on a few batches at most. A step that is given rows without
//     bound is a loop of launches (see pieces), so that a stream that is watched
//     can end it.
//  10. NaN equals NaN and is above all numbers, -0 equals 0, strings compare by
//     bytes, intervals by their length with months of 30 days.
//  11. A kernel's CUDA code and its Host body give the same bytes, floats that
//     are summed aside. PTX is what clang-19 makes of the .cu beside it.
//  12. Code that is made of a Program gives what the interpreter gives; what it
//     has no words for is not made.
//
// # How to add a CUDA step
//
// A step is written twice: a Host body in Go, and CUDA code. add_to in flags.go
// and flags.cu is the smallest one.
//
// 1. Mark the argument's type, and types and constants that it needs, with a
// comment line of its own, //gpu:layout. Fields have a fixed width: device.Ptr,
// sized numbers, arrays and marked structs. C++ gets the same names, from
// layout.cuh.
//
//	//gpu:layout
//	type addArgs struct {
//		Rows device.Ptr
//		Add  uint32
//		_    uint32
//	}
//
// 2. Write the entry, in a .cu file that is named after the .go file. KERNEL
// names it, its argument (called a; the number of items is n), the threads of a
// block and the items that a block covers, both as macros or numbers. It may use
// the words of warp.cuh and what block.cuh makes of them, nothing of a compiler
// or of CUDA; at<T>(ptr) turns an address into a pointer.
//
//	#include "block.cuh"
//
//	KERNEL(add_to, addArgs, BLOCK, 8 * BLOCK) {
//		u32 *rows = at<u32>(a.Rows);
//		move<8>(n, [&](u64 i) { return rows[i]; }, [&](u64 i, u32 v) { rows[i] = v + a.Add; });
//	}
//
// 3. Run go generate ./kernels. It writes layout.cuh, the .ptx and modules.go,
// which has a device.Code named after the entry: codeAddTo. Commit them all.
//
// 4. Give it to the kernel. A step of several launches has Steps instead, which
// launches kernels that have Code alone; memory for it is the caller's (see
// SelectBytes), or device.Scratch's and released in Steps: what is released
// behind a launch is not used again before it is done. Dynamic shared memory,
// PerSM and MaxGrid are set on a copy: c := *codeX.
//
//	addTo = &device.Kernel[addArgs]{Name: "add_to", Code: codeAddTo, Host: ...}
//
// 5. Test it by agree (device_test.go) at stepSizes, which compares with the CPU
// what the emulator (package kernels/simt: the same .cu, compiled by g++, each
// thread a fiber, in an order drawn from GPUSQL_SIMT_SEED) and a GPU, where there
// is one, return. What uses atomics or barriers is worth other seeds and a look
// for races: GPUSQL_SIMT_RACES=1 GPUSQL_SIMT_SEED=7 go test -count=1 ./kernels
// -run X. A benchmark beside those of step_bench_test.go states its GB/s on a GPU.
//
// A kernel that fails says so to its stream: it takes Stream.Status() as a field
// of its argument, calls fail(a.Status, StatusFull, __LINE__, ...) and goes on
// harmlessly. The rules of warps and barriers stand at the top of warp.cuh: full
// warps at every warp word, the whole block at sync_block. Move 16 bytes at a
// time where it pays (Pack, Quad), count items in u64, and read all that a thread
// needs before its first write, or the compiler cannot overlap the reads: move,
// each and bits of block.cuh do. scan.cuh has sums over all blocks.
package kernels
