package arrow

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// Part is the first Rows values of a column in host memory.
type Part struct {
	Column
	Rows int
}

// Carried is a column in the memory of a device, copied from the host's.
type Carried struct {
	Column
	Rows   int
	memory []*device.Buffer
}

// Carry copies columns of one type in host memory, one behind the other as one
// column, to the device of s. Text stays encoded when all parts are, with one
// dictionary of different values; other dictionaries are dissolved.
//
// The copies may be under way on return: who gives the column to another stream
// waits first.
func Carry(s device.Stream, m device.Allocator, parts []Part) (*Carried, error) {
	c := &carrier{Carried: Carried{Column: Column{Type: parts[0].Type}}, s: s, m: m, parts: parts, dict: parts[0].Type.Phys() == sqltype.PhysStr}
	for _, p := range parts {
		c.starts = append(c.starts, c.Rows)
		c.Rows += p.Rows
		c.dict = c.dict && p.Vec.Dict != 0
		c.nulls = c.nulls || p.Vec.Valid != 0 || p.Vec.Data == 0
	}
	err := c.validity()
	switch {
	case err != nil:
	case c.dict:
		err = c.codes()
	case c.Type.Phys() == sqltype.PhysStr:
		err = c.strings()
	default:
		err = c.values()
	}
	if err != nil {
		c.Release()
		return nil, err
	}
	return &c.Carried, nil
}

// Bytes is the device memory that the column takes.
func (c *Carried) Bytes() int64 {
	n := int64(0)
	for _, b := range c.memory {
		n += int64(b.Len())
	}
	return n
}

// Release gives the memory back.
func (c *Carried) Release() {
	if c == nil {
		return
	}
	for _, b := range c.memory {
		b.Release()
	}
	c.memory = nil
}

// carrier is the state of Carry.
type carrier struct {
	Carried
	s      device.Stream
	m      device.Allocator
	parts  []Part
	starts []int // the first row of each part
	dict   bool  // all parts are encoded text
	nulls  bool
	stage  [][]byte // for the parts that are prepared side by side
}

func (c *carrier) alloc(n int) (device.Ptr, error) {
	b, err := c.m.Alloc(max(n, 1))
	if err != nil {
		return 0, err
	}
	c.memory = append(c.memory, b)
	return b.Ptr(), nil
}

// validity makes one bitmap of the parts'.
func (c *carrier) validity() (err error) {
	if !c.nulls || c.Rows == 0 {
		return nil
	}
	bits := make([]uint64, kernels.BitmapBytes(c.Rows)/8)
	for i, p := range c.parts {
		in := device.View[uint64](p.Vec.Valid, kernels.BitmapBytes(p.Rows)/8)
		if p.Vec.Data != 0 {
			PutBits(bits, c.starts[i], in, p.Rows)
		}
	}
	if c.Vec.Valid, err = c.alloc(8 * len(bits)); err != nil {
		return err
	}
	return c.s.Upload(c.Vec.Valid, bytesOf(bits))
}

// PutBits copies n bits, ones for nil, to bit lo and on of dst, where zeros are.
func PutBits(dst []uint64, lo int, src []uint64, n int) {
	for i := 0; i < n; {
		at := (lo + i) % 64
		k := min(64-at, n-i, 64-i%64)
		w := ^uint64(0)
		if src != nil {
			w = src[i/64] >> (i % 64)
		}
		dst[(lo+i)/64] |= w & (^uint64(0) >> (64 - k)) << at
		i += k
	}
}

// values copies parts of fixed width.
func (c *carrier) values() (err error) {
	width := c.Type.Phys().Width()
	if c.Vec.Data, err = c.alloc(c.Rows * width); err != nil {
		return err
	}
	return c.each(func(i int) int {
		if p := &c.parts[i]; p.Vec.Data != 0 && p.Vec.Dict == 0 {
			return 0
		}
		return c.parts[i].Rows * width
	}, func(i int, to []byte) {
		if p := &c.parts[i]; p.Vec.Dict != 0 {
			dissolve(to, &p.Column, p.Rows)
		} else {
			clear(to)
		}
	}, func(i int, made []byte) error {
		p := &c.parts[i]
		if len(made) == 0 {
			made = device.View[byte](p.Vec.Data, p.Rows*width)
		}
		return c.s.Upload(c.Vec.Data+device.Ptr(c.starts[i]*width), made)
	})
}

// dissolve writes n values of a column of fixed width with a dictionary.
func dissolve(to []byte, src *Column, n int) {
	width := src.Type.Phys().Width()
	values := device.View[byte](src.Vec.Dict, int(src.Vec.DictLen)*width)
	for i, code := range device.View[uint32](src.Vec.Data, n) {
		if code < src.Vec.DictLen { // it may be anything under a NULL
			copy(to[i*width:(i+1)*width], values[int(code)*width:])
		} else {
			clear(to[i*width : (i+1)*width])
		}
	}
}

