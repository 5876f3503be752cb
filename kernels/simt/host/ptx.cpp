// PTX that was made of a query's expressions, run as it stands: kernels/ptx.go
// and the files that use it write it, and no more of the language is known here.
//
// A text is read once into instructions over numbered registers of 64 bits; a
// thread's registers begin as bytes of 0xA5. Instructions that meet other lanes
// go through the scheduler, as those of compiled kernels do.
#include "scheduler.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <vector>

namespace simt {

namespace {

enum Kind { K_NONE, K_U8, K_U16, K_U32, K_U64, K_S8, K_S16, K_S32, K_S64, K_F32, K_F64, K_PRED };

struct Operand {
  enum { REG, VALUE, PARAM, MEMORY, SPECIAL } what = VALUE;
  u32 reg = 0;   // register; of MEMORY the address
  i64 value = 0; // constant, offset
};

enum Op {
  OP_MOV, OP_CVT, OP_SETP, OP_SELP, OP_ADD, OP_ADDC, OP_SUB, OP_SUBC, OP_MUL, OP_MAD, OP_DIV, OP_REM, OP_NEG, OP_AND, OP_OR, OP_XOR,
  OP_NOT, OP_SHL, OP_SHR, OP_MAX, OP_MIN, OP_LD, OP_ST, OP_ATOM, OP_RED, OP_BAR, OP_VOTE, OP_SHFL, OP_BRA, OP_RET, OPS
};
const char *const op_names[OPS] = {"mov", "cvt", "setp", "selp", "add", "addc", "sub", "subc", "mul", "mad", "div", "rem", "neg", "and", "or",
                                   "xor", "not", "shl", "shr", "max", "min", "ld", "st", "atom", "red", "bar", "vote", "shfl", "bra", "ret"};
enum Test { EQ, NE, LT, LE, GT, GE, NAN_, NUM, TESTS };
const char *const test_names[TESTS] = {"eq", "ne", "lt", "le", "gt", "ge", "nan", "num"};

struct Line {
  Op op = OPS;
  Test test = TESTS;          // of setp
  bool carries = false, high = false, round = false, shared = false, most = false;
  Kind type = K_NONE, from = K_NONE;
  i32 guard = -1;             // predicate
  bool inverse = false;
  u32 vec = 1;                // registers of a load or store
  std::vector<Operand> args;
  u32 target = 0;
  std::string label;
};

}  // namespace

struct text {
  std::string name, wrong;
  u32 arg = 0, threads = 0, regs = 0;
  std::vector<Line> lines;
};

namespace {

Kind kind_of(const std::string &s) {
  static const std::map<std::string, Kind> all = {
      {"u8", K_U8}, {"u16", K_U16}, {"u32", K_U32}, {"u64", K_U64}, {"b8", K_U8}, {"b16", K_U16}, {"b32", K_U32}, {"b64", K_U64},
      {"s8", K_S8}, {"s16", K_S16}, {"s32", K_S32}, {"s64", K_S64}, {"f32", K_F32}, {"f64", K_F64}, {"pred", K_PRED}};
  auto i = all.find(s);
  return i == all.end() ? K_NONE : i->second;
}

u32 bytes_of(Kind k) {
  switch (k) {
    case K_U8: case K_S8: return 1;
    case K_U16: case K_S16: return 2;
    case K_U32: case K_S32: case K_F32: return 4;
    default: return 8;
  }
}

struct Reader {
  const char *p;
  text &t;
  std::map<std::string, u32> regs, labels;

