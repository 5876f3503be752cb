// The scheduler: runs a launch's blocks, a few at a time, thread by thread.
//
//	launch ─▶ blocks in a drawn order ─▶ resident blocks ─▶ warps that can go on
//	                                           ▲                  │ one is drawn
//	                                           └── a lane runs ◀──┘ until it meets
//	                                               others, gives its turn, or ends
//
//   1. One fiber runs at a time, on the thread that launched. The order is drawn
//      from a seed, so that a failure can be had again.
//   2. Warps that wait for nothing run in any order: what a kernel needs to be
//      ordered, it has to order.
//   3. Lanes that meet must all be there and come from one place in the source.
//      Where none can go on, the launch fails and says who waits where.
#include "scheduler.h"

#include <csignal>
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>
#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace simt {

// switch_to saves the callee's registers and goes on at another stack.
extern "C" void simt_switch(void **save, void *to);
extern "C" void simt_begin();

#if defined(__x86_64__)
asm(R"(
.text
.globl simt_switch
.hidden simt_switch
simt_switch:
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
.globl simt_begin
.hidden simt_begin
simt_begin:
	andq $-16, %rsp
	call simt_thread
	ud2
)");
constexpr int frame_words = 7, frame_pc = 6;
#elif defined(__aarch64__)
asm(R"(
.text
.globl simt_switch
.hidden simt_switch
simt_switch:
	sub sp, sp, #160
	stp x19, x20, [sp]
	stp x21, x22, [sp, #16]
	stp x23, x24, [sp, #32]
	stp x25, x26, [sp, #48]
	stp x27, x28, [sp, #64]
	stp x29, x30, [sp, #80]
	stp d8, d9, [sp, #96]
	stp d10, d11, [sp, #112]
	stp d12, d13, [sp, #128]
	stp d14, d15, [sp, #144]
	mov x9, sp
	str x9, [x0]
	mov sp, x1
	ldp x19, x20, [sp]
	ldp x21, x22, [sp, #16]
	ldp x23, x24, [sp, #32]
	ldp x25, x26, [sp, #48]
	ldp x27, x28, [sp, #64]
	ldp x29, x30, [sp, #80]
	ldp d8, d9, [sp, #96]
	ldp d10, d11, [sp, #112]
	ldp d12, d13, [sp, #128]
	ldp d14, d15, [sp, #144]
	add sp, sp, #160
	ret
.globl simt_begin
.hidden simt_begin
simt_begin:
	bl simt_thread
	brk #0
)");
constexpr int frame_words = 20, frame_pc = 11;
#else
#error "simt: no fibers for this processor"
#endif

namespace {

constexpr unsigned warp_size = 32;
// Results of the driver.
constexpr int illegal_address = 700, timeout = 702, launch_failed = 719;

constexpr size_t stack_bytes = 128 << 10;

struct Warp;

// Access is the last one of a thread to a byte, where races are looked for.
struct Access {
  u64 thread = 0;  // 0: none; the block's number and the thread's, and 1
  u64 epoch = 0;   // of its block
  u64 meetings = 0;
  u64 when = 0;
};
struct Byte {
  Access write, read;
};
typedef std::unordered_map<u64, Byte> Accesses;

struct Lane {
  void *sp = nullptr;
  char *stack = nullptr;
  unsigned meetings = 0;
};

struct Block;

struct Warp {
  Block *block;
  unsigned first;        // thread of lane 0
  u32 runnable = ~0u;    // lanes that can go on
  u32 ended = 0;
  u32 arrived = 0;       // lanes at the meeting
  const char *word = nullptr;
  site at{};
  u32 words[2][warp_size * 4];
  Lane lanes[warp_size];
};

struct Block {
  unsigned index;
  u64 epoch = 0;  // barriers so far
  std::vector<std::unique_ptr<Warp>> warps;
  unsigned left;         // threads that have not ended
  unsigned arrived = 0;  // threads at the barrier
  site at{};
  struct Memory { char *p; size_t bytes; };
  std::map<const void *, Memory> memory;
  Accesses accesses;  // to memory
};

// One launch at a time: the driver's lock is held.
struct Machine {
  launch l;
  std::vector<std::unique_ptr<Block>> resident;
  std::vector<Warp *> ready;
  std::vector<char *> stacks;
  Warp *warp = nullptr;  // that runs
  unsigned lane = 0;
  void *home = nullptr;
  u64 turns = 0;
  u64 now = 0;                              // counts accesses
  Accesses accesses;                        // to what blocks share
  std::vector<u64> released, acquired;      // when each block did last
  bool end_turn = false;
  failure failed;
} m;

u64 state;

u64 draw() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545F4914F6CDD1DULL;
}

u64 draw_below(u64 n) { return (draw() >> 32) * n >> 32; }

char *take_stack() {
  if (!m.stacks.empty()) {
    char *s = m.stacks.back();
    m.stacks.pop_back();
    return s;
  }
  // The lowest page stays out of reach: running over is seen.
  void *p = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) abort();
  mprotect(p, 4096, PROT_NONE);
  return (char *)p;
}

void fail(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fail(int result, const char *format, ...) {
  if (m.failed.result) return;
  char text[512];
  va_list l;
  va_start(l, format);
  vsnprintf(text, sizeof text, format, l);
  va_end(l);
  m.failed.result = result;
  m.failed.text = std::string("kernel ") + m.l.kernel->name + ": " + text;
}

void leave() { simt_switch(&m.warp->lanes[m.lane].sp, m.home); }

// go runs lane l of w until it stops.
void go(Warp *w, unsigned l) {
  Lane &lane = w->lanes[l];
  if (!lane.stack) {
    lane.stack = take_stack();
    void **top = (void **)(lane.stack + stack_bytes) - 2;
    top -= frame_words + 1;
    memset(top, 0, (frame_words + 1) * sizeof(void *));
    top[frame_pc] = (void *)simt_begin;
    lane.sp = top;
  }
  m.warp = w;
  m.lane = l;
  where = {w->first + l, m.l.threads, w->block->index, m.l.blocks};
  simt_switch(&m.home, lane.sp);
  if (w->ended >> l & 1) {
    m.stacks.push_back(lane.stack);
    lane.stack = nullptr;
  }
}

void make_ready(Warp *w, u32 lanes) {
  if (!w->runnable && lanes && w != m.warp) m.ready.push_back(w);
  w->runnable |= lanes;
}

void start_block(unsigned index) {
  auto b = std::make_unique<Block>();
  b->index = index;
  b->left = m.l.threads;
  for (unsigned t = 0; t < m.l.threads; t += warp_size) {
    auto w = std::make_unique<Warp>();
    w->block = b.get();
    w->first = t;
    m.ready.push_back(w.get());
    b->warps.push_back(std::move(w));
  }
  m.resident.push_back(std::move(b));
}

void end_block(Block *b) {
  for (auto &e : b->memory) free(e.second.p);
  for (auto &r : m.resident) {
    if (r.get() == b) {
      std::swap(r, m.resident.back());
      m.resident.pop_back();
      return;
    }
  }
}

// stuck says who waits for whom, when nobody can go on.
void stuck() {
  for (auto &b : m.resident) {
    for (auto &w : b->warps) {
      if (w->arrived) {
        fail(launch_failed, "block %u, warp %u: lanes %08x wait at %s (%s:%d) for lanes %08x, of which %08x have left the kernel",
             b->index, w->first / warp_size, w->arrived, w->word, w->at.file, w->at.line, ~w->arrived, w->ended);
      }
    }
  }
  for (auto &b : m.resident) {
    if (b->arrived) {
      fail(launch_failed, "block %u: %u of %u threads wait at sync_block (%s:%d), %u have left the kernel", b->index, b->arrived,
           m.l.threads, b->at.file, b->at.line, m.l.threads - b->left);
    }
  }
}

void schedule() {
  // Blocks start in a drawn order, as no order is promised.
  std::vector<unsigned> order(m.l.blocks);
  for (unsigned i = 0; i < m.l.blocks; i++) {
    unsigned j = draw_below(i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  unsigned most = 1 + draw_below(settings.blocks);
  size_t next = 0;
  while (!m.failed.result) {
    while (next < order.size() && m.resident.size() < most) start_block(order[next++]);
    if (m.resident.empty()) return;
    if (m.ready.empty()) return stuck();
    size_t pick = draw_below(m.ready.size());
    Warp *w = m.ready[pick];
    m.ready[pick] = m.ready.back();
    m.ready.pop_back();
    unsigned turn = draw_below(warp_size);
    m.warp = w;
    m.end_turn = false;
    while (w->runnable && !m.end_turn && !m.failed.result) {
      unsigned l = (turn + __builtin_ctz(w->runnable >> turn | w->runnable << ((warp_size - turn) % warp_size))) % warp_size;
      go(w, l);
    }
    m.warp = nullptr;
    if (w->runnable) m.ready.push_back(w);
    if (w->block->left == 0) end_block(w->block);
    if (m.turns > settings.turns) fail(timeout, "does not end: %llu turns were given", m.turns);
  }
}

// A bad address in a kernel ends the launch, as it would on a GPU; so does what
// the compiler's sanitizers trap.
thread_local bool in_kernel = false;
sigjmp_buf trapped;
void *trapped_at;
const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
struct sigaction before[NSIG];

void *program_counter(void *context) {
#if defined(__linux__) && defined(__x86_64__)
  return (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__linux__)
  return (void *)((ucontext_t *)context)->uc_mcontext.pc;
#else
  return nullptr;
#endif
}

// source is the place of an address of this library: "select.cu:31".
std::string source(void *pc) {
  Dl_info lib;
  if (!pc || !dladdr(pc, &lib)) return "";
  char command[1024], line[512] = "";
  snprintf(command, sizeof command, "addr2line -e '%s' %#tx 2>/dev/null", lib.dli_fname, (char *)pc - (char *)lib.dli_fbase);
  if (FILE *f = popen(command, "r")) {
    if (!fgets(line, sizeof line, f)) line[0] = 0;
    pclose(f);
  }
  std::string s = line;
  while (!s.empty() && isspace(s.back())) s.pop_back();
  return s.empty() ? "" : " (" + s + ")";
}

void on_signal(int sig, siginfo_t *info, void *context) {
  if (in_kernel) {
    trapped_at = program_counter(context);
    if (sig == SIGSEGV || sig == SIGBUS) {
      fail(illegal_address, "block %u, thread %u: bad address %p", where.block, where.thread, info->si_addr);
    } else {
      fail(launch_failed, "block %u, thread %u: an address that is not aligned, or an index, a shift or a division out of range",
           where.block, where.thread);
    }
    siglongjmp(trapped, 1);
  }
  struct sigaction &old = before[sig];
  if (old.sa_flags & SA_SIGINFO) {
    old.sa_sigaction(sig, info, context);
  } else {
    signal(sig, SIG_DFL);  // the fault comes again, and ends the process
  }
}

}  // namespace

place where;
Settings settings;

static entry *entries;

entry::entry(const char *name, unsigned size, unsigned threads, void (*run)(const void *, u64))
    : name(name), size(size), threads(threads), run(run), next(entries) {
  entries = this;
}

const entry *find(const char *name) {
  for (entry *e = entries; e; e = e->next) {
    if (!strcmp(e->name, name)) return e;
  }
  return nullptr;
}

extern "C" __attribute__((visibility("hidden"), used)) void simt_thread() {
  Warp *w = m.warp;
  unsigned l = m.lane;
  if (m.l.kernel->made) {
    run_text(*m.l.kernel->made, m.l.arg, m.l.n);
  } else {
    m.l.kernel->run(m.l.arg, m.l.n);
  }
  w->runnable &= ~(1u << l);
  w->ended |= 1u << l;
  w->block->left--;
  leave();
  abort();
}

const u32 *meet(const char *word, site at, const u32 *give, unsigned words) {
  Warp *w = m.warp;
  unsigned l = m.lane;
  Lane &lane = w->lanes[l];
  // A lane can be one meeting ahead of the others' reading, not two.
  u32 *all = w->words[lane.meetings++ % 2];
  if (w->arrived == 0) {
    w->word = word;
    w->at = at;
  } else if (strcmp(w->word, word) || w->at.line != at.line || strcmp(w->at.file, at.file)) {
    fail(launch_failed, "block %u, warp %u: lane %u is at %s (%s:%d) while lanes %08x wait at %s (%s:%d)", w->block->index,
         w->first / warp_size, l, word, at.file, at.line, w->arrived, w->word, w->at.file, w->at.line);
    leave();
  }
  for (unsigned i = 0; i < words; i++) all[l * 4 + i] = give[i];
  w->arrived |= 1u << l;
  if (w->arrived == ~0u) {
    w->arrived = 0;
    w->runnable = ~0u;
    return all;
  }
  w->runnable &= ~(1u << l);
  leave();
  return all;
}

void meet_block(site at) {
  Warp *w = m.warp;
  Block *b = w->block;
  if (b->arrived == 0) {
    b->at = at;
  } else if (b->at.line != at.line || strcmp(b->at.file, at.file)) {
    fail(launch_failed, "block %u: thread %u is at sync_block (%s:%d) while others wait at (%s:%d)", b->index, where.thread, at.file,
         at.line, b->at.file, b->at.line);
    leave();
  }
  if (++b->arrived == m.l.threads) {
    b->arrived = 0;
    b->epoch++;
    for (auto &o : b->warps) make_ready(o.get(), ~0u);
    return;
  }
  w->runnable &= ~(1u << m.lane);
  leave();
}

void turn() {
  if (draw() >> 56 >= settings.preempt) return;
  m.turns++;
  m.end_turn = true;
  leave();
}

void *shared(const void *key, size_t bytes) {
  Block::Memory &s = m.warp->block->memory[key];
  if (!s.p) {
    s.bytes = (bytes + 63) / 64 * 64;
    s.p = (char *)aligned_alloc(64, s.bytes);
    memset(s.p, 0xA5, s.bytes);
  }
  return s.p;
}

void *dynamic() {
  static const char key = 0;
  return shared(&key, m.l.shared);
}

void release() { m.released[where.block] = ++m.now; }
void acquire() { m.acquired[where.block] = ++m.now; }

// before_now reports whether an access comes before what the running thread does
// now, by barriers of the block, by words of the warp, or by a release after it
// in its block and an acquire in this one.
static bool before_now(const Access &a) {
  u64 block = (a.thread - 1) / 1024, thread = (a.thread - 1) % 1024;
  const Block *b = m.warp->block;
  if (m.released[block] > a.when && m.acquired[b->index] > a.when) return true;
  if (block != b->index) return false;
  if (thread == where.thread || b->epoch > a.epoch) return true;
  return thread / warp_size == where.thread / warp_size && m.warp->lanes[m.lane].meetings > a.meetings;
}

// access looks for a race. The compiler has every access of a kernel call it,
// but for those of words.
static void access(u64 p, unsigned n, bool write, void *pc) {
  Warp *w = m.warp;
  if (!w || m.failed.result) return;
  u64 stack = (u64)w->lanes[m.lane].stack;
  if (p - stack < stack_bytes) return;
  Accesses *all = &m.accesses;
  for (auto &e : w->block->memory) {
    if (p - (u64)e.second.p < e.second.bytes) all = &w->block->accesses;
  }
  Access now{u64(where.block) * 1024 + where.thread + 1, w->block->epoch, w->lanes[m.lane].meetings, ++m.now};
  for (unsigned i = 0; i < n; i++) {
    Byte &b = (*all)[p + i];
    const Access *other = b.write.thread && !before_now(b.write) ? &b.write : nullptr;
    if (!other && write && b.read.thread && !before_now(b.read)) other = &b.read;
    if (other) {
      fail(launch_failed, "block %u, thread %u: %s what block %llu, thread %llu %s, and nothing orders the two%s", where.block,
           where.thread, write ? "writes" : "reads", (other->thread - 1) / 1024, (other->thread - 1) % 1024,
           other == &b.write ? "wrote" : "read", source(pc).c_str());
      leave();
    }
    (write ? b.write : b.read) = now;
  }
}

void catch_faults() {
  struct sigaction a = {};
  a.sa_sigaction = on_signal;
  a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigfillset(&a.sa_mask);
  for (int sig : signals) sigaction(sig, &a, &before[sig]);
}

failure run(const launch &l) {
  m.l = l;
  m.turns = 0;
  m.accesses.clear();
  m.released.assign(l.blocks, 0);
  m.acquired.assign(l.blocks, 0);
  m.failed = {};
  if (!state) state = settings.seed * 2 + 1;
  in_kernel = true;
  if (sigsetjmp(trapped, 1) == 0) {
    schedule();
    in_kernel = false;
  } else {
    in_kernel = false;
    m.failed.text += source(trapped_at);
  }
  // After a failure fibers are left where they stand: only their stacks matter.
  for (auto &b : m.resident) {
    for (auto &e : b->memory) free(e.second.p);
    for (auto &w : b->warps) {
      for (Lane &l : w->lanes) {
        if (l.stack) m.stacks.push_back(l.stack);
      }
    }
  }
  m.resident.clear();
  m.ready.clear();
  m.warp = nullptr;
  return m.failed;
}

}  // namespace simt

// What the compiler calls where races are looked for (-fsanitize=thread).
#define RACES(n)                                                                                                 \
  extern "C" void __tsan_read##n(void *p) { simt::access((u64)p, n, false, __builtin_return_address(0)); }          \
  extern "C" void __tsan_write##n(void *p) { simt::access((u64)p, n, true, __builtin_return_address(0)); }          \
  extern "C" void __tsan_unaligned_read##n(void *p) { simt::access((u64)p, n, false, __builtin_return_address(0)); } \
  extern "C" void __tsan_unaligned_write##n(void *p) { simt::access((u64)p, n, true, __builtin_return_address(0)); }
RACES(1)
RACES(2)
RACES(4)
RACES(8)
RACES(16)
extern "C" void __tsan_read_range(void *p, unsigned long n) { simt::access((u64)p, n, false, __builtin_return_address(0)); }
extern "C" void __tsan_write_range(void *p, unsigned long n) { simt::access((u64)p, n, true, __builtin_return_address(0)); }
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit() {}
