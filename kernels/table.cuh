// Hash tables of keys that many threads fill at once.
//
// A slot's last word says what it holds: 0 nothing, slot_busy a key that is
// being written, else something of the key's. Who swaps 0 for slot_busy writes
// the key and then the word; others wait for that, and for nothing else.
#pragma once

#include "text.cuh"

constexpr u64 slot_busy = ~u64(0);

template <u32 W>
struct alignas(8) Slot {
  u64 key[W];
  u64 id;
};

template <u32 W>
INLINE bool same_key(const u64 *a, const u64 *b) {
  bool same = true;
  UNROLL for (u32 w = 0; w < W; w++) same = same && a[w] == b[w];
  return same;
}

// enter finds the slot of a key, or makes it: then claimed() gives the word
// that it gets, once for each new key. It returns the slot, and its word.
template <u32 W, typename F>
INLINE Slot<W> *enter(Slot<W> *slots, u64 mask, u64 hash, const u64 *key, u64 &id, F claimed) {
  for (u64 p = hash & mask;;) {
    Slot<W> *s = &slots[p];
    id = ld_acquire(&s->id);
    if (id == 0 && atomic_cas(&s->id, 0, slot_busy) == 0) {
      UNROLL for (u32 w = 0; w < W; w++) s->key[w] = key[w];
      id = claimed();
      fence();
      st_release(&s->id, id);
      return s;
    }
    if (id == 0 || id == slot_busy) {
      nap();
      continue;
    }
    if (same_key<W>(s->key, key)) return s;
    p = (p + 1) & mask;
  }
}

// find gives the word of a key's slot, 0 when it has none. Nobody writes.
template <u32 W>
INLINE u64 find(const Slot<W> *slots, u64 mask, u64 hash, const u64 *key) {
  for (u64 p = hash & mask;; p = (p + 1) & mask) {
    const Slot<W> &s = slots[p];
    if (s.id == 0) return 0;
    if (same_key<W>(s.key, key)) return s.id;
  }
}

// A tagged slot has half a hash and a number; the number's own busy mark.
constexpr u64 tag_mask = ~u64(0) << 32, number_busy = 0xffffffff;

// same_value compares row i of a column with row j of another.
CALLED bool same_value(const Vec &a, u64 i, const Vec &b, u64 j, u32 form) {
  const bool x = bit(a.Valid, i), y = bit(b.Valid, j);
  if (!x || !y) return x == y;
  const Ptr da = a.Dict ? a.Dict : a.Data, db = b.Dict ? b.Dict : b.Data;
  if (a.Dict) i = at<u32>(a.Data)[i];
  if (b.Dict) j = at<u32>(b.Data)[j];
  switch (form) {
    case PhysBool: case PhysI8: case PhysU8: return at<u8>(da)[i] == at<u8>(db)[j];
    case PhysI16: case PhysU16: return at<u16>(da)[i] == at<u16>(db)[j];
    case PhysI32: case PhysU32: return at<u32>(da)[i] == at<u32>(db)[j];
    case PhysF32: return float_bits(at<f32>(da)[i]) == float_bits(at<f32>(db)[j]);
    case PhysF64: return float_bits(at<f64>(da)[i]) == float_bits(at<f64>(db)[j]);
    case PhysI64: case PhysU64: return at<u64>(da)[i] == at<u64>(db)[j];
    case PhysI128: {
      const Pack<u64, 2> p = at<Pack<u64, 2>>(da)[i], q = at<Pack<u64, 2>>(db)[j];
      return p.v[0] == q.v[0] && p.v[1] == q.v[1];
    }
    case PhysSpan: return span_total(at<Span>(da)[i]) == span_total(at<Span>(db)[j]);
  }
  return equal_views(at<View>(da)[i], at<View>(db)[j]);
}

// same_row compares the keys of row i with those of entry j.
INLINE bool same_row(const tableColumn *columns, u32 many, u64 i, u64 j) {
  for (u32 c = 0; c < many; c++) {
    if (!same_value(columns[c].Src, i, columns[c].Dst, j, columns[c].Form)) return false;
  }
  return true;
}

// find_row gives the number in the slot of a row's keys, 0 when there is none.
INLINE u32 find_row(const u64 *slots, u64 mask, u64 hash, const tableColumn *columns, u32 many, u64 i) {
  for (u64 p = hash & mask;; p = (p + 1) & mask) {
    const u64 s = slots[p];
    if (s == 0) return 0;
    if ((s & tag_mask) == (hash & tag_mask) && same_row(columns, many, i, u32(s) - 1)) return u32(s);
  }
}
