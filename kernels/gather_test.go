package kernels

import (
	"fmt"
	"testing"
)

// gatherRows is the rows of the sources that tests take rows from.
const gatherRows = 1234

// rowNumbers are n rows of a source, every seventh Missing when asked for.
func (m *memory) rowNumbers(n int, missing bool) []uint32 {
	idx := make([]uint32, n)
	for i := range idx {
		if idx[i] = m.Uint32N(gatherRows); missing && i%7 == 3 {
			idx[i] = Missing
		}
	}
	return idx
}

// dictionary is a column of codes, some of them beyond the dictionary under a NULL.
func (m *memory) dictionary(width, n int) Vec {
	const values = 100
	codes := make([]uint32, n)
	valid := make([]uint64, (n+63)/64)
	for i := range codes {
		if codes[i] = m.Uint32N(values); i%5 == 2 {
			codes[i] = m.Uint32()
		} else {
			valid[i/64] |= 1 << (i % 64)
		}
	}
	return Vec{Data: upload(m, codes), Valid: upload(m, valid), Dict: upload(m, random[uint8](m, values*width)), DictLen: values}
}

func TestGather(t *testing.T) {
	for _, width := range []int{1, 2, 4, 8, 16} {
		t.Run(fmt.Sprint("width ", width), func(t *testing.T) {
			agree(t, stepSizes, func(m *memory, n int) []any {
				src := Vec{Data: upload(m, random[uint8](m, gatherRows*width)), Valid: m.bitmap(gatherRows)}
				dst := Vec{Data: m.room(n * width), Valid: m.room(BitmapBytes(n))}
				m.ok(Gather(m.s, width, &dst, src, upload(m, m.rowNumbers(n, false)), n))
				out := []any{download[uint8](m, dst.Data, n*width), m.downloadBits(dst.Valid, n)}
				src.Valid = 0
				m.ok(GatherMissing(m.s, width, &dst, src, upload(m, m.rowNumbers(n, true)), n))
				return append(out, download[uint8](m, dst.Data, n*width), m.downloadBits(dst.Valid, n))
			})
		})
	}
}

func TestFlatten(t *testing.T) {
	for _, width := range []int{1, 2, 4, 8, 16} {
		t.Run(fmt.Sprint("width ", width), func(t *testing.T) {
			agree(t, stepSizes, func(m *memory, n int) []any {
				dst := Vec{Data: m.room(n * width)}
				m.ok(Flatten(m.s, width, dst, m.dictionary(width, n), n))
				return []any{download[uint8](m, dst.Data, n*width)}
			})
		})
	}
}

// TestFetch puts a destination together of three sources.
func TestFetch(t *testing.T) {
	for _, width := range []int{1, 2, 4, 8, 16} {
		t.Run(fmt.Sprint("width ", width), func(t *testing.T) {
			agree(t, stepSizes, func(m *memory, n int) []any {
				const first = 45
				rows := first + 2*n
				dst := Vec{Data: upload(m, make([]uint8, rows*width)), Valid: m.room(BitmapBytes(rows))}
				plain := Vec{Data: upload(m, random[uint8](m, gatherRows*width))}
				nulls := Vec{Data: plain.Data, Valid: m.bitmap(gatherRows)}
				m.ok(Fetch(m.s, width, dst, 0, plain, upload(m, m.rowNumbers(first, false)), first))
				m.ok(Fetch(m.s, width, dst, first, nulls, upload(m, m.rowNumbers(n, false)), n))
				m.ok(Fetch(m.s, width, dst, first+n, m.dictionary(width, gatherRows), upload(m, m.rowNumbers(n, false)), n))
				return []any{download[uint8](m, dst.Data, rows*width), m.downloadBits(dst.Valid, rows)}
			})
		})
	}
}
