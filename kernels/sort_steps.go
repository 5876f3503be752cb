package kernels

import (
	"encoding/binary"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

//gpu:layout
type sortLaunch struct {
	Src        Vec
	Rows, Out  device.Ptr
	Form       uint32
	Word       uint32
	Desc       uint32
	NullsFirst uint32
}

var (
	sortWordsCode   = &device.Kernel[sortLaunch]{Name: "sort_words", Code: codeSortWords}
	sortLongestCode = &device.Kernel[sortLaunch]{Name: "sort_longest", Code: boundGrid(codeSortLongest)}
)

// sortDevice is Sort by one word after the other, the least significant first:
// each sort is stable. Scratch holds the words and row numbers, twice.
func sortDevice(s device.Stream, cols []SortColumn, n int, rows, scratch device.Ptr) error {
	radix := WholeKey(8, 4)
	b, err := device.Scratch(s, radix.Bytes(n)+8)
	if err != nil {
		return err
	}
	defer b.Release()
	o := &deviceSort{s: s, n: n, scratch: b.Ptr() + 8, most: b.Ptr()}
	o.words = [2]device.Ptr{scratch, scratch + device.Ptr(8*n)}
	o.rows = [2]device.Ptr{scratch + device.Ptr(16*n), scratch + device.Ptr(20*n)}
	if err := Numbers(s, o.rows[0], n); err != nil {
		return err
	}
	for i := len(cols) - 1; i >= 0; i-- {
		if err := o.column(&cols[i]); err != nil {
			return err
		}
	}
	return Copy(s, rows, o.rows[0], 4*n)
}

// deviceSort is a sort under way: rows[0] is the order so far.
type deviceSort struct {
	s       device.Stream
	n       int
	words   [2]device.Ptr
	rows    [2]device.Ptr
	scratch device.Ptr
	most    device.Ptr
}

// column sorts by a column.
func (o *deviceSort) column(c *SortColumn) error {
	l := sortLaunch{Src: c.Vec, Form: uint32(c.Phys), Desc: uint32(b2u(c.Desc)), NullsFirst: uint32(b2u(c.NullsFirst))}
	words, bytes := 1, c.Phys.Width()
	switch c.Phys {
	case sqltype.PhysStr:
		longest, err := o.longest(l)
		if err != nil {
			return err
		}
		words, bytes = (longest+7)/8, 8
		if err := o.by(l, uint32(partLength), 4); err != nil {
			return err
		}
	case sqltype.PhysI128, sqltype.PhysSpan:
		words, bytes = 2, 8
	}
	for w := words - 1; w >= 0; w-- {
		if err := o.by(l, uint32(w), bytes); err != nil {
			return err
		}
	}
	if c.Vec.Valid == 0 {
		return nil
	}
	l.Desc = 0
	return o.by(l, uint32(partNull), 1)
}

// by sorts by a word, of which the lowest bytes differ.
func (o *deviceSort) by(l sortLaunch, word uint32, bytes int) error {
	l.Word, l.Rows, l.Out = word, o.rows[0], o.words[0]
	if err := device.Launch(o.s, sortWordsCode, o.n, l); err != nil {
		return err
	}
	side, err := Radix{Key: 8, Value: 4, Last: bytes}.Sort(o.s, o.words, o.rows, o.scratch, o.n)
	if side == 1 {
		o.words[0], o.words[1] = o.words[1], o.words[0]
		o.rows[0], o.rows[1] = o.rows[1], o.rows[0]
	}
	return err
}

// longest is the length of the longest string.
func (o *deviceSort) longest(l sortLaunch) (int, error) {
	if err := Zero(o.s, o.most, 8); err != nil {
		return 0, err
	}
	l.Out = o.most
	if err := device.Launch(o.s, sortLongestCode, o.n, l); err != nil {
		return 0, err
	}
	var most [8]byte
	err := o.s.Download(most[:], o.most)
	return int(binary.LittleEndian.Uint64(most[:])), err
}
