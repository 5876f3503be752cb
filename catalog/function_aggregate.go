package catalog

import "github.com/gpusql/gpusql/sqltype"

// aggregateFamilies are the aggregates. All but count(*), first, last, list,
// arg_min and arg_max pass over NULLs.
func aggregateFamilies() []family {
	i64, f64, boolean := sqltype.Int64, sqltype.Float64, sqltype.Bool
	agg := func(id FuncID, aliases []string, sigs ...signature) family {
		return family{Func: Func{ID: id, Kind: Aggregate}, aliases: aliases, signatures: sigs}
	}
	ofDouble := func(id FuncID, aliases ...string) family { return agg(id, aliases, on(f64, f64)) }
	ofDoubles := func(id FuncID) family { return agg(id, nil, on(f64, f64, f64)) }
	same := by(sameAsFirst(1))
	return []family{
		agg(FuncCount, nil, on(i64), on(i64, anyType)),
		agg(FuncSum, nil, by(summed)),
		agg(FuncAvg, []string{"mean"}, by(averaged)),
		agg(FuncMin, nil, same),
		agg(FuncMax, nil, same),
		ofDouble(FuncTotal),
		agg(FuncStringAgg, []string{"group_concat", "listagg"}, by(joinedText)),
		ofDouble(FuncStddevSamp, "stddev"), ofDouble(FuncStddevPop),
		ofDouble(FuncVarSamp, "variance", "var", "var_sample"), ofDouble(FuncVarPop, "var_population"),
		agg(FuncBoolAnd, []string{"every"}, on(boolean, boolean)),
		agg(FuncBoolOr, []string{"any_bool"}, on(boolean, boolean)),
		agg(FuncBitAndAgg, nil, by(oneOf(integers))),
		agg(FuncBitOrAgg, nil, by(oneOf(integers))),
		agg(FuncBitXorAgg, nil, by(oneOf(integers))),
		agg(FuncAnyValue, []string{"arbitrary"}, same),
		agg(FuncFirst, nil, same),
		agg(FuncLast, nil, same),
		ofDoubles(FuncCovarPop), ofDoubles(FuncCovarSamp), ofDoubles(FuncCorr),
		ofDoubles(FuncRegrAvgX), ofDoubles(FuncRegrAvgY), ofDoubles(FuncRegrIntercept),
		ofDoubles(FuncRegrR2), ofDoubles(FuncRegrSlope), ofDoubles(FuncRegrSXX),
		ofDoubles(FuncRegrSXY), ofDoubles(FuncRegrSYY),
		agg(FuncRegrCount, nil, on(i64, f64, f64)),
		ofDouble(FuncMedian),
		agg(FuncMode, nil, same),
		agg(FuncCountIf, []string{"countif"}, on(i64, boolean)),
		ofDouble(FuncProduct),
		// The value comes first, the fraction second, also for WITHIN GROUP.
		agg(FuncQuantileCont, []string{"percentile_cont", "approx_percentile_cont"}, on(f64, f64, f64)),
		agg(FuncQuantileDisc, []string{"percentile_disc", "quantile"}, by(quantileOf)),
		agg(FuncArgMin, []string{"min_by", "argmin"}, by(sameAsFirst(2))),
		agg(FuncArgMax, []string{"max_by", "argmax"}, by(sameAsFirst(2))),
		agg(FuncList, []string{"array_agg"}, by(collected)),
		agg(FuncApproxCountDistinct, []string{"approx_distinct"}, on(i64, anyType)),
	}
}

// windowFamilies are the functions that need OVER.
func windowFamilies() []family {
	i64, i32, f64 := sqltype.Int64, sqltype.Int32, sqltype.Float64
	window := func(id FuncID, sigs ...signature) family {
		// They see NULLs: a row counts whatever is in it.
		return family{Func: Func{ID: id, Kind: WindowOnly, NullIn: true}, signatures: sigs}
	}
	return []family{
		window(FuncRowNumber, on(i64)), window(FuncRank, on(i64)), window(FuncDenseRank, on(i64)),
		window(FuncPercentRank, on(f64)), window(FuncCumeDist, on(f64)), window(FuncNtile, on(i32, i64)),
		window(FuncLag, by(offsetValue)), window(FuncLead, by(offsetValue)),
		window(FuncFirstValue, by(sameAsFirst(1))), window(FuncLastValue, by(sameAsFirst(1))),
		window(FuncNthValue, by(nthValue)),
	}
}

// collected is the rule of list: the values as a list, NULLs with them.
func collected(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 1 {
		return nil, sqltype.Null, false
	}
	return args, sqltype.ListOf(args[0]), true
}

// summed is the rule of sum: a type that a great many values fit in.
func summed(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 1 {
		return nil, sqltype.Null, false
	}
	t := args[0]
	result := t
	switch k := t.Kind; {
	case k == sqltype.KindNull:
		t, result = sqltype.Int32, sqltype.Int64
	case k == sqltype.KindInt64 || k == sqltype.KindUint64:
		result = sqltype.Decimal(sqltype.MaxPrecision, 0)
	case k.IsInteger():
		result = sqltype.Int64
	case k == sqltype.KindDecimal:
		result = sqltype.Decimal(sqltype.MaxPrecision, int(t.Scale))
	case k.IsFloat():
		result = sqltype.Float64
	default:
		return nil, sqltype.Null, false
	}
	return []sqltype.Type{t}, result, true
}

// averaged is the rule of avg: a DOUBLE of every number, which PostgreSQL
// gives as numeric of exact ones.
func averaged(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	t, ok := oneNumber(args)
	return []sqltype.Type{t}, sqltype.Float64, ok
}

// sameAsFirst takes n arguments of any type and gives the type of the first.
func sameAsFirst(n int) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		if len(args) != n {
			return nil, sqltype.Null, false
		}
		return args, args[0], true
	}
}

// oneOf holds a rule to one argument.
func oneOf(r rule) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		if len(args) != 1 {
			return nil, sqltype.Null, false
		}
		return r(args)
	}
}

// joinedText is string_agg(x [, separator]): x of any type becomes text.
func joinedText(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) == 2 && castCost(args[1], sqltype.Varchar) == noCast {
		return nil, sqltype.Null, false
	}
	return repeated(sqltype.Varchar, len(args)), sqltype.Varchar, len(args) == 1 || len(args) == 2
}

// quantileOf is quantile_disc(x, fraction): one of the values of x.
func quantileOf(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 2 || castCost(args[1], sqltype.Float64) == noCast {
		return nil, sqltype.Null, false
	}
	return []sqltype.Type{args[0], sqltype.Float64}, args[0], true
}

// offsetValue is lag and lead: x [, offset [, default]].
func offsetValue(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) < 1 || len(args) > 3 || len(args) > 1 && castCost(args[1], sqltype.Int64) == noCast {
		return nil, sqltype.Null, false
	}
	t, ok := args[0], true
	if len(args) == 3 {
		t, ok = sqltype.CommonType(args[0], args[2])
	}
	return []sqltype.Type{t, sqltype.Int64, t}[:len(args)], t, ok
}

// nthValue is nth_value(x, n).
func nthValue(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 2 || castCost(args[1], sqltype.Int64) == noCast {
		return nil, sqltype.Null, false
	}
	return []sqltype.Type{args[0], sqltype.Int64}, args[0], true
}
