// Programs of expressions, run whole: see eval.go.
//
// A thread takes some rows at a time through all of the code, so that finding
// out what an instruction is costs little. Registers lie in shared memory, a
// word of 64 bits a row; whether a value is known, and which rows a mask has,
// are bits that a thread keeps for itself.
#include "func.cuh"

#define EVAL_BLOCK 128
#define EVAL_ROWS 2

constexpr u32 T = EVAL_BLOCK, R = EVAL_ROWS;

// Bits are 128 bits of a row: known values and masks.
struct Bits {
  u64 lo, hi;
  INLINE bool has(u32 i) const { return ((i & 64 ? hi : lo) >> (i & 63)) & 1; }
  INLINE void set(u32 i, bool v) {
    const u64 m = u64(1) << (i & 63);
    u64 &w = i & 64 ? hi : lo;
    w = v ? w | m : w & ~m;
  }
};

template <typename F> INLINE F as_float(u64 v);
template <> INLINE f32 as_float<f32>(u64 v) { return as_f32(v); }
template <> INLINE f64 as_float<f64>(u64 v) { return as_f64(v); }
INLINE u64 of_float(f32 f) { return of_f32(f); }
INLINE u64 of_float(f64 f) { return of_f64(f); }
template <typename F> INLINE bool is_inf(F f) { return f == f && f - f != 0; }

INLINE bool is_unsigned(Phys p) { return p == PhysBool || (p >= PhysU8 && p <= PhysU64); }

INLINE u32 bits_of(Phys p) {
  switch (p) {
    case PhysBool: case PhysI8: case PhysU8: return 8;
    case PhysI16: case PhysU16: return 16;
    case PhysI32: case PhysU32: case PhysF32: return 32;
  }
  return 64;
}

// narrow is an integer as its form holds it, extended to 64 bits again.
INLINE u64 narrow(u64 v, Phys p) {
  const u32 s = 64 - bits_of(p);
  return is_unsigned(p) ? v << s >> s : u64(i64(v << s) >> s);
}

// Machine runs R rows of a thread.
struct Machine {
  const evalLaunch &a;
  const u64 *consts;
  const u64 *lists;
  u64 *file;
  u64 first;  // the number of row 0; row k is k*T further
  u64 n;
  Bits bits[R];

  INLINE u64 &slot(i32 s, u32 k) const { return file[(u32(s) * R + k) * T + thread()]; }
  INLINE u64 word(const evalArg &x, u32 k, u32 w) const {
    return x.Slot >= 0 ? slot(x.Slot + w, k) : consts[2 * u32(~x.Slot) + w];
  }
  INLINE u64 one(const evalArg &x, u32 k) const { return word(x, k, 0); }
  INLINE i128 two(const evalArg &x, u32 k) const { return i128(u128(word(x, k, 1)) << 64 | word(x, k, 0)); }
  INLINE View view(const evalArg &x, u32 k) const { return View{word(x, k, 0), word(x, k, 1)}; }
  INLINE Span span(const evalArg &x, u32 k) const {
    const u64 w = word(x, k, 0);
    return Span{i32(w), i32(w >> 32), i64(word(x, k, 1))};
  }
  INLINE void put(const evalInstr &in, u32 k, u64 v) const { slot(in.Dst, k) = v; }
  INLINE void put(const evalInstr &in, u32 k, i128 v) const {
    slot(in.Dst, k) = u64(v);
    slot(in.Dst + 1, k) = u64(u128(v) >> 64);
  }
  INLINE void put(const evalInstr &in, u32 k, const View &v) const {
    slot(in.Dst, k) = v.Lo;
    slot(in.Dst + 1, k) = v.Hi;
  }
  INLINE bool known(const evalArg &x, u32 k) const { return bits[k].has(x.Bit); }
  INLINE bool masked(i32 mask, u32 k) const { return mask < 0 || bits[k].has(mask); }
  INLINE bool counts(const evalInstr &in, u32 k) const { return first + k * T < n && masked(in.Mask, k); }
  INLINE void set(i32 bit, u32 k, bool v) { bits[k].set(bit, v); }

