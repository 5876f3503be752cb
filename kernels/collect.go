package kernels

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// CollectOp is an aggregate that needs all values of a group, in order.
//
//gpu:layout
type CollectOp uint8

// The closed set of them.
//
//gpu:layout
const (
	CollectFirst        CollectOp = iota
	CollectLast                   // the last value
	CollectMode                   // the most frequent value; equal ones are neighbours
	CollectQuantileCont           // of DOUBLE, between two values
	CollectQuantileDisc           // one of the values
	CollectJoin                   // strings, one after the other
	CollectList                   // all as a list, NULLs with them
)

// Collect is such an aggregate over values of a form.
type Collect struct {
	Op   CollectOp
	Phys sqltype.Phys
	Elem sqltype.Type // CollectList: the values' type
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
	At   *collectCursor
	Fail *error
}

// collectCursor is where a launch goes on: the group of rows From to To, and
// what is known of it so far.
type collectCursor struct {
	From, To int // To is 0 when no group is begun
	Next     int // the next row to look at
	Groups   int // Heads: those that are done

	run, best, most int // CollectMode: where a run of equal values begins, and the longest so far
	sized           bool
	size            int    // CollectJoin: the bytes needed, when sized that is known
	to              []byte // and those that are there; CollectList: the list so far
	at              device.Ptr
}

var (
	collectFinal = &device.Kernel[collectArgs]{Name: "collect", Host: collectHost}
	collectHeads = &device.Kernel[collectArgs]{Name: "collect_heads", Host: collectHeadsHost}
)

// Final writes the results of groups to dst, which has a bitmap; a group
// without rows is NULL. Strings view the bytes of the rows, or of heap.
func (c Collect) Final(s device.Stream, in Collected, groups int, dst Vec, heap *Heap) error {
	if err := Zero(s, dst.Valid, BitmapBytes(groups)); err != nil {
		return err
	}
	if err := Zero(s, dst.Data, groups*c.out().Width()); err != nil {
		return err
	}
	if in.N > 0 && !s.Device().Traits().HostBytes {
		return c.finalDevice(s, in, groups, dst, heap)
	}
	var fail error
	var at collectCursor
	for at.From < in.N {
		a := collectArgs{Collected: in, Collect: c, Dst: dst, Heap: heap, At: &at, Fail: &fail}
		if err := device.Launch(s, collectFinal, min(in.N, PieceItems(s)), a); err != nil {
			return err
		}
		if fail != nil {
			return fail
		}
	}
	return nil
}

// out is the form of the results.
func (c Collect) out() sqltype.Phys {
	if c.Op == CollectList {
		return sqltype.PhysStr
	}
	return c.Phys
}

// Heads writes, for each group in order, the first of its rows, or the last one
// of CollectLast, to out, and returns how many groups there are.
func (c Collect) Heads(s device.Stream, in Collected, out device.Ptr) (int, error) {
	if in.N > 0 && !s.Device().Traits().HostBytes {
		return c.headsDevice(s, in, out)
	}
	var at collectCursor
	for at.From < in.N {
		a := collectArgs{Collected: in, Collect: c, Out: out, At: &at}
		if err := device.Launch(s, collectHeads, min(in.N, PieceItems(s)), a); err != nil {
			return 0, err
		}
	}
	return at.Groups, nil
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
	c := a.At
	for stop := min(c.From+n, a.N); c.From < stop; {
		to := a.groupEnd(rows, ids, c.From)
		at := c.From
		if a.Op == CollectLast {
			at = to - 1
		}
		out[c.Groups] = rows[at]
		c.Groups++
		c.From = to
	}
}

// collectHost looks at some n rows, and goes on where the launch before stopped.
func collectHost(a *collectArgs, _, n int) {
	rows, ids := device.View[uint32](a.Rows, a.N), device.View[uint32](a.IDs, maxRows)
	valid := device.View[uint64](a.Dst.Valid, maxRows/64)
	c := a.At
	for left := n; left > 0 && c.From < a.N; {
		if c.To == 0 {
			*c = collectCursor{From: c.From, To: a.groupEnd(rows, ids, c.From)}
		}
		group := rows[c.From:c.To]
		seen := a.look(group, left)
		left -= max(seen, 1)
		if *a.Fail != nil {
			return
		}
		if c.Next < len(group) {
			continue
		}
		v, ok := a.group(group)
		if g := int(ids[group[0]]); ok {
			storeCell(a.out(), a.Dst.Data, g, v)
			valid[g>>6] |= 1 << (g & 63)
		}
		c.From, c.To = c.To, 0
	}
}

