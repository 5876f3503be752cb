// The words of warp.cuh on a processor: each thread of a block is a fiber that
// runs until it meets the others, at a warp word or a barrier, or until the
// scheduler takes its turn away at an atomic or a volatile access.
#pragma once

#include <cstring>
#include <cstdint>

namespace simt {

// site is a place in a kernel's source. Lanes that meet must come from one.
struct site {
  const char *file;
  int line;
};

struct text;

// entry is a kernel that was compiled in, or is a text. Entries list themselves
// where they are compiled in.
struct entry {
  const char *name;
  unsigned size;     // of the argument
  unsigned threads;  // of a block
  void (*run)(const void *arg, unsigned long long n);
  entry *next;
  const text *made = nullptr;
  entry(const char *name, unsigned size, unsigned threads, const text *made)
      : name(name), size(size), threads(threads), run(nullptr), next(nullptr), made(made) {}
  entry(const char *name, unsigned size, unsigned threads, void (*run)(const void *, unsigned long long));
};

struct place {
  unsigned thread, threads, block, blocks;
};

// where is the running thread's place.
extern place where;

// meet waits for the other lanes of the warp, giving them w words of this one;
// it returns the words of all lanes, 4 a lane, until the next meeting.
const u32 *meet(const char *word, site at, const u32 *w, unsigned words);
void meet_block(site at);
// turn is where another thread may take over.
void turn();
// release and acquire order accesses of threads that meet nowhere.
void release();
void acquire();
// shared is the block's memory named by key.
void *shared(const void *key, size_t bytes);
// dynamic is the shared memory that the launch asked for.
void *dynamic();

// exchange takes a value to another lane, 16 bytes at a meeting.
template <typename T>
T exchange(const char *word, site s, T v, unsigned from, bool valid) {
  for (size_t at = 0; at < sizeof(T); at += 16) {
    const size_t bytes = sizeof(T) - at < 16 ? sizeof(T) - at : 16;
    u32 w[4] = {};
    memcpy(w, (const char *)&v + at, bytes);
    const u32 *all = meet(word, s, w, 4);
    if (valid) memcpy((char *)&v + at, all + from * 4, bytes);
  }
  return v;
}

}  // namespace simt

// Parameters of a word that stand for the place of its call.
#define SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define HERE (simt::site{file, line})

#define SHARED(type, name, count)    \
  static const char key_##name = 0; \
  type(&name)[count] = *(type(*)[count])simt::shared(&key_##name, sizeof(type[count]))

#define SHARED_REST(type, name) type *name = (type *)simt::dynamic()

#define DENSE(name, args, threads, items, blocks) KERNEL(name, args, threads, items)
#define KERNEL(name, args, threads, items)                                                       \
  static void kernel_##name(const args &a, const u64 n);                                         \
  static simt::entry entry_##name(#name, sizeof(args), threads,                                  \
                                  [](const void *p, u64 n) { kernel_##name(*(const args *)p, n); }); \
  static void kernel_##name(const args &a, const u64 n)

template <typename T>
inline T *at(Ptr p) { return (T *)p; }

inline u32 thread() { return simt::where.thread; }
inline u32 lane() { return thread() % WARP; }
inline u32 warp() { return thread() / WARP; }
inline u32 threads() { return simt::where.threads; }
inline u32 block() { return simt::where.block; }
inline u32 blocks() { return simt::where.blocks; }

inline void sync_block(SITE) { simt::meet_block(HERE); }
inline void sync_warp(SITE) { simt::meet("sync_warp", HERE, nullptr, 0); }
inline void fence() { simt::turn(); simt::release(); simt::acquire(); }
inline void nap() { simt::turn(); }

inline u32 ballot(bool p, SITE) {
  u32 w = p, r = 0;
  const u32 *all = simt::meet("ballot", HERE, &w, 1);
  for (u32 i = 0; i < WARP; i++) r |= all[i * 4] << i;
  return r;
}
inline bool any(bool p, SITE) { return ballot(p, file, line) != 0; }
inline bool all(bool p, SITE) { return ballot(p, file, line) == ~0u; }

template <typename T>
inline u32 match_of(T v, simt::site s) {
  u32 w[4] = {}, r = 0;
  memcpy(w, &v, sizeof v);
  const u32 *all = simt::meet("match", s, w, 4);
  for (u32 i = 0; i < WARP; i++) r |= u32(memcmp(all + i * 4, w, sizeof w) == 0) << i;
  return r;
}
inline u32 match(u32 v, SITE) { return match_of(v, HERE); }
inline u32 match(u64 v, SITE) { return match_of(v, HERE); }

template <typename T> inline T shfl(T v, u32 from, SITE) { return simt::exchange("shfl", HERE, v, from % WARP, true); }
template <typename T> inline T shfl_up(T v, u32 by, SITE) { return simt::exchange("shfl_up", HERE, v, lane() - by, lane() >= by); }
template <typename T> inline T shfl_down(T v, u32 by, SITE) { return simt::exchange("shfl_down", HERE, v, lane() + by, lane() + by < WARP); }
template <typename T> inline T shfl_xor(T v, u32 mask, SITE) { return simt::exchange("shfl_xor", HERE, v, lane() ^ mask, (lane() ^ mask) < WARP); }

// Only one fiber runs at a time: an atomic is a plain access with a turn before
// it, and no race.
#define WORD __attribute__((no_sanitize("thread"))) inline
template <typename T> WORD T atomic_add(T *p, Same<T> v) { simt::turn(); T o = *p; *p = o + v; return o; }
template <typename T> WORD T atomic_min(T *p, Same<T> v) { simt::turn(); T o = *p; *p = v < o ? v : o; return o; }
template <typename T> WORD T atomic_max(T *p, Same<T> v) { simt::turn(); T o = *p; *p = o < v ? v : o; return o; }
template <typename T> WORD T atomic_or(T *p, Same<T> v) { simt::turn(); T o = *p; *p = o | v; return o; }
template <typename T> WORD T atomic_and(T *p, Same<T> v) { simt::turn(); T o = *p; *p = o & v; return o; }
template <typename T> WORD T atomic_xor(T *p, Same<T> v) { simt::turn(); T o = *p; *p = o ^ v; return o; }
template <typename T> WORD T atomic_swap(T *p, Same<T> v) { simt::turn(); T o = *p; *p = v; return o; }
template <typename T> WORD T atomic_cas(T *p, Same<T> old, Same<T> v) { simt::turn(); T o = *p; if (o == old) *p = v; return o; }

template <typename T> WORD T ld_acquire(const T *p) { simt::turn(); T v = *(const volatile T *)p; simt::acquire(); return v; }
template <typename T> WORD T ld_relaxed(const T *p) { simt::turn(); return *(const volatile T *)p; }
template <typename T> WORD void st_release(T *p, Same<T> v) { simt::turn(); simt::release(); *(volatile T *)p = v; }
template <typename T> WORD void st_relaxed(T *p, Same<T> v) { simt::turn(); *(volatile T *)p = v; }
WORD Pack<u64, 2> ld_relaxed(const Pack<u64, 2> *p) {
  const u64 first = ld_relaxed(&p->v[0]);
  return {{first, ld_relaxed(&p->v[1])}};
}
WORD void st_relaxed(Pack<u64, 2> *p, Pack<u64, 2> v) {
  st_relaxed(&p->v[0], v.v[0]);
  st_relaxed(&p->v[1], v.v[1]);
}

inline u32 hidden(u32 v) { return v; }
inline u64 mul_hi(u64 a, u64 b) { return u64((u128)a * b >> 64); }
