// The part of the CUDA driver's interface that device/cuda calls, over a
// processor's memory and the scheduler.
//
//   1. A stream is a queue: nothing in it happens until somebody waits for it.
//      Who reads without waiting reads what was there before.
//   2. Device memory ends at a page that cannot be touched, and is filled with
//      0xA5; freed memory cannot be touched either.
//   3. After a kernel has failed every call fails, until the context is
//      retained anew.
#include "scheduler.h"

#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

namespace {

enum : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  invalid_device = 101,
  invalid_ptx = 218,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  capture_unsupported = 900,
};

typedef std::function<int()> op;

struct Graph {
  std::vector<op> ops;
};

struct Stream {
  std::deque<op> queue;
  Graph *capture = nullptr;
};

struct Event {
  Stream *stream = nullptr;
  u64 recorded = 0, reached = 0;
  std::chrono::steady_clock::time_point when;
};

struct Module {
  std::string ptx;
  std::unique_ptr<simt::entry> made;  // of a text that is run as it stands
};

struct Driver {
  std::recursive_mutex mutex;
  bool started = false;
  int contexts = 0;
  simt::failure failed;
  std::map<u64, size_t> memory;  // the device's, by address
  std::map<u64, size_t> pinned;  // the host's
  size_t used = 0;
  std::map<Stream *, std::unique_ptr<Stream>> streams;
} d;

// Handles are looked up, so that a stale one is an error.
Stream *stream_of(void *h) {
  auto i = d.streams.find((Stream *)h);
  return i == d.streams.end() ? nullptr : i->second.get();
}

// step does the stream's next thing.
int step(Stream *s) {
  op next = std::move(s->queue.front());
  s->queue.pop_front();
  if (d.failed.result) return d.failed.result;
  return next();
}

int drain(Stream *s) {
  while (!s->queue.empty()) step(s);
  return d.failed.result;
}

int drain_all() {
  for (auto &e : d.streams) drain(e.second.get());
  return d.failed.result;
}

int submit(void *h, op o) {
  if (!h) {  // the default stream waits for all others
    int r = drain_all();
    return r ? r : o();
  }
  Stream *s = stream_of(h);
  if (!s) return invalid_handle;
  if (s->capture) {
    s->capture->ops.push_back(std::move(o));
  } else {
    s->queue.push_back(std::move(o));
  }
  return success;
}

// within reports whether n bytes at p lie in one run of ranges.
bool within(const std::map<u64, size_t> &ranges, u64 p, size_t n) {
  auto i = ranges.upper_bound(p);
  if (i == ranges.begin()) return false;
  --i;
  return p + n <= i->first + i->second;
}

bool on_device(u64 p, size_t n) { return within(d.memory, p, n) || within(d.pinned, p, n); }

constexpr size_t page = 4096;
constexpr size_t poisoned = 4 << 20;  // most bytes that are filled

size_t mapped(size_t n) { return (n + 255) / 256 * 256 / page * page + 2 * page; }

