//go:build !linux

package spill

import "os"

// allocate has the disk give a new file n bytes.
func allocate(f *os.File, n int) error { return fill(f, n) }
