package change

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// Sorted are N changes in ascending order of (key, row), each pair once.
type Sorted struct {
	N    int
	Keys device.Ptr // in the format of the batch; tails are the batch's
	Rows device.Ptr
	// Ops are N bytes of Delete and Clear; 0: all are insertions.
	Ops device.Ptr
	// Clears says that some have the bit Clear.
	Clears bool
}

// The bits of a change; one without any is an insertion.
const (
	Delete = 1 << iota // remove (key, row), if it is there
	Clear              // before that, remove all entries of the key
)

// Sorter sorts batches of a format. It is for one goroutine at a time, and
// keeps its memory for the next batch.
type Sorter struct {
	mem    device.Allocator
	format index.Format
	buffer *device.Buffer
}

// NewSorter returns a sorter with memory of mem.
func NewSorter(mem device.Allocator, f index.Format) *Sorter {
	return &Sorter{mem: mem, format: f}
}

// Bytes is the memory that the sorter holds.
func (c *Sorter) Bytes() int64 {
	if c.buffer == nil {
		return 0
	}
	return int64(c.buffer.Len())
}

// Release gives the memory back. The sorter may be used again.
func (c *Sorter) Release() {
	c.buffer.Release()
	c.buffer = nil
}

// args are what sort kernels are told.
type args struct {
	Format           keyFormat
	Keys, Rows, Ops  device.Ptr
	Op               uint32
	_                uint32
	Items            device.Ptr // room for 2n items
	ToKeys, ToRows   device.Ptr
	ToOps, ToOutcome device.Ptr
}

// keyFormat is index.Format in numbers of fixed width.
type keyFormat struct {
	Size   uint32 // bytes of a key
	Words  uint32
	Narrow uint32
	Long   uint32
}

// outcome is what a sort says about itself.
type outcome struct {
	N, Clears, Ordered, _ uint64
}

var sort = &device.Kernel[args]{Name: "change_sort", Host: sortHost}

// Sort puts a batch in order. The outcome is the sorter's memory or the
// batch's, and stays until the next Sort.
func (c *Sorter) Sort(s device.Stream, e index.Entries) (Sorted, error) {
	n := e.Keys.N
	plain := e.Ops == 0 && e.Op != index.Upsert
	if n == 0 {
		return Sorted{}, nil
	}
	size := c.format.Size()
	room := 32 + n // an outcome and ops
	if err := c.grow(room); err != nil {
		return Sorted{}, err
	}
	a := args{Format: formatOf(c.format), Keys: e.Keys.Data, Rows: e.Rows, Ops: e.Ops, Op: uint32(e.Op)}
	a.ToOutcome = c.buffer.Ptr()
	a.ToOps = a.ToOutcome + 32
	ordered := e.Sorted && plain
	if !ordered && n > 1 || !plain {
		o := outcome{Ordered: 1}
		if err := Pieces(s, n, func(lo, hi int) { a.look(&o, lo, hi) }); err != nil {
			return Sorted{}, err
		}
		ordered = o.Ordered != 0
		if ordered {
			return Sorted{N: n, Keys: e.Keys.Data, Rows: e.Rows, Ops: a.ToOps, Clears: o.Clears != 0}, nil
		}
	}
	if ordered || n == 1 {
		out := Sorted{N: n, Keys: e.Keys.Data, Rows: e.Rows}
		if e.Op == index.Delete {
			if err := device.Launch(s, mark, n, a); err != nil {
				return Sorted{}, err
			}
			out.Ops = a.ToOps
		}
		return out, nil
	}
	if plain && c.format.Words == 1 && !c.format.Long {
		return c.sortPlain(s, e)
	}
	keys := (n*size + 7) &^ 7
	if err := c.grow(32 + (n+7)&^7 + keys + 8*n + 16*n + kernels.SortPairsBytes(n)); err != nil {
		return Sorted{}, err
	}
	a.ToOutcome = c.buffer.Ptr()
	a.ToRows = a.ToOutcome + 32
	a.ToKeys = a.ToRows + device.Ptr(8*n)
	a.Items = a.ToKeys + device.Ptr(keys)
	a.ToOps = a.Items + device.Ptr(16*n+kernels.SortPairsBytes(n))
	o, err := c.sort(s, e, a)
	if err != nil {
		return Sorted{}, err
	}
	out := Sorted{N: int(o.N), Keys: a.ToKeys, Rows: a.ToRows, Ops: a.ToOps, Clears: o.Clears != 0}
	if plain && e.Op == index.Insert {
		out.Ops = 0
	}
	return out, nil
}

// sort orders the changes of a batch, a large one in pieces.
func (c *Sorter) sort(s device.Stream, e index.Entries, a args) (outcome, error) {
	n := e.Keys.N
	if n <= kernels.PieceItems(s)/2 {
		return c.ask(s, sort, n, a)
	}
	if err := Order(s, c.format, e, a.Items, a.Items+device.Ptr(16*n)); err != nil {
		return outcome{}, err
	}
	w := newWriter(&a, device.View[item](a.Items, n))
	if err := Pieces(s, n, func(_, hi int) { w.write(hi) }); err != nil {
		return outcome{}, err
	}
	return outcome{N: uint64(w.n), Clears: uint64(w.clears)}, nil
}

func formatOf(f index.Format) keyFormat {
	k := keyFormat{Size: uint32(f.Size()), Words: uint32(f.Words)}
	if f.Narrow {
		k.Narrow = 1
	}
	if f.Long {
		k.Long = 1
	}
	return k
}

// ask launches a kernel and reads what it says.
func (c *Sorter) ask(s device.Stream, k *device.Kernel[args], n int, a args) (o outcome, err error) {
	if err := device.Launch(s, k, n, a); err != nil {
		return o, err
	}
	return c.outcome(s, a.ToOutcome)
}

func (c *Sorter) outcome(s device.Stream, at device.Ptr) (o outcome, err error) {
	err = s.Download(unsafe.Slice((*byte)(unsafe.Pointer(&o)), unsafe.Sizeof(o)), at)
	return o, err
}

func (c *Sorter) grow(n int) error {
	if c.buffer != nil && c.buffer.Len() >= n {
		return nil
	}
	c.Release()
	b, err := c.mem.Alloc(n)
	c.buffer = b
	return err
}