// Memory ends where a page begins that cannot be touched.
u64 take(size_t n) {
  size_t size = mapped(n);
  char *p = (char *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return 0;
  mprotect(p + size - page, page, PROT_NONE);
  char *at = p + size - page - (n + 255) / 256 * 256;
  memset(at, 0xA5, n < poisoned ? n : poisoned);
  return (u64)at;
}

void give(u64 at, size_t n) {
  size_t size = mapped(n);
  u64 end = at + (n + 255) / 256 * 256 + page;
  munmap((void *)(end - size), size);
}

u64 setting(const char *name, u64 otherwise) {
  const char *v = getenv(name);
  return v && *v ? strtoull(v, nullptr, 10) : otherwise;
}

struct Result {
  int code;
  const char *name, *text;
};

const Result results[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalid_ptx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {not_ready, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
};

const Result *result_of(int code) {
  for (const Result &r : results) {
    if (r.code == code) return &r;
  }
  return nullptr;
}

}  // namespace

// Every call holds the lock, and fails when the device has.
#define LOCK std::lock_guard<std::recursive_mutex> lock(d.mutex)
#define ENTER                            \
  LOCK;                                  \
  if (!d.started) return not_initialized; \
  if (d.failed.result) return d.failed.result

API int cuInit(unsigned) {
  LOCK;
  if (d.started) return success;
  d.started = true;
  simt::Settings &s = simt::settings;
  s.seed = setting("GPUSQL_SIMT_SEED", s.seed);
  s.preempt = setting("GPUSQL_SIMT_PREEMPT", s.preempt);
  s.blocks = setting("GPUSQL_SIMT_BLOCKS", s.blocks);
  s.turns = setting("GPUSQL_SIMT_TURNS", s.turns);
  s.memory = setting("GPUSQL_SIMT_MEMORY", s.memory);
  simt::catch_faults();
  return success;
}

API int cuDriverGetVersion(int *v) {
  *v = 13000;
  return success;
}

API int cuGetErrorName(int code, const char **name) {
  const Result *r = result_of(code);
  *name = r ? r->name : nullptr;
  return r ? success : invalid_value;
}

// cuGetErrorString tells what a kernel did, which a GPU cannot.
API int cuGetErrorString(int code, const char **text) {
  LOCK;
  const Result *r = result_of(code);
  *text = code && code == d.failed.result ? d.failed.text.c_str() : r ? r->text : nullptr;
  return r ? success : invalid_value;
}

API int cuDeviceGetCount(int *n) {
  *n = 1;
  return success;
}

API int cuDeviceGet(int *dev, int ordinal) {
  *dev = 0;
  return ordinal == 0 ? success : invalid_device;
}

API int cuDeviceGetName(char *name, int len, int) {
  snprintf(name, len, "SIMT emulator");
  return success;
}

API int cuDeviceTotalMem_v2(size_t *n, int) {
  *n = simt::settings.memory;
  return success;
}

API int cuDeviceGetAttribute(int *v, int attribute, int) {
  switch (attribute) {
    case 1: *v = 1024; break;          // threads a block
    case 8: *v = 48 << 10; break;      // shared memory a block
    case 10: *v = 32; break;           // lanes a warp
    case 16: *v = 2; break;            // multiprocessors: few, so that grids loop
    case 39: *v = 2048; break;         // threads a multiprocessor
    case 40: case 41: *v = 1; break;   // copy engines; one address space
    case 75: *v = 8; break;            // compute capability
    case 76: *v = 0; break;
    case 81: *v = 164 << 10; break;    // shared memory a multiprocessor
    case 97: *v = 163 << 10; break;    // shared memory a block may ask for
    default: *v = 0;
  }
  return success;
}

API int cuDevicePrimaryCtxRetain(void **ctx, int) {
  LOCK;
  if (!d.started) return not_initialized;
  if (d.contexts++ == 0) d.failed = {};
  *ctx = &d;
  return success;
}

API int cuDevicePrimaryCtxRelease_v2(int) {
  LOCK;
  if (d.contexts == 0) return invalid_value;
  if (--d.contexts > 0) return success;
  drain_all();
  d.streams.clear();
  for (auto &e : d.memory) give(e.first, e.second);
  d.memory.clear();
  d.used = 0;
  return success;
}

API int cuCtxSetCurrent(void *) { return success; }

API int cuMemGetInfo_v2(size_t *free, size_t *total) {
  ENTER;
  *total = simt::settings.memory;
  *free = simt::settings.memory - d.used;
  return success;
}

API int cuMemAlloc_v2(u64 *p, size_t n) {
  ENTER;
  if (n == 0) return invalid_value;
  if (d.used + n > simt::settings.memory) return out_of_memory;
  *p = take(n);
  if (!*p) return out_of_memory;
  d.memory[*p] = n;
  d.used += n;
  return success;
}

API int cuMemFree_v2(u64 p) {
  ENTER;
  auto i = d.memory.find(p);
  if (i == d.memory.end()) return p ? invalid_value : success;
  int r = drain_all();
  give(p, i->second);
  d.used -= i->second;
  d.memory.erase(i);
  return r;
}

API int cuMemHostAlloc(void **p, size_t n, unsigned) {
  ENTER;
  *p = (void *)take(n);
  if (!*p) return out_of_memory;
  d.pinned[(u64)*p] = n;
  return success;
}

API int cuMemFreeHost(void *p) {
  LOCK;
  auto i = d.pinned.find((u64)p);
  if (i == d.pinned.end()) return invalid_value;
  drain_all();
  give(i->first, i->second);
  d.pinned.erase(i);
  return d.failed.result;
}

API int cuMemHostGetDevicePointer_v2(u64 *p, void *host, unsigned) {
  ENTER;
  *p = (u64)host;
  return within(d.pinned, *p, 1) ? success : invalid_value;
}

API int cuMemHostRegister_v2(void *p, size_t n, unsigned) {
  ENTER;
  if (within(d.pinned, (u64)p, 1)) return 712;  // already
  d.pinned[(u64)p] = n;
  return success;
}

API int cuMemHostUnregister(void *p) {
  LOCK;
  return d.pinned.erase((u64)p) ? success : 713;
}

API int cuMemcpyHtoDAsync_v2(u64 dst, const void *src, size_t n, void *stream) {
  ENTER;
  if (!on_device(dst, n)) return invalid_value;
  if (within(d.pinned, (u64)src, n)) {
    return submit(stream, [=] { memcpy((void *)dst, src, n); return int(success); });
  }
  // Memory that is not pinned is read before the call returns.
  auto copy = std::make_shared<std::vector<char>>((const char *)src, (const char *)src + n);
  return submit(stream, [=] { memcpy((void *)dst, copy->data(), n); return int(success); });
}

API int cuMemcpyDtoHAsync_v2(void *dst, u64 src, size_t n, void *stream) {
  ENTER;
  if (!on_device(src, n)) return invalid_value;
  int r = submit(stream, [=] { memcpy(dst, (void *)src, n); return int(success); });
  Stream *s = stream_of(stream);
  if (r == success && s && !s->capture && !within(d.pinned, (u64)dst, n)) return drain(s);
  return r;
}

API int cuMemcpyDtoDAsync_v2(u64 dst, u64 src, size_t n, void *stream) {
  ENTER;
  if (!on_device(dst, n) || !on_device(src, n)) return invalid_value;
  return submit(stream, [=] { memmove((void *)dst, (void *)src, n); return int(success); });
}

API int cuMemsetD8Async(u64 dst, unsigned char v, size_t n, void *stream) {
  ENTER;
  if (!on_device(dst, n)) return invalid_value;
  return submit(stream, [=] { memset((void *)dst, v, n); return int(success); });
}

API int cuStreamCreate(void **h, unsigned) {
  ENTER;
  auto s = std::make_unique<Stream>();
  Stream *p = s.get();
  d.streams[p] = std::move(s);
  *h = p;
  return success;
}

API int cuStreamDestroy_v2(void *h) {
  LOCK;
  Stream *s = stream_of(h);
  if (!s) return invalid_handle;
  int r = drain(s);
  d.streams.erase(s);
  return r;
}

API int cuStreamSynchronize(void *h) {
  ENTER;
  if (!h) return drain_all();
  Stream *s = stream_of(h);
  if (!s) return invalid_handle;
  return s->capture ? int(capture_unsupported) : drain(s);
}

// A query lets the stream come one thing further, so that polling ends.
API int cuStreamQuery(void *h) {
  ENTER;
  Stream *s = stream_of(h);
  if (!s) return invalid_handle;
  if (!s->queue.empty()) step(s);
  return d.failed.result ? d.failed.result : s->queue.empty() ? success : not_ready;
}

API int cuCtxSynchronize() {
  ENTER;
  return drain_all();
}

API int cuEventCreate(void **h, unsigned) {
  ENTER;
  *h = new std::shared_ptr<Event>(std::make_shared<Event>());
  return success;
}

API int cuEventDestroy_v2(void *h) {
  LOCK;
  delete (std::shared_ptr<Event> *)h;
  return success;
}

API int cuEventRecord(void *h, void *stream) {
  ENTER;
  auto e = *(std::shared_ptr<Event> *)h;
  e->stream = stream_of(stream);
  u64 number = ++e->recorded;
  return submit(stream, [=] {
    e->reached = number;
    e->when = std::chrono::steady_clock::now();
    return int(success);
  });
}

// reach goes on with the event's stream until the event has come.
static int reach(Event *e, u64 number) {
  while (e->reached < number && stream_of(e->stream) && !e->stream->queue.empty()) step(e->stream);
  return d.failed.result;
}

API int cuStreamWaitEvent(void *h, void *event, unsigned) {
  ENTER;
  auto e = *(std::shared_ptr<Event> *)event;
  u64 number = e->recorded;
  return submit(h, [=] { return reach(e.get(), number); });
}

API int cuEventQuery(void *h) {
  ENTER;
  Event *e = ((std::shared_ptr<Event> *)h)->get();
  if (e->reached < e->recorded && stream_of(e->stream) && !e->stream->queue.empty()) step(e->stream);
  return d.failed.result ? d.failed.result : e->reached == e->recorded ? success : not_ready;
}

API int cuEventSynchronize(void *h) {
  ENTER;
  Event *e = ((std::shared_ptr<Event> *)h)->get();
  return reach(e, e->recorded);
}

API int cuEventElapsedTime(float *ms, void *from, void *to) {
  ENTER;
  Event *a = ((std::shared_ptr<Event> *)from)->get(), *b = ((std::shared_ptr<Event> *)to)->get();
  if (a->reached != a->recorded || b->reached != b->recorded) return not_ready;
  *ms = std::chrono::duration<float, std::milli>(b->when - a->when).count();
  return success;
}

API int cuModuleLoadDataEx(void **h, const void *ptx, unsigned, void *, void *) {
  ENTER;
  const char *text = (const char *)ptx;
  if (!strstr(text, ".version")) return invalid_ptx;
  *h = new Module{text, nullptr};
  return success;
}

API int cuModuleUnload(void *h) {
  LOCK;
  delete (Module *)h;
  return success;
}

API int cuModuleGetFunction(void **f, void *h, const char *name) {
  ENTER;
  // The module has to have it, and it is compiled in here, or read.
  if (((Module *)h)->ptx.find(".entry " + std::string(name) + "(") == std::string::npos) return not_found;
  *f = (void *)simt::find(name);
  if (*f) return success;
  Module *m = (Module *)h;
  if (!m->made) {
    std::string wrong;
    const simt::text *t = simt::read_text(m->ptx.c_str(), wrong);
    if (!t) {
      fprintf(stderr, "simt: %s: %s\n", name, wrong.c_str());
      return invalid_ptx;
    }
    m->made = std::make_unique<simt::entry>(simt::entry_of(*t));
  }
  *f = m->made.get();
  return success;
}

API int cuFuncSetAttribute(void *, int, int) { return success; }

API int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                       unsigned shared, void *stream, void **params, void **) {
  ENTER;
  const simt::entry *k = (const simt::entry *)f;
  if (gx == 0 || gy != 1 || gz != 1 || bx == 0 || bx > k->threads || bx % 32 || by != 1 || bz != 1) return invalid_value;
  auto arg = std::make_shared<std::vector<char>>((char *)params[0], (char *)params[0] + k->size);
  u64 n = *(u64 *)params[1];
  return submit(stream, [=] {
    simt::failure f = simt::run({k, gx, bx, shared, arg->data(), n});
    if (f.result) {
      d.failed = f;
      fprintf(stderr, "simt: %s\n", f.text.c_str());
    }
    return f.result;
  });
}

API int cuStreamBeginCapture_v2(void *h, int) {
  ENTER;
  Stream *s = stream_of(h);
  if (!s || s->capture) return invalid_handle;
  s->capture = new Graph;
  return success;
}

API int cuStreamEndCapture(void *h, void **graph) {
  ENTER;
  Stream *s = stream_of(h);
  if (!s || !s->capture) return invalid_handle;
  *graph = s->capture;
  s->capture = nullptr;
  return success;
}

API int cuGraphInstantiateWithFlags(void **exec, void *graph, u64) {
  ENTER;
  *exec = new Graph(*(Graph *)graph);
  return success;
}

API int cuGraphLaunch(void *exec, void *stream) {
  ENTER;
  for (const op &o : ((Graph *)exec)->ops) {
    int r = submit(stream, o);
    if (r) return r;
  }
  return success;
}

API int cuGraphDestroy(void *g) {
  delete (Graph *)g;
  return success;
}

API int cuGraphExecDestroy(void *g) {
  delete (Graph *)g;
  return success;
}
