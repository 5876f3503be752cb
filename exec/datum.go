package exec

import (
	"encoding/binary"
	"math"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// datum brings the first value of a column of fixed width to the host.
func (w *worker) datum(c *arrow.Column) (sqltype.Datum, error) {
	d := sqltype.Datum{Type: c.Type}
	var raw [16]byte
	if c.Vec.Valid != 0 {
		if err := w.stream.Download(raw[:8], c.Vec.Valid); err != nil {
			return d, err
		}
		if raw[0]&1 == 0 {
			return sqltype.NullOf(c.Type), nil
		}
	}
	p := c.Type.Phys()
	if err := w.stream.Download(raw[:p.Width()], c.Vec.Data); err != nil {
		return d, err
	}
	lo := binary.LittleEndian.Uint64(raw[:8])
	switch p {
	case sqltype.PhysBool, sqltype.PhysU8:
		d.I = int64(raw[0])
	case sqltype.PhysI8:
		d.I = int64(int8(raw[0]))
	case sqltype.PhysI16:
		d.I = int64(int16(lo))
	case sqltype.PhysU16:
		d.I = int64(uint16(lo))
	case sqltype.PhysI32:
		d.I = int64(int32(lo))
	case sqltype.PhysU32:
		d.I = int64(uint32(lo))
	case sqltype.PhysI64, sqltype.PhysU64:
		d.I = int64(lo)
	case sqltype.PhysF32:
		d.F = float64(math.Float32frombits(uint32(lo)))
	case sqltype.PhysF64:
		d.F = math.Float64frombits(lo)
	case sqltype.PhysI128:
		d.I, d.Hi = int64(lo), int64(binary.LittleEndian.Uint64(raw[8:]))
	case sqltype.PhysSpan:
		d.Months, d.Days, d.I = int32(uint32(lo)), int32(uint32(lo>>32)), int64(binary.LittleEndian.Uint64(raw[8:]))
	default:
		return d, notSupported("a value of type %s here", c.Type)
	}
	return d, nil
}

// constant computes an expression that reads no columns.
func (w *worker) constant(e planner.Expr) (sqltype.Datum, error) {
	if d, ok := value(e, w.q.env.Params); ok {
		return d, nil
	}
	x, err := w.compile([]planner.Expr{e}, nil)
	if err != nil {
		return sqltype.Datum{}, err
	}
	defer x.close()
	b, err := x.run(&arrow.Batch{Rows: 1})
	if err != nil {
		return sqltype.Datum{}, err
	}
	return w.datum(&b.Columns[0])
}
