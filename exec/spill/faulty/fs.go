package faulty

import (
	"io"
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec/spill"
)

// FS is files in memory.
type FS struct {
	mu     sync.Mutex
	memory device.Device
	calls  int
	failAt int
	err    error
	open   int
	damage int64
	cut    int64
	mapped map[device.Ptr]*device.Buffer
}

// New is a file system of which nothing fails yet.
func New() *FS {
	return &FS{memory: device.NewCPU(device.CPUOptions{}), damage: -1, cut: -1, mapped: map[device.Ptr]*device.Buffer{}}
}

// FailAt starts counting anew and makes call n fail with err, the first being 1;
// 0 is none.
func (f *FS) FailAt(n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.failAt, f.err = 0, n, err
}

// Failed reports whether the call given to FailAt has come.
func (f *FS) Failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failAt > 0 && f.calls >= f.failAt
}

// Damage changes the byte at that place of every file, as it is read; -1 is none.
func (f *FS) Damage(at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.damage = at
}

// Cut has files end at that place; -1 where they do.
func (f *FS) Cut(at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut = at
}

// Open is how many files and mappings there are.
func (f *FS) Open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open + len(f.mapped)
}

// call is the next call's error.
func (f *FS) call() error {
	if f.calls++; f.calls == f.failAt {
		return f.err
	}
	return nil
}

// Create implements spill.FS.
func (f *FS) Create(_, prefix string) (spill.Handle, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call(); err != nil {
		return nil, "", err
	}
	f.open++
	return &file{fs: f}, prefix, nil
}

// Remove implements spill.FS.
func (f *FS) Remove(string) error { return nil }

// Leftovers implements spill.FS.
func (f *FS) Leftovers(string, string) ([]string, error) { return nil, nil }

// Map implements spill.FS.
func (f *FS) Map(_, prefix string, n int) (device.Ptr, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call(); err != nil {
		return 0, prefix, err
	}
	b, err := f.memory.Alloc(n)
	if err != nil {
		return 0, prefix, err
	}
	f.mapped[b.Ptr()] = b
	return b.Ptr(), prefix, nil
}

// Close implements spill.FS.
func (f *FS) Close() {}

// Unmap implements spill.FS.
func (f *FS) Unmap(p device.Ptr, _ int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mapped[p].Release()
	delete(f.mapped, p)
}

// file is an open file.
type file struct {
	fs    *FS
	bytes []byte
}

// WriteAt implements spill.Handle.
func (h *file) WriteAt(b []byte, at int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	err := h.fs.call()
	if err != nil {
		b = b[:len(b)/2]
	}
	if need := int(at) + len(b); need > len(h.bytes) {
		h.bytes = append(h.bytes, make([]byte, need-len(h.bytes))...)
	}
	copy(h.bytes[at:], b)
	return len(b), err
}

// ReadAt implements spill.Handle.
func (h *file) ReadAt(b []byte, at int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.call(); err != nil {
		return 0, err
	}
	all := h.bytes
	if c := h.fs.cut; c >= 0 && c < int64(len(all)) {
		all = all[:c]
	}
	if at > int64(len(all)) {
		return 0, io.EOF
	}
	n := copy(b, all[at:])
	if d := h.fs.damage - at; h.fs.damage >= 0 && d >= 0 && d < int64(n) {
		b[d] ^= 1
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// Close implements spill.Handle.
func (h *file) Close() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	h.fs.open--
	return nil
}
