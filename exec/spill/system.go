package spill

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gpusql/gpusql/device"
)

// system is the files of the operating system. A few that were given up are kept
// for the next to come, empty, and so is the memory of a few small mappings: for
// queries that spill a little, making and removing files would cost more than
// all else.
type system struct {
	mu    sync.Mutex
	files []*handle
	maps  []device.Ptr // of chunkSize each
}

const (
	spareFiles = 32
	spareMaps  = 4
)

// handle is an open file of the system.
type handle struct {
	*os.File
	of *system
}

// Create implements FS.
func (s *system) Create(dir, prefix string) (Handle, string, error) {
	if h, ok := take(s, &s.files); ok {
		return h, h.Name(), nil
	}
	f, err := create(dir, prefix)
	if err != nil {
		return nil, "", err
	}
	return &handle{f, s}, f.Name(), nil
}

// take is the last of what s keeps in list.
func take[T any](s *system, list *[]T) (last T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(*list)
	if n == 0 {
		return last, false
	}
	last = (*list)[n-1]
	*list = (*list)[:n-1]
	return last, true
}

// keep adds x to list unless most are there.
func keep[T any](s *system, list *[]T, x T, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(*list) >= most {
		return false
	}
	*list = append(*list, x)
	return true
}

func create(dir, prefix string) (*os.File, error) {
	f, err := os.CreateTemp(dir, prefix)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		f, err = os.CreateTemp(dir, prefix)
	}
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) //nolint:errcheck // not everywhere while it is open
	return f, nil
}

// Close implements Handle.
func (h *handle) Close() error {
	if h.Truncate(0) == nil && keep(h.of, &h.of.files, h, spareFiles) {
		return nil
	}
	return drop(h.File)
}

// drop closes a file and removes it where it still has a name.
func drop(f *os.File) error {
	err := f.Close()
	os.Remove(f.Name()) //nolint:errcheck // it may have none, or be mapped
	return err
}

// Remove implements FS.
func (s *system) Remove(path string) error { return os.Remove(path) }

// Leftovers implements FS.
func (s *system) Leftovers(dir, prefix string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, err
}

// Map implements FS. The disk's room is taken first: a page that has none would
// be a signal, not an error.
func (s *system) Map(dir, prefix string, n int) (device.Ptr, string, error) {
	if n == chunkSize {
		if p, ok := take(s, &s.maps); ok {
			return p, "", nil
		}
	}
	f, err := create(dir, prefix)
	if err != nil {
		return 0, "", err
	}
	defer drop(f) //nolint:errcheck // what is mapped stays
	if err := allocate(f, n); err != nil {
		return 0, f.Name(), err
	}
	p, err := mapFile(f, n)
	return p, f.Name(), err
}

// Unmap implements FS.
func (s *system) Unmap(p device.Ptr, n int) {
	if n != chunkSize || !keep(s, &s.maps, p, spareMaps) {
		unmap(p, n)
	}
}

// Close implements FS.
func (s *system) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.maps {
		unmap(p, chunkSize)
	}
	for _, h := range s.files {
		drop(h.File) //nolint:errcheck // nobody wants its bytes
	}
	s.files, s.maps = nil, nil
}
