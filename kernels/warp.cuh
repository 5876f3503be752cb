// The words that kernels are written in: where a thread stands, what a warp of
// 32 does together, atomics and memory. Nothing else in a .cu file may name a
// compiler's or a machine's own.
//
// clang compiles them for the GPU, without CUDA's headers; any other compiler
// takes simt/host/simt.h, where a thread is a fiber and a warp a meeting of 32.
//
//   1. A warp word (ballot, any, all, shfl..., match, sync_warp) is for all 32
//      lanes: no lane may have left the kernel or stand in another branch. Masks
//      of fewer cost three to four times as much on Hopper, so there are none.
//   2. sync_block likewise is for all threads of the block.
//   3. What another block may write at the same time is read and written by
//      atomics, ld_relaxed, ld_acquire, st_relaxed and st_release only.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned __int128 u128;
typedef __int128 i128;
typedef float f32;
typedef double f64;

// Ptr is device.Ptr: an address in the device's memory.
typedef u64 Ptr;

// Same is T where T is to be taken from another parameter.
template <typename T> struct SameAs { typedef T type; };
template <typename T> using Same = typename SameAs<T>::type;

// Quad is 16 bytes, the most that one access moves.
struct alignas(16) Quad { u32 w[4]; };

// Pack is K values of T that are read and written at once: at most 16 bytes.
template <typename T, u32 K>
struct alignas(sizeof(T) * K) Pack { T v[K]; };

// WARP is the lanes of a warp.
constexpr u32 WARP = 32;

#if defined(__CUDA__)

#define INLINE __attribute__((device, always_inline)) inline
// CALLED is a function that is not worth a copy wherever it is used.
#define CALLED static __attribute__((device, noinline))
#define CONSTANT __attribute__((constant))
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("nounroll")

// SHARED declares an array in the block's shared memory. Its content is
// anything until written.
#define SHARED(type, name, count) __attribute__((shared)) type name[count]

// SHARED_REST declares the dynamic shared memory that Code.Shared asks for.
#define SHARED_REST(type, name)                                              \
  extern __attribute__((shared, aligned(16))) unsigned char shared_rest[]; \
  type *name = (type *)shared_rest

// KERNEL begins an entry: its argument is a, its number of items n. Each block
// has so many threads and covers so many items; kernels/gen tells both to Go.
// DENSE is a kernel whose waits are hidden by other blocks: so many are to have room
// in a multiprocessor's registers.
#ifdef GPUSQL_LIST_KERNELS
#define KERNEL(name, args, threads, items) \
  @kernel name args threads @covers items @end \
  void name(const args a, const u64 n)
#define DENSE(name, args, threads, items, blocks) KERNEL(name, args, threads, items)
#else
#define KERNEL(name, args, threads, items) \
  extern "C" __attribute__((global, launch_bounds(threads))) void name(const args a, const u64 n)
#define DENSE(name, args, threads, items, blocks) \
  extern "C" __attribute__((global, launch_bounds(threads, blocks))) void name(const args a, const u64 n)
#endif

// at is the array of T at address p, which is in the device's global memory.
template <typename T>
INLINE T *at(Ptr p) {
  return (T *)(__attribute__((address_space(1))) T *)p;
}

INLINE u32 lane() { return __nvvm_read_ptx_sreg_laneid(); }
INLINE u32 thread() { return __nvvm_read_ptx_sreg_tid_x(); }
INLINE u32 warp() { return thread() / WARP; }
INLINE u32 threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
INLINE u32 block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
INLINE u32 blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }

INLINE void sync_block() { __syncthreads(); }
INLINE void sync_warp() { __nvvm_bar_warp_sync(~0u); }
INLINE void fence() { __nvvm_membar_gl(); }  // orders this thread's accesses, as all blocks see them

INLINE u32 ballot(bool p) { return __nvvm_vote_ballot_sync(~0u, p); }
INLINE bool any(bool p) { return __nvvm_vote_any_sync(~0u, p); }
INLINE bool all(bool p) { return __nvvm_vote_all_sync(~0u, p); }

INLINE u32 match(u32 v) { return __nvvm_match_any_sync_i32(~0u, v); }
INLINE u32 match(u64 v) { return __nvvm_match_any_sync_i64(~0u, v); }

INLINE u32 shfl_word(u32 v, u32 from) { return __nvvm_shfl_sync_idx_i32(~0u, v, from, 31); }
INLINE u32 shfl_up_word(u32 v, u32 by) { return __nvvm_shfl_sync_up_i32(~0u, v, by, 0); }
INLINE u32 shfl_down_word(u32 v, u32 by) { return __nvvm_shfl_sync_down_i32(~0u, v, by, 31); }
INLINE u32 shfl_xor_word(u32 v, u32 mask) { return __nvvm_shfl_sync_bfly_i32(~0u, v, mask, 31); }

