package gpusql

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/exec/spill"
)

// temporary is a database's directories for what queries have no memory for.
type temporary struct {
	mu     sync.Mutex
	limit  int64    // of all queries; 0: none
	fs     spill.FS // nil: the system's
	spaces map[string]*spill.Space
}

// space is that in a directory.
func (t *temporary) space(dir string) *spill.Space {
	if dir == autoTempDirectory {
		dir = os.TempDir()
	}
	dir = filepath.Clean(dir)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spaces == nil {
		t.spaces = map[string]*spill.Space{}
	}
	s := t.spaces[dir]
	if s == nil {
		s = spill.NewSpace(dir, t.limit, t.fs)
		t.spaces[dir] = s
	}
	return s
}

// used is the bytes on disk.
func (t *temporary) used() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var n int64
	for _, s := range t.spaces {
		n += s.Used()
	}
	return n
}

func (t *temporary) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.spaces {
		s.Close()
	}
}

// autoTempDirectory is the system's directory for temporary files.
const autoTempDirectory = "auto"

// spill is where an execution may put what memory has no room for: nowhere
// where there is no limit that it could meet.
func (e *execution) spill() *exec.Spill {
	s := &e.conn.settings
	if s.tempDirectory == "" || !s.spillAlways && s.memoryLimit == 0 && e.conn.db.settings.memoryLimit == 0 {
		return nil
	}
	e.temp = e.conn.db.temp.space(s.tempDirectory).Area(s.maxTempSize)
	return &exec.Spill{Area: e.temp, Always: s.spillAlways}
}
