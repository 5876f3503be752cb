package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// leaf reads a column of a row group into memory that is used again for the
// next batch.
type leaf interface {
	// read takes the next n values, NULLs counted.
	read(n int) (Column, error)
	// advance goes to the next data page, and says how many values it has.
	advance() (int, error)
	Close() error
}

// leafHead is what all leaves have: the page being read, and the NULLs.
type leafHead struct {
	pages
	typ   sqltype.Type
	width int // bytes of a value in the file, 0 when it has a length
	page  page
	left  int // rows left in the page
	coded bool
	codes hybrid // of a page that is coded
	mask  room
	bits  []uint64
	nulls bool // of this batch
}

var (
	errNoDictionary = errors.New("a page has codes, and there is no dictionary")
	errTwoDicts     = errors.New("there are two dictionaries")
	errFewValues    = errors.New("a page has fewer values than it says")
)

// start begins a batch of n rows.
func (h *leafHead) start(n int) (err error) {
	h.nulls = false
	if h.nullable {
		if h.bits, err = roomOf[uint64](&h.mask, h.im, kernels.BitmapBytes(n)/8); err == nil {
			clear(h.bits)
		}
	}
	return err
}

// turn goes to the next data page; dict takes a dictionary on the way.
func (h *leafHead) turn(dict func(*page) error) error {
	for h.left == 0 {
		if err := h.nextPage(dict); err != nil {
			return err
		}
	}
	return nil
}

// nextPage goes to the next data page, which may have no values.
func (h *leafHead) nextPage(dict func(*page) error) error {
	for {
		pg, err := h.pages.next()
		if err != nil {
			return err
		}
		if pg.kind != dictionaryPage {
			h.page, h.left = pg, pg.values
			return h.enter()
		}
		if err := dict(&pg); err != nil {
			return err
		}
	}
}

// enter looks at the encoding of a data page.
func (h *leafHead) enter() error {
	data := h.page.data
	switch e := h.page.encoding; {
	case e == parquet.Encodings.PlainDict || e == parquet.Encodings.RLEDict:
		h.coded, h.codes = true, hybrid{}
		if len(data) > 0 {
			if data[0] > maxCodeBits {
				return fmt.Errorf("codes of %d bits", data[0])
			}
			h.codes = hybrid{src: data[1:], width: int(data[0])}
		}
	case e == parquet.Encodings.Plain && h.typ.Kind == sqltype.KindBool:
		h.coded, h.codes = true, packedBits(data, 1)
	case e == parquet.Encodings.Plain:
		h.coded = false
	case e == parquet.Encodings.RLE && h.typ.Kind == sqltype.KindBool:
		if len(data) < 4 {
			return errFewValues
		}
		h.coded, h.codes = true, hybrid{src: data[4:], width: 1}
	default:
		h.coded = false
		return h.settle(&h.page, h.width)
	}
	return nil
}

// present says how many of the next rows, up to n, lie in the page, and how
// many of them are not NULL. They are rows at and on of the batch.
func (h *leafHead) present(at, n int) (rows, values int, err error) {
	rows = min(n, h.left)
	h.left -= rows
	if !h.nullable {
		return rows, rows, nil
	}
	values, err = h.page.present.flags(h.bits, at, rows)
	h.nulls = h.nulls || values < rows
	return rows, values, err
}

// validity is the bitmap's address, 0 when nothing is NULL.
func (h *leafHead) validity() (device.Ptr, error) {
	if !h.nulls {
		return 0, nil
	}
	return h.mask.address(h.im, 0, len(h.bits)*8)
}

func (h *leafHead) close() {
	h.mask.release()
	h.pages.close()
}

// spread moves values that lie together to their rows, which are bits at and
// on of mask. What is NULL gets a zero.
func spread[D any](out []D, mask []uint64, at, values int) {
	var zero D
	for i := len(out) - 1; i >= values; i-- { // the first ones are where they belong
		if b := at + i; mask[b/64]>>(b%64)&1 == 0 {
			out[i] = zero
			continue
		}
		values--
		out[i] = out[values]
	}
}

// fixedLeaf reads values of fixed width, in the engine's form D.
type fixedLeaf[D any] struct {
	leafHead
	plain   plain[D]
	dict    []D
	dictMem room
	values  room
	scratch [codeRun]uint32
}

// codeRun is how many codes are unpacked at a time: they stay in the nearest cache.
const codeRun = 1024