  // settle says whether the result is known, and reports a bad value of a row that counts.
  INLINE void settle(const evalInstr &in, u32 k, bool known, bool bad) {
    if (bad && known && counts(in, k)) {
      if (in.Flags & Try) {
        known = false;
      } else {
        atomic_max(at<u64>(a.Bad) + (in.Flags & Speculative ? 1 : 0), ~(first + k * T));
      }
    }
    set(in.Bit, k, known);
  }

  // each1 and each2 compute a strict instruction of one or two arguments: f sets
  // bad where there is no value.
  template <typename F> INLINE void each1(const evalInstr &in, F f) {
    UNROLL for (u32 k = 0; k < R; k++) {
      bool bad = false;
      f(k, bad);
      settle(in, k, known(in.A, k), bad);
    }
  }
  template <typename F> INLINE void each2(const evalInstr &in, F f) {
    UNROLL for (u32 k = 0; k < R; k++) {
      bool bad = false;
      f(k, bad);
      settle(in, k, known(in.A, k) && known(in.B, k), bad);
    }
  }

  INLINE void load();
  INLINE void store();
  INLINE void run(const evalInstr &in);
  INLINE void integers(const evalInstr &in);
  template <typename F> INLINE void floats(const evalInstr &in);
  INLINE void wide(const evalInstr &in);
  INLINE void compare(const evalInstr &in);
  INLINE void in_list(const evalInstr &in);
  INLINE void choose(const evalInstr &in);
  INLINE void cast(const evalInstr &in);
  INLINE void call(const evalInstr &in);
  INLINE void make(const evalInstr &in);
  INLINE void concat(const evalInstr &in);
};

INLINE void Machine::integers(const evalInstr &in) {
  const bool uns = is_unsigned(in.Form), wide = bits_of(in.Form) == 64;
  const u32 width = bits_of(in.Form) - 1;
  each2(in, [&](u32 k, bool &bad) {
    const u64 u = one(in.A, k), v = in.Args > 1 ? one(in.B, k) : 0;
    u64 r = 0;
    bool over = false;  // of 64 bits
    switch (in.Do) {
      case OpAdd: r = u + v; over = uns ? r < u : i64((u ^ r) & (v ^ r)) < 0; break;
      case OpSub: r = u - v; over = uns ? u < v : i64((u ^ v) & (u ^ r)) < 0; break;
      case OpMul:
        r = u * v;
        over = uns ? mul_hi(u, v) != 0 : mul_hi_signed(i64(u), i64(v)) != i64(r) >> 63;
        break;
      case OpNeg: r = 0 - u; over = uns ? u != 0 : u == u64(1) << 63; break;
      case OpDiv:
        if (v == 0) { bad = true; break; }
        if (uns) { r = u / v; break; }
        if (i64(v) == -1) { r = 0 - u; over = u == u64(1) << 63; break; }
        r = u64(i64(u) / i64(v));
        break;
      case OpMod:
        if (v == 0) { bad = true; break; }
        if (uns) { r = u % v; break; }
        r = i64(v) == -1 ? 0 : u64(i64(u) % i64(v));
        break;
      case OpBitAnd: r = u & v; break;
      case OpBitOr: r = u | v; break;
      case OpBitXor: r = u ^ v; break;
      case OpBitNot: r = ~u; break;
      case OpShl: r = u << (v & width); break;
      case OpShr: r = uns ? u >> (v & width) : u64(i64(u) >> (v & width)); break;
    }
    const u64 fit = narrow(r, in.Form);
    if (in.Do <= OpNeg) bad |= (wide ? over : fit != r) && !(in.Flags & Unchecked);
    put(in, k, fit);
  });
}