// strings copies parts of text: all bytes of long strings, and views of them.
func (c *carrier) strings() (err error) {
	if c.Vec.Data, err = c.alloc(c.Rows * viewBytesLen); err != nil {
		return err
	}
	long := make([]int, len(c.parts))
	c.side(len(c.parts), func(i int) { long[i] = c.parts[i].longBytes(c.parts[i].Rows) })
	bases, total := make([]device.Ptr, len(long)), 0
	for i, n := range long {
		bases[i] = device.Ptr(total)
		total += n
	}
	var heap device.Ptr
	if total > 0 {
		if heap, err = c.alloc(total); err != nil {
			return err
		}
	}
	return c.each(func(i int) int { return c.parts[i].Rows*viewBytesLen + long[i] }, func(i int, to []byte) {
		p := &c.parts[i]
		at := p.Rows * viewBytesLen
		views := viewsOf(to, p.Rows)
		clear(views)
		moveStrings(views, to[at:], heap+bases[i], &p.Column, p.Rows)
	}, func(i int, made []byte) error {
		at := c.parts[i].Rows * viewBytesLen
		if long[i] > 0 {
			if err := c.s.Upload(heap+bases[i], made[at:]); err != nil {
				return err
			}
		}
		return c.s.Upload(c.Vec.Data+device.Ptr(c.starts[i]*viewBytesLen), made[:at])
	})
}

// codes copies parts of encoded text, with a dictionary that has the values of
// all of theirs once.
func (c *carrier) codes() (err error) {
	var values []*kernels.View
	known := map[string]uint32{}
	codes := make([][]uint32, len(c.parts)) // the new code of each old one; nil: the same
	for i, p := range c.parts {
		dict := device.View[kernels.View](p.Vec.Dict, int(p.Vec.DictLen))
		to, same := make([]uint32, len(dict)), true
		for j := range dict {
			code, ok := known[string(viewBytes(&dict[j]))]
			if !ok {
				code = uint32(len(values))
				known[string(viewBytes(&dict[j]))] = code
				values = append(values, &dict[j])
			}
			to[j] = code
			same = same && int(code) == j
		}
		if !same {
			codes[i] = to
		}
	}
	if err := c.dictionary(values); err != nil {
		return err
	}
	if c.Vec.Data, err = c.alloc(4 * c.Rows); err != nil {
		return err
	}
	return c.each(func(i int) int {
		if codes[i] == nil {
			return 0
		}
		return 4 * c.parts[i].Rows
	}, func(i int, to []byte) {
		if codes[i] == nil {
			return
		}
		out := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(to))), c.parts[i].Rows)
		for j, old := range device.View[uint32](c.parts[i].Vec.Data, len(out)) {
			out[j] = 0
			if int(old) < len(codes[i]) { // it may be anything under a NULL
				out[j] = codes[i][old]
			}
		}
	}, func(i int, made []byte) error {
		if len(made) == 0 {
			made = device.View[byte](c.parts[i].Vec.Data, 4*c.parts[i].Rows)
		}
		return c.s.Upload(c.Vec.Data+device.Ptr(4*c.starts[i]), made)
	})
}

// dictionary copies the values, and their bytes behind them.
func (c *carrier) dictionary(values []*kernels.View) (err error) {
	size := len(values) * viewBytesLen
	made := make([]byte, size)
	for _, v := range values {
		if v.Len() > kernels.InlineLen {
			made = append(made, viewBytes(v)...)
		}
	}
	if c.Vec.Dict, err = c.alloc(len(made)); err != nil {
		return err
	}
	at := c.Vec.Dict + device.Ptr(size)
	views := viewsOf(made, len(values))
	for i, v := range values {
		views[i] = *v
		if n := v.Len(); n > kernels.InlineLen {
			views[i].Hi = uint64(at)
			at += device.Ptr(n)
		}
	}
	c.Vec.DictLen = uint32(len(values))
	return c.s.Upload(c.Vec.Dict, made)
}

// each prepares parts side by side, as many as there are cores, each in size
// bytes of host memory, and then gives them to the stream in order.
func (c *carrier) each(size func(i int) int, prepare func(i int, to []byte), give func(i int, made []byte) error) error {
	cores := runtime.GOMAXPROCS(0)
	for lo := 0; lo < len(c.parts); lo += cores {
		n := min(cores, len(c.parts)-lo)
		for len(c.stage) < n {
			c.stage = append(c.stage, nil)
		}
		c.side(n, func(j int) {
			c.stage[j] = grow(c.stage[j], size(lo+j))
			if len(c.stage[j]) > 0 {
				prepare(lo+j, c.stage[j])
			}
		})
		for j := range n {
			if c.parts[lo+j].Rows == 0 {
				continue
			}
			if err := give(lo+j, c.stage[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// side runs f for 0 to n-1 side by side.
func (c *carrier) side(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for first := range min(n, cores) {
		wg.Go(func() {
			for i := first; i < n; i += cores {
				f(i)
			}
		})
	}
	wg.Wait()
}

// viewBytesLen is the size of a View.
const viewBytesLen = int(unsafe.Sizeof(kernels.View{}))

func viewsOf(b []byte, n int) []kernels.View {
	return unsafe.Slice((*kernels.View)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