func (l *fixedLeaf[D]) read(n int) (Column, error) {
	col := Column{Type: l.typ}
	if err := l.start(n); err != nil {
		return col, err
	}
	out, err := roomOf[D](&l.values, l.im, n)
	if err != nil {
		return col, err
	}
	for done := 0; done < n; {
		if l.left == 0 {
			l.release() // values are copied out of their pages
		}
		if err := l.turn(l.dictionary); err != nil {
			return col, err
		}
		rows, values, err := l.present(done, n-done)
		if err == nil {
			err = l.decode(out[done : done+values])
		}
		if err != nil {
			return col, err
		}
		if values < rows {
			spread(out[done:done+rows], l.bits, done, values)
		}
		done += rows
	}
	if col.Vec.Valid, err = l.validity(); err == nil {
		col.Vec.Data, err = l.values.address(l.im, 0, l.values.size)
	}
	return col, err
}

func (l *fixedLeaf[D]) advance() (int, error) {
	l.release()
	err := l.nextPage(l.dictionary)
	return l.left, err
}

func (l *fixedLeaf[D]) dictionary(pg *page) (err error) {
	if l.dict != nil {
		return errTwoDicts
	}
	if pg.values > len(pg.data) { // no value is less than a byte
		return errFewValues
	}
	if l.dict, err = roomOf[D](&l.dictMem, l.im, pg.values); err == nil {
		_, err = l.plain(l.dict, pg.data)
	}
	return err
}

// decode takes the next values of the page.
func (l *fixedLeaf[D]) decode(out []D) error {
	if !l.coded {
		n, err := l.plain(out, l.page.data)
		if err == nil {
			l.page.skip(n)
		}
		return err
	}
	dict := l.dict
	if len(dict) == 0 && len(out) > 0 {
		return errNoDictionary
	}
	for len(out) > 0 {
		codes := l.scratch[:min(codeRun, len(out))]
		if err := l.codes.read(codes); err != nil {
			return err
		}
		part := out[:len(codes)]
		for i, c := range codes {
			if uint(c) >= uint(len(dict)) {
				return badCode(c, len(dict))
			}
			part[i] = dict[c]
		}
		out = out[len(codes):]
	}
	return nil
}

func badCode(c uint32, n int) error { return fmt.Errorf("code %d of a dictionary of %d", c, n) }

func (l *fixedLeaf[D]) Close() error {
	l.dictMem.release()
	l.values.release()
	l.close()
	return nil
}

// textLeaf reads text and bytes. A batch has codes when all its pages do and
// its rows may repeat values; else it has views.
type textLeaf struct {
	leafHead
	rows     int // the most of a batch
	dict     []kernels.View
	dictMem  room
	dictPage *room    // where the bytes of the dictionary lie
	batch    []uint32 // the rows of the batch that are read as codes
	codeMem  room
	viewMem  room
}

func (l *textLeaf) read(n int) (Column, error) {
	col := Column{Type: l.typ}
	l.release(l.page.room, l.dictPage)
	if err := l.start(n); err != nil {
		return col, err
	}
	if err := l.turn(l.dictionary); err != nil {
		return col, err
	}
	l.batch = nil
	var err error
	if len(l.dict) > 0 && len(l.dict) <= l.rows {
		if err = l.readCodes(n); err != nil {
			return col, err
		}
	}
	if len(l.batch) == n {
		col.Vec.DictLen = uint32(len(l.dict))
		if col.Vec.Dict, err = l.dictMem.address(l.im, 0, l.dictMem.size); err == nil {
			col.Vec.Data, err = l.codeMem.address(l.im, 0, l.codeMem.size)
		}
	} else if err = l.readViews(n); err == nil {
		col.Vec.Data, err = l.viewMem.address(l.im, 0, l.viewMem.size)
	}
	if err == nil {
		col.Vec.Valid, err = l.validity()
	}
	return col, err
}

func (l *textLeaf) advance() (int, error) {
	l.release(l.dictPage)
	err := l.nextPage(l.dictionary)
	return l.left, err
}

// readCodes reads n rows into batch, or those before a page that has no codes.
func (l *textLeaf) readCodes(n int) error {
	out, err := roomOf[uint32](&l.codeMem, l.im, n)
	if err != nil {
		return err
	}
	done := 0
	for done < n {
		if err := l.turn(l.dictionary); err != nil {
			return err
		}
		if !l.coded {
			break
		}
		rows, values, err := l.present(done, n-done)
		if err == nil {
			err = l.unpack(out[done : done+values])
		}
		if err != nil {
			return err
		}
		if values < rows {
			spread(out[done:done+rows], l.bits, done, values)
		}
		done += rows
	}
	l.batch = out[:done]
	return nil
}

// unpack takes the next codes of the page.
func (l *textLeaf) unpack(out []uint32) error {
	if len(out) == 0 {
		return nil
	}
	if err := l.codes.read(out); err != nil {
		return err
	}
	if c := slices.Max(out); int(c) >= len(l.dict) {
		return badCode(c, len(l.dict))
	}
	return nil
}