template <typename F>
INLINE void Machine::floats(const evalInstr &in) {
  each2(in, [&](u32 k, bool &bad) {
    const F u = as_float<F>(one(in.A, k)), v = in.Args > 1 ? as_float<F>(one(in.B, k)) : F(0);
    F r = 0;
    switch (in.Do) {
      case OpAdd: r = u + v; break;
      case OpSub: r = u - v; break;
      case OpMul: r = u * v; break;
      case OpDiv: r = u / v; bad = v == 0 && u == u; break;
      case OpNeg: r = -u; break;
    }
    bad |= in.Do != OpNeg && is_inf(r) && !is_inf(u) && !is_inf(v);
    put(in, k, of_float(r));
  });
}

// wide is arithmetic of 128 bits.
INLINE void Machine::wide(const evalInstr &in) {
  const i128 x = i128(u128(in.X[1]) << 64 | in.X[0]);  // a power of ten, or a limit
  each2(in, [&](u32 k, bool &bad) {
    const i128 u = in.Do == OpMulWide ? 0 : two(in.A, k);
    const i128 v = in.Args > 1 && in.Do != OpMulWide ? two(in.B, k) : 0;
    i128 r = 0;
    switch (in.Do) {
      case OpAdd: r = i128(u128(u) + u128(v)); bad = ((u ^ r) & (v ^ r)) < 0; break;
      case OpSub: r = i128(u128(u) - u128(v)); bad = ((u ^ v) & (u ^ r)) < 0; break;
      case OpMul: bad = !mul_128(u, v, r); break;
      case OpMod:
        if (v == 0) { bad = true; break; }
        r = rem_128(u, v);
        break;
      case OpNeg: r = i128(0 - u128(u)); bad = u != 0 && u == r; break;
      case OpMulWide: r = i128(i64(one(in.A, k))) * i64(one(in.B, k)); break;
      case OpDivDec:
        if (v == 0) { bad = true; break; }
        bad = !mul_div_128(u, x, v, r) || !within(r, i128(u128(in.Y[1]) << 64 | in.Y[0]));
        break;
      case OpScale:
        if (in.Imm >= 0) bad = !mul_128(u, x, r);
        else r = div_round_128(u, x);
        break;
      case OpFits: r = u; bad = !within(u, x); break;
    }
    if (in.Flags & Unchecked) bad = false;
    put(in, k, r);
  });
}

INLINE void Machine::compare(const evalInstr &in) {
  const bool distinct = in.Do == OpDistinct || in.Do == OpNotDistinct;
  u32 yes = 6;  // bit c+1: a result c of -1, 0 or 1 makes it true
  switch (in.Do) {
    case OpEq: case OpNotDistinct: yes = 2; break;
    case OpNe: case OpDistinct: yes = 5; break;
    case OpLt: yes = 1; break;
    case OpLe: yes = 3; break;
    case OpGt: yes = 4; break;
  }
  UNROLL for (u32 k = 0; k < R; k++) {
    const bool ka = known(in.A, k), kb = known(in.B, k);
    i32 c = 0;
    switch (in.Form) {
      case PhysF32: c = order_floats(as_f32(one(in.A, k)), as_f32(one(in.B, k))); break;
      case PhysF64: c = order_floats(as_f64(one(in.A, k)), as_f64(one(in.B, k))); break;
      case PhysI128: c = three_way(two(in.A, k), two(in.B, k)); break;
      case PhysSpan: c = three_way(span_total(span(in.A, k)), span_total(span(in.B, k))); break;
      case PhysStr:
        if (!ka || !kb || !counts(in, k)) break;  // a view there may lead anywhere
        if (yes == 2 || yes == 5) c = equal_views(view(in.A, k), view(in.B, k)) ? 0 : 1;
        else c = compare_views(view(in.A, k), view(in.B, k));
        break;
      case PhysU64: c = three_way(one(in.A, k), one(in.B, k)); break;
      default: c = three_way(i64(one(in.A, k)), i64(one(in.B, k)));
    }
    u64 v = yes >> (c + 1) & 1;
    if (distinct && !(ka && kb)) v = (ka != kb) == (in.Do == OpDistinct);
    put(in, k, v);
    set(in.Bit, k, distinct || (ka && kb));
  }
}

