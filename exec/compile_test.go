package exec_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/cuda"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/kernels/simt"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// exprSizes cross every boundary of bitmaps, chunks and batches. Most types
// meet the first few only.
var exprSizes = []int{1, 65, 129, 0, 31, 32, 33, 63, 64, 127, 128, 1000, 2048, 2049, 16385}

// sizesOf is the sizes that a type is tested with.
func sizesOf(t sqltype.Type) []int {
	switch t {
	case sqltype.Int32, sqltype.Varchar, sqltype.Decimal(15, 2):
		return exprSizes[:len(exprSizes)-1]
	}
	return exprSizes[:3]
}

// everyType has a type of each form, and of the forms that share one.
var everyType = []sqltype.Type{
	sqltype.Bool, sqltype.Int8, sqltype.Int16, sqltype.Int32, sqltype.Int64,
	sqltype.Uint8, sqltype.Uint16, sqltype.Uint32, sqltype.Uint64, sqltype.Float32, sqltype.Float64,
	sqltype.Decimal(9, 2), sqltype.Decimal(15, 2), sqltype.Decimal(18, 0), sqltype.Decimal(20, 3), sqltype.Decimal(38, 10),
	sqltype.Varchar, sqltype.Blob, sqltype.Date, sqltype.Time, sqltype.Timestamp, sqltype.TimestampTZ, sqltype.Interval,
}

// table is a batch in a device's memory and its values.
type table struct {
	defs []planner.ColDef
	vecs []kernels.Vec
	rows [][]sqltype.Datum // by column
	n    int
	bufs []*device.Buffer
	away device.Stream // nil, or one of a device that runs the same programs
}

type nulls uint8

const (
	noNulls nulls = iota
	someNulls
)

type encoding uint8

const (
	flat encoding = iota
	dictionary
)

// newTable lays values out: with a dictionary, codes of values that are shuffled.
func newTable(t testing.TB, m device.Allocator, types []sqltype.Type, rows [][]sqltype.Datum, enc encoding) *table {
	tab := &table{rows: rows}
	if len(rows) > 0 {
		tab.n = len(rows[0])
	}
	alloc := func(n int) device.Ptr {
		b, err := m.Alloc(max(n, 8))
		require.NoError(t, err)
		tab.bufs = append(tab.bufs, b)
		return b.Ptr()
	}
	for i, typ := range types {
		tab.defs = append(tab.defs, planner.ColDef{ID: planner.ColumnID(i + 1), Name: fmt.Sprintf("c%d", i), Type: typ})
		var v kernels.Vec
		anyNull := false
		for _, d := range rows[i] {
			anyNull = anyNull || d.Null
		}
		if anyNull {
			v.Valid = alloc(kernels.BitmapBytes(tab.n))
			words := device.View[uint64](v.Valid, (tab.n+63)/64)
			for w := range words {
				words[w] = 0xF0F0 << 48 // what lies after the last row must not matter
			}
			for r, d := range rows[i] {
				words[r/64] &^= 1 << (r % 64)
				if !d.Null {
					words[r/64] |= 1 << (r % 64)
				}
			}
		}
		write := func(values []sqltype.Datum) device.Ptr {
			w := typ.Phys().Width()
			p := alloc(len(values) * w)
			for r, d := range values {
				putDatum(t, alloc, p+device.Ptr(r*w), typ, d)
			}
			return p
		}
		if enc == flat {
			v.Data = write(rows[i])
		} else {
			var values []sqltype.Datum
			type key struct {
				d    sqltype.Datum
				bits uint64 // tells -0 from 0
			}
			codes := map[key]uint32{}
			v.Data = alloc(4 * tab.n)
			data := device.View[uint32](v.Data, tab.n)
			for r, d := range rows[i] {
				if d.Null {
					data[r] = 0
					continue
				}
				k := key{d, math.Float64bits(d.F)}
				c, ok := codes[k]
				if !ok {
					c = uint32(len(values))
					codes[k] = c
					values = append(values, d)
				}
				data[r] = c
			}
			if len(values) == 0 {
				values = []sqltype.Datum{{Type: typ}}
			}
			v.Dict, v.DictLen = write(values), uint32(len(values))
		}
		tab.vecs = append(tab.vecs, v)
	}
	return tab
}

