//go:build !unix

package simt

import "errors"

// lock: the emulator's fibers are for Unix.
func lock(string) (func(), error) { return nil, errors.New("simt: the emulator runs on Unix only") }
