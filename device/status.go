package device

import "fmt"

// Status is how a kernel says that it failed, where it cannot panic: a block in
// the device's memory, one a stream. The first failure wins: a kernel swaps
// Code from StatusOK to its own, and who succeeds writes Detail. The stream
// reads it at the next Download or Wait, makes it an error and clears it.
//
//	offset 0   Code    uint32
//	       4   Line    uint32     of the kernel's source
//	       8   Detail  3 x uint64
//
//gpu:layout
type Status struct {
	Code   StatusCode
	Line   uint32
	Detail [3]uint64
}

// StatusCode is what kind of failure a kernel reports.
//
//gpu:layout
type StatusCode uint32

// The failures. StatusCanary is made on purpose, by tests that ask whether a
// kernel ran where it should.
//
//gpu:layout
const (
	StatusOK StatusCode = iota
	StatusCanary
	StatusFull  // a structure has no room: Detail is what, its size, what was needed
	StatusInput // an argument or program that the kernel does not know
	StatusBug   // an assertion of the kernel failed
	StatusRange // a result is out of range: Detail is the type's kind, digits and scale
)

func (c StatusCode) String() string {
	switch c {
	case StatusOK:
		return "no failure"
	case StatusCanary:
		return "a failure on request"
	case StatusFull:
		return "a structure is full"
	case StatusInput:
		return "an unknown argument"
	case StatusBug:
		return "an assertion failed"
	case StatusRange:
		return "a result is out of range"
	}
	return fmt.Sprintf("failure %d", uint32(c))
}

// StatusError is a failure that a kernel reported.
type StatusError struct {
	Device string
	Status Status
}

func (e *StatusError) Error() string {
	s := e.Status
	return fmt.Sprintf("device: a kernel on %s failed: %v (line %d: %d, %d, %d)",
		e.Device, s.Code, s.Line, s.Detail[0], s.Detail[1], s.Detail[2])
}
