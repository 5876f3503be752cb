package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/gpusql/gpusql/device"
)

// pages reads the pages of a column in a row group, one after the other.
//
//	file ──▶ window ──▶ page      (a page that is not compressed lies in the window)
//
// A page's bytes stay where they are until release.
type pages struct {
	im       *Importer
	file     io.ReaderAt
	at, end  int64 // what of the file is not in the window
	codec    compress.Codec
	kind     compress.Compression
	nullable bool
	levels   *levels // of a leaf that is not a column by itself; it is not nullable then

	window *room
	lo, hi int // the bytes of the window that are not read
	held   []*room
	free   []*room
}

// page is a data page or a dictionary.
type page struct {
	pageHeader
	present hybrid // the definition levels, when the column may be NULL
	data    []byte // the values
	room    *room  // where data lies, from byte at on
	at      int
}

const (
	// windowBytes is what is read at least; pages in use stay in a core's cache.
	windowBytes = 256 << 10
	// windowTail is read beyond a page, for the header of the next one.
	windowTail = 16 << 10
	// chunkSlack is for old writers, which did not count the dictionary's header.
	chunkSlack = 100
)

var errCutOff = errors.New("the file ends within a page")

// open starts at the first page of a chunk.
func (p *pages) open(im *Importer, file io.ReaderAt, size int64, chunk *metadata.ColumnChunkMetaData, nullable bool) (err error) {
	p.im, p.file, p.nullable = im, file, nullable
	p.kind = chunk.Compression()
	if p.codec, err = compress.GetCodec(p.kind); err != nil {
		return err
	}
	p.at = chunk.DataPageOffset()
	if d := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && d > 0 && d < p.at {
		p.at = d
	}
	n := chunk.TotalCompressedSize()
	if p.at < 0 || n < 0 || p.at > size || n > size-p.at {
		return fmt.Errorf("%d bytes from %d on of a file of %d", n, p.at, size)
	}
	p.end = min(p.at+n+chunkSlack, size)
	p.lo, p.hi = 0, 0
	return nil
}

// next gives the next page that has values or a dictionary.
func (p *pages) next() (page, error) {
	for {
		h, err := p.header()
		if err != nil {
			return page{}, err
		}
		if err := p.fetch(h.packed); err != nil {
			return page{}, err
		}
		body := p.window.bytes()[p.lo : p.lo+h.packed]
		if h.hasCRC && crc32.ChecksumIEEE(body) != h.crc {
			return page{}, errors.New("the checksum of a page is wrong")
		}
		pg := page{pageHeader: h, room: p.window, at: p.lo, data: body}
		p.lo += h.packed
		switch h.kind {
		case dataPage, dictionaryPage:
			if err = p.decompress(&pg, 0); err == nil && h.kind == dataPage {
				err = p.firstLevels(&pg)
			}
		case dataPageV2:
			if h.repBytes > h.packed || h.defBytes > h.packed-h.repBytes {
				return pg, errBadHeader
			}
			if err = p.decompress(&pg, h.repBytes+h.defBytes); err == nil {
				reps, defs := pg.data[:h.repBytes], pg.data[h.repBytes:h.repBytes+h.defBytes]
				pg.skip(h.repBytes + h.defBytes)
				if pg.present = (hybrid{src: defs, width: 1}); p.levels != nil {
					err = p.levels.begin(&pg, reps, defs)
				}
			}
		default:
			continue
		}
		return pg, err
	}
}

// header reads the next page's header.
func (p *pages) header() (pageHeader, error) {
	for want := 1; ; want = 2 * (p.hi - p.lo) {
		if err := p.fetch(min(want, p.hi-p.lo+int(min(p.end-p.at, windowBytes)))); err != nil {
			return pageHeader{}, err
		}
		if p.hi == p.lo {
			return pageHeader{}, errCutOff
		}
		h, n, err := readPageHeader(p.window.bytes()[p.lo:p.hi])
		if err == errShortHeader && p.at < p.end && p.hi-p.lo < maxHeader {
			continue
		}
		p.lo += n
		return h, err
	}
}

// maxHeader bounds a page's header, which has the least and the greatest value.
const maxHeader = 16 << 20

