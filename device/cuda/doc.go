// Package cuda is NVIDIA GPUs as devices, through the driver's library alone: no
// cgo, no toolkit, nothing to install but the driver.
//
//	device.Launch ─▶ Stream.Submit ─┬─ enter: lock the thread, make the context current
//	                                ├─ module, function    loaded at the first launch
//	                                ├─ queue.submit        a number; after memory's last users
//	                                └─ cuLaunchKernel ───▶ libcuda.so.1 / nvcuda.dll
//
//	Buffer ◀─ Device.Alloc ◀─ pool (chunks of cuMemAlloc)
//	       ◀─ Spare().Alloc ◀─ pool (chunks of cuMemHostAlloc)
//	host bytes ─ up to 32 KiB ──────▶ ring of the queue ─┐
//	           ─ more ── goroutines ▶ staging slots ─────┼─▶ copy on the stream
//	           ─ of Device.Pin ──────────────────────────┘
//
// What a call costs decided its shape (BenchmarkContext and the others there):
//
//   - A context belongs to a thread. Making it current is one more call into the
//     library, some 0.1 µs; a goroutine a stream that owns a thread would take
//     two switches of threads for each call, some 10 µs. So every call locks
//     its thread and makes the context current.
//   - purego's raw call needs its arguments off the stack: frames of the driver
//     are used again, and a launch, a small copy and a wait allocate nothing.
//   - A kernel's failure is written to pinned host memory, so that no call asks
//     for it.
//
// Invariants:
//
//  1. Every call to the driver that needs a context is between enter and leave.
//  2. A Buffer is given out again only with the stamp of the last submission
//     that may use it, and a queue submits nothing before it has been ordered
//     after the highest stamp given out (queue.submit). Two streams that use
//     one Buffer at a time are their user's to order, by Wait.
//  3. Only the goroutine of a stream says that its queue is done.
//  4. A result after which the context is of no use makes the Device lost, for
//     good: every call is ErrLost from then on, Close gives back what it can,
//     and the context with it. Other devices do not notice, unless they are of
//     the same GPU and process.
//  5. Any other failure of a call leaves the device as it was, and nothing
//     behind (TestEveryCallFails).
//  6. A missing, old or broken driver, and a GPU that cannot be used, is an error
//     or a Reason that says why.
//  7. Pinned memory is bounded: 192 KiB a queue, 2 MiB a slot of staging, two
//     slots for each of at most eight goroutines; and what Pin and Spare were
//     asked for.
package cuda