// in_list looks values up in a list: numbers in an open table of words behind
// their flags, strings and the rest one by one.
INLINE void Machine::in_list(const evalInstr &in) {
  const u64 *list = lists + in.List;
  const u64 many = list[0], mask = list[1];  // mask: of a table, or 0
  const bool null = list[2] != 0;
  list += 3;
  UNROLL for (u32 k = 0; k < R; k++) {
    bool found = false;
    const bool ka = known(in.A, k);
    if (ka && counts(in, k)) {
      switch (in.Form) {
        case PhysStr:
          for (u64 j = 0; j < many && !found; j++) found = equal_views(view(in.A, k), View{list[2 * j], list[2 * j + 1]});
          break;
        case PhysI128: case PhysSpan:
          for (u64 j = 0; j < many && !found; j++) {
            const i128 v = i128(u128(list[2 * j + 1]) << 64 | list[2 * j]);
            found = in.Form == PhysSpan ? span_total(span(in.A, k)) == v : two(in.A, k) == v;
          }
          break;
        case PhysF32:
          for (u64 j = 0; j < many && !found; j++) found = order_floats(as_f32(one(in.A, k)), as_f32(list[j])) == 0;
          break;
        case PhysF64:
          for (u64 j = 0; j < many && !found; j++) found = order_floats(as_f64(one(in.A, k)), as_f64(list[j])) == 0;
          break;
        default: {
          const u64 v = one(in.A, k);
          if (mask == 0) {
            for (u64 j = 0; j < many && !found; j++) found = list[j] == v;
          } else {
            for (u64 j = hash_word(v) & mask; list[2 * j + 1] != 0 && !found; j = (j + 1) & mask) found = list[2 * j] == v;
          }
        }
      }
    }
    put(in, k, u64(found));
    set(in.Bit, k, ka && (found || !null));
  }
}

// choose takes the value of the rest, and over it each arm's for its mask.
INLINE void Machine::choose(const evalInstr &in) {
  const bool two = in.Form >= PhysI128;
  const u64 *list = lists + in.List;
  UNROLL for (u32 k = 0; k < R; k++) {
    u64 lo = 0, hi = 0;
    bool is = false;
    const auto take = [&](u64 w) {
      const evalArg x{i16(w), i16(w >> 16)};
      lo = word(x, k, 0);
      if (two) hi = word(x, k, 1);
      is = known(x, k);
    };
    take(list[in.Args - 1]);
    for (i32 j = 0; j + 1 < in.Args; j += 2) {
      if (!masked(i32(list[j] >> 16 & 0xffff), k)) continue;
      take(list[j + 1]);
    }
    slot(in.Dst, k) = lo;
    if (two) slot(in.Dst + 1, k) = hi;
    set(in.Bit, k, is);
  }
}

