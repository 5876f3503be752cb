package arrow

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// IsNull reports whether value i of a column in host memory is NULL.
func (c *Column) IsNull(i int) bool {
	return c.Vec.Valid != 0 && device.View[byte](c.Vec.Valid, i/8+1)[i/8]>>(i%8)&1 == 0
}

// place is where value i lies: itself, or in the dictionary.
func (c *Column) place(i int) (device.Ptr, int) {
	if c.Vec.Dict == 0 {
		return c.Vec.Data, i
	}
	return c.Vec.Dict, int(device.View[uint32](c.Vec.Data, i+1)[i])
}

// Datum is value i of a column in host memory. A string is copied.
func (c *Column) Datum(i int) sqltype.Datum {
	if c.IsNull(i) {
		return sqltype.NullOf(c.Type)
	}
	p, j := c.place(i)
	d := sqltype.Datum{Type: c.Type}
	switch c.Type.Phys() {
	case sqltype.PhysBool, sqltype.PhysU8:
		d.I = int64(at[uint8](p, j))
	case sqltype.PhysI8:
		d.I = int64(at[int8](p, j))
	case sqltype.PhysI16:
		d.I = int64(at[int16](p, j))
	case sqltype.PhysI32:
		d.I = int64(at[int32](p, j))
	case sqltype.PhysI64, sqltype.PhysU64:
		d.I = at[int64](p, j)
	case sqltype.PhysU16:
		d.I = int64(at[uint16](p, j))
	case sqltype.PhysU32:
		d.I = int64(at[uint32](p, j))
	case sqltype.PhysF32:
		d.F = float64(at[float32](p, j))
	case sqltype.PhysF64:
		d.F = at[float64](p, j)
	case sqltype.PhysI128:
		w := at[[2]int64](p, j)
		d.I, d.Hi = w[0], w[1]
	case sqltype.PhysStr:
		d.S = string(viewBytes(&device.View[kernels.View](p, j+1)[j]))
	case sqltype.PhysSpan:
		s := at[span](p, j)
		d.Months, d.Days, d.I = s.months, s.days, s.micros
	default:
		panic(fmt.Sprintf("arrow: no datum of %v", c.Type.Phys()))
	}
	return d
}

// Bytes is value i of a VARCHAR or BLOB column in host memory, not copied: it
// is valid as long as the column, and must not be written to.
func (c *Column) Bytes(i int) []byte {
	p, j := c.place(i)
	return viewBytes(&device.View[kernels.View](p, j+1)[j])
}

// span is an INTERVAL in memory.
type span struct {
	months, days int32
	micros       int64
}

func at[T any](p device.Ptr, i int) T { return device.View[T](p, i+1)[i] }

// viewBytes are the bytes of a string. v must lie in device memory when the
// string is short, for the bytes are in v itself.
func viewBytes(v *kernels.View) []byte {
	n := int(uint32(v.Lo))
	if n <= kernels.InlineLen {
		return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(v), 4)), n)
	}
	return device.View[byte](device.Ptr(v.Hi), n)
}

// makeView is the view of string s whose bytes, if it is long, are at p.
func makeView[S ~string | ~[]byte](s S, p device.Ptr) kernels.View {
	var b [16]byte
	binary.LittleEndian.PutUint32(b[:], uint32(len(s)))
	if len(s) <= kernels.InlineLen {
		copy(b[4:], s)
	} else {
		copy(b[4:8], s[:4])
		binary.LittleEndian.PutUint64(b[8:], uint64(p))
	}
	return kernels.View{Lo: binary.LittleEndian.Uint64(b[:]), Hi: binary.LittleEndian.Uint64(b[8:])}
}

// PutDatum writes d, which is not NULL and of type t, as value i of the host
// memory at p. The bytes of a long string go to heap.
func PutDatum(t sqltype.Type, p device.Ptr, i int, d sqltype.Datum, heap device.Ptr) {
	switch t.Phys() {
	case sqltype.PhysBool, sqltype.PhysI8, sqltype.PhysU8:
		device.View[uint8](p, i+1)[i] = uint8(d.I)
	case sqltype.PhysI16, sqltype.PhysU16:
		device.View[uint16](p, i+1)[i] = uint16(d.I)
	case sqltype.PhysI32, sqltype.PhysU32:
		device.View[uint32](p, i+1)[i] = uint32(d.I)
	case sqltype.PhysI64, sqltype.PhysU64:
		device.View[int64](p, i+1)[i] = d.I
	case sqltype.PhysF32:
		device.View[float32](p, i+1)[i] = float32(d.F)
	case sqltype.PhysF64:
		device.View[uint64](p, i+1)[i] = math.Float64bits(d.F)
	case sqltype.PhysI128:
		device.View[[2]int64](p, i+1)[i] = [2]int64{d.I, d.Hi}
	case sqltype.PhysStr:
		if len(d.S) > kernels.InlineLen {
			copy(device.View[byte](heap, len(d.S)), d.S)
		}
		device.View[kernels.View](p, i+1)[i] = makeView(d.S, heap)
	case sqltype.PhysSpan:
		device.View[span](p, i+1)[i] = span{d.Months, d.Days, d.I}
	default:
		panic(fmt.Sprintf("arrow: no value of %v", t.Phys()))
	}
}
