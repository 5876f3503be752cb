package exec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// signatureTypes are a type of every physical form and meaning.
var signatureTypes = []sqltype.Type{
	sqltype.Bool, sqltype.Int8, sqltype.Int16, sqltype.Int32, sqltype.Int64, sqltype.Uint8, sqltype.Uint16,
	sqltype.Uint32, sqltype.Uint64, sqltype.Decimal(10, 2), sqltype.Decimal(30, 4), sqltype.Float32, sqltype.Float64,
	sqltype.Varchar, sqltype.Blob, sqltype.Date, sqltype.Time, sqltype.Timestamp, sqltype.TimestampTZ, sqltype.Interval,
	sqltype.UUID, sqltype.TimeTZ, sqltype.Bit, {Kind: sqltype.KindEnum, Enum: &sqltype.Enum{Name: "mood"}},
	sqltype.ListOf(sqltype.Int32), sqltype.ListOf(sqltype.ListOf(sqltype.Varchar)),
	sqltype.StructOf([]sqltype.Field{{Name: "a", Type: sqltype.Int32}}),
}

// nestedTypes are those that some functions are for alone.
var nestedTypes = []sqltype.Type{
	sqltype.ListOf(sqltype.Int32), sqltype.ListOf(sqltype.Bool), sqltype.ListOf(sqltype.Int64), sqltype.ListOf(sqltype.Float64),
	sqltype.ListOf(sqltype.StructOf([]sqltype.Field{{Name: "key", Type: sqltype.Varchar}, {Name: "value", Type: sqltype.Int32}})),
	sqltype.MapOf(sqltype.Varchar, sqltype.Int32), sqltype.JSON,
}

// Whatever catalog resolves, kernels have code for, or the compiler an
// instruction or a constant.
func TestEveryScalarFunctionHasCode(t *testing.T) {
	names := append(catalog.FunctionNames(), "+", "-", "*", "/", "%", "//", "neg", "||", "&", "|", "#", "~", "<<", ">>", "^", "->", "->>", "#>", "#>>", "@>")
	for _, name := range names {
		if !catalog.IsScalar(name) {
			continue
		}
		resolved := 0
		check := func(args ...sqltype.Type) {
			r, err := catalog.ResolveScalar(name, args)
			if err != nil {
				return
			}
			resolved++
			if _, ok := catalog.StatementTime(r.Func.ID, 0); ok || isInstruction(r) || catalog.UsesSequence(r.Func.ID) ||
				r.Func.ID == catalog.FuncCurrentVersion { // what the statement knows itself
				return
			}
			consts := make([]*sqltype.Datum, len(r.Args))
			if r.Func.ID == catalog.FuncStructExtract { // of a constant place
				one := sqltype.NewInt32(1)
				consts[1] = &one
			}
			_, ok := kernels.LookupFunc(r.Func.Name, r.Args, r.Result, consts)
			require.True(t, ok, "%s%v %s", r.Func.Name, r.Args, r.Result)
		}
		check()
		for _, a := range signatureTypes {
			check(a)
			check(a, a, a, a)
			for _, b := range signatureTypes {
				check(a, b)
				check(a, b, b)
				check(a, sqltype.Varchar, b)
				check(a, b, sqltype.Int64, sqltype.Int64)
				check(a, b, sqltype.Varchar, sqltype.Varchar)
			}
		}
		six := []sqltype.Type{sqltype.Int64, sqltype.Int64, sqltype.Int64, sqltype.Int64, sqltype.Int64, sqltype.Float64}
		check(six...)
		check(sqltype.Float64, sqltype.Float64, sqltype.Float64, sqltype.Int32)
		check(sqltype.JSON, sqltype.ListOf(sqltype.Varchar), sqltype.JSON)
		for _, a := range nestedTypes {
			check(a)
			for _, b := range append(nestedTypes, sqltype.Varchar, sqltype.Int32) {
				check(a, b)
				check(b, a)
			}
		}
		require.NotZero(t, resolved, name)
	}
}

// isInstruction reports an operator over numbers.
func isInstruction(r catalog.Resolved) bool {
	for _, a := range r.Args {
		if !a.Kind.IsNumeric() {
			return false
		}
	}
	return r.Func.ID >= catalog.FuncAdd && r.Func.ID <= catalog.FuncShiftRight
}
