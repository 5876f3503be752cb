package catalog

import "fmt"

// FuncID names a function. Several signatures may share one: the code tells
// them apart by the argument types. FuncIDs are not stored anywhere and may be
// renumbered.
type FuncID uint16

// The scalar functions and operators, the aggregates and the window functions,
// in the order of funcNames.
const (
	FuncNone FuncID = iota

	// Operators.
	FuncAdd
	FuncSub
	FuncMul
	FuncDiv
	FuncMod
	FuncIntDiv
	FuncNeg
	FuncConcatOp
	FuncBitAnd
	FuncBitOr
	FuncBitXor
	FuncBitNot
	FuncShiftLeft
	FuncShiftRight

	// Patterns.
	FuncLike
	FuncILike
	FuncSimilarTo
	FuncGlob
	FuncRegexpLike
	FuncRegexpILike
	FuncRegexpReplace
	FuncRegexpSubstr
	FuncRegexpCount
	FuncRegexpInstr
	FuncRegexpExtractAll

	// Mathematics.
	FuncAbs
	FuncSign
	FuncCeil
	FuncFloor
	FuncRound
	FuncTrunc
	FuncSqrt
	FuncCbrt
	FuncExp
	FuncLn
	FuncLog10
	FuncLog2
	FuncLog
	FuncPower
	FuncGcd
	FuncLcm
	FuncFactorial
	FuncPi
	FuncSin
	FuncCos
	FuncTan
	FuncCot
	FuncAsin
	FuncAcos
	FuncAtan
	FuncAtan2
	FuncSinh
	FuncCosh
	FuncTanh
	FuncAsinh
	FuncAcosh
	FuncAtanh
	FuncDegrees
	FuncRadians
	FuncRandom
	FuncIsNaN
	FuncIsInf
	FuncIsFinite
	FuncWidthBucket
	FuncBitCount
	FuncGreatest
	FuncLeast
	FuncSinD
	FuncCosD
	FuncTanD
	FuncCotD
	FuncAsinD
	FuncAcosD
	FuncAtanD
	FuncAtan2D
	FuncScale
	FuncMinScale
	FuncGamma
	FuncLogGamma
	FuncEven
	FuncNextAfter
	FuncSignBit
	FuncNumNulls
	FuncNumNonNulls
	FuncEnumFirst
	FuncEnumLast
	FuncEnumRange
	FuncEnumCode

	// Lists and structs.
	FuncListValue
	FuncStructPack
	FuncStructExtract
	FuncListExtract
	FuncListSlice
	FuncListAppend
	FuncListPrepend
	FuncListConcat
	FuncListContains
	FuncListPosition
	FuncArrayPositions
	FuncArrayRemove
	FuncArrayReplace
	FuncListSort
	FuncListReverse
	FuncListDistinct
	FuncListUnique
	FuncListHasAny
	FuncListHasAll
	FuncListIntersect
	FuncFlatten
	FuncListZip
	FuncListResize
	FuncCardinality
	FuncArrayLength
	FuncArrayLower
	FuncArrayToString
	FuncStringToArray
	FuncRegexpSplit
	FuncGenerateSeries
	FuncRange
	FuncRegexpMatch
	FuncArrayNDims
	FuncArrayDims
	FuncArrayFill
	FuncTrimArray
	FuncListHistogram
	FuncListWhere
	FuncListSelect
	FuncListGradeUp
	FuncListDistance
	FuncListInnerProduct
	FuncListCosine

	// Maps.
	FuncMap
	FuncMapFromEntries
	FuncMapEntries
	FuncMapKeys
	FuncMapValues
	FuncMapExtract
	FuncMapExtractValue
	FuncMapContains
	FuncMapConcat

	// JSON.
	FuncJSONExtract
	FuncJSONExtractString
	FuncJSONExists
	FuncJSONGet
	FuncJSONGetText
	FuncJSONContains
	FuncJSONHolds
	FuncJSONPretty
	FuncJSONValue
	FuncJSONStructure
	FuncJSONStripNulls
	FuncJSONRemove
	FuncJSONSet
	FuncJSONValid
	FuncJSONType
	FuncJSONTypeof
	FuncJSONArrayLength
	FuncJSONKeys
	FuncJSONEntries
	FuncJSONNodes
	FuncJSONTree
	FuncJSONMergePatch
	FuncJSON
	FuncToJSON
	FuncJSONArray
	FuncJSONObject

	// Strings.
	FuncLength
	FuncOctetLength
	FuncBitLength
	FuncLower
	FuncUpper
	FuncInitcap
	FuncStripAccents
	FuncNormalize
	FuncTrim
	FuncLtrim
	FuncRtrim
	FuncSubstring
	FuncLeft
	FuncRight
	FuncLpad
	FuncRpad
	FuncReplace
	FuncReverse
	FuncRepeat
	FuncError
	FuncConcat
	FuncConcatWs
	FuncStrpos
	FuncStartsWith
	FuncEndsWith
	FuncContains
	FuncSplitPart
	FuncASCII
	FuncChr
	FuncTranslate
	FuncMD5
	FuncSHA256
	FuncToHex
	FuncEncode
	FuncDecode
	FuncQuoteLiteral
	FuncQuoteIdent
	FuncOverlay
	FuncLevenshtein
	FuncHamming
	FuncFormat
	FuncQuoteNullable
	FuncUnistr
	FuncGetByte
	FuncSetByte
	FuncGetBit
	FuncSetBit
	FuncBitString
	FuncBitPosition
	FuncSHA1
	FuncSHA224
	FuncSHA384
	FuncSHA512
	FuncCRC32
	FuncToBin
	FuncToNumber
	FuncPrintf
	FuncRegexpFullMatch
	FuncRegexpEscape
	FuncURLEncode
	FuncURLDecode
	FuncToBase64
	FuncFromBase64
	FuncUnhex
	FuncToBase
	FuncFormatBytes
	FuncFormatDecimalBytes
	FuncParseFilename
	FuncParseDirpath
	FuncBar
	FuncJaccard
	FuncJaro
	FuncJaroWinkler
	FuncDamerauLevenshtein
	FuncHash
	FuncTypeof
	FuncVersion
	FuncCurrentVersion

	// Sequences and UUIDs.
	FuncNextval
	FuncCurrval
	FuncLastval
	FuncSetval
	FuncUUID
	FuncUUIDv7

	// Dates and times. FuncYear to FuncTimezone are in the order of sqltype.DatePart.
	FuncDatePart
	FuncYear
	FuncMonth
	FuncDay
	FuncHour
	FuncMinute
	FuncSecond
	FuncMillisecond
	FuncMicrosecond
	FuncQuarter
	FuncWeek
	FuncISOYear
	FuncDayOfWeek
	FuncISODayOfWeek
	FuncDayOfYear
	FuncDecade
	FuncCentury
	FuncMillennium
	FuncEra
	FuncEpoch
	FuncJulian
	FuncTimezone
	FuncDateTrunc
	FuncDateDiff
	FuncDateSub
	FuncAge
	FuncMakeDate
	FuncMakeTime
	FuncMakeTimestamp
	FuncMakeInterval
	FuncToYears
	FuncToMonths
	FuncToDays
	FuncToHours
	FuncToMinutes
	FuncToSeconds
	FuncToMilliseconds
	FuncToMicroseconds
	FuncToWeeks
	FuncToQuarters
	FuncToDecades
	FuncToCenturies
	FuncToMillennia
	FuncToTimestamp
	FuncToDate
	FuncLastDay
	FuncDayName
	FuncMonthName
	FuncStrftime
	FuncToChar
	FuncJustifyDays
	FuncJustifyHours
	FuncJustifyInterval
	FuncNow
	FuncLocalTimestamp
	FuncCurrentDate
	FuncCurrentTime
	FuncClockTimestamp
	FuncDateBin
	FuncMakeTimestampTZ
	FuncEpochMs
	FuncEpochUs
	FuncOverlaps
	FuncStrptime
	FuncTryStrptime

	// Aggregates.
	FuncCount
	FuncSum
	FuncAvg
	FuncMin
	FuncMax
	FuncTotal
	FuncStringAgg
	FuncStddevSamp
	FuncStddevPop
	FuncVarSamp
	FuncVarPop
	FuncBoolAnd
	FuncBoolOr
	FuncBitAndAgg
	FuncBitOrAgg
	FuncBitXorAgg
	FuncAnyValue
	FuncFirst
	FuncLast
	FuncCovarPop
	FuncCovarSamp
	FuncCorr
	FuncRegrAvgX
	FuncRegrAvgY
	FuncRegrCount
	FuncRegrIntercept
	FuncRegrR2
	FuncRegrSlope
	FuncRegrSXX
	FuncRegrSXY
	FuncRegrSYY
	FuncMedian
	FuncMode
	FuncCountIf
	FuncProduct
	FuncQuantileCont
	FuncQuantileDisc
	FuncArgMin
	FuncArgMax
	FuncApproxCountDistinct
	FuncList

	// Window functions.
	FuncRowNumber
	FuncRank
	FuncDenseRank
	FuncPercentRank
	FuncCumeDist
	FuncNtile
	FuncLag
	FuncLead
	FuncFirstValue
	FuncLastValue
	FuncNthValue

	numFuncs
)

