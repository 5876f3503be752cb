package arrow

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// everyType has a column of each physical form.
var everyType = []sqltype.Type{
	sqltype.Bool, sqltype.Int8, sqltype.Int16, sqltype.Int32, sqltype.Int64, sqltype.Uint8, sqltype.Uint16,
	sqltype.Uint32, sqltype.Uint64, sqltype.Float32, sqltype.Float64, sqltype.Decimal(38, 2), sqltype.Varchar, sqltype.Interval,
}

// sample is a value of type t for row i; every fifth or so is NULL.
func sample(t sqltype.Type, i int) sqltype.Datum {
	d := sqltype.Datum{Type: t}
	if (i+int(t.Kind))%5 == 4 {
		return sqltype.NullOf(t)
	}
	switch t.Phys() {
	case sqltype.PhysBool:
		d.I = int64(i % 2)
	case sqltype.PhysF32, sqltype.PhysF64:
		d.F = float64(i) / 4
	case sqltype.PhysI128:
		d.I, d.Hi = int64(i), int64(i%3-1)
	case sqltype.PhysStr:
		d.S = strings.Repeat(fmt.Sprint(i%100), i%9)
	case sqltype.PhysSpan:
		d.Months, d.Days, d.I = int32(i), int32(-i), int64(i)
	default:
		d.I = int64(i % 100)
	}
	return d
}

func sampleRows(lo, hi int) [][]sqltype.Datum {
	rows := make([][]sqltype.Datum, hi-lo)
	for i := range rows {
		for _, t := range everyType {
			rows[i] = append(rows[i], sample(t, lo+i))
		}
	}
	return rows
}

func requireRows(t *testing.T, tab *Table, n int) {
	t.Helper()
	i := 0
	for _, s := range tab.Segments() {
		for r := range s.Rows() {
			for c, typ := range everyType {
				col := s.Column(c)
				require.Equal(t, sample(typ, i), col.Datum(r), "row %d", i)
			}
			i++
		}
	}
	require.Equal(t, n, i)
}

func TestAppendKeepsValues(t *testing.T) {
	for _, step := range []int{1, 63, 64, 65, 300, 1000} {
		for _, segment := range []int{64, 700, 0} {
			t.Run(fmt.Sprintf("%d rows in segments of %d", step, segment), func(t *testing.T) {
				d := devicetest.CPU(t)
				tab := NewTable(d, everyType, TableOptions{SegmentRows: segment})
				defer tab.Close()
				n := 0
				for n < 3*step && n < 2000 {
					b, err := FromDatums(d, everyType, sampleRows(n, n+step))
					require.NoError(t, err)
					// The second batch comes through a dictionary.
					batch := &b.Batch
					if n == step {
						batch = throughDictionary(t, d, b)
					}
					span, err := tab.Append(batch, Uncommitted|uint64(n+1))
					require.NoError(t, err)
					require.Equal(t, step, span.Hi-span.Lo)
					tab.Commit(span, uint64(n+1))
					b.Release()
					n += step
				}
				requireRows(t, tab, n)
				out, err := d.Alloc(1 << 16)
				require.NoError(t, err)
				defer out.Release()
				for v := 0; v <= n; v += step {
					seen := 0
					snap := tab.Snap(uint64(v), 0)
					for _, s := range snap.Segments {
						seen += s.Visible(snap, 0, s.Rows(), out.Ptr())
					}
					want := 0
					if v > 0 {
						want = v - (v-1)%step + step - 1
					}
					require.Equal(t, min(want, n), seen, "version %d", v)
				}
			})
		}
	}
}

// throughDictionary is the same batch with codes 0, 1, 2... into its values.
func throughDictionary(t *testing.T, d device.Device, b *Kept) *Batch {
	codes, err := b.alloc(d, b.Rows*4)
	require.NoError(t, err)
	for i := range device.View[uint32](codes, b.Rows) {
		device.View[uint32](codes, b.Rows)[i] = uint32(i)
	}
	out := &Batch{Rows: b.Rows}
	for _, c := range b.Columns {
		c.Vec = kernels.Vec{Data: codes, Valid: c.Vec.Valid, Dict: c.Vec.Data, DictLen: uint32(b.Rows)}
		out.Columns = append(out.Columns, c)
	}
	return out
}