  void space() { while (isspace((unsigned char)*p)) p++; }
  std::string word() {
    space();
    const char *from = p;
    while (isalnum((unsigned char)*p) || *p == '_' || *p == '.' || *p == '%') p++;
    return std::string(from, p);
  }
  bool take(char c) {
    space();
    if (*p != c) return false;
    p++;
    return true;
  }
  void wrong(const std::string &why) {
    if (t.wrong.empty()) t.wrong = why;
  }
  // A register's first letter says how wide it is.
  u32 reg(const std::string &name) {
    auto i = regs.find(name);
    if (i != regs.end()) return i->second;
    if (name.size() < 3 || !strchr("drp", name[1])) wrong("register " + name);
    return regs[name] = t.regs++;
  }
  Operand operand() {
    Operand o;
    space();
    if (take('[')) {
      std::string base = word();
      o.what = base[0] == '%' ? Operand::MEMORY : Operand::PARAM;
      if (base[0] == '%') o.reg = reg(base);
      else if (base == "n") o.value = -1;
      else if (base != "a") wrong("parameter " + base);
      if (take('+')) o.value += strtoll(word().c_str(), nullptr, 10);
      if (!take(']')) wrong("an address without its end");
      return o;
    }
    bool minus = take('-');
    std::string w = word();
    if (w == "%tid.x" || w == "%ctaid.x" || w == "%nctaid.x" || w == "%laneid") {
      o.what = Operand::SPECIAL;
      o.value = w == "%tid.x" ? 0 : w == "%ctaid.x" ? 1 : w == "%nctaid.x" ? 2 : 3;
    } else if (w[0] == '%') {
      o.what = Operand::REG;
      o.reg = reg(w);
    } else if (w == "acc") {
      o.value = 0; // where shared memory begins
    } else if (!w.empty() && isdigit((unsigned char)w[0])) {
      o.value = i64(strtoull(w.c_str(), nullptr, 0));
      if (minus) o.value = -o.value;
    } else {
      wrong("operand " + w);
      p += *p != 0;
    }
    return o;
  }

  void statement() {
    Line l;
    if (take('@')) {
      l.inverse = take('!');
      l.guard = i32(reg(word()));
    }
    std::string name = word();
    if (take(':')) {
      labels[name] = u32(t.lines.size());
      return;
    }
    size_t dot = name.find('.');
    const std::string op = name.substr(0, dot);
    for (u32 i = 0; i < OPS; i++) {
      if (op == op_names[i]) l.op = Op(i);
    }
    if (l.op == OPS) return wrong("instruction " + name);
    while (dot != std::string::npos) {
      size_t next = name.find('.', dot + 1);
      std::string mod = name.substr(dot + 1, next == std::string::npos ? next : next - dot - 1);
      Kind k = kind_of(mod);
      if (k != K_NONE) {
        if (l.type == K_NONE) l.type = k;
        else l.from = k;
      } else if (mod == "v2") {
        l.vec = 2;
      } else {
        for (u32 i = 0; i < TESTS && l.op == OP_SETP; i++) {
          if (mod == test_names[i]) l.test = Test(i);
        }
        l.carries |= mod == "cc";
        l.high |= mod == "hi";
        l.round |= mod == "rni";
        l.shared |= mod == "shared";
        l.most |= mod == "max";
      }
      dot = next;
    }
    if (l.op == OP_SETP && l.test == TESTS) return wrong("comparison " + name);
    if (l.op == OP_BRA) {
      l.label = word();
    } else {
      while (*p && !take(';')) {
        if (take(',')) continue;
        if (take('{')) continue;
        if (take('}')) continue;
        l.args.push_back(operand());
        if (!t.wrong.empty()) return;
      }
      t.lines.push_back(l);
      return;
    }
    take(';');
    t.lines.push_back(l);
  }

  void read() {
    const char *entry = strstr(p, ".entry ");
    if (!entry) return wrong("no entry");
    p = entry + 7;
    t.name = word();
    const char *size = strstr(p, ".b8 a["), *most = strstr(p, ".maxntid ");
    if (!size || !most) return wrong("no argument, or no size of a block");
    t.arg = u32(atoi(size + 6));
    t.threads = u32(atoi(most + 9));
    p = strchr(p, '{');
    if (!p++) return wrong("no body");
    while (t.wrong.empty()) {
      if (take('}')) break;
      space();
      if (!*p) return wrong("no end");
      if (!strncmp(p, ".reg", 4)) {
        p = strchr(p, ';') + 1;
        continue;
      }
      statement();
    }
    for (Line &l : t.lines) {
      if (l.op != OP_BRA) continue;
      auto i = labels.find(l.label);
      if (i == labels.end()) return wrong("label " + l.label);
      l.target = i->second;
    }
  }
};

template <typename T> T as(u64 v) { T r; memcpy(&r, &v, sizeof r); return r; }
template <typename T> u64 of(T v) { u64 r = 0; memcpy(&r, &v, sizeof v); return r; }

u64 extend(u64 v, Kind k) {
  switch (k) {
    case K_U8: return u8(v);
    case K_U16: return u16(v);
    case K_U32: case K_F32: return u32(v);
    case K_S8: return u64(i64(i8(v)));
    case K_S16: return u64(i64(i16(v)));
    case K_S32: return u64(i64(i32(v)));
    default: return v;
  }
}

void check(u64 addr, u32 size) {
  if (addr % size) __builtin_trap();
}

// Thread is a thread's run of a text.
struct Thread {
  const text &t;
  const char *arg;
  u64 n;
  std::vector<u64> r;
  u64 carry = 0;

