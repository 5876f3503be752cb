//go:build windows

package device

import "golang.org/x/sys/windows"

// mapPages asks the system for zeroed pages.
func mapPages(n int) (Ptr, error) {
	p, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return Ptr(p), err
}

// unmapPages gives them back. That can only fail on a wrong address.
func unmapPages(p Ptr, _ int) {
	if err := windows.VirtualFree(uintptr(p), 0, windows.MEM_RELEASE); err != nil {
		panic("device: VirtualFree: " + err.Error())
	}
}