// fetch sees to it that n unread bytes are in the window.
func (p *pages) fetch(n int) error {
	have := p.hi - p.lo
	if n <= have {
		return nil
	}
	if int64(n-have) > p.end-p.at {
		return errCutOff
	}
	size := max(n+windowTail, windowBytes)
	if rest := int64(have) + p.end - p.at; int64(size) > rest {
		size = int(rest)
	}
	next, err := p.take(size)
	if err != nil {
		return err
	}
	b := next.bytes()[:size]
	if have > 0 {
		copy(b, p.window.bytes()[p.lo:p.hi])
	}
	if p.window != nil {
		p.held = append(p.held, p.window)
	}
	p.window, p.lo, p.hi = next, 0, size
	if _, err := p.file.ReadAt(b[have:], p.at); err != nil {
		if err == io.EOF {
			err = errCutOff
		}
		return err
	}
	p.at += int64(size - have)
	return nil
}

// take gives a room of at least n bytes.
func (p *pages) take(n int) (*room, error) {
	r := &room{}
	if k := len(p.free); k > 0 {
		r, p.free = p.free[k-1], p.free[:k-1]
	}
	if _, err := r.reserve(p.im, n); err != nil {
		p.free = append(p.free, r)
		return nil, err
	}
	return r, nil
}

// release gives up the pages so far, but for those that lie in keep.
func (p *pages) release(keep ...*room) {
	kept := p.held[:0]
	for _, r := range p.held {
		if slices.Contains(keep, r) {
			kept = append(kept, r)
		} else {
			p.free = append(p.free, r)
		}
	}
	p.held = kept
}

// decompress replaces what is behind the first skip bytes by what it stands for.
func (p *pages) decompress(pg *page, skip int) error {
	if p.kind == compress.Codecs.Uncompressed || !pg.compressed {
		if pg.size != len(pg.data) {
			return fmt.Errorf("a page of %d bytes has %d", pg.size, len(pg.data))
		}
		return nil
	}
	if skip > pg.size {
		return errBadHeader
	}
	src := pg.data[skip:]
	if n, _ := binary.Uvarint(src); p.kind == compress.Codecs.Snappy && n != uint64(pg.size-skip) {
		return fmt.Errorf("a page of %d bytes has %d", pg.size-skip, n)
	}
	r, err := p.take(pg.size)
	if err != nil {
		return err
	}
	p.held = append(p.held, r)
	dst := r.bytes()[:pg.size]
	copy(dst, pg.data[:skip])
	if skip < pg.size {
		got, err := compress.Decode(p.codec, dst[skip:], src)
		if err != nil {
			return err
		}
		if len(got) != pg.size-skip {
			return fmt.Errorf("a page of %d bytes has %d", pg.size-skip, len(got))
		}
		if unsafe.SliceData(got) != unsafe.SliceData(dst[skip:]) {
			copy(dst[skip:], got)
		}
	}
	pg.room, pg.at, pg.data = r, 0, dst
	return nil
}

// firstLevels finds the levels of a page of version 1.
func (p *pages) firstLevels(pg *page) error {
	if p.levels != nil {
		return p.levels.find(pg)
	}
	if !p.nullable {
		return nil
	}
	switch pg.pageHeader.levels {
	case parquet.Encodings.RLE:
		defs, err := pg.cutLevels()
		if err != nil {
			return err
		}
		pg.present = hybrid{src: defs, width: 1}
	case parquet.Encodings.BitPacked:
		n := (pg.values + 7) / 8
		if n > len(pg.data) {
			return errCodes
		}
		pg.present = packedBits(reversed(pg.data[:n]), 1)
		pg.skip(n)
	default:
		return fmt.Errorf("levels encoded as %s", pg.pageHeader.levels)
	}
	return nil
}

// cutLevels takes levels with their length before them off a page.
func (pg *page) cutLevels() ([]byte, error) {
	if len(pg.data) < 4 {
		return nil, errCodes
	}
	n := binary.LittleEndian.Uint32(pg.data)
	if uint64(n) > uint64(len(pg.data)-4) {
		return nil, errCodes
	}
	out := pg.data[4 : 4+n]
	pg.skip(4 + int(n))
	return out, nil
}

// reversed turns the bits of every byte: the old form of levels begins with
// the highest.
func reversed(b []byte) []byte {
	out := make([]byte, len(b))
	for i, v := range b {
		v = v>>4 | v<<4
		v = v>>2&0x33 | v<<2&0xcc
		out[i] = v>>1&0x55 | v<<1&0xaa
	}
	return out
}

// skip passes over the first n bytes.
func (pg *page) skip(n int) {
	pg.data = pg.data[n:]
	pg.at += n
}

// address is where the page's bytes are in the device's memory.
func (pg *page) address(im *Importer) (device.Ptr, error) {
	return pg.room.address(im, pg.at, len(pg.data))
}

// close gives the memory back.
func (p *pages) close() {
	for _, r := range append(append(p.free, p.held...), p.window) {
		r.release()
	}
	p.free, p.held, p.window = nil, nil, nil
}
