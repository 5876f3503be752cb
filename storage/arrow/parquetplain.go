package arrow

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/gpusql/gpusql/sqltype"
)

// plain reads len(dst) values from src, where they follow each other, and says
// how many bytes they take.
type plain[D any] func(dst []D, src []byte) (int, error)

// leafKind says what a column of a file is, and as what it is read.
type leafKind struct {
	physical parquet.Type
	width    int // bytes of a value, 0 when it has a length
	arrow    arrow.DataType
	typ      sqltype.Type
	rows     int // the most of a batch
}

// newLeaf makes the reader for the pages of a column, not yet opened.
func newLeaf(k leafKind) (leaf, *pages, error) {
	switch k.physical {
	case parquet.Types.Boolean:
		l := newFixed[uint8](k, nil)
		l.dict = []uint8{0, 1}
		return opened(l)
	case parquet.Types.Int32:
		return int32Leaf(k)
	case parquet.Types.Int64:
		return int64Leaf(k)
	case parquet.Types.Int96:
		return opened(newFixed(k, mapped(12, int96Micros)))
	case parquet.Types.Float:
		return opened(newFixed(k, same[float32]()))
	case parquet.Types.Double:
		return opened(newFixed(k, same[float64]()))
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return bytesLeaf(k)
	}
	return nil, nil, fmt.Errorf("physical type %s is not known", k.physical)
}

func newFixed[D any](k leafKind, p plain[D]) *fixedLeaf[D] {
	return &fixedLeaf[D]{leafHead: leafHead{typ: k.typ, width: k.width}, plain: p}
}

func opened[D any](l *fixedLeaf[D]) (leaf, *pages, error) { return l, &l.pages, nil }

func int32Leaf(k leafKind) (leaf, *pages, error) {
	switch k.typ.Phys() {
	case sqltype.PhysI8:
		return opened(newFixed(k, mapped(4, func(b []byte) int8 { return int8(b[0]) })))
	case sqltype.PhysU8:
		return opened(newFixed(k, mapped(4, func(b []byte) uint8 { return b[0] })))
	case sqltype.PhysI16:
		return opened(newFixed(k, mapped(4, func(b []byte) int16 { return int16(binary.LittleEndian.Uint16(b)) })))
	case sqltype.PhysU16:
		return opened(newFixed(k, mapped(4, binary.LittleEndian.Uint16)))
	case sqltype.PhysI32, sqltype.PhysU32:
		return opened(newFixed(k, same[int32]()))
	case sqltype.PhysI64: // a DECIMAL, or a TIME in milliseconds
		by := int64(1)
		if k.arrow.ID() == arrow.TIME32 {
			by = 1000
		}
		return opened(newFixed(k, mapped(4, func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) * by })))
	}
	return nil, nil, fmt.Errorf("type %s in 32 bits", k.typ)
}

func int64Leaf(k leafKind) (leaf, *pages, error) {
	if k.typ.Phys() == sqltype.PhysI128 {
		return opened(newFixed(k, mapped(8, func(b []byte) sqltype.Int128 {
			return sqltype.Int128Of(int64(binary.LittleEndian.Uint64(b)))
		})))
	}
	unit := arrow.Microsecond
	switch a := k.arrow.(type) {
	case *arrow.TimestampType:
		unit = a.Unit
	case *arrow.Time64Type:
		unit = a.Unit
	}
	num, den := perMicro(unit)
	switch {
	case den > 1:
		return opened(newFixed(k, mapped(8, func(b []byte) int64 { return floorQuo(int64(binary.LittleEndian.Uint64(b)), den) })))
	case num > 1:
		return opened(newFixed(k, manyMicros(num)))
	}
	return opened(newFixed(k, same[int64]()))
}

