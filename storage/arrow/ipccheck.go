package arrow

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

var errBadFooter = errors.New("the footer is broken")

// checkIPC looks at the lengths in the footer of an Arrow IPC file before the
// library does, which allocates what they say: a changed byte could ask for
// more memory than there is, and that ends the process.
//
//	"ARROW1" ... blocks ... footer │ its length │ "ARROW1"
func checkIPC(f io.ReaderAt, size int64) error {
	const magic, tail = "ARROW1", 4 + 6
	var end [tail]byte
	if size < 2*tail {
		return errors.New("it is too short for an Arrow file")
	}
	if _, err := f.ReadAt(end[:], size-tail); err != nil {
		return err
	}
	if string(end[4:]) != magic {
		return errors.New("it is no Arrow file")
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-tail {
		return errBadFooter
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, size-tail-n); err != nil {
		return err
	}
	c := flatChecker{b: b, left: len(b)}
	footer := c.table(0)
	c.blocks(footer, 2, size)
	c.blocks(footer, 3, size)
	c.vector(footer, 4, 4)
	if schema := c.follow(footer, 1); schema > 0 {
		c.fields(schema, 1, 0)
		c.vector(schema, 2, 4)
	}
	if c.bad {
		return errBadFooter
	}
	return nil
}

// flatChecker walks over tables of a flatbuffer. What lies outside of it is
// bad, and reads as 0.
type flatChecker struct {
	b    []byte
	left int // tables that may still be met: offsets could lead in circles
	bad  bool
}

func (c *flatChecker) uint(at, width int) int64 {
	if at < 0 || at > len(c.b)-width {
		c.bad = true
		return 0
	}
	switch width {
	case 2:
		return int64(binary.LittleEndian.Uint16(c.b[at:]))
	case 4:
		return int64(binary.LittleEndian.Uint32(c.b[at:]))
	}
	return int64(binary.LittleEndian.Uint64(c.b[at:]))
}

// table is the table that the offset at a place leads to.
func (c *flatChecker) table(at int) int {
	if c.left--; c.left < 0 {
		c.bad = true
	}
	return at + int(c.uint(at, 4))
}

// field is where field i of a table is, 0 when it has none.
func (c *flatChecker) field(table, i int) int {
	vtable := table - int(int32(c.uint(table, 4)))
	slot := 4 + 2*i
	if c.bad || slot >= int(c.uint(vtable, 2)) {
		return 0
	}
	if at := int(c.uint(vtable+slot, 2)); at != 0 {
		return table + at
	}
	return 0
}

// follow is the table that field i of a table leads to, 0 for none.
func (c *flatChecker) follow(table, i int) int {
	at := c.field(table, i)
	if at == 0 || c.bad {
		return 0
	}
	return c.table(at)
}

// vector is where the elements of field i of a table are, of some bytes each.
func (c *flatChecker) vector(table, i, width int) (at, n int) {
	if at = c.field(table, i); at == 0 || c.bad {
		return 0, 0
	}
	at += int(c.uint(at, 4))
	n = int(c.uint(at, 4))
	if at += 4; c.bad || n > (len(c.b)-at)/width {
		c.bad = true
		return 0, 0
	}
	return at, n
}

// blocks checks that record batches lie in the file.
func (c *flatChecker) blocks(table, i int, size int64) {
	at, n := c.vector(table, i, 24)
	for ; n > 0; n-- {
		from, meta, body := c.uint(at, 8), int64(int32(c.uint(at+8, 4))), c.uint(at+16, 8)
		if from < 0 || meta < 0 || body < 0 || from > size || meta > size || body > size || from+meta+body > size {
			c.bad = true
			return
		}
		at += 24
	}
}

// maxFieldDepth bounds types in types.
const maxFieldDepth = 64

// fields checks the fields in field i of a table, and those in them.
func (c *flatChecker) fields(table, i, depth int) {
	const children, metadata = 5, 6
	if depth > maxFieldDepth {
		c.bad = true
	}
	at, n := c.vector(table, i, 4)
	for ; n > 0 && !c.bad; n-- {
		field := c.table(at)
		c.fields(field, children, depth+1)
		c.vector(field, metadata, 4)
		at += 4
	}
}

// boundedMemory is what the library takes its buffers from: a compressed one
// says itself how large it is.
type boundedMemory struct{ memory.Allocator }

// maxBuffer is the most bytes of a buffer.
const maxBuffer = 1 << 31

// Allocate implements memory.Allocator.
func (m boundedMemory) Allocate(n int) []byte {
	if n > maxBuffer {
		panic(errors.New("a buffer of over 2 GiB"))
	}
	return m.Allocator.Allocate(n)
}

// Reallocate implements memory.Allocator.
func (m boundedMemory) Reallocate(n int, b []byte) []byte {
	if n > maxBuffer {
		panic(errors.New("a buffer of over 2 GiB"))
	}
	return m.Allocator.Reallocate(n, b)
}
