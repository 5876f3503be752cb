package kernels

import (
	"fmt"
	"math"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// CollectOp is an aggregate that needs all values of a group, in order.
type CollectOp uint8

// The closed set of them.
const (
	CollectFirst        CollectOp = iota
	CollectLast                   // the last value
	CollectMode                   // the most frequent value; equal ones are neighbours
	CollectQuantileCont           // of DOUBLE, between two values
	CollectQuantileDisc           // one of the values
	CollectJoin                   // strings, one after the other
)

// Collect is such an aggregate over values of a form.
type Collect struct {
	Op   CollectOp
	Phys sqltype.Phys
}

// Collected is n rows in order: Rows are their numbers, those of a group being
// neighbours; the rest is by row number. Second is the fraction of a quantile
// and the separator of CollectJoin, "," when it has no Data.
type Collected struct {
	Rows, IDs   device.Ptr
	N           int
	Src, Second Vec
}

type collectArgs struct {
	Collected
	Collect
	Dst  Vec
	Out  device.Ptr
	Heap *Heap
	At   *int
	Fail *error
}

var (
	collectFinal = &device.Kernel[collectArgs]{Name: "collect", Host: collectHost}
	collectHeads = &device.Kernel[collectArgs]{Name: "collect_heads", Host: collectHeadsHost}
)

// collectRows is about how many rows a launch goes through.
const collectRows = 1 << 16

// Final writes the results of groups to dst, which has a bitmap; a group
// without rows is NULL. Strings view the bytes of the rows, or of heap. It is
// done in launches of bounded size, and check is asked between them.
func (c Collect) Final(s device.Stream, in Collected, groups int, dst Vec, heap *Heap, check func() error) error {
	if err := Zero(s, dst.Valid, BitmapBytes(groups)); err != nil {
		return err
	}
	if err := Zero(s, dst.Data, groups*c.Phys.Width()); err != nil {
		return err
	}
	var fail error
	at := 0
	for at < in.N {
		if err := check(); err != nil {
			return err
		}
		a := collectArgs{Collected: in, Collect: c, Dst: dst, Heap: heap, At: &at, Fail: &fail}
		if err := device.Launch(s, collectFinal, min(in.N-at, collectRows), a); err != nil {
			return err
		}
		if fail != nil {
			return fail
		}
	}
	return nil
}

// Heads writes, for each group in order, the first of its rows, or the last one
// of CollectLast, to out, and returns how many groups there are.
func (c Collect) Heads(s device.Stream, in Collected, out device.Ptr) (int, error) {
	n := 0
	err := device.Launch(s, collectHeads, in.N, collectArgs{Collected: in, Collect: c, Out: out, At: &n})
	return n, err
}

// groupEnd is the position past the rows of the group at position from.
func (a *collectArgs) groupEnd(rows, ids []uint32, from int) int {
	g := ids[rows[from]]
	lo, hi, step := from, from+1, 1 // rows[lo] is of the group
	for hi < a.N && ids[rows[hi]] == g {
		lo, hi, step = hi, hi+step, step*2
	}
	hi = min(hi, a.N)
	for lo+1 < hi {
		if m := (lo + hi) / 2; ids[rows[m]] == g {
			lo = m
		} else {
			hi = m
		}
	}
	return lo + 1
}

func collectHeadsHost(a *collectArgs, _, n int) {
	rows, ids := device.View[uint32](a.Rows, a.N), device.View[uint32](a.IDs, maxRows)
	out := device.View[uint32](a.Out, a.N)
	for from := 0; from < n; {
		to := a.groupEnd(rows, ids, from)
		at := from
		if a.Op == CollectLast {
			at = to - 1
		}
		out[*a.At] = rows[at]
		*a.At++
		from = to
	}
}

func collectHost(a *collectArgs, _, n int) {
	rows, ids := device.View[uint32](a.Rows, a.N), device.View[uint32](a.IDs, maxRows)
	valid := device.View[uint64](a.Dst.Valid, maxRows/64)
	stop := *a.At + n
	for *a.At < stop && *a.Fail == nil {
		from := *a.At
		to := a.groupEnd(rows, ids, from)
		*a.At = to
		g := int(ids[rows[from]])
		if v, ok := a.group(rows[from:to]); ok {
			storeCell(a.Phys, a.Dst.Data, g, v)
			valid[g>>6] |= 1 << (g & 63)
		}
	}
}

// group is the result of a group's rows, at least one.
func (a *collectArgs) group(rows []uint32) ([2]uint64, bool) {
	switch a.Op {
	case CollectFirst:
		return a.value(rows[0])
	case CollectLast:
		return a.value(rows[len(rows)-1])
	case CollectMode:
		return a.mode(rows)
	case CollectQuantileCont, CollectQuantileDisc:
		return a.quantile(rows)
	case CollectJoin:
		return a.join(rows)
	default:
		panic(fmt.Sprintf("kernels: collect %d", a.Op))
	}
}

func (a *collectArgs) value(row uint32) ([2]uint64, bool) {
	if a.Src.isNull(int(row)) {
		return [2]uint64{}, false
	}
	return loadCell(a.Phys, &a.Src, int(row)), true
}

// mode is the value of the longest run, the first one of equal length.
func (a *collectArgs) mode(rows []uint32) ([2]uint64, bool) {
	best, most := rows[0], 0
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && sameValue(a.Phys, &a.Src, int(rows[from]), &a.Src, int(rows[to])) {
			to++
		}
		if to-from > most {
			best, most = rows[from], to-from
		}
		from = to
	}
	return a.value(best)
}

