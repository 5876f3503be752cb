// Aggregates of every day, and the results of all: see aggregate.go for the
// states, and aggregate_steps.go. aggregate_rare.cu has the others.
#include "aggregate.cuh"

AGGREGATE(count, Count)
AGGREGATE(sum, Sum)
AGGREGATE(float, FloatSum)
AGGREGATE(best, Best)
AGGREGATE(any, Any)

// wide_float is a number of 128 bits as a double, rounded as the host does.
INLINE f64 wide_float(u64 lo, u64 hi) {
  const bool minus = i64(hi) < 0;
  const u128 m = magnitude(i128(u128(hi) << 64 | lo));
  const f64 f = f64(u64(m >> 64)) * 18446744073709551616.0 + f64(u64(m));
  return minus ? -f : f;
}

// moments and pairs are the results of these states: see aggregate_final.go.
CALLED f64 moments(const Moments &m, u32 op, bool &is) {
  const bool sample = op == FinalVarSamp || op == FinalStddevSamp;
  is = m.n > (sample ? 1 : 0);
  const f64 v = m.m2 / (sample ? m.n - 1 : m.n);
  return op == FinalStddevSamp || op == FinalStddevPop ? __builtin_sqrt(v) : v;
}

CALLED u64 pairs(const Pairs &p, u32 op, bool &is) {
  is = p.n > 0;
  switch (op) {
    case FinalCovarSamp: is = p.n > 1; return of_f64(p.xy / (p.n - 1));
    case FinalCovarPop: return of_f64(p.xy / p.n);
    case FinalCorr: is = is && p.xx != 0 && p.yy != 0; return of_f64(p.xy / __builtin_sqrt(p.xx * p.yy));
    case FinalRegrAvgX: return of_f64(p.x);
    case FinalRegrAvgY: return of_f64(p.y);
    case FinalRegrCount: is = true; return u64(p.n);
    case FinalRegrSXX: return of_f64(p.xx);
    case FinalRegrSXY: return of_f64(p.xy);
    case FinalRegrSYY: return of_f64(p.yy);
  }
  is = is && p.xx != 0;
  switch (op) {
    case FinalRegrSlope: return of_f64(p.xy / p.xx);
    case FinalRegrIntercept: return of_f64(p.y - p.xy / p.xx * p.x);
  }
  return of_f64(p.yy == 0 ? 1 : p.xy * p.xy / (p.xx * p.yy));  // FinalRegrR2
}

// agg_final makes results of states; a sum that does not fit says so.
KERNEL(agg_final, aggFinalLaunch, BLOCK, 4 * BLOCK) {
  bits<4>(n, at<u32>(a.Dst.Valid), [&](u64 i) {
    u64 lo = 0, hi = 0;
    bool is = true;
    switch (a.Kind) {
      case AggCount: lo = at<Count>(a.State)[i].n; break;
      case AggSum: {
        const Sum s = at<Sum>(a.State)[i];
        is = s.n > 0;
        if (a.Float) {
          f64 f = wide_float(s.lo, s.hi) / a.Divisor;
          if (a.Average) f /= f64(s.n);
          lo = of_f64(f);
          is = is || (a.Total && !a.Average);
          break;
        }
        lo = s.lo;
        hi = s.hi;
        const i128 v = i128(u128(hi) << 64 | lo), most = i128(u128(0x4B3B4CA85A86C47A) << 64 | 0x098A224000000000);
        if ((a.Width < 16 && hi != u64(i64(lo) >> 63)) || !within(v, most)) {
          fail(a.Status, StatusRange, __LINE__, a.Type[0], a.Type[1], a.Type[2]);
        }
        break;
      }
      case AggSumFloat: {
        const FloatSum s = at<FloatSum>(a.State)[i];
        lo = of_f64(a.Average ? s.sum / f64(s.n) : s.sum);
        is = s.n > 0 || a.Total;
        break;
      }
      case AggProduct: {
        const Product p = at<Product>(a.State)[i];
        lo = of_f64(p.product);
        is = p.n > 0;
        break;
      }
      case AggBitAnd: case AggBitOr: case AggBitXor: {
        const BitFold b = at<BitFold>(a.State)[i];
        lo = a.Kind == AggBitAnd ? ~b.v : b.v;
        is = b.seen != 0;
        break;
      }
      case AggMin: case AggMax: case AggFirst: {
        const Cell c = at<Cell>(a.State)[i];
        lo = c.lo;
        hi = c.hi;
        is = c.seen != 0;
        // Of what has one word Best holds the rank.
        if (a.Kind != AggFirst && a.Form < PhysI128) lo = value_of(a.Kind == AggMin ? ~c.lo : c.lo, a.Form);
        break;
      }
      case AggMoments: lo = of_f64(moments(at<Moments>(a.State)[i], a.Op, is)); break;
      case AggPairs: lo = pairs(at<Pairs>(a.State)[i], a.Op, is); break;
    }
    if (!is) lo = hi = 0;
    // A REAL's minimum is ranked as a DOUBLE; AggFirst has its bits.
    if (a.Real && a.Kind != AggFirst) {
      at<f32>(a.Dst.Data)[i] = f32(float_of(lo, PhysF64));
      return is;
    }
    switch (a.Width) {
      case 1: at<u8>(a.Dst.Data)[i] = u8(lo); break;
      case 2: at<u16>(a.Dst.Data)[i] = u16(lo); break;
      case 4: at<u32>(a.Dst.Data)[i] = u32(lo); break;
      case 8: at<u64>(a.Dst.Data)[i] = lo; break;
      default: at<Pack<u64, 2>>(a.Dst.Data)[i] = Pack<u64, 2>{{lo, hi}};
    }
    return is;
  });
}