  u64 value(const Operand &o) const {
    switch (o.what) {
      case Operand::REG: return r[o.reg];
      case Operand::SPECIAL: return o.value == 0 ? where.thread : o.value == 1 ? where.block : o.value == 2 ? where.blocks : where.thread % WARP;
      default: return u64(o.value);
    }
  }

  template <typename T> bool compare(Test c, T a, T b) {
    switch (c) {
      case EQ: return a == b;
      case NE: return a != b;
      case LT: return a < b;
      case LE: return a <= b;
      case GT: return a > b;
      case GE: return a >= b;
      case NAN_: return a != a || b != b;
      default: return a == a && b == b;
    }
  }

  u64 convert(const Line &l, u64 v) {
    f64 f = 0;
    const bool real = l.from == K_F32 || l.from == K_F64;
    if (real) f = l.from == K_F32 ? f64(as<f32>(v)) : as<f64>(v);
    v = extend(v, l.from);
    const bool minus = l.from >= K_S8 && l.from <= K_S64;
    switch (l.type) {
      case K_F64: return of(real ? (l.round ? std::nearbyint(f) : f) : minus ? f64(i64(v)) : f64(v));
      case K_F32: return of(real ? f32(f) : minus ? f32(i64(v)) : f32(v));
      default:
        if (real) return l.type == K_U64 ? u64(f) : u64(i64(f));
        return extend(v, l.type);
    }
  }

  u64 divide(const Line &l, u64 a, u64 b, bool rest) {
    if (b == 0) return ~u64(0);
    if (l.type == K_U64) return rest ? a % b : a / b;
    if (i64(b) == -1) return rest ? 0 : 0 - a;
    return u64(rest ? i64(a) % i64(b) : i64(a) / i64(b));
  }

  template <typename F> F real(const Line &l, F x, F y) {
    switch (l.op) {
      case OP_ADD: return x + y;
      case OP_SUB: return x - y;
      case OP_MUL: return x * y;
      case OP_DIV: return x / y;
      case OP_NEG: return -x;
      default: __builtin_trap();
    }
  }

  u64 compute(const Line &l) {
    const Kind k = l.type;
    const u64 a = l.args.size() > 1 ? value(l.args[1]) : 0, b = l.args.size() > 2 ? value(l.args[2]) : 0;
    const u64 c = l.args.size() > 3 ? value(l.args[3]) : 0;
    const u32 by = u32(b), bits = bytes_of(k) * 8;
    const bool minus = k >= K_S8 && k <= K_S64;
    switch (l.op) {
      case OP_MOV: return k == K_PRED ? a & 1 : extend(a, k);
      case OP_CVT: return convert(l, a);
      case OP_SETP:
        if (k == K_F64) return compare(l.test, as<f64>(a), as<f64>(b));
        if (k == K_F32) return compare(l.test, as<f32>(a), as<f32>(b));
        if (minus) return compare(l.test, i64(extend(a, k)), i64(extend(b, k)));
        return compare(l.test, extend(a, k), extend(b, k));
      case OP_SELP: return c & 1 ? a : b;
      default: break;
    }
    if (k == K_F64) return of(real(l, as<f64>(a), as<f64>(b)));
    if (k == K_F32) return of(real(l, as<f32>(a), as<f32>(b)));
    switch (l.op) {
      case OP_ADD:
        if (l.carries) carry = a + b < a;
        return extend(a + b, k);
      case OP_ADDC: return extend(a + b + carry, k);
      case OP_SUB:
        if (l.carries) carry = a < b;
        return extend(a - b, k);
      case OP_SUBC: return a - b - carry;
      case OP_MUL:
        if (!l.high) return extend(a * b, k);
        return minus ? u64(i64(i128(i64(a)) * i64(b) >> 64)) : u64(u128(a) * b >> 64);
      case OP_MAD: return extend(a * b + c, k);
      case OP_DIV: return divide(l, a, b, false);
      case OP_REM: return divide(l, a, b, true);
      case OP_NEG: return 0 - a;
      case OP_AND: return a & b;
      case OP_OR: return a | b;
      case OP_XOR: return a ^ b;
      case OP_NOT: return k == K_PRED ? a ^ 1 : extend(~a, k);
      case OP_SHL: return by >= bits ? 0 : extend(a << by, k);
      case OP_SHR:
        if (minus) return u64(i64(extend(a, k)) >> (by >= bits ? bits - 1 : by));
        return by >= bits ? 0 : extend(a, k) >> by;
      case OP_MAX: return minus ? u64(larger(i64(a), i64(b))) : larger(a, b);
      case OP_MIN: return minus ? u64(smaller(i64(a), i64(b))) : smaller(a, b);
      default: __builtin_trap();
    }
  }

