package spill

import "os"

// fill writes n zeros: it is how a file gets its room where the system has no
// call for that.
func fill(f *os.File, n int) error {
	zeros := make([]byte, 1<<20)
	for at := 0; at < n; at += len(zeros) {
		if _, err := f.WriteAt(zeros[:min(len(zeros), n-at)], int64(at)); err != nil {
			return err
		}
	}
	return nil
}