INLINE void Machine::cast(const evalInstr &in) {
  const i64 lo = i64(in.X[0]), hi = i64(in.X[1]);
  each1(in, [&](u32 k, bool &bad) {
    const u64 v = one(in.A, k);
    switch (in.Imm) {
      case castInt: {
        const u64 r = narrow(v, in.To);
        const bool minus = !is_unsigned(in.Form) && i64(v) < 0, becomes = !is_unsigned(in.To) && i64(r) < 0;
        bad = narrow(r, in.Form) != v || minus != becomes;
        put(in, k, r);
        break;
      }
      case castIntFloat: {
        const bool uns = is_unsigned(in.Form);
        if (in.To == PhysF64) put(in, k, of_f64(uns ? f64(v) : f64(i64(v))));
        else put(in, k, of_f32(uns ? f32(v) : f32(i64(v))));
        break;
      }
      case castFloatInt: {
        const f64 f = round_even(in.Form == PhysF64 ? as_f64(v) : f64(as_f32(v)));
        const f64 from = as_f64(in.X[0]), below = as_f64(in.X[1]);
        if (!(f >= from && f < below)) {
          bad = true;
          put(in, k, u64(0));
          break;
        }
        put(in, k, in.To == PhysU64 ? u64(f) : u64(i64(f)));
        break;
      }
      case castFloat: {
        if (in.Form == in.To) put(in, k, v);
        else if (in.To == PhysF64) put(in, k, of_f64(f64(as_f32(v))));
        else {
          const f32 r = f32(as_f64(v));
          bad = is_inf(r) && !is_inf(as_f64(v));
          put(in, k, of_f32(r));
        }
        break;
      }
      case castDecimalFloat: put(in, k, of_f64(decimal_f64(i64(v), as_f64(in.X[0]), in.X[1]))); break;
      case castWiden: put(in, k, is_unsigned(in.Form) ? i128(u128(v)) : i128(i64(v))); break;
      case castNarrow: {
        const i128 w = two(in.A, k);
        bad = w < lo || w > hi;
        put(in, k, u64(w));
        break;
      }
      case castDateTimestamp: put(in, k, u64(i64(v) * microsPerDay)); break;
      case castTimestampDate: put(in, k, u64(floor_div(i64(v), microsPerDay))); break;
      case castTimestampTime: put(in, k, u64(i64(v) - floor_div(i64(v), microsPerDay) * microsPerDay)); break;
      case castWideFloat: put(in, k, of_f64(wide_decimal_f64(two(in.A, k), u128(in.X[1]) << 64 | in.X[0]))); break;
      case castIntText: {
        const bool minus = !is_unsigned(in.Form) && i64(v) < 0;
        const u64 m = minus ? 0 - v : v;
        Text t{{0, 0}, 0, 0};
        if (known(in.A, k) && counts(in, k) && text_room(a.Bad + 16, a.Text, a.Room, digits_of(m, minus), t)) put_number(t, m, minus);
        put(in, k, t.v);
        break;
      }
      case castSame:
        put(in, k, v);
        if (in.To >= PhysI128) slot(in.Dst + 1, k) = word(in.A, k, 1);
        break;
    }
  });
}

// part_of is a part of a day and of the time since it began.
INLINE i64 part_of(u64 part, i64 day, i64 micros) {
  const Civil c = civil(day);
  switch (part) {
    case callHour: return micros / 3600000000ll;
    case callMinute: return micros / 60000000 % 60;
    case callYear: return c.year <= 0 ? c.year - 1 : c.year;
    case callMonth: return c.month;
    case callDay: return c.day;
    case callQuarter: return (c.month + 2) / 3;
    case callDayOfWeek: return day + 4 - floor_div(day + 4, 7) * 7;
    case callDayOfYear: return day - days_from_civil(c.year, 1, 1) + 1;
    case callISODayOfWeek: return day + 3 - floor_div(day + 3, 7) * 7 + 1;
  }
  return 0;
}

// make computes functions whose strings need room.
INLINE void Machine::make(const evalInstr &in) {
  const u64 *list = lists + in.List;
  each2(in, [&](u32 k, bool &) {
    Text t{{0, 0}, 0, 0};
    if (known(in.A, k) && known(in.B, k) && counts(in, k)) {
      const View s = view(in.A, k);
      const bool upper = in.Imm == callUpper;
      const u32 size = in.Imm == callJoin ? length(s) + length(view(in.B, k)) : cased_length(s, upper, list);
      if (text_room(a.Bad + 16, a.Text, a.Room, size, t)) {
        if (in.Imm == callJoin) {
          t.put(s);
          t.put(view(in.B, k));
        } else {
          put_cased(t, s, upper, list);
        }
      }
    }
    put(in, k, t.v);
  });
}