  u64 address(const Line &l, const Operand &o) const {
    return (l.shared ? u64(dynamic()) : 0) + r[o.reg] + u64(o.value);
  }

  // change is an atomic: it gives what was there.
  u64 change(const Line &l, const Operand &where, u64 v) {
    turn();
    u64 *p = (u64 *)address(l, where);
    check(u64(p), 8);
    const u64 was = *p;
    *p = l.most ? larger(was, v) : l.type == K_F64 ? of(as<f64>(was) + as<f64>(v)) : was + v;
    return was;
  }

  void load(const Line &l) {
    const Operand &from = l.args[l.vec];
    if (from.what == Operand::PARAM) {
      u64 v = n;
      if (from.value >= 0) memcpy(&v, arg + from.value, 8);
      r[l.args[0].reg] = extend(v, l.type);
      return;
    }
    const u32 size = bytes_of(l.type);
    const u64 at = address(l, from);
    check(at, size * l.vec);
    for (u32 i = 0; i < l.vec; i++) {
      u64 v = 0;
      memcpy(&v, (const void *)(at + i * size), size);
      r[l.args[i].reg] = extend(v, l.type);
    }
  }

  void store(const Line &l) {
    const u32 size = bytes_of(l.type);
    const u64 at = address(l, l.args[0]);
    check(at, size * l.vec);
    for (u32 i = 0; i < l.vec; i++) {
      const u64 v = value(l.args[1 + i]);
      memcpy((void *)(at + i * size), &v, size);
    }
  }

  // meetings are for all lanes: they have no guard.
  void meeting(const Line &l, u32 number) {
    const site s{"ptx", int(number)};
    u32 w[4] = {u32(value(l.args[1])), 0, 0, 0};
    const u32 *all = meet(op_names[l.op], s, w, 1);
    u32 v = 0;
    if (l.op == OP_VOTE) {
      for (u32 i = 0; i < WARP; i++) v |= (all[i * 4] & 1) << i;
    } else {
      v = all[(lane() ^ u32(value(l.args[2]))) % WARP * 4];
    }
    r[l.args[0].reg] = v;
  }

  void run() {
    for (u32 at = 0; at < t.lines.size();) {
      const Line &l = t.lines[at++];
      if (l.guard >= 0 && bool(r[l.guard] & 1) == l.inverse) continue;
      switch (l.op) {
        case OP_RET: return;
        case OP_BRA:
          at = l.target;
          turn();
          break;
        case OP_LD: load(l); break;
        case OP_ST: store(l); break;
        case OP_RED: change(l, l.args[0], value(l.args[1])); break;
        case OP_ATOM: r[l.args[0].reg] = change(l, l.args[1], value(l.args[2])); break;
        case OP_BAR: meet_block(site{"ptx", int(at)}); break;
        case OP_VOTE: case OP_SHFL: meeting(l, at); break;
        default: r[l.args[0].reg] = compute(l);
      }
    }
  }
};

}  // namespace

const text *read_text(const char *ptx, std::string &wrong) {
  auto t = new text;
  Reader{ptx, *t, {}, {}}.read();
  wrong = t->wrong;
  if (wrong.empty()) return t;
  delete t;
  return nullptr;
}

entry entry_of(const text &t) { return entry(t.name.c_str(), t.arg, t.threads, &t); }

void run_text(const text &t, const void *arg, u64 n) {
  Thread{t, (const char *)arg, n, std::vector<u64>(t.regs, 0xA5A5A5A5A5A5A5A4)}.run();
}

}  // namespace simt
