package arrow

import (
	"encoding/binary"
	"errors"

	"github.com/apache/arrow-go/v18/parquet"
)

// pageHeader is what stands before a page. Sizes and counts are not negative.
type pageHeader struct {
	kind       pageKind
	packed     int // bytes of the page in the file
	size       int // bytes of the page when it is decompressed
	crc        uint32
	hasCRC     bool
	values     int // levels of a data page, values of a dictionary
	encoding   parquet.Encoding
	levels     parquet.Encoding // of definition levels, in a page of version 1
	defBytes   int              // version 2: levels come first, not compressed
	repBytes   int
	compressed bool
}

// pageKind is Parquet's number of a type of page.
type pageKind int64

const (
	dataPage pageKind = iota
	indexPage
	dictionaryPage
	dataPageV2
)

var (
	errShortHeader = errors.New("the header of a page is cut off")
	errBadHeader   = errors.New("the header of a page is broken")
)

// readPageHeader reads a header from the start of b, and gives its length. The
// error is errShortHeader when more bytes might help.
func readPageHeader(b []byte) (h pageHeader, n int, err error) {
	h.compressed = true
	c := compactReader{b: b}
	c.fields(func(id int16, t compactType) {
		switch id {
		case 1:
			h.kind = pageKind(c.varint())
		case 2:
			h.size = c.size()
		case 3:
			h.packed = c.size()
		case 4:
			h.crc, h.hasCRC = uint32(c.varint()), true
		case 5, 7, 8:
			h.inner(&c, id)
		default:
			c.skip(t, 0)
		}
	})
	return h, c.at, c.err
}

// inner reads the header for one kind of page: field 5 is of a data page, 7 of
// a dictionary, 8 of a data page of version 2.
func (h *pageHeader) inner(c *compactReader, kind int16) {
	c.fields(func(id int16, t compactType) {
		switch {
		case id == 1:
			h.values = c.size()
		case id == 2 && kind != 8 || id == 4 && kind == 8:
			h.encoding = parquet.Encoding(c.varint())
		case id == 3 && kind == 5:
			h.levels = parquet.Encoding(c.varint())
		case id == 5 && kind == 8:
			h.defBytes = c.size()
		case id == 6 && kind == 8:
			h.repBytes = c.size()
		case id == 7 && kind == 8:
			h.compressed = t == compactTrue
		default:
			c.skip(t, 0)
		}
	})
}

// compactReader reads Thrift's compact protocol. After an error it reads zeros.
type compactReader struct {
	b   []byte
	at  int
	err error
}

type compactType uint8

const (
	compactStop compactType = iota
	compactTrue
	compactFalse
	compactByte
	compactI16
	compactI32
	compactI64
	compactDouble
	compactBinary
	compactList
	compactSet
	compactMap
	compactStruct
)

// compactDepth bounds structs in structs.
const compactDepth = 16

func (c *compactReader) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *compactReader) byte() byte {
	if c.err != nil || c.at >= len(c.b) {
		c.fail(errShortHeader)
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *compactReader) uvarint() uint64 {
	v, n := binary.Uvarint(c.b[c.at:])
	switch {
	case c.err != nil:
		return 0
	case n == 0:
		c.fail(errShortHeader)
		return 0
	case n < 0:
		c.fail(errBadHeader)
		return 0
	}
	c.at += n
	return v
}

func (c *compactReader) varint() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// size is a number that is not negative and fits in 31 bits.
func (c *compactReader) size() int {
	v := c.varint()
	if v < 0 || v > 1<<31-1 {
		c.fail(errBadHeader)
		return 0
	}
	return int(v)
}

// fields calls f for the fields of a struct; f reads or skips the value.
func (c *compactReader) fields(f func(id int16, t compactType)) {
	id := int16(0)
	for c.err == nil {
		b := c.byte()
		t := compactType(b & 15)
		if t == compactStop {
			return
		}
		if d := b >> 4; d != 0 {
			id += int16(d)
		} else {
			id = int16(c.varint())
		}
		f(id, t)
	}
}

// skip passes over a value.
func (c *compactReader) skip(t compactType, depth int) {
	if depth > compactDepth {
		c.fail(errBadHeader)
	}
	if c.err != nil {
		return
	}
	switch t {
	case compactTrue, compactFalse:
	case compactByte:
		c.byte()
	case compactI16, compactI32, compactI64:
		c.uvarint()
	case compactDouble:
		c.pass(8)
	case compactBinary:
		c.pass(c.uvarint())
	case compactList, compactSet:
		b := c.byte()
		n := uint64(b >> 4)
		if n == 15 {
			n = c.uvarint()
		}
		for i := uint64(0); i < n && c.err == nil; i++ {
			c.element(compactType(b&15), depth)
		}
	case compactMap:
		n := c.uvarint()
		if n == 0 {
			return
		}
		b := c.byte()
		for i := uint64(0); i < n && c.err == nil; i++ {
			c.element(compactType(b>>4), depth)
			c.element(compactType(b&15), depth)
		}
	case compactStruct:
		c.fields(func(_ int16, t compactType) { c.skip(t, depth+1) })
	default:
		c.fail(errBadHeader)
	}
}

// element passes over a value in a list, where a boolean has a byte.
func (c *compactReader) element(t compactType, depth int) {
	if t == compactTrue || t == compactFalse {
		t = compactByte
	}
	c.skip(t, depth+1)
}

func (c *compactReader) pass(n uint64) {
	if n > uint64(len(c.b)-c.at) {
		c.fail(errShortHeader)
		return
	}
	c.at += int(n)
}
