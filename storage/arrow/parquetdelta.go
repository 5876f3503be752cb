package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/parquet"
)

// settle rewrites a data page in one of the rarer encodings as a plain one.
// size is the width of a value, 0 for bytes with a length each.
func (p *pages) settle(pg *page, size int) error {
	switch pg.encoding {
	case parquet.Encodings.DeltaBinaryPacked:
		return p.deltaNumbers(pg, size)
	case parquet.Encodings.DeltaLengthByteArray:
		return p.deltaLengths(pg)
	case parquet.Encodings.DeltaByteArray:
		return p.deltaBytes(pg, size)
	case parquet.Encodings.ByteStreamSplit:
		return p.joinStreams(pg, size)
	}
	return fmt.Errorf("pages encoded as %s cannot be read", pg.encoding)
}

// rewrite takes a room of n bytes that replaces the page's.
func (p *pages) rewrite(pg *page, n int) ([]byte, error) {
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("a page of %d bytes", n)
	}
	r, err := p.take(n)
	if err != nil {
		return nil, err
	}
	p.held = append(p.held, r)
	pg.room, pg.at, pg.data, pg.encoding = r, 0, r.bytes(), parquet.Encodings.Plain
	return pg.data, nil
}

// numbers reads a run of deltas whole, and gives what is behind it. The
// numbers are good until the pages are released.
func (p *pages) numbers(pg *page, src []byte) ([]int64, []byte, error) {
	d, err := newDeltas(src)
	if err != nil {
		return nil, nil, err
	}
	if d.left > pg.values {
		return nil, nil, errDeltas
	}
	r, err := p.take(8 * d.left)
	if err != nil {
		return nil, nil, err
	}
	p.held = append(p.held, r)
	out := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(r.bytes()))), d.left)
	if err := d.read(out); err != nil {
		return nil, nil, err
	}
	return out, d.src, nil
}

func (p *pages) deltaNumbers(pg *page, size int) error {
	if size != 4 && size != 8 {
		return fmt.Errorf("deltas of %d bytes", size)
	}
	values, _, err := p.numbers(pg, pg.data)
	if err != nil {
		return err
	}
	dst, err := p.rewrite(pg, len(values)*size)
	if err != nil {
		return err
	}
	for i, v := range values {
		if size == 4 {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(dst[8*i:], uint64(v))
		}
	}
	return nil
}

// total is the sum of lengths, none of which may be negative or more than a page has.
func total(lengths []int64) (int, error) {
	sum := int64(0)
	for _, n := range lengths {
		if n < 0 || n > math.MaxInt32 {
			return 0, errDeltas
		}
		if sum += n; sum > math.MaxInt32 {
			return 0, fmt.Errorf("a page of over %d bytes", math.MaxInt32)
		}
	}
	return int(sum), nil
}

func (p *pages) deltaLengths(pg *page) error {
	lengths, data, err := p.numbers(pg, pg.data)
	if err != nil {
		return err
	}
	size, err := total(lengths)
	if err != nil {
		return err
	}
	if size > len(data) {
		return errFewValues
	}
	dst, err := p.rewrite(pg, size+4*len(lengths))
	if err != nil {
		return err
	}
	for _, n := range lengths {
		binary.LittleEndian.PutUint32(dst, uint32(n))
		copy(dst[4:], data[:n])
		dst, data = dst[4+n:], data[n:]
	}
	return nil
}

// deltaBytes reads values that share their beginnings with the one before.
func (p *pages) deltaBytes(pg *page, size int) error {
	shared, rest, err := p.numbers(pg, pg.data)
	if err != nil {
		return err
	}
	own, data, err := p.numbers(pg, rest)
	if err != nil {
		return err
	}
	a, err := total(shared)
	if err != nil {
		return err
	}
	b, err := total(own)
	if err != nil {
		return err
	}
	if len(own) != len(shared) || b > len(data) {
		return errFewValues
	}
	head := 4 // bytes of a length
	if size > 0 {
		head = 0
	}
	dst, err := p.rewrite(pg, a+b+head*len(own))
	if err != nil {
		return err
	}
	var last []byte
	for i, n := range own {
		k := int(shared[i])
		if k > len(last) || size > 0 && k+int(n) != size {
			return errDeltas
		}
		if size == 0 {
			binary.LittleEndian.PutUint32(dst, uint32(k+int(n)))
		}
		value := dst[head : head+k+int(n)]
		copy(value, last[:k])
		copy(value[k:], data[:n])
		last, dst, data = value, dst[head+len(value):], data[n:]
	}
	return nil
}

// joinStreams puts values together whose bytes lie apart: all first ones, all
// second ones.
func (p *pages) joinStreams(pg *page, size int) error {
	src := pg.data
	if size <= 0 || len(src)%size != 0 {
		return errFewValues
	}
	dst, err := p.rewrite(pg, len(src))
	if err != nil {
		return err
	}
	n := len(src) / size
	for j := range size {
		for i, b := range src[j*n : (j+1)*n] {
			dst[i*size+j] = b
		}
	}
	return nil
}

// deltas reads numbers that are written as differences, packed in blocks of
// miniblocks with a width each.
type deltas struct {
	src    []byte
	mini   int // numbers in a miniblock
	minis  int // miniblocks in a block
	left   int // numbers to come
	value  int64
	least  int64  // of the block: the least difference
	widths []byte // of the miniblocks of this block that are to come
}

var errDeltas = errors.New("the differences of a page are broken")

func newDeltas(src []byte) (*deltas, error) {
	d := &deltas{src: src}
	block, minis, count := d.uvarint(), d.uvarint(), d.uvarint()
	d.value = d.varint()
	if d.src == nil || block == 0 || block > 1<<24 || minis == 0 || minis > block || block%minis != 0 || count > math.MaxInt32 {
		return nil, errDeltas
	}
	d.minis, d.mini, d.left = int(minis), int(block/minis), int(count)
	return d, nil
}

// uvarint reads a number; src is nil after one that is not there.
func (d *deltas) uvarint() uint64 {
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		d.src = nil
		return 0
	}
	d.src = d.src[n:]
	return v
}

func (d *deltas) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// read takes all numbers; dst has room for them.
func (d *deltas) read(dst []int64) error {
	if len(dst) == 0 {
		return nil
	}
	dst[0] = d.value
	for dst = dst[1:]; len(dst) > 0; {
		if len(d.widths) == 0 {
			d.least = d.varint()
			if len(d.src) < d.minis {
				return errDeltas
			}
			d.widths, d.src = d.src[:d.minis], d.src[d.minis:]
		}
		width := int(d.widths[0])
		size := (d.mini*width + 7) / 8
		n := min(d.mini, len(dst))
		if width > 64 || len(d.src) < (n*width+7)/8 {
			return errDeltas
		}
		for i := range dst[:n] {
			d.value += d.least + int64(wideBits(d.src, i*width, width))
			dst[i] = d.value
		}
		dst, d.widths, d.src = dst[n:], d.widths[1:], d.src[min(size, len(d.src)):]
	}
	return nil
}

// wideBits is width bits of src from bit at on.
func wideBits(src []byte, at, width int) uint64 {
	if width == 0 {
		return 0
	}
	v := loadBits(src, at)
	if width > 56 {
		v = v&(1<<56-1) | loadBits(src, at+56)<<56
	}
	return v & (^uint64(0) >> (64 - width))
}