func (tab *table) release() {
	for _, b := range tab.bufs {
		b.Release()
	}
}

func putDatum(t testing.TB, alloc func(int) device.Ptr, p device.Ptr, typ sqltype.Type, d sqltype.Datum) {
	switch typ.Phys() {
	case sqltype.PhysBool, sqltype.PhysI8, sqltype.PhysU8:
		device.View[uint8](p, 1)[0] = uint8(d.I)
	case sqltype.PhysI16, sqltype.PhysU16:
		device.View[uint16](p, 1)[0] = uint16(d.I)
	case sqltype.PhysI32, sqltype.PhysU32:
		device.View[uint32](p, 1)[0] = uint32(d.I)
	case sqltype.PhysI64, sqltype.PhysU64:
		device.View[int64](p, 1)[0] = d.I
	case sqltype.PhysF32:
		device.View[float32](p, 1)[0] = float32(d.F)
	case sqltype.PhysF64:
		device.View[float64](p, 1)[0] = d.F
	case sqltype.PhysI128:
		device.View[sqltype.Int128](p, 1)[0] = d.Int128()
	case sqltype.PhysSpan:
		device.View[sqltype.Span](p, 1)[0] = d.Span()
	case sqltype.PhysStr:
		b := alloc(len(d.S))
		copy(device.View[byte](b, len(d.S)), d.S)
		device.View[kernels.View](p, 1)[0] = kernels.ViewAt(b, len(d.S))
	default:
		require.Fail(t, "no such form")
	}
}

// getDatum reads row r of a result of type typ.
func getDatum(v kernels.Vec, typ sqltype.Type, r int) sqltype.Datum {
	if v.Valid != 0 && device.View[uint64](v.Valid, r/64+1)[r/64]>>(r%64)&1 == 0 {
		return sqltype.NullOf(typ)
	}
	data := v.Data
	if v.Dict != 0 {
		data, r = v.Dict, int(device.View[uint32](v.Data, r+1)[r])
	}
	d := sqltype.Datum{Type: typ}
	switch typ.Phys() {
	case sqltype.PhysBool, sqltype.PhysU8:
		d.I = int64(device.View[uint8](data, r+1)[r])
	case sqltype.PhysI8:
		d.I = int64(device.View[int8](data, r+1)[r])
	case sqltype.PhysI16:
		d.I = int64(device.View[int16](data, r+1)[r])
	case sqltype.PhysU16:
		d.I = int64(device.View[uint16](data, r+1)[r])
	case sqltype.PhysI32:
		d.I = int64(device.View[int32](data, r+1)[r])
	case sqltype.PhysU32:
		d.I = int64(device.View[uint32](data, r+1)[r])
	case sqltype.PhysI64, sqltype.PhysU64:
		d.I = device.View[int64](data, r+1)[r]
	case sqltype.PhysF32:
		d.F = float64(device.View[float32](data, r+1)[r])
	case sqltype.PhysF64:
		d.F = device.View[float64](data, r+1)[r]
	case sqltype.PhysI128:
		d = sqltype.NewDecimal(device.View[sqltype.Int128](data, r+1)[r], typ)
	case sqltype.PhysSpan:
		d = sqltype.NewInterval(device.View[sqltype.Span](data, r+1)[r])
	case sqltype.PhysStr:
		d.S = string([]byte(device.View[kernels.View](data, r+1)[r].Str()))
	}
	return d
}