func TestBulkLoadIsEncoded(t *testing.T) {
	d := devicetest.CPU(t)
	tab := NewTable(d, everyType, TableOptions{SegmentRows: 8192})
	defer tab.Close()
	const n = 20000
	stamp := Uncommitted | 1
	b, err := FromDatums(d, everyType, sampleRows(0, n))
	require.NoError(t, err)
	defer b.Release()
	for lo := 0; lo < n; lo += 1000 {
		places := make([]int, 1000)
		for i := range places {
			places[i] = lo + i
		}
		k, err := Keep(d, &b.Batch, places)
		require.NoError(t, err)
		_, err = tab.Append(&k.Batch, stamp)
		require.NoError(t, err)
		k.Release()
	}
	before := tab.Bytes()
	require.NoError(t, tab.Encode(context.Background(), stamp))
	require.Less(t, tab.Bytes(), before)
	requireRows(t, tab, n)
	for i, s := range tab.Segments() {
		c := s.Column(12)
		require.Equal(t, s.Rows() >= encodeRows, c.Vec.Dict != 0, "segment %d", i)
	}
}

// TestUndoneRowsAreNotSeen: by a reader that has counted them before.
func TestUndoneRowsAreNotSeen(t *testing.T) {
	d := devicetest.CPU(t)
	tab := NewTable(d, []sqltype.Type{sqltype.Int32}, TableOptions{})
	defer tab.Close()
	add := func(stamp uint64) Span {
		b, err := FromDatums(d, tab.Types(), [][]sqltype.Datum{{sqltype.NewInt32(1)}, {sqltype.NewInt32(2)}})
		require.NoError(t, err)
		defer b.Release()
		span, err := tab.Append(&b.Batch, stamp)
		require.NoError(t, err)
		return span
	}
	tab.Commit(add(Uncommitted), 2)
	span := add(Uncommitted + 1<<StatementBits)
	snap := tab.Snap(2, 0)
	s := snap.Segments[0]
	counted := s.Rows()
	require.Equal(t, 4, counted)
	tab.Undo(span)
	bits := make([]uint64, 1)
	require.Equal(t, 2, s.VisibleBits(snap, 0, counted, bits))
	require.Equal(t, uint64(0b11), bits[0])
	tab.Commit(add(Uncommitted+2<<StatementBits), 3)
	require.Equal(t, 2, s.VisibleBits(snap, 0, counted, bits), "what took their room is of another version")
}

func TestStats(t *testing.T) {
	d := devicetest.CPU(t)
	tab := NewTable(d, []sqltype.Type{sqltype.Int32, sqltype.Float64, sqltype.Varchar}, TableOptions{SegmentRows: 4096})
	defer tab.Close()
	var rows [][]sqltype.Datum
	for i := range 10000 {
		f := sqltype.NewFloat64(float64(i % 10))
		if i == 5000 {
			f.F = math.NaN()
		}
		s := sqltype.NewString(fmt.Sprintf("a string of %05d", i))
		if i%4 == 0 {
			s = sqltype.NullOf(sqltype.Varchar)
		}
		rows = append(rows, []sqltype.Datum{sqltype.NewInt32(int32(i - 5000)), f, s})
	}
	for lo := 0; lo < len(rows); lo += 2000 {
		b, err := FromDatums(d, tab.Types(), rows[lo:lo+2000])
		require.NoError(t, err)
		_, err = tab.Append(&b.Batch, 1)
		require.NoError(t, err)
		b.Release()
	}
	a, f, s := tab.Stats(0), tab.Stats(1), tab.Stats(2)
	require.Equal(t, int64(-5000), a.Min.I)
	require.Equal(t, int64(4999), a.Max.I)
	require.InEpsilon(t, 10000, a.Distinct, 0.1)
	require.Equal(t, 0.0, f.Min.F)
	require.True(t, math.IsNaN(f.Max.F))
	require.InDelta(t, 11, f.Distinct, 1)
	require.Equal(t, 2500, s.Nulls)
	require.Equal(t, "a string of 00001", s.Min.S)
	require.Equal(t, "a string of 09999", s.Max.S)
	require.InEpsilon(t, 7500, s.Distinct, 0.1)
}

func BenchmarkAppend(b *testing.B) {
	d := device.NewCPU(device.CPUOptions{})
	const n = 16384
	types := []sqltype.Type{sqltype.Int64, sqltype.Int32, sqltype.Decimal(15, 2), sqltype.Date, sqltype.Varchar, sqltype.Varchar}
	rows := make([][]sqltype.Datum, n)
	for i := range rows {
		rows[i] = []sqltype.Datum{sqltype.NewInt64(int64(i)), sqltype.NewInt32(int32(i % 100)), {Type: types[2], I: int64(i)}, {Type: types[3], I: int64(i % 1000)},
			sqltype.NewString([]string{"AIR", "RAIL", "TRUCK"}[i%3]), sqltype.NewString(fmt.Sprintf("a comment that is long %d", i))}
	}
	batch, err := FromDatums(d, types, rows)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		tab := NewTable(d, types, TableOptions{})
		for range 64 {
			if _, err := tab.Append(&batch.Batch, Uncommitted); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, tab.Encode(context.Background(), Uncommitted))
		tab.Close()
	}
	b.ReportMetric(float64(b.N)*64*n/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