// look looks at most at n of a group's rows, where all must be looked at, and
// gives how many.
func (a *collectArgs) look(rows []uint32, n int) int {
	c := a.At
	part := rows[c.Next:min(len(rows), c.Next+n)]
	switch a.Op {
	case CollectMode:
		a.runs(rows, part)
	case CollectJoin:
		a.join(part)
	case CollectList:
		a.list(part)
	default:
		c.Next = len(rows)
		return 0
	}
	c.Next += len(part)
	if a.Op == CollectJoin && c.Next == len(rows) && !c.sized {
		c.Next, c.sized = 0, true
		a.room()
	}
	return len(part)
}

// group is the result of a group's rows, at least one, which were looked at.
func (a *collectArgs) group(rows []uint32) ([2]uint64, bool) {
	switch a.Op {
	case CollectFirst:
		return a.value(rows[0])
	case CollectLast:
		return a.value(rows[len(rows)-1])
	case CollectMode:
		return a.value(rows[a.At.best])
	case CollectQuantileCont, CollectQuantileDisc:
		return a.quantile(rows)
	case CollectList:
		v, err := a.Heap.Bytes(append(a.At.to, sqltype.EndOfElements))
		if err != nil {
			*a.Fail = err
		}
		return [2]uint64{v.Lo, v.Hi}, true
	case CollectJoin:
		v := ViewAt(a.At.at, a.At.size)
		return [2]uint64{v.Lo, v.Hi}, true
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

// runs looks for the longest run of equal values, the first one of equal length,
// in the next rows of a group.
func (a *collectArgs) runs(rows, part []uint32) {
	c := a.At
	for i := range part {
		at := c.Next + i
		if !sameValue(a.Phys, &a.Src, int(rows[c.run]), &a.Src, int(part[i])) {
			c.run = at
		}
		if n := at - c.run + 1; n > c.most {
			c.best, c.most = c.run, n
		}
	}
}

func (a *collectArgs) quantile(rows []uint32) ([2]uint64, bool) {
	if a.Second.isNull(int(rows[0])) {
		return [2]uint64{}, false
	}
	p := atRow[float64](a.Second.Data, int(rows[0]))
	if !(p >= 0 && p <= 1) {
		*a.Fail = badFraction(p)
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

// join adds up the sizes of strings, each but the group's first behind its
// separator, and when all are known puts them together.
func (a *collectArgs) join(part []uint32) {
	c := a.At
	for i, r := range part {
		if c.Next+i > 0 {
			if sep := a.separator(r); c.sized {
				c.to = append(c.to, sep...)
			} else {
				c.size += len(sep)
			}
		}
		if s := a.Src.str(int(r)); c.sized {
			c.to = append(c.to, s.Str()...)
		} else {
			c.size += s.Len()
		}
	}
}

// list adds values to a group's list.
func (a *collectArgs) list(part []uint32) {
	c := a.At
	for _, r := range part {
		d := sqltype.NullOf(a.Elem)
		if !a.Src.isNull(int(r)) {
			d = a.datum(int(r))
		}
		if c.to = sqltype.AppendElement(c.to, d); len(c.to) > maxString {
			*a.Fail = sqltype.Errorf(codeTooLong, "the list is longer than %d bytes", maxString)
			return
		}
	}
}

// datum is the value of a row, which is not NULL.
func (a *collectArgs) datum(row int) sqltype.Datum {
	if a.Phys == sqltype.PhysStr {
		return sqltype.Datum{Type: a.Elem, S: a.Src.str(row).Str()}
	}
	w := a.Phys.Width()
	return loadDatum(unsafe.Pointer(&device.View[byte](a.Src.Data+device.Ptr(row*w), 1)[0]), a.Elem)
}

// room is for a group's strings, when their size is known.
func (a *collectArgs) room() {
	c := a.At
	if c.size > math.MaxInt32 {
		*a.Fail = errLongJoin()
		return
	}
	b, p, err := a.Heap.Grab(max(c.size, 1))
	if err != nil {
		*a.Fail = err
		return
	}
	c.to, c.at = b[:0], p
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