// randomDatum draws a value: mostly small ones, so that rows are alike and
// arithmetic stays in range; with edges, any bits and the ends of the type.
func randomDatum(rnd *rand.Rand, typ sqltype.Type, edges bool) sqltype.Datum {
	d := sqltype.Datum{Type: typ}
	small := int64(rnd.IntN(21) - 10)
	hard := edges && rnd.IntN(4) == 0
	bits := uint(typ.Phys().Width() * 8)
	switch {
	case typ.Kind == sqltype.KindBool:
		d.I = int64(rnd.IntN(2))
	case typ.Kind.IsSigned():
		d.I = small
		if hard {
			d.I = []int64{-1 << (bits - 1), 1<<(bits-1) - 1, -1, 0, 1, int64(rnd.Uint64()) >> (64 - bits)}[rnd.IntN(6)]
		}
	case typ.Kind.IsUnsigned():
		d.I = small + 10
		if hard {
			top := ^uint64(0) >> (64 - bits)
			d.I = int64([]uint64{top, 0, 1, rnd.Uint64() & top}[rnd.IntN(4)])
		}
	case typ.Kind == sqltype.KindDecimal:
		v := sqltype.Int128Of(small * 37)
		if hard {
			top, _ := sqltype.Pow10(int(typ.Precision)).Sub(sqltype.Int128Of(1))
			low, _ := top.Neg()
			_, any, _ := sqltype.Int128{Lo: rnd.Uint64(), Hi: int64(rnd.Uint64())}.QuoRem(sqltype.Pow10(int(typ.Precision)))
			v = []sqltype.Int128{top, low, any, sqltype.Int128Of(0), sqltype.Int128Of(1)}[rnd.IntN(5)]
		}
		d = sqltype.NewDecimal(v, typ)
	case typ.Kind.IsFloat():
		d.F = float64(small) / 4
		if hard {
			d.F = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1e30, -1e30, math.MaxFloat32, 0.5, 2.5, 127.5}[rnd.IntN(11)]
			if typ.Kind == sqltype.KindFloat32 {
				d.F = float64(float32(d.F))
			}
		}
	case typ.Kind.IsString():
		words := []string{"", "a", "ab", "abc", "abcd", "abcde", "abcdefghijkl", "abcdefghijklm", "abcdefghijklmn",
			"abcdefghijkl and much more", "abcd\xff", "zebra", "12", "-7", "true", "2020-02-29"}
		d.S = words[rnd.IntN(len(words))]
	case typ.Kind == sqltype.KindDate:
		d.I = int64(rnd.IntN(20000) - 10000)
	case typ.Kind == sqltype.KindTime:
		d.I = rnd.Int64N(sqltype.MicrosPerDay)
	case typ.Kind == sqltype.KindInterval:
		d = sqltype.NewInterval(sqltype.Span{Months: int32(rnd.IntN(3)), Days: int32(rnd.IntN(61)), Micros: rnd.Int64N(3) * 12 * sqltype.MicrosPerHour})
	default:
		d.I = rnd.Int64N(1<<50) - 1<<49
		if hard {
			d.I = d.I / sqltype.MicrosPerDay * sqltype.MicrosPerDay
		}
	}
	return d
}

func randomRows(rnd *rand.Rand, types []sqltype.Type, n int, nl nulls, edges bool) [][]sqltype.Datum {
	rows := make([][]sqltype.Datum, len(types))
	for i, typ := range types {
		pool := make([]sqltype.Datum, 40) // so that a dictionary is worth it
		for k := range pool {
			pool[k] = randomDatum(rnd, typ, edges)
		}
		rows[i] = make([]sqltype.Datum, n)
		for r := range rows[i] {
			rows[i][r] = pool[rnd.IntN(len(pool))]
			if nl == someNulls && rnd.IntN(5) == 0 {
				rows[i][r] = sqltype.NullOf(typ)
			}
		}
	}
	return rows
}

