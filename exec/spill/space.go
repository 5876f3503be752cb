package spill

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gpusql/gpusql/device"
)

// Tier is what errors call the space on disk; Setting raises its limit.
const (
	Tier    = "temporary disk space"
	Setting = "max_temp_size"
)

// ErrDamaged is a frame that is not what was written.
var ErrDamaged = errors.New("the temporary file is damaged: a checksum is wrong")

// Error is a call of the file system that failed, or what it read.
type Error struct {
	Op   string // "create a temporary file in", "write", "read", "map"
	Path string
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("cannot %s %s: %v", e.Op, e.Path, e.Err)
}

// Unwrap is the system's error, or ErrDamaged.
func (e *Error) Unwrap() error { return e.Err }

// Full reports that the disk has no room.
func (e *Error) Full() bool { return errors.Is(e.Err, syscall.ENOSPC) }

// FS is the file system, so that tests may have one that fails.
type FS interface {
	// Create makes a file of its own in a directory, whose name begins so, and
	// takes the name away where the system allows that.
	Create(dir, prefix string) (h Handle, path string, err error)
	// Remove removes a file that may be there, one of Leftovers.
	Remove(path string) error
	// Leftovers are the files in a directory whose names begin so.
	Leftovers(dir, prefix string) ([]string, error)
	// Map gives the address of a new file of n bytes, for which the disk has room
	// from then on.
	Map(dir, prefix string, n int) (p device.Ptr, path string, err error)
	// Unmap gives up what Map gave.
	Unmap(p device.Ptr, n int)
	// Close comes after all files and mappings were given up.
	Close()
}

// Handle is an open file.
type Handle interface {
	WriteAt(b []byte, at int64) (int, error)
	ReadAt(b []byte, at int64) (int, error)
	// Close gives the file up, and its name.
	Close() error
}

// prefix begins the names of all temporary files.
const prefix = "gpusql-spill-"

// Space is a temporary directory. It is safe for concurrent use.
type Space struct {
	dir   string
	fs    FS
	scope *device.Scope // of all queries
	once  sync.Once
}

// NewSpace is the space in a directory, which need not be there yet; of at most
// limit bytes, 0 for as many as the disk has. fs is nil for the system's files.
func NewSpace(dir string, limit int64, fs FS) *Space {
	s := &Space{dir: dir, fs: fs}
	if fs == nil {
		s.fs = &system{}
	}
	s.scope = device.NewScope(&mapper{s: s}, device.ScopeOptions{Name: "all queries", Limit: limit, Setting: Setting, Tier: Tier})
	return s
}

// Used is the bytes that are on disk now.
func (s *Space) Used() int64 { return s.scope.Used() }

// open makes a file.
func (s *Space) open() (Handle, string, error) {
	s.once.Do(s.sweep)
	h, path, err := s.fs.Create(s.dir, prefix)
	if err != nil {
		return nil, "", &Error{"create a temporary file in", s.dir, err}
	}
	return h, path, nil
}

// sweep removes what processes have left that are no more. What belongs to one
// that runs has no name, or cannot be removed.
func (s *Space) sweep() {
	paths, err := s.fs.Leftovers(s.dir, prefix)
	if err != nil {
		return // Create will say what is wrong
	}
	for _, p := range paths {
		s.fs.Remove(p) //nolint:errcheck // it is in use, or another process was faster
	}
}

// Close ends the space; its areas are closed.
func (s *Space) Close() {
	s.scope.Close()
	s.fs.Close()
}

// Area is what a query has on disk. It is an Allocator of memory that is mapped
// from files: it costs no memory that the query is not given, for who has no
// other way to keep what must be reached by address. Safe for concurrent use.
type Area struct {
	*device.Scope
	space *Space
	mu    sync.Mutex
	files map[*File]struct{}
}

// Area is a query's area of at most limit bytes; 0: none but the space's.
func (s *Space) Area(limit int64) *Area {
	return &Area{
		Scope: device.NewScope(s.scope, device.ScopeOptions{Name: "this query", Limit: limit, Setting: Setting, Tier: Tier}),
		space: s, files: map[*File]struct{}{},
	}
}

// Close gives back all that is on disk.
func (a *Area) Close() {
	a.mu.Lock()
	files := a.files
	a.files = nil
	a.mu.Unlock()
	for f := range files {
		f.close()
	}
	a.Scope.Close()
}

// File is a temporary file that grows.
type File struct {
	area  *Area
	h     Handle
	path  string
	size  int64
	spilt *atomic.Int64 // what was written, for EXPLAIN ANALYZE; may be nil
	once  sync.Once
}

// Create makes a file. What is written to it is added to spilt, unless that is nil.
func (a *Area) Create(spilt *atomic.Int64) (*File, error) {
	h, path, err := a.space.open()
	if err != nil {
		return nil, err
	}
	f := &File{area: a, h: h, path: path, spilt: spilt}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.files == nil {
		f.close()
		return nil, device.ErrClosed
	}
	a.files[f] = struct{}{}
	return f, nil
}

// write appends, and gives the place.
func (f *File) write(b []byte) (int64, error) {
	if err := f.area.Reserve(int64(len(b))); err != nil {
		return 0, err
	}
	at := f.size
	f.size += int64(len(b))
	n, err := f.h.WriteAt(b, at)
	if err == nil && n < len(b) {
		err = syscall.ENOSPC
	}
	if err != nil {
		return 0, &Error{"write", f.path, err}
	}
	if f.spilt != nil {
		f.spilt.Add(int64(len(b)))
	}
	return at, nil
}

// Close gives the file's bytes back. It may be called again, and of no file.
func (f *File) Close() {
	if f == nil {
		return
	}
	f.area.mu.Lock()
	delete(f.area.files, f)
	f.area.mu.Unlock()
	f.close()
}

func (f *File) close() {
	f.once.Do(func() {
		f.h.Close()             //nolint:errcheck // nobody wants its bytes
		f.area.Reserve(-f.size) //nolint:errcheck // giving back does not fail
	})
}
