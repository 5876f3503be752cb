package device

import "golang.org/x/sys/unix"

// hugePages asks for pages of 2 MiB under a large block: a fault for every
// 4 KiB costs more than most steps over the block do. It is only a wish.
func hugePages(p Ptr, n int) {
	if n >= 4<<20 {
		unix.Madvise(View[byte](p, n), unix.MADV_HUGEPAGE) //nolint:errcheck // small pages do as well
	}
}
