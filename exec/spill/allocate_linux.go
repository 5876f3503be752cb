package spill

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate has the disk give a new file n bytes.
func allocate(f *os.File, n int) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, int64(n))
	if errors.Is(err, unix.EOPNOTSUPP) {
		return fill(f, n)
	}
	return err
}
