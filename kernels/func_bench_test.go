package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// The functions that TPC-H calls for every row, over a batch.
func BenchmarkScalarFuncs(b *testing.B) {
	const n = 16384
	text := sqltype.NewString("carefully special packages boost among the final requests")
	for _, f := range []struct {
		name, label string
		args        []sqltype.Datum
		result      sqltype.Type
	}{
		{"year", "year", []sqltype.Datum{{Type: sqltype.Date, I: 10000}}, sqltype.Int64},
		{"like", "like_contains", []sqltype.Datum{text, sqltype.NewString("%special%requests%")}, sqltype.Bool},
		{"like", "like_prefix", []sqltype.Datum{text, sqltype.NewString("care%")}, sqltype.Bool},
		{"substring", "substring", []sqltype.Datum{text, sqltype.NewInt64(1), sqltype.NewInt64(2)}, sqltype.Varchar},
	} {
		b.Run(f.label, func(b *testing.B) {
			cpu := device.NewCPU(device.CPUOptions{})
			heap := NewHeap(cpu)
			alloc := func(size int) device.Ptr {
				buf, err := cpu.Alloc(size)
				require.NoError(b, err)
				return buf.Ptr()
			}
			c := &Call{N: n, Result: f.result, Out: alloc(16 * n), Heap: heap}
			types := make([]sqltype.Type, len(f.args))
			consts := make([]*sqltype.Datum, len(f.args))
			for k, d := range f.args {
				v, err := heap.String(d.S)
				require.NoError(b, err)
				types[k] = d.Type
				a := Arg{Type: d.Type, Const: k > 0, Vec: Vec{Data: alloc(16 * n)}}
				if k > 0 {
					consts[k] = &f.args[k]
				}
				switch d.Type.Phys() {
				case sqltype.PhysStr:
					fill(a.Data, n, v)
				case sqltype.PhysI32:
					fill(a.Data, n, int32(d.I))
				default:
					fill(a.Data, n, d.I)
				}
				c.Args = append(c.Args, a)
			}
			call, ok := LookupFunc(f.name, types, f.result, consts)
			require.True(b, ok)
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, call(c))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

func fill[T any](p device.Ptr, n int, v T) {
	for i := range device.View[T](p, n) {
		device.View[T](p, n)[i] = v
	}
}