// bytesLeaf reads text, or numbers written as bytes.
func bytesLeaf(k leafKind) (leaf, *pages, error) {
	switch {
	case k.physical == parquet.Types.FixedLenByteArray && k.width <= 0:
		return nil, nil, fmt.Errorf("values of %d bytes", k.width)
	case k.arrow.ID() == arrow.FLOAT16:
		return opened(newFixed(k, mapped(2, func(b []byte) float32 { return float16.FromLEBytes(b).Float32() })))
	case k.typ.Kind != sqltype.KindDecimal:
		l := &textLeaf{leafHead: leafHead{typ: k.typ, width: k.width}, rows: k.rows}
		return l, &l.pages, nil
	case k.typ.Phys() == sqltype.PhysI128 && k.width == 0:
		return opened(newFixed(k, lengthed(bigEndian128)))
	case k.typ.Phys() == sqltype.PhysI128:
		return opened(newFixed(k, mapped(k.width, bigEndian128)))
	case k.width == 0:
		return opened(newFixed(k, lengthed(bigEndian64)))
	case k.width <= 8:
		return opened(newFixed(k, shortDecimals(k.width)))
	}
	return opened(newFixed(k, mapped(k.width, bigEndian64)))
}

// same reads values that are written as they are in memory.
func same[D any]() plain[D] {
	return func(dst []D, src []byte) (int, error) {
		var d D
		n := len(dst) * int(unsafe.Sizeof(d))
		if len(src) < n {
			return 0, errFewValues
		}
		return copy(bytesOf(dst), src[:n]), nil
	}
}

// mapped reads values of width bytes by f.
func mapped[D any](width int, f func([]byte) D) plain[D] {
	return func(dst []D, src []byte) (int, error) {
		if len(src)/width < len(dst) {
			return 0, errFewValues
		}
		for i := range dst {
			dst[i] = f(src[i*width : (i+1)*width])
		}
		return len(dst) * width, nil
	}
}

// lengthed reads values with their lengths before them by f.
func lengthed[D any](f func([]byte) D) plain[D] {
	return func(dst []D, src []byte) (int, error) {
		at := 0
		for i := range dst {
			rest := src[at:]
			if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
				return 0, errFewValues
			}
			n := int(binary.LittleEndian.Uint32(rest))
			dst[i] = f(rest[4 : 4+n])
			at += 4 + n
		}
		return at, nil
	}
}

// shortDecimals reads two's complement of up to 8 bytes, the highest first.
func shortDecimals(width int) plain[int64] {
	return func(dst []int64, src []byte) (int, error) {
		if len(src)/width < len(dst) {
			return 0, errFewValues
		}
		shift := 64 - 8*width
		i, at := 0, 0
		for ; i < len(dst) && at+8 <= len(src); i++ {
			dst[i] = int64(binary.BigEndian.Uint64(src[at:])) >> shift
			at += width
		}
		for ; i < len(dst); i++ {
			dst[i] = bigEndian64(src[at : at+width])
			at += width
		}
		return at, nil
	}
}

// manyMicros reads times in a unit of by microseconds.
func manyMicros(by int64) plain[int64] {
	return func(dst []int64, src []byte) (int, error) {
		if len(src)/8 < len(dst) {
			return 0, errFewValues
		}
		for i := range dst {
			v := int64(binary.LittleEndian.Uint64(src[8*i:]))
			hi, lo := bits.Mul64(uint64(max(v, -v)), uint64(by))
			if hi != 0 || lo > math.MaxInt64 {
				return 0, fmt.Errorf("time %d is out of range", v)
			}
			dst[i] = v * by
		}
		return 8 * len(dst), nil
	}
}

// int96Micros reads the old form of timestamps.
func int96Micros(b []byte) int64 {
	return parquet.Int96(b).ToTime().UnixMicro()
}

// bigEndian64 reads two's complement of any length; what does not fit in 64
// bits cannot be a DECIMAL of up to 18 digits.
func bigEndian64(b []byte) int64 {
	if len(b) == 0 {
		return 0
	}
	v := int64(int8(b[0]))
	for _, c := range b[1:] {
		v = v<<8 | int64(c)
	}
	return v
}

// bigEndian128 is bigEndian64 for wide decimals.
func bigEndian128(b []byte) sqltype.Int128 {
	if len(b) == 0 {
		return sqltype.Int128{}
	}
	v := sqltype.Int128Of(int64(int8(b[0])))
	for _, c := range b[1:] {
		v = sqltype.Int128{Hi: v.Hi<<8 | int64(v.Lo>>56), Lo: v.Lo<<8 | uint64(c)}
	}
	return v
}