// A value of any size goes through the warp by words of 32 bits.
#define GPUSQL_SHFL(word)                                                 \
  constexpr u32 words = (sizeof(T) + 3) / 4;                              \
  u32 w[words] = {};                                                      \
  __builtin_memcpy(w, &v, sizeof(T));                                     \
  UNROLL for (u32 i = 0; i < words; i++) w[i] = word(w[i], x);            \
  __builtin_memcpy(&v, w, sizeof(T));                                     \
  return v
template <typename T> INLINE T shfl(T v, u32 x) { GPUSQL_SHFL(shfl_word); }
template <typename T> INLINE T shfl_up(T v, u32 x) { GPUSQL_SHFL(shfl_up_word); }
template <typename T> INLINE T shfl_down(T v, u32 x) { GPUSQL_SHFL(shfl_down_word); }
template <typename T> INLINE T shfl_xor(T v, u32 x) { GPUSQL_SHFL(shfl_xor_word); }
#undef GPUSQL_SHFL

// Atomics are relaxed, for all blocks, and give what was there before.
template <typename T> INLINE T atomic_add(T *p, Same<T> v) { return __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
template <typename T> INLINE T atomic_min(T *p, Same<T> v) { return __scoped_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
template <typename T> INLINE T atomic_max(T *p, Same<T> v) { return __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
template <typename T> INLINE T atomic_or(T *p, Same<T> v) { return __scoped_atomic_fetch_or(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
template <typename T> INLINE T atomic_and(T *p, Same<T> v) { return __scoped_atomic_fetch_and(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
template <typename T> INLINE T atomic_xor(T *p, Same<T> v) { return __scoped_atomic_fetch_xor(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
template <typename T> INLINE T atomic_swap(T *p, Same<T> v) { return __scoped_atomic_exchange_n(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
INLINE f64 atomic_add(f64 *p, f64 v) { return __nvvm_atom_add_gen_d(p, v); }
// atomic_cas writes v where it finds old.
template <typename T>
INLINE T atomic_cas(T *p, Same<T> old, Same<T> v) {
  __scoped_atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  return old;
}

// clang selects no ld.acquire and st.release for this machine, hence assembly.
INLINE u32 ld_acquire(const u32 *p) { u32 v; asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
INLINE u64 ld_acquire(const u64 *p) { u64 v; asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
INLINE u32 ld_relaxed(const u32 *p) { u32 v; asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
INLINE u64 ld_relaxed(const u64 *p) { u64 v; asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
INLINE void st_release(u32 *p, u32 v) { asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
INLINE void st_release(u64 *p, u64 v) { asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
INLINE void st_relaxed(u32 *p, u32 v) { asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
INLINE void st_relaxed(u64 *p, u64 v) { asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
// Two words at once are two accesses to those who read them.
INLINE Pack<u64, 2> ld_relaxed(const Pack<u64, 2> *p) { Pack<u64, 2> v; asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(v.v[0]), "=l"(v.v[1]) : "l"(p) : "memory"); return v; }
INLINE void st_relaxed(Pack<u64, 2> *p, Pack<u64, 2> v) { asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(v.v[0]), "l"(v.v[1]) : "memory"); }
// nap lets others go first; for loops that wait.
INLINE void nap() { asm volatile("nanosleep.u32 20;"); }

// hidden is v, unknown to the compiler: it cuts 16 bytes of a known value up.
INLINE u32 hidden(u32 v) { asm("mov.u32 %0, %1;" : "=r"(v) : "r"(v)); return v; }
INLINE u64 mul_hi(u64 a, u64 b) { return __nvvm_mulhi_ull(a, b); }

#else

#define INLINE inline __attribute__((always_inline))
#define CALLED static __attribute__((noinline))
#define CONSTANT
#define UNROLL
#define ROLLED
#include "simt/host/simt.h"

#endif

INLINE u32 popc(u32 v) { return __builtin_popcount(v); }
INLINE u32 popc(u64 v) { return __builtin_popcountll(v); }
// clz and ctz of 0 are the width.
INLINE u32 clz(u32 v) { return v ? __builtin_clz(v) : 32; }
INLINE u32 clz(u64 v) { return v ? __builtin_clzll(v) : 64; }
INLINE u32 ctz(u32 v) { return v ? __builtin_ctz(v) : 32; }
INLINE u32 ctz(u64 v) { return v ? __builtin_ctzll(v) : 64; }

// below is the mask of the lanes before this one.
INLINE u32 below() { return (1u << lane()) - 1; }

template <typename T> INLINE T smaller(T a, T b) { return b < a ? b : a; }
template <typename T> INLINE T larger(T a, T b) { return a < b ? b : a; }