// concat leaves NULLs out.
INLINE void Machine::concat(const evalInstr &in) {
  const u64 *list = lists + in.List;
  UNROLL for (u32 k = 0; k < R; k++) {
    Text t{{0, 0}, 0, 0};
    if (counts(in, k)) {
      u32 size = 0;
      for (i32 j = 0; j < in.Args; j++) {
        const evalArg x{i16(list[j]), i16(list[j] >> 16)};
        if (known(x, k)) size += length(view(x, k));
      }
      if (text_room(a.Bad + 16, a.Text, a.Room, size, t)) {
        for (i32 j = 0; j < in.Args; j++) {
          const evalArg x{i16(list[j]), i16(list[j] >> 16)};
          if (known(x, k)) t.put(view(x, k));
        }
      }
    }
    put(in, k, t.v);
    set(in.Bit, k, true);
  }
}

INLINE void Machine::call(const evalInstr &in) {
  switch (in.Imm) {
    case callConcat: concat(in); return;
    case callJoin: case callUpper: case callLower: make(in); return;
  }
  each2(in, [&](u32 k, bool &bad) {
    if (!known(in.A, k) || !known(in.B, k) || !counts(in, k)) return;
    switch (in.Imm) {
      case callAddDays: case callSubDays: {
        const i64 by = i64(one(in.B, k)), d = i64(one(in.A, k)) + (in.Imm == callAddDays ? by : -by);
        bad = d < i64(in.X[0]) || d > i64(in.X[1]);
        put(in, k, narrow(u64(d), PhysI32));
        break;
      }
      case callDaysBetween: put(in, k, narrow(one(in.A, k) - one(in.B, k), PhysI32)); break;
      case callAddInterval: case callSubInterval: {
        i64 r;
        const i64 ts = i64(one(in.A, k)) * (in.Form == PhysI32 ? microsPerDay : 1);
        bad = !add_interval(ts, span(in.B, k), in.Imm == callSubInterval, i64(in.X[0]), i64(in.X[1]), r);
        put(in, k, u64(r));
        break;
      }
      case callLike: put(in, k, u64(like(view(in.A, k), view(in.B, k)))); break;
      case callStartsWith: put(in, k, u64(starts_with(view(in.A, k), view(in.B, k)))); break;
      case callLength: put(in, k, characters(view(in.A, k))); break;
      case callSubstring: put(in, k, part_of_text(view(in.A, k), in.X[0], in.X[1])); break;
      case callRight: put(in, k, last_of_text(view(in.A, k), one(in.B, k))); break;
      case callTrim: put(in, k, trimmed(view(in.A, k), in.X[0])); break;
      case callPosition: {
        const View s = view(in.A, k);
        const i64 i = index_of(s, view(in.B, k));
        put(in, k, i < 0 ? 0 : 1 + characters(bytes_of(s, 0, u32(i))));
        break;
      }
      case callContains: put(in, k, u64(index_of(view(in.A, k), view(in.B, k)) >= 0)); break;
      case callEndsWith: put(in, k, u64(ends_with(view(in.A, k), view(in.B, k)))); break;
      case callOctets: put(in, k, u64(length(view(in.A, k)))); break;
      case callTruncTo: put(in, k, u64(floor_div(i64(one(in.A, k)), i64(in.X[0])) * i64(in.X[0]))); break;
      case callTruncMonth: put(in, k, u64(trunc_months(floor_div(i64(one(in.A, k)), microsPerDay), i64(in.X[0])) * microsPerDay)); break;
      case callTruncWeek: put(in, k, u64(trunc_week(floor_div(i64(one(in.A, k)), microsPerDay)) * microsPerDay)); break;
      case callRound: {
        if (in.Form == PhysF64) {
          put(in, k, of_f64(round_float(as_f64(one(in.A, k)), in.X[0])));
          break;
        }
        const i128 v = in.Form == PhysI128 ? two(in.A, k) : is_unsigned(in.Form) ? i128(u128(one(in.A, k))) : i128(i64(one(in.A, k)));
        i128 r = round_decimal(v, i128(u128(in.Y[1]) << 64 | in.Y[0]), in.X[0]);
        if (in.X[1]) {
          const u64 *list = lists + in.List;
          bad = !mul_128(r, i128(u128(list[3]) << 64 | list[2]), r) || !within(r, i128(u128(list[1]) << 64 | list[0]));
        }
        if (in.To == PhysI128) put(in, k, r);
        else put(in, k, u64(r));
        break;
      }
      case callDigits: put(in, k, of_f64(round_digits(as_f64(one(in.A, k)), as_f64(in.Y[0]), in.X[1] != 0, in.X[0]))); break;
      case callSquareRoot: {
        const f64 f = as_f64(one(in.A, k));
        bad = f < 0;
        put(in, k, of_f64(__builtin_sqrt(f)));
        break;
      }
      case callAbs: {
        const i64 v = i64(one(in.A, k));
        bad = v < 0 && narrow(u64(-v), in.Form) == u64(v);
        put(in, k, u64(v < 0 ? -v : v));
        break;
      }
      case callAbsFloat: put(in, k, of_f64(__builtin_fabs(as_f64(one(in.A, k))))); break;
      default: {
        const i64 v = i64(one(in.A, k)), day = in.Form == PhysI32 ? v : floor_div(v, microsPerDay);
        const i64 part = part_of(in.Imm, day, in.Form == PhysI32 ? 0 : v - day * microsPerDay);
        put(in, k, in.To == PhysF64 ? of_f64(f64(part)) : u64(part));
      }
    }
  });
}