func (a *collectArgs) quantile(rows []uint32) ([2]uint64, bool) {
	if a.Second.isNull(int(rows[0])) {
		return [2]uint64{}, false
	}
	p := atRow[float64](a.Second.Data, int(rows[0]))
	if !(p >= 0 && p <= 1) {
		*a.Fail = sqltype.Errorf(sqltype.CodeOutOfRange, "percentile value %g is not between 0 and 1", p)
		return [2]uint64{}, false
	}
	if a.Op == CollectQuantileDisc {
		at := int(math.Ceil(p*float64(len(rows)))) - 1
		return a.value(rows[min(max(at, 0), len(rows)-1)])
	}
	at := p * float64(len(rows)-1)
	lo := int(math.Floor(at))
	x := atRow[float64](a.Src.Data, int(rows[lo]))
	if part := at - float64(lo); part > 0 {
		if y := atRow[float64](a.Src.Data, int(rows[lo+1])); y != x {
			x += (y - x) * part
		}
	}
	return floatCell(x), true
}

// join puts strings together, each but the first behind its separator.
func (a *collectArgs) join(rows []uint32) ([2]uint64, bool) {
	size := 0
	for i, r := range rows {
		if i > 0 {
			size += len(a.separator(r))
		}
		size += a.Src.str(int(r)).Len()
	}
	if size > math.MaxInt32 {
		*a.Fail = sqltype.Errorf(sqltype.CodeOutOfRange, "the string is longer than %d bytes", math.MaxInt32)
		return [2]uint64{}, false
	}
	b, p, err := a.Heap.Grab(max(size, 1))
	if err != nil {
		*a.Fail = err
		return [2]uint64{}, false
	}
	to := b[:0]
	for i, r := range rows {
		if i > 0 {
			to = append(to, a.separator(r)...)
		}
		to = append(to, a.Src.str(int(r)).Str()...)
	}
	v := ViewAt(p, size)
	return [2]uint64{v.Lo, v.Hi}, true
}

func (a *collectArgs) separator(row uint32) string {
	switch {
	case a.Second.Data == 0:
		return ","
	case a.Second.isNull(int(row)):
		return ""
	}
	return a.Second.str(int(row)).Str()
}
