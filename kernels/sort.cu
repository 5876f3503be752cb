// Words to sort rows by: see sort_steps.go.
#include "int128.cuh"
#include "text.cuh"

INLINE u64 signed_rank(i64 v) { return u64(v) ^ u64(1) << 63; }

template <typename F, typename W>
INLINE u64 float_rank(F f, W top) {
  const W w = float_bits(f);
  return w & top ? W(~w) : w | top;
}

// order_word is word w of row i's place in a column's order; words are compared
// from word 0 on.
INLINE u64 order_word(const sortLaunch &a, u64 i) {
  const Ptr data = a.Src.Dict ? a.Src.Dict : a.Src.Data;
  if (a.Src.Dict) i = at<u32>(a.Src.Data)[i];
  i128 wide;
  switch (a.Form) {
    case PhysBool: case PhysU8: return at<u8>(data)[i];
    case PhysU16: return at<u16>(data)[i];
    case PhysU32: return at<u32>(data)[i];
    case PhysU64: return at<u64>(data)[i];
    case PhysI8: return u8(at<u8>(data)[i] ^ 0x80);
    case PhysI16: return u16(at<u16>(data)[i] ^ 0x8000);
    case PhysI32: return at<u32>(data)[i] ^ 0x80000000u;
    case PhysI64: return signed_rank(at<i64>(data)[i]);
    case PhysF32: return float_rank(at<f32>(data)[i], u32(1) << 31);
    case PhysF64: return float_rank(at<f64>(data)[i], u64(1) << 63);
    case PhysStr: {
      const View v = at<View>(data)[i];
      return a.Word == partLength ? length(v) : bytes_at(v, 8 * a.Word, length(v));
    }
    case PhysSpan: wide = span_total(at<Span>(data)[i]); break;
    default: {
      const Pack<u64, 2> p = at<Pack<u64, 2>>(data)[i];
      wide = i128(u128(p.v[1]) << 64 | p.v[0]);
    }
  }
  return a.Word == 0 ? signed_rank(i64(wide >> 64)) : u64(wide);
}

// sort_words gives each row, in the order so far, its word.
KERNEL(sort_words, sortLaunch, BLOCK, 4 * BLOCK) {
  const u32 *rows = at<u32>(a.Rows);
  u64 *out = at<u64>(a.Out);
  move<4>(
      n,
      [&](u64 i) {
        const u32 row = rows[i];
        const bool known = bit(a.Src.Valid, row);
        if (a.Word == partNull) return u64(known == (a.NullsFirst != 0));
        const u64 w = known ? order_word(a, row) : 0;
        return a.Desc ? ~w : w;
      },
      [&](u64 i, u64 w) { out[i] = w; });
}

// sort_longest raises the word at Out to the length of the longest string.
KERNEL(sort_longest, sortLaunch, BLOCK, 8 * BLOCK) {
  u64 most = 0;
  const Ptr data = a.Src.Dict ? a.Src.Dict : a.Src.Data;
  each<8>(n, [&](u64 i) {
    if (!bit(a.Src.Valid, i)) return;
    most = larger(most, u64(length(at<View>(data)[a.Src.Dict ? at<u32>(a.Src.Data)[i] : i])));
  });
  most = block_reduce<BLOCK>(most, Max());
  if (thread() == 0) atomic_max(at<u64>(a.Out), most);
}
