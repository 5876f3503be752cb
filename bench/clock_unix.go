//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is the time that this process has had of processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("bench: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
