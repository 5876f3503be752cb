package kernels

import (
	"encoding/binary"
	"math"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// cells number the rows of a batch whose keys can have few values: codes of
// small dictionaries, booleans, integers that lie close together. A row's cell
// is computed from its values without looking at another row,
//
//	cell = (value0 - low0) + span0 * (value1 - low1) + ...
//
// and only the first row of each cell is looked up among the groups.
// Dictionaries differ from batch to batch, and so do cells: nothing is kept.
type cells struct {
	table  Array // cell -> its place among the cells in use + 1
	rows   Array // the first row of each cell in use, and then its group
	keys   Array // the keys of those rows
	misses int   // batches in a row that had too many cells
}

// A batch of fewer rows is not worth the detour, and keys that had too many
// values several times will have them again.
const (
	cellRows   = 64
	cellMisses = 4
)

// domain is what the values of a key column are among: span numbers from low
// on, and one more for NULL.
type domain struct {
	low  int64
	span uint64
}

type cellArgs struct {
	Src    Vec
	Out    device.Ptr // uint32 cells; then their places
	Low    int64
	Span   uint32
	Stride uint32
	First  uint32 // 1: sets the cell, the other columns add to it
	Table  device.Ptr
	Rows   device.Ptr
	Count  device.Ptr
}

var (
	cellKernels = [sqltype.NumPhys]*device.Kernel[cellArgs]{
		sqltype.PhysBool: {Name: "cell_bool", Host: cellHost[uint8]},
		sqltype.PhysI8:   {Name: "cell_i8", Host: cellHost[int8]},
		sqltype.PhysI16:  {Name: "cell_i16", Host: cellHost[int16]},
		sqltype.PhysI32:  {Name: "cell_i32", Host: cellHost[int32]},
		sqltype.PhysI64:  {Name: "cell_i64", Host: cellHost[int64]},
		sqltype.PhysU8:   {Name: "cell_u8", Host: cellHost[uint8]},
		sqltype.PhysStr:  {Name: "cell_code", Host: cellHost[uint32]},
	}
	cellPlaces = &device.Kernel[cellArgs]{Name: "cell_places", Host: cellPlacesHost}
	mapIDs     = &device.Kernel[cellArgs]{Name: "map_ids", Host: mapIDsHost}
)

// findCells is Find by cells; false when the keys have too many values.
func (g *Groups) findCells(s device.Stream, keys []Vec, n int, ids device.Ptr) (bool, error) {
	most := uint64(min(2*n, 1<<16))
	total := uint64(1)
	domains := make([]domain, len(keys))
	for i := range keys {
		d, ok, err := g.domain(s, &keys[i], g.layout.Phys[i], n)
		if err != nil {
			return false, err
		}
		if ok {
			total *= min(d.span, most) + 1
		}
		if !ok || total > most {
			g.cells.misses++
			return false, nil
		}
		domains[i] = d
	}
	g.cells.misses = 0
	used, err := g.places(s, keys, domains, int(total), n, ids)
	if err != nil {
		return false, err
	}
	firsts, err := g.gatherKeys(s, keys, used)
	if err != nil {
		return false, err
	}
	if err := g.findHashed(s, firsts, used, g.cells.rows.Ptr()); err != nil {
		return false, err
	}
	return true, device.Launch(s, mapIDs, n, cellArgs{Out: ids, Rows: g.cells.rows.Ptr()})
}

// domain finds what a key column's values are among.
func (g *Groups) domain(s device.Stream, key *Vec, p sqltype.Phys, n int) (domain, bool, error) {
	switch p {
	case sqltype.PhysBool:
		return domain{0, 2}, true, nil
	case sqltype.PhysI8:
		return domain{-128, 256}, true, nil
	case sqltype.PhysU8:
		return domain{0, 256}, true, nil
	case sqltype.PhysStr:
		return domain{0, uint64(key.DictLen)}, key.Dict != 0, nil
	case sqltype.PhysI16, sqltype.PhysI32, sqltype.PhysI64:
		low, high, err := keyRange(s, *key, p, n, key.Valid, g.ctl.Ptr()+16)
		if low > high {
			return domain{0, 1}, true, err // all are NULL
		}
		d := domain{low, uint64(high) - uint64(low) + 1}
		return d, d.span != 0, err
	default:
		return domain{}, false, nil
	}
}

// keyRange is the lowest and the highest of those of n values that are 1 in the
// bitmap match (0: of all); scratch is 16 bytes.
func keyRange(s device.Stream, key Vec, p sqltype.Phys, n int, match, scratch device.Ptr) (low, high int64, err error) {
	low, high = math.MaxInt64, math.MinInt64
	err = Pieces(s, n, func(lo, hi int) error {
		a := joinArgs{Key: key.from(lo, p.Width()), Skip: bitsFrom(match, lo), Low: scratch}
		if err := device.Launch(s, rangeKernels[p], hi-lo, a); err != nil {
			return err
		}
		var c [16]byte
		err := s.Download(c[:], scratch)
		low = min(low, int64(binary.LittleEndian.Uint64(c[:])))
		high = max(high, int64(binary.LittleEndian.Uint64(c[8:])))
		return err
	})
	return low, high, err
}

// places writes to ids the place of each row's cell among those in use, and
// gives how many these are.
func (g *Groups) places(s device.Stream, keys []Vec, domains []domain, total, n int, ids device.Ptr) (int, error) {
	if err := g.cells.table.Extend(g.mem, s, 0, 4*total); err != nil {
		return 0, err
	}
	if err := g.cells.rows.Extend(g.mem, s, 0, 4*min(n, total)); err != nil {
		return 0, err
	}
	stride := uint32(1)
	for i := range keys {
		a := cellArgs{Src: keys[i], Out: ids, Low: domains[i].low, Span: uint32(domains[i].span), Stride: stride}
		if i == 0 {
			a.First = 1
		}
		if err := device.Launch(s, cellKernels[g.layout.Phys[i]], n, a); err != nil {
			return 0, err
		}
		stride *= a.Span + 1
	}
	count := g.ctl.Ptr() + 8
	a := cellArgs{Out: ids, Table: g.cells.table.Ptr(), Span: uint32(total), Rows: g.cells.rows.Ptr(), Count: count}
	if err := device.Launch(s, cellPlaces, n, a); err != nil {
		return 0, err
	}
	return readCount(s, count)
}

// gatherKeys copies the keys of the first row of each cell in use.
func (g *Groups) gatherKeys(s device.Stream, keys []Vec, used int) ([]Vec, error) {
	room := 16*used + BitmapBytes(used)
	if err := g.cells.keys.Extend(g.mem, s, 0, room*len(keys)); err != nil {
		return nil, err
	}
	out := make([]Vec, len(keys))
	for i := range keys {
		at := g.cells.keys.Ptr() + device.Ptr(room*i)
		out[i] = Vec{Data: at + device.Ptr(BitmapBytes(used)), Valid: at}
		if err := Gather(s, g.layout.Phys[i].Width(), &out[i], keys[i], g.cells.rows.Ptr(), used); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *cells) release() {
	c.table.Release()
	c.rows.Release()
	c.keys.Release()
}

func cellHost[T Integer](a *cellArgs, lo, hi int) {
	src := device.View[T](a.Src.Data, hi)
	out := device.View[uint32](a.Out, hi)[:len(src)]
	valid := device.View[uint64](a.Src.Valid, (hi+63)/64)
	low, stride := a.Low, a.Stride
	switch {
	case valid == nil && a.First != 0 && stride == 1:
		for i, v := range src {
			out[i] = uint32(int64(v) - low)
		}
	case valid == nil:
		for i, v := range src {
			out[i] += uint32(int64(v)-low) * stride
		}
	default:
		if a.First != 0 {
			clear(out)
		}
		for i, v := range src {
			at := a.Span
			if valid[i>>6]>>(i&63)&1 != 0 {
				at = uint32(int64(v) - low)
			}
			out[i] += at * stride
		}
	}
}

func cellPlacesHost(a *cellArgs, lo, hi int) {
	ids := device.View[uint32](a.Out, hi)
	table := device.View[uint32](a.Table, int(a.Span))
	rows := device.View[uint32](a.Rows, maxRows)
	clear(table)
	used := uint32(0)
	for i, c := range ids {
		p := table[c]
		if p == 0 {
			rows[used] = uint32(i)
			used++
			p = used
			table[c] = p
		}
		ids[i] = p - 1
	}
	device.View[uint64](a.Count, 1)[0] = uint64(used)
}

func mapIDsHost(a *cellArgs, lo, hi int) {
	ids := device.View[uint32](a.Out, hi)[lo:hi]
	to := device.View[uint32](a.Rows, maxRows)
	for i, p := range ids {
		ids[i] = to[p]
	}
}