// readViews reads n rows, the first of which are in batch.
func (l *textLeaf) readViews(n int) error {
	out, err := roomOf[kernels.View](&l.viewMem, l.im, n)
	if err != nil {
		return err
	}
	for i, c := range l.batch {
		out[i] = l.dict[c]
	}
	done := len(l.batch)
	for done < n {
		if err := l.turn(l.dictionary); err != nil {
			return err
		}
		rows, values, err := l.present(done, n-done)
		if err == nil {
			err = l.views(out[done : done+values])
		}
		if err != nil {
			return err
		}
		if values < rows {
			spread(out[done:done+rows], l.bits, done, values)
		}
		done += rows
	}
	return nil
}

// views takes the next values of the page.
func (l *textLeaf) views(out []kernels.View) error {
	if len(out) == 0 {
		return nil
	}
	if !l.coded {
		return l.plain(out, &l.page)
	}
	var scratch [codeRun]uint32
	for len(out) > 0 {
		codes := scratch[:min(codeRun, len(out))]
		if err := l.unpack(codes); err != nil {
			return err
		}
		for i, c := range codes {
			out[i] = l.dict[c]
		}
		out = out[len(codes):]
	}
	return nil
}

func (l *textLeaf) dictionary(pg *page) (err error) {
	if l.dictPage != nil {
		return errTwoDicts
	}
	if pg.values > len(pg.data) {
		return errFewValues
	}
	l.dictPage = pg.room
	if l.dict, err = roomOf[kernels.View](&l.dictMem, l.im, pg.values); err == nil {
		err = l.plain(l.dict, pg)
	}
	return err
}

// plain makes views of the next values of a page.
func (l *textLeaf) plain(out []kernels.View, pg *page) error {
	base, err := pg.address(l.im)
	if err != nil {
		return err
	}
	var n int
	if l.width > 0 {
		n, err = fixedViews(out, pg.data, base, l.width)
	} else {
		n, err = plainViews(out, pg.data, base)
	}
	if err != nil {
		return err
	}
	if l.typ.Kind == sqltype.KindVarchar && !isASCII(pg.data[:n]) {
		if err := l.checkText(len(out), pg.data); err != nil {
			return err
		}
	}
	pg.skip(n)
	return nil
}

// plainViews makes views of values that have their lengths before them, and
// gives the bytes that they take. data is at base.
func plainViews(out []kernels.View, data []byte, base device.Ptr) (int, error) {
	at := 0
	for i := range out {
		rest := data[at:]
		if len(rest) < 4 {
			return 0, errFewValues
		}
		n := int(binary.LittleEndian.Uint32(rest))
		if n > len(rest)-4 {
			return 0, errFewValues
		}
		switch {
		case n > kernels.InlineLen: // the length and the first bytes stand as in a view
			out[i] = kernels.View{Lo: binary.LittleEndian.Uint64(rest), Hi: uint64(base) + uint64(at) + 4}
		case len(rest) < 16:
			out[i] = makeView(rest[4:4+n], 0)
		case n <= 4:
			out[i] = kernels.View{Lo: binary.LittleEndian.Uint64(rest) & (1<<(32+8*n) - 1)}
		default:
			out[i] = kernels.View{Lo: binary.LittleEndian.Uint64(rest),
				Hi: binary.LittleEndian.Uint64(rest[8:]) & (1<<(8*(n-4)) - 1)}
		}
		at += 4 + n
	}
	return at, nil
}

// fixedViews makes views of values of width bytes.
func fixedViews(out []kernels.View, data []byte, base device.Ptr, width int) (int, error) {
	if len(data)/width < len(out) {
		return 0, errFewValues
	}
	for i := range out {
		at := i * width
		out[i] = makeView(data[at:at+width], base+device.Ptr(at))
	}
	return len(out) * width, nil
}

// isASCII reports that no byte has its highest bit.
func isASCII(b []byte) bool {
	for ; len(b) >= 32; b = b[32:] {
		v := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) |
			binary.LittleEndian.Uint64(b[16:]) | binary.LittleEndian.Uint64(b[24:])
		if v&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// checkText checks the next n values of data, which are whole.
func (l *textLeaf) checkText(n int, data []byte) error {
	for range n {
		size := l.width
		if size == 0 {
			size = int(binary.LittleEndian.Uint32(data))
			data = data[4:]
		}
		if !utf8.Valid(data[:size]) {
			return fmt.Errorf("text is not UTF-8: %q", data[:min(size, 40)])
		}
		data = data[size:]
	}
	return nil
}

func (l *textLeaf) Close() error {
	l.dictMem.release()
	l.codeMem.release()
	l.viewMem.release()
	l.close()
	return nil
}