INLINE void Machine::run(const evalInstr &in) {
  switch (in.Do) {
    case OpAdd: case OpSub: case OpMul: case OpDiv: case OpMod: case OpNeg:
    case OpBitAnd: case OpBitOr: case OpBitXor: case OpBitNot: case OpShl: case OpShr:
      if (in.Form == PhysF64) floats<f64>(in);
      else if (in.Form == PhysF32) floats<f32>(in);
      else if (in.Form == PhysI128) wide(in);
      else integers(in);
      return;
    case OpMulWide: case OpDivDec: wide(in); return;
    case OpScale: case OpFits:
      if (in.Form == PhysI128) {
        wide(in);
        return;
      }
      each1(in, [&](u32 k, bool &bad) {
        const i64 v = i64(one(in.A, k)), p = i64(in.X[0]);
        i64 r = v;
        if (in.Do == OpFits) {
          bad = v >= p || v <= -p;
        } else if (in.Imm >= 0) {
          r = i64(u64(v) * u64(p));
          bad = mul_hi_signed(v, p) != r >> 63 && !(in.Flags & Unchecked);
        } else {
          r = v / p;
          const i64 rest = v % p;
          if (rest >= p - rest) r++;
          else if (-rest >= p + rest) r--;
        }
        put(in, k, u64(r));
      });
      return;
    case OpEq: case OpNe: case OpLt: case OpLe: case OpGt: case OpGe: case OpDistinct: case OpNotDistinct:
      compare(in);
      return;
    case OpAnd: case OpOr:
      UNROLL for (u32 k = 0; k < R; k++) {
        const bool u = one(in.A, k) & 1, v = one(in.B, k) & 1, ku = known(in.A, k), kv = known(in.B, k);
        const bool decides = in.Do == OpOr;  // the value that decides alone
        put(in, k, u64(in.Do == OpAnd ? u && v : u || v));
        set(in.Bit, k, (ku && kv) || (ku && u == decides) || (kv && v == decides));
      }
      return;
    case OpNot: each1(in, [&](u32 k, bool &) { put(in, k, (one(in.A, k) & 1) ^ 1); }); return;
    case OpIsNull:
      UNROLL for (u32 k = 0; k < R; k++) {
        put(in, k, u64(!known(in.A, k)));
        set(in.Bit, k, true);
      }
      return;
    case OpMaskTrue: case OpMaskNotTrue: case OpMaskNotFalse:
      UNROLL for (u32 k = 0; k < R; k++) {
        const bool v = one(in.A, k) & 1, ku = known(in.A, k);
        const bool m = in.Do == OpMaskTrue ? v && ku : in.Do == OpMaskNotTrue ? !(v && ku) : v || !ku;
        set(in.Bit, k, m && masked(in.Mask, k));
      }
      return;
    case OpIn: in_list(in); return;
    case OpCase: choose(in); return;
    case OpCast: cast(in); return;
    case OpCall: call(in); return;
  }
  fail(a.Status, StatusInput, __LINE__, in.Do, in.Form);
}

