package device

import (
	"errors"
	"fmt"
	"strings"
)

// What a caller can act on. Test with errors.Is.
var (
	// ErrNoMemory: the memory is used up or the limit reached; see NoMemoryError.
	ErrNoMemory = errors.New("out of memory")
	// ErrLost: the device or stream is gone and nothing on it can be relied on.
	ErrLost = errors.New("device lost")
	// ErrClosed: the device, stream or scope was closed before.
	ErrClosed = errors.New("device closed")
	// ErrNoCode: a step has no code for the device.
	ErrNoCode = errors.New("there is no code for this device")
)

// NoMemoryError says which memory is short and what would help. It is ErrNoMemory.
type NoMemoryError struct {
	Tier    string         // "host memory", "GPU memory"
	Bytes   int64          // asked for
	Used    int64          // in use when it was
	Limit   int64          // 0: none but the machine's
	Setting string         // what raises the limit
	Users   []Use          // the largest users, first the largest
	Then    *NoMemoryError // what was tried instead, and is short too; may be nil
}

// Use is how much of a memory somebody holds.
type Use struct {
	Name  string
	Bytes int64
}

func (e *NoMemoryError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "out of %s: %s asked for", e.Tier, FormatBytes(e.Bytes))
	if e.Limit > 0 {
		fmt.Fprintf(&b, ", %s of %s in use", FormatBytes(e.Used), FormatBytes(e.Limit))
	} else {
		fmt.Fprintf(&b, ", %s in use", FormatBytes(e.Used))
	}
	for i, u := range e.Users {
		sep := ", "
		if i == 0 {
			sep = " ("
		}
		fmt.Fprintf(&b, "%s%s %s", sep, u.Name, FormatBytes(u.Bytes))
	}
	if len(e.Users) > 0 {
		b.WriteByte(')')
	}
	if e.Setting != "" && e.Limit > 0 {
		fmt.Fprintf(&b, "; raise %s", e.Setting)
	}
	if e.Then != nil {
		fmt.Fprintf(&b, "; to spill it: %v", e.Then)
	}
	return b.String()
}

// Is makes every NoMemoryError an ErrNoMemory.
func (e *NoMemoryError) Is(target error) bool { return target == ErrNoMemory }

// KernelError is a panic of a kernel's code, as an error.
type KernelError struct {
	Kernel string
	Value  any // of the panic
	Stack  []byte
}

func (e *KernelError) Error() string {
	return fmt.Sprintf("device: kernel %s panicked: %v", e.Kernel, e.Value)
}

// Unwrap is the panic's value when that was an error.
func (e *KernelError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// FormatBytes is a size for people: "512 bytes", "1.5 MiB".
func FormatBytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	v, unit := float64(n)/1024, "KiB"
	for _, u := range []string{"MiB", "GiB", "TiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}
