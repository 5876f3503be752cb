//go:build unix && !linux

package device

// hugePages is up to the system.
func hugePages(Ptr, int) {}