// load brings the inputs into registers.
INLINE void Machine::load() {
  const evalColumn *columns = at<evalColumn>(a.Columns);
  for (u32 j = 0; j < a.Inputs; j++) {
    const evalColumn &c = columns[j];
    UNROLL for (u32 k = 0; k < R; k++) {
      const u64 row = first + k * T;
      if (row >= n) continue;
      const bool is = bit(c.Col.Valid, row);
      set(c.Bit, k, is);
      if (c.Col.Dict && !is) continue;  // a code under a NULL may be anything
      u64 hi;
      slot(c.Slot, k) = value_at(c.Col, row, c.Form, hi);
      if (c.Form >= PhysI128) slot(c.Slot + 1, k) = hi;
    }
  }
}

// store writes the results, and their bitmaps by warps.
INLINE void Machine::store() {
  const evalColumn *outs = at<evalColumn>(a.Columns) + a.Inputs;
  for (u32 j = 0; j < a.Outs; j++) {
    const evalColumn &c = outs[j];
    const evalArg x{c.Slot, c.Bit};
    UNROLL for (u32 k = 0; k < R; k++) {
      const u64 row = first + k * T;
      const u32 is = ballot(row < n && known(x, k));
      if (c.Col.Valid && lane() == 0 && row < (n + 63) / 64 * 64) at<u32>(c.Col.Valid)[row / 32] = is;
      if (row >= n) continue;
      const u64 v = one(x, k);
      switch (c.Form) {
        case PhysBool: case PhysU8: case PhysI8: at<u8>(c.Col.Data)[row] = u8(v); break;
        case PhysI16: case PhysU16: at<u16>(c.Col.Data)[row] = u16(v); break;
        case PhysI32: case PhysU32: case PhysF32: at<u32>(c.Col.Data)[row] = u32(v); break;
        case PhysI64: case PhysU64: case PhysF64: at<u64>(c.Col.Data)[row] = v; break;
        default: at<Pack<u64, 2>>(c.Col.Data)[row] = Pack<u64, 2>{{v, word(x, k, 1)}};
      }
    }
  }
}

KERNEL(eval, evalLaunch, EVAL_BLOCK, EVAL_ROWS * EVAL_BLOCK) {
  SHARED_REST(u64, room);
  u64 *file = a.Scratch ? at<u64>(a.Scratch) + u64(block()) * a.Slots * (R * T) : room;
  Machine m{a, at<u64>(a.Consts), at<u64>(a.Lists), file, 0, n, {}};
  const evalInstr *code = at<evalInstr>(a.Code);
  // A warp's rows stay together, also beyond the last: it stores bitmaps.
  for (u64 base = u64(block()) * (R * T); base < n; base += u64(blocks()) * (R * T)) {
    m.first = base + thread();
    UNROLL for (u32 k = 0; k < R; k++) m.bits[k] = Bits{1, 0};  // bit 0: known, bit 1: NULL, of constants
    m.load();
    for (u32 i = 0; i < a.Instrs; i++) m.run(code[i]);
    m.store();
  }
}
