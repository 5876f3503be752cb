//go:build !unix

package main

import "time"

// processorTime is the time of day: this system is not asked for better.
func processorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