// agree runs exprs over tab and compares every value with the reference; where
// that has an error in some row, the program must have one too.
func agree(t *testing.T, s device.Stream, tab *table, exprs ...planner.Expr) {
	t.Helper()
	p, err := exec.Compile(exprs, tab.defs, nil)
	require.NoError(t, err)
	e := kernels.NewEvaluator(p, s.Device())
	defer e.Close()
	var bad error
	want := make([][]sqltype.Datum, len(exprs))
	for i, x := range exprs {
		want[i] = make([]sqltype.Datum, tab.n)
		for r := range want[i] {
			var err error
			if want[i][r], err = reference(x, tab, r); err != nil {
				bad = err
			}
		}
	}
	if tab.away != nil {
		agreeAway(t, tab, p, exprs, want, bad)
	}
	for round := range 2 { // the second finds memory in use and dictionaries known
		outs, err := e.Run(s, tab.vecs, tab.n)
		if bad != nil {
			var got, ref *sqltype.Error
			require.ErrorAs(t, bad, &ref)
			require.ErrorAs(t, err, &got, "want %v from\n%s", bad, p)
			return
		}
		require.NoError(t, err, "from\n%s", p)
		for i, x := range exprs {
			for r, d := range want[i] {
				if got := getDatum(outs[i], x.Type(), r); !same(d, got) {
					require.Fail(t, "values differ", "round %d, expression %d, row %d of %d: got %s, want %s\ninputs %v\n%s",
						round, i, r, tab.n, got, d, rowOf(tab, r), p)
				}
			}
		}
	}
}

// agreeAway is agree on a device with memory of its own, for a program that has
// code there.
func agreeAway(t *testing.T, tab *table, p *kernels.Program, exprs []planner.Expr, want [][]sqltype.Datum, bad error) {
	t.Helper()
	if p.CheckDevice() != nil {
		return
	}
	scope := device.NewScope(tab.away.Device(), device.ScopeOptions{})
	defer scope.Close()
	vecs := carried(t, tab, scope)
	e := kernels.NewEvaluator(p, scope)
	defer e.Close()
	outs, err := e.Run(tab.away, vecs, tab.n)
	if bad != nil {
		var got, ref *sqltype.Error
		require.ErrorAs(t, bad, &ref)
		require.ErrorAs(t, err, &got, "want %v from\n%s", bad, p)
		return
	}
	require.NoError(t, err, "from\n%s", p)
	for i, x := range exprs {
		host := fetched(t, tab, outs[i], x.Type().Phys())
		for r, d := range want[i] {
			if got := getDatum(host, x.Type(), r); !same(d, got) {
				require.Fail(t, "values differ on a device", "expression %d, row %d of %d: got %s, want %s\ninputs %v\n%s",
					i, r, tab.n, got, d, rowOf(tab, r), p)
			}
		}
	}
}

// carried is a table's columns on the device that is away, in a scope's memory.
func carried(t *testing.T, tab *table, scope *device.Scope) []kernels.Vec {
	t.Helper()
	vecs := make([]kernels.Vec, len(tab.vecs))
	for i, v := range tab.vecs {
		c, err := arrow.Carry(tab.away, scope, []arrow.Part{{Column: arrow.Column{Type: tab.defs[i].Type, Vec: v}, Rows: tab.n}})
		require.NoError(t, err)
		vecs[i] = c.Vec
	}
	return vecs
}