// funcNames are the canonical names, which the code of the functions is found
// by. Other names for the same function stand beside its signatures.
var funcNames = [numFuncs]string{
	FuncNone: "none",

	FuncAdd: "+", FuncSub: "-", FuncMul: "*", FuncDiv: "/", FuncMod: "%", FuncIntDiv: "//",
	FuncNeg: "neg", FuncConcatOp: "||", FuncBitAnd: "&", FuncBitOr: "|", FuncBitXor: "#",
	FuncBitNot: "~", FuncShiftLeft: "<<", FuncShiftRight: ">>",

	FuncLike: "like", FuncILike: "ilike", FuncSimilarTo: "similar_to", FuncGlob: "glob",
	FuncRegexpLike: "regexp_like", FuncRegexpILike: "regexp_ilike", FuncRegexpReplace: "regexp_replace",
	FuncRegexpSubstr: "regexp_substr", FuncRegexpCount: "regexp_count", FuncRegexpInstr: "regexp_instr",
	FuncRegexpExtractAll: "regexp_extract_all",

	FuncAbs: "abs", FuncSign: "sign", FuncCeil: "ceil", FuncFloor: "floor", FuncRound: "round",
	FuncTrunc: "trunc", FuncSqrt: "sqrt", FuncCbrt: "cbrt", FuncExp: "exp", FuncLn: "ln",
	FuncLog10: "log10", FuncLog2: "log2", FuncLog: "log", FuncPower: "power", FuncGcd: "gcd",
	FuncLcm: "lcm", FuncFactorial: "factorial", FuncPi: "pi", FuncSin: "sin", FuncCos: "cos",
	FuncTan: "tan", FuncCot: "cot", FuncAsin: "asin", FuncAcos: "acos", FuncAtan: "atan",
	FuncAtan2: "atan2", FuncSinh: "sinh", FuncCosh: "cosh", FuncTanh: "tanh", FuncAsinh: "asinh",
	FuncAcosh: "acosh", FuncAtanh: "atanh", FuncDegrees: "degrees",
	FuncRadians: "radians", FuncRandom: "random", FuncIsNaN: "isnan", FuncIsInf: "isinf",
	FuncIsFinite: "isfinite", FuncWidthBucket: "width_bucket", FuncBitCount: "bit_count",
	FuncGreatest: "greatest", FuncLeast: "least", FuncSinD: "sind", FuncCosD: "cosd", FuncTanD: "tand",
	FuncCotD: "cotd", FuncAsinD: "asind", FuncAcosD: "acosd", FuncAtanD: "atand", FuncAtan2D: "atan2d",
	FuncScale: "scale", FuncMinScale: "min_scale", FuncGamma: "gamma", FuncLogGamma: "lgamma", FuncEven: "even",
	FuncNextAfter: "nextafter", FuncSignBit: "signbit", FuncNumNulls: "num_nulls", FuncNumNonNulls: "num_nonnulls",
	FuncEnumFirst: "enum_first", FuncEnumLast: "enum_last", FuncEnumRange: "enum_range", FuncEnumCode: "enum_code",

	FuncListValue: "list_value", FuncStructPack: "struct_pack", FuncStructExtract: "struct_extract",
	FuncListExtract: "list_extract", FuncListSlice: "list_slice", FuncListAppend: "list_append",
	FuncListPrepend: "list_prepend", FuncListConcat: "list_concat", FuncListContains: "list_contains",
	FuncListPosition: "list_position", FuncArrayPositions: "array_positions",
	FuncArrayRemove: "array_remove", FuncArrayReplace: "array_replace", FuncListSort: "list_sort",
	FuncListReverse: "list_reverse", FuncListDistinct: "list_distinct", FuncListUnique: "list_unique",
	FuncListHasAny: "list_has_any", FuncListHasAll: "list_has_all", FuncListIntersect: "list_intersect",
	FuncFlatten: "flatten", FuncListZip: "list_zip", FuncListResize: "list_resize",
	FuncCardinality: "cardinality", FuncArrayLength: "array_length", FuncArrayLower: "array_lower",
	FuncArrayToString: "array_to_string", FuncStringToArray: "string_to_array",
	FuncRegexpSplit: "regexp_split_to_array", FuncGenerateSeries: "generate_series", FuncRange: "range",
	FuncRegexpMatch: "regexp_match", FuncArrayNDims: "array_ndims", FuncArrayDims: "array_dims",
	FuncArrayFill: "array_fill", FuncTrimArray: "trim_array", FuncListHistogram: "list_histogram", FuncListWhere: "list_where",
	FuncListSelect: "list_select", FuncListGradeUp: "list_grade_up", FuncListDistance: "list_distance",
	FuncListInnerProduct: "list_inner_product", FuncListCosine: "list_cosine_similarity",

	FuncMap: "map", FuncMapFromEntries: "map_from_entries", FuncMapEntries: "map_entries", FuncMapKeys: "map_keys",
	FuncMapValues: "map_values", FuncMapExtract: "map_extract", FuncMapExtractValue: "map_extract_value",
	FuncMapContains: "map_contains", FuncMapConcat: "map_concat",

	FuncJSONExtract: "json_extract", FuncJSONExtractString: "json_extract_string", FuncJSONExists: "json_exists",
	FuncJSONGet: "#>", FuncJSONGetText: "#>>", FuncJSONContains: "json_contains", FuncJSONHolds: "json_holds", FuncJSONPretty: "json_pretty",
	FuncJSONValue: "json_value", FuncJSONStructure: "json_structure", FuncJSONStripNulls: "json_strip_nulls", FuncJSONRemove: "json_remove", FuncJSONSet: "json_set",
	FuncJSONValid: "json_valid", FuncJSONType: "json_type", FuncJSONTypeof: "json_typeof",
	FuncJSONArrayLength: "json_array_length", FuncJSONKeys: "json_keys", FuncJSONEntries: "json_entries", FuncJSONNodes: "json_nodes", FuncJSONTree: "json_tree",
	FuncJSONMergePatch: "json_merge_patch", FuncJSON: "json",
	FuncToJSON: "to_json", FuncJSONArray: "json_array", FuncJSONObject: "json_object",

	FuncLength: "length", FuncOctetLength: "octet_length", FuncBitLength: "bit_length",
	FuncLower: "lower", FuncUpper: "upper", FuncInitcap: "initcap", FuncStripAccents: "strip_accents", FuncNormalize: "nfc_normalize", FuncTrim: "trim",
	FuncLtrim: "ltrim", FuncRtrim: "rtrim", FuncSubstring: "substring", FuncLeft: "left",
	FuncRight: "right", FuncLpad: "lpad", FuncRpad: "rpad", FuncReplace: "replace",
	FuncReverse: "reverse", FuncRepeat: "repeat", FuncError: "error", FuncConcat: "concat", FuncConcatWs: "concat_ws",
	FuncStrpos: "strpos", FuncStartsWith: "starts_with", FuncEndsWith: "ends_with",
	FuncContains: "contains", FuncSplitPart: "split_part", FuncASCII: "ascii", FuncChr: "chr",
	FuncTranslate: "translate", FuncMD5: "md5", FuncSHA256: "sha256", FuncToHex: "to_hex",
	FuncEncode: "encode", FuncDecode: "decode", FuncQuoteLiteral: "quote_literal",
	FuncQuoteIdent: "quote_ident", FuncOverlay: "overlay", FuncLevenshtein: "levenshtein",
	FuncHamming: "hamming", FuncFormat: "format", FuncQuoteNullable: "quote_nullable", FuncUnistr: "unistr",
	FuncGetByte: "get_byte", FuncSetByte: "set_byte", FuncGetBit: "get_bit", FuncSetBit: "set_bit",
	FuncBitString: "bitstring", FuncBitPosition: "bit_position",
	FuncSHA1: "sha1", FuncSHA224: "sha224", FuncSHA384: "sha384", FuncSHA512: "sha512", FuncCRC32: "crc32",
	FuncToBin: "to_bin", FuncToNumber: "to_number",
	FuncPrintf: "printf", FuncRegexpFullMatch: "regexp_full_match", FuncRegexpEscape: "regexp_escape",
	FuncURLEncode: "url_encode", FuncURLDecode: "url_decode", FuncToBase64: "to_base64", FuncFromBase64: "from_base64",
	FuncUnhex: "unhex", FuncToBase: "to_base", FuncFormatBytes: "format_bytes", FuncFormatDecimalBytes: "format_decimal_bytes",
	FuncParseFilename: "parse_filename", FuncParseDirpath: "parse_dirpath", FuncBar: "bar", FuncJaccard: "jaccard",
	FuncJaro: "jaro_similarity", FuncJaroWinkler: "jaro_winkler_similarity", FuncDamerauLevenshtein: "damerau_levenshtein",
	FuncHash: "hash", FuncTypeof: "typeof", FuncVersion: "version", FuncCurrentVersion: "current_version",

	FuncNextval: "nextval", FuncCurrval: "currval", FuncLastval: "lastval", FuncSetval: "setval",
	FuncUUID: "gen_random_uuid", FuncUUIDv7: "uuidv7",

	FuncDatePart: "date_part", FuncYear: "year", FuncMonth: "month", FuncDay: "day",
	FuncHour: "hour", FuncMinute: "minute", FuncSecond: "second", FuncMillisecond: "millisecond",
	FuncMicrosecond: "microsecond", FuncQuarter: "quarter", FuncWeek: "week", FuncISOYear: "isoyear",
	FuncDayOfWeek: "dayofweek", FuncISODayOfWeek: "isodow", FuncDayOfYear: "dayofyear",
	FuncDecade: "decade", FuncCentury: "century", FuncMillennium: "millennium", FuncEra: "era",
	FuncEpoch: "epoch", FuncJulian: "julian", FuncTimezone: "timezone", FuncDateTrunc: "date_trunc",
	FuncDateDiff: "date_diff", FuncDateSub: "date_sub", FuncAge: "age", FuncMakeDate: "make_date", FuncMakeTime: "make_time",
	FuncMakeTimestamp: "make_timestamp", FuncMakeInterval: "make_interval",
	FuncToYears: "to_years", FuncToMonths: "to_months", FuncToDays: "to_days", FuncToHours: "to_hours", FuncToMinutes: "to_minutes", FuncToSeconds: "to_seconds", FuncToMilliseconds: "to_milliseconds", FuncToMicroseconds: "to_microseconds", FuncToWeeks: "to_weeks", FuncToQuarters: "to_quarters", FuncToDecades: "to_decades", FuncToCenturies: "to_centuries", FuncToMillennia: "to_millennia",
	FuncToTimestamp: "to_timestamp", FuncToDate: "to_date", FuncLastDay: "last_day",
	FuncDayName: "dayname", FuncMonthName: "monthname", FuncStrftime: "strftime", FuncToChar: "to_char",
	FuncJustifyDays: "justify_days", FuncJustifyHours: "justify_hours",
	FuncJustifyInterval: "justify_interval", FuncNow: "now", FuncLocalTimestamp: "localtimestamp",
	FuncCurrentDate: "current_date", FuncCurrentTime: "current_time",
	FuncClockTimestamp: "clock_timestamp", FuncDateBin: "date_bin", FuncMakeTimestampTZ: "make_timestamptz",
	FuncEpochMs: "epoch_ms", FuncEpochUs: "epoch_us", FuncOverlaps: "overlaps",
	FuncStrptime: "strptime", FuncTryStrptime: "try_strptime",

	FuncCount: "count", FuncSum: "sum", FuncAvg: "avg", FuncMin: "min", FuncMax: "max",
	FuncTotal: "total", FuncStringAgg: "string_agg", FuncStddevSamp: "stddev_samp",
	FuncStddevPop: "stddev_pop", FuncVarSamp: "var_samp", FuncVarPop: "var_pop",
	FuncBoolAnd: "bool_and", FuncBoolOr: "bool_or", FuncBitAndAgg: "bit_and",
	FuncBitOrAgg: "bit_or", FuncBitXorAgg: "bit_xor", FuncAnyValue: "any_value",
	FuncFirst: "first", FuncLast: "last", FuncCovarPop: "covar_pop", FuncCovarSamp: "covar_samp",
	FuncCorr: "corr", FuncRegrAvgX: "regr_avgx", FuncRegrAvgY: "regr_avgy",
	FuncRegrCount: "regr_count", FuncRegrIntercept: "regr_intercept", FuncRegrR2: "regr_r2",
	FuncRegrSlope: "regr_slope", FuncRegrSXX: "regr_sxx", FuncRegrSXY: "regr_sxy",
	FuncRegrSYY: "regr_syy", FuncMedian: "median", FuncMode: "mode", FuncCountIf: "count_if",
	FuncProduct: "product", FuncQuantileCont: "quantile_cont", FuncQuantileDisc: "quantile_disc",
	FuncArgMin: "arg_min", FuncArgMax: "arg_max", FuncApproxCountDistinct: "approx_count_distinct",
	FuncList: "list",

	FuncRowNumber: "row_number", FuncRank: "rank", FuncDenseRank: "dense_rank",
	FuncPercentRank: "percent_rank", FuncCumeDist: "cume_dist", FuncNtile: "ntile",
	FuncLag: "lag", FuncLead: "lead", FuncFirstValue: "first_value", FuncLastValue: "last_value",
	FuncNthValue: "nth_value",
}

func (id FuncID) String() string {
	if id < numFuncs {
		return funcNames[id]
	}
	return fmt.Sprintf("FuncID(%d)", uint16(id))
}
