package catalog

import "github.com/gpusql/gpusql/sqltype"

// family is a function with all its signatures and names.
type family struct {
	Func
	aliases    []string
	signatures []signature
}

// signature is one way to call a function: either Params with what the
// arguments are cast to, or a rule that computes that from the arguments.
type signature struct {
	params   []sqltype.Type
	optional int  // so many of the last params may be left out
	variadic bool // the last param may come any number of times, once at least
	result   sqltype.Type
	rule     rule
	refine   refiner
}

// rule gives the types that arguments are cast to and the result's; false when
// the arguments do not fit.
type rule func(args []sqltype.Type) (params []sqltype.Type, result sqltype.Type, ok bool)

// refiner makes a resolved call more precise by its constant arguments.
type refiner func(r *Resolved, consts []*sqltype.Datum)

// anyType as a param takes every argument as it is. It is no type of SQL.
var anyType = sqltype.Type{Kind: ^sqltype.Kind(0)}

// anyDecimal as a param takes a DECIMAL of every precision as it is.
var anyDecimal = sqltype.Type{Kind: sqltype.KindDecimal}

// on is the signature with that result and those params.
func on(result sqltype.Type, params ...sqltype.Type) signature {
	return signature{params: params, result: result}
}

// withOptional lets the last n params be left out.
func (s signature) withOptional(n int) signature { s.optional = n; return s }

// repeating lets the last param come again.
func (s signature) repeating() signature { s.variadic = true; return s }

// by is a signature that a rule computes.
func by(r rule) signature { return signature{rule: r} }

// refinedBy adds a refiner.
func (s signature) refinedBy(f refiner) signature { s.refine = f; return s }

// noCast is the cost of what cannot be converted implicitly.
const noCast = 1 << 20

// ruleCost is the cost of a match by rule. It loses against a signature that
// fits as it is, so that DATE - DATE is never taken for numbers.
const ruleCost = 1

// match is what the arguments must be cast to, the result, and what it costs:
// 0 as they are, noCast when they do not fit.
func (s *signature) match(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, int) {
	if s.rule != nil {
		params, result, ok := s.rule(args)
		if !ok {
			return nil, sqltype.Null, noCast
		}
		return params, result, ruleCost
	}
	n := len(s.params)
	if len(args) < n-s.optional || len(args) > n && !s.variadic {
		return nil, sqltype.Null, noCast
	}
	params := make([]sqltype.Type, len(args))
	total := 0
	for i, a := range args {
		p := s.params[min(i, n-1)]
		cost := castCost(a, p)
		if cost == noCast {
			return nil, sqltype.Null, noCast
		}
		total += cost
		params[i] = target(a, p)
	}
	return params, s.result, total
}

// target is the type that an argument of type a is cast to for param p.
func target(a, p sqltype.Type) sqltype.Type {
	switch p {
	case anyType:
		return a
	case anyDecimal:
		if d, ok := sqltype.DecimalFor(a); ok {
			return d
		}
		return sqltype.Decimal(sqltype.MaxPrecision, 0) // a bare NULL
	}
	return p
}

// castCost is how little a conversion is wanted; noCast when it is not done
// unless it is written. What keeps every value is cheap; DOUBLE is what
// numbers meet in, as in PostgreSQL.
func castCost(from, to sqltype.Type) int {
	f, t := from.Kind, to.Kind
	switch {
	case to == anyType, f == t:
		return 0
	case f == sqltype.KindNull:
		return 2
	case f.IsInteger() && t.IsInteger():
		if c, ok := sqltype.CommonType(from, to); ok && c.Kind == t {
			return 2 + int(t-sqltype.KindInt8) // the nearest
		}
	case f.IsInteger() && t == sqltype.KindFloat64:
		return 20
	case f.IsInteger() && t == sqltype.KindDecimal:
		return 25
	case f.IsInteger() && t == sqltype.KindFloat32:
		return 40
	case f == sqltype.KindDecimal && t == sqltype.KindFloat64:
		return 20
	case f == sqltype.KindDecimal && t == sqltype.KindFloat32:
		return 40
	case f == sqltype.KindFloat32 && t == sqltype.KindFloat64:
		return 2
	case f == sqltype.KindJSON && t == sqltype.KindVarchar:
		return 30
	case f == sqltype.KindTime && t == sqltype.KindTimeTZ:
		return 10
	case f == sqltype.KindDate && t == sqltype.KindTimestamp:
		return 10
	case f == sqltype.KindDate && t == sqltype.KindTimestampTZ:
		return 20
	case f == sqltype.KindTimestamp && t == sqltype.KindTimestampTZ:
		return 10
	}
	return noCast
}