// fetched is a column of the device that is away, in the host's memory; it
// lives as long as the table.
func fetched(t *testing.T, tab *table, v kernels.Vec, p sqltype.Phys) kernels.Vec {
	t.Helper()
	host := device.NewCPU(device.CPUOptions{})
	bytes := func(from device.Ptr, n int) device.Ptr {
		b, err := host.Alloc(max(n, 8))
		require.NoError(t, err)
		tab.bufs = append(tab.bufs, b)
		require.NoError(t, tab.away.Download(device.View[byte](b.Ptr(), n), from))
		return b.Ptr()
	}
	if tab.n == 0 {
		return kernels.Vec{}
	}
	out := kernels.Vec{DictLen: v.DictLen}
	if v.Valid != 0 {
		out.Valid = bytes(v.Valid, kernels.BitmapBytes(tab.n))
	}
	values, n := &out.Data, tab.n
	if v.Dict != 0 {
		out.Data = bytes(v.Data, 4*tab.n)
		values, n, v.Data = &out.Dict, int(v.DictLen), v.Dict
	}
	*values = bytes(v.Data, n*p.Width())
	if p == sqltype.PhysStr {
		views := device.View[kernels.View](*values, n)
		for i := range views {
			null := out.Dict == 0 && out.Valid != 0 && device.View[uint64](out.Valid, i/64+1)[i/64]>>(i%64)&1 == 0
			if views[i].Len() > kernels.InlineLen && !null {
				views[i].Hi = uint64(bytes(device.Ptr(views[i].Hi), views[i].Len()))
			}
		}
	}
	return out
}

func rowOf(tab *table, r int) (row []string) {
	for _, c := range tab.rows {
		row = append(row, c[r].String())
	}
	return row
}

// same is equality to the bit, but for NaN.
func same(a, b sqltype.Datum) bool {
	if a.Null || b.Null {
		return a.Null && b.Null
	}
	if a.Type.Kind.IsFloat() {
		return a.F == b.F || a.F != a.F && b.F != b.F
	}
	a.Type, b.Type = sqltype.Type{}, sqltype.Type{}
	return a == b
}

// each runs f over tables of the types in every size, with and without NULLs
// and dictionaries, with tame values and with edges.
func each(t *testing.T, types []sqltype.Type, sizes []int, f func(t *testing.T, s device.Stream, tab *table)) {
	d := devicetest.CPU(t)
	s := devicetest.Stream(t, d)
	away := awayStream(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range sizes {
		for _, nl := range []nulls{noNulls, someNulls} {
			for _, enc := range []encoding{flat, dictionary} {
				for _, edges := range []bool{false, true} {
					tab := newTable(t, d, types, randomRows(rnd, types, n, nl, edges), enc)
					if n > 1 && n < 200 && edges { // the emulator is slow
						tab.away = away
					}
					f(t, s, tab)
					tab.release()
				}
			}
		}
	}
}

// awayStream is a stream of the GPU, or of the emulated one; nil where there is neither.
func awayStream(t testing.TB) device.Stream {
	if os.Getenv("GPUSQL_REQUIRE_CUDA") != "" {
		return devicetest.Stream(t, devicetest.CUDA(t, cuda.Options{MadeItems: 1}))
	}
	if _, err := simt.Build(); errors.Is(err, simt.ErrNoCompiler) {
		return nil
	}
	return devicetest.Stream(t, devicetest.SIMT(t, cuda.Options{MadeItems: 1}))
}

// resolves reports that there is such an operator.
func resolves(op string, args ...sqltype.Type) bool {
	_, err := catalog.ResolveScalar(op, args)
	return err == nil
}

func col(tab *table, i int) *planner.Col {
	return &planner.Col{ID: tab.defs[i].ID, Name: tab.defs[i].Name, T: tab.defs[i].Type}
}

func constant(d sqltype.Datum) planner.Expr { return &planner.Const{Value: d} }

// call resolves an operator and casts its arguments as the binder does.
func call(t testing.TB, name string, args ...planner.Expr) planner.Expr {
	t.Helper()
	types := make([]sqltype.Type, len(args))
	for i, a := range args {
		types[i] = a.Type()
	}
	res, err := catalog.ResolveScalar(name, types)
	require.NoError(t, err)
	cast := make([]planner.Expr, len(args))
	for i, a := range args {
		cast[i] = a
		if types[i] != res.Args[i] {
			cast[i] = &planner.Cast{X: a, To: res.Args[i]}
		}
	}
	return &planner.Call{Func: res.Func, Args: cast, T: res.Result, Pos: 8}
}
