package catalog

import "github.com/gpusql/gpusql/sqltype"

// stringFamilies are the functions over text and bytes. Places count
// characters from 1.
func stringFamilies() []family {
	i32, i64, f64, str, blob, boolean := sqltype.Int32, sqltype.Int64, sqltype.Float64, sqltype.Varchar, sqltype.Blob, sqltype.Bool
	ofString := func(id FuncID, aliases ...string) family {
		return family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{on(str, str)}}
	}
	test := func(id FuncID, aliases ...string) family {
		return family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{on(boolean, str, str)}}
	}
	trim := func(id FuncID, aliases ...string) family {
		return family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{on(str, str, str).withOptional(1)}}
	}
	digest := func(id FuncID) family {
		return family{Func: Func{ID: id}, signatures: []signature{on(str, str), on(blob, blob)}}
	}
	bit := sqltype.Bit
	return []family{
		{Func: Func{ID: FuncLength}, aliases: []string{"char_length", "character_length", "len"},
			signatures: []signature{on(i32, str), on(i32, blob), on(i32, bit), by(ofList(i32))}},
		{Func: Func{ID: FuncOctetLength}, aliases: []string{"strlen"}, signatures: []signature{on(i32, str), on(i32, blob), on(i32, bit)}},
		{Func: Func{ID: FuncBitLength}, signatures: []signature{on(i32, str), on(i32, blob), on(i32, bit)}},
		ofString(FuncLower, "lcase"), ofString(FuncUpper, "ucase"), ofString(FuncInitcap), ofString(FuncStripAccents), ofString(FuncNormalize),
		trim(FuncTrim, "btrim"), trim(FuncLtrim), trim(FuncRtrim),
		{Func: Func{ID: FuncSubstring}, aliases: []string{"substr", "mid"}, signatures: []signature{
			on(str, str, i64, i64).withOptional(1), on(blob, blob, i64, i64).withOptional(1),
		}},
		{Func: Func{ID: FuncLeft}, signatures: []signature{on(str, str, i64)}},
		{Func: Func{ID: FuncRight}, signatures: []signature{on(str, str, i64)}},
		{Func: Func{ID: FuncLpad}, signatures: []signature{on(str, str, i64, str).withOptional(1)}},
		{Func: Func{ID: FuncRpad}, signatures: []signature{on(str, str, i64, str).withOptional(1)}},
		{Func: Func{ID: FuncReplace}, signatures: []signature{on(str, str, str, str)}},
		ofString(FuncReverse),
		{Func: Func{ID: FuncRepeat}, signatures: []signature{on(str, str, i64)}},
		ofString(FuncError),
		// Both leave NULLs out; only a NULL separator makes the result NULL.
		{Func: Func{ID: FuncConcat, NullIn: true}, signatures: []signature{by(texts)}},
		{Func: Func{ID: FuncConcatWs, NullIn: true}, signatures: []signature{by(separated)}},
		{Func: Func{ID: FuncStrpos}, aliases: []string{"instr"}, signatures: []signature{on(i32, str, str)}},
		test(FuncStartsWith, "prefix", "^@"), test(FuncEndsWith, "suffix"), test(FuncContains),
		{Func: Func{ID: FuncSplitPart}, signatures: []signature{on(str, str, str, i64)}},
		{Func: Func{ID: FuncASCII}, aliases: []string{"ord", "unicode"}, signatures: []signature{on(i32, str)}},
		{Func: Func{ID: FuncChr}, signatures: []signature{on(str, i64)}},
		{Func: Func{ID: FuncTranslate}, signatures: []signature{on(str, str, str, str)}},
		{Func: Func{ID: FuncMD5}, signatures: []signature{on(str, str), on(str, blob)}},
		{Func: Func{ID: FuncSHA256}, signatures: []signature{on(str, str), on(str, blob)}},
		{Func: Func{ID: FuncToHex}, aliases: []string{"hex"}, signatures: []signature{on(str, i64), on(str, str), on(str, blob)}},
		{Func: Func{ID: FuncEncode}, signatures: []signature{on(str, blob, str), on(blob, str)}},
		{Func: Func{ID: FuncDecode}, signatures: []signature{on(blob, str, str), on(str, blob)}},
		ofString(FuncQuoteLiteral), ofString(FuncQuoteIdent),
		{Func: Func{ID: FuncOverlay}, signatures: []signature{on(str, str, str, i64, i64).withOptional(1)}},
		{Func: Func{ID: FuncLevenshtein}, aliases: []string{"editdist3"}, signatures: []signature{on(i32, str, str)}},
		{Func: Func{ID: FuncHamming}, aliases: []string{"mismatches"}, signatures: []signature{on(i32, str, str)}},
		{Func: Func{ID: FuncFormat, NullIn: true}, signatures: []signature{by(asTheyAre)}},
		{Func: Func{ID: FuncQuoteNullable, NullIn: true}, signatures: []signature{on(str, str)}},
		ofString(FuncUnistr),
		{Func: Func{ID: FuncGetByte}, signatures: []signature{on(i32, blob, i64)}},
		{Func: Func{ID: FuncSetByte}, signatures: []signature{on(blob, blob, i64, i64)}},
		{Func: Func{ID: FuncGetBit}, signatures: []signature{on(i32, blob, i64), on(i32, bit, i64)}},
		{Func: Func{ID: FuncSetBit}, signatures: []signature{on(blob, blob, i64, i64), on(bit, bit, i64, i64)}},
		{Func: Func{ID: FuncBitString}, signatures: []signature{on(bit, str, i64)}},
		{Func: Func{ID: FuncBitPosition}, signatures: []signature{on(i32, bit, bit)}},
		digest(FuncSHA1), digest(FuncSHA224), digest(FuncSHA384), digest(FuncSHA512),
		{Func: Func{ID: FuncCRC32}, signatures: []signature{on(i64, str), on(i64, blob)}},
		{Func: Func{ID: FuncToBin}, aliases: []string{"bin", "to_binary"}, signatures: []signature{on(str, i64)}},
		{Func: Func{ID: FuncToNumber}, signatures: []signature{on(sqltype.Decimal(sqltype.MaxPrecision, 10), str, str)}},
		{Func: Func{ID: FuncHash, NullIn: true}, signatures: []signature{on(sqltype.Uint64, anyType).repeating()}},
		{Func: Func{ID: FuncTypeof, NullIn: true}, aliases: []string{"pg_typeof"}, signatures: []signature{on(str, anyType)}},
		{Func: Func{ID: FuncStrptime}, signatures: []signature{on(sqltype.Timestamp, str, str)}},
		{Func: Func{ID: FuncTryStrptime}, signatures: []signature{on(sqltype.Timestamp, str, str)}},
		{Func: Func{ID: FuncPrintf, NullIn: true}, signatures: []signature{by(asTheyAre)}},
		{Func: Func{ID: FuncRegexpFullMatch}, signatures: []signature{on(boolean, str, str, str).withOptional(1)}},
		ofString(FuncRegexpEscape), ofString(FuncURLEncode), ofString(FuncURLDecode),
		{Func: Func{ID: FuncToBase64}, aliases: []string{"base64"}, signatures: []signature{on(str, blob), on(str, str)}},
		{Func: Func{ID: FuncFromBase64}, signatures: []signature{on(blob, str)}},
		{Func: Func{ID: FuncUnhex}, aliases: []string{"from_hex"}, signatures: []signature{on(blob, str)}},
		{Func: Func{ID: FuncToBase}, signatures: []signature{on(str, i64, i64, i64).withOptional(1)}},
		{Func: Func{ID: FuncFormatBytes}, aliases: []string{"formatreadablesize"}, signatures: []signature{on(str, i64)}},
		{Func: Func{ID: FuncFormatDecimalBytes}, aliases: []string{"formatreadabledecimalsize"}, signatures: []signature{on(str, i64)}},
		ofString(FuncParseFilename), ofString(FuncParseDirpath),
		{Func: Func{ID: FuncBar}, signatures: []signature{on(str, f64, f64, f64, f64).withOptional(1)}},
		{Func: Func{ID: FuncJaccard}, signatures: []signature{on(f64, str, str)}},
		{Func: Func{ID: FuncJaro}, signatures: []signature{on(f64, str, str)}},
		{Func: Func{ID: FuncJaroWinkler}, signatures: []signature{on(f64, str, str)}},
		{Func: Func{ID: FuncDamerauLevenshtein}, signatures: []signature{on(i64, str, str)}},
		{Func: Func{ID: FuncVersion}, signatures: []signature{on(str)}},
	}
}

// texts casts every argument to VARCHAR.
func texts(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	return repeated(sqltype.Varchar, len(args)), sqltype.Varchar, len(args) > 0
}

// asTheyAre takes a format and then values of any types.
func asTheyAre(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) == 0 || castCost(args[0], sqltype.Varchar) == noCast {
		return nil, sqltype.Null, false
	}
	return append([]sqltype.Type{sqltype.Varchar}, args[1:]...), sqltype.Varchar, true
}

// separated is texts with a separator before them.
func separated(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	params, result, _ := texts(args)
	return params, result, len(args) > 1
}

// patternFamilies are the functions that match text. The regular expressions
// are RE2's, which is POSIX but for back references. Their last argument is
// flags: i ignores case, g is all matches.
func patternFamilies() []family {
	str, boolean, i32 := sqltype.Varchar, sqltype.Bool, sqltype.Int32
	like := []signature{on(boolean, str, str, str).withOptional(1)} // an escape may follow
	return []family{
		{Func: Func{ID: FuncLike}, aliases: []string{"~~"}, signatures: like},
		{Func: Func{ID: FuncILike}, aliases: []string{"~~*"}, signatures: like},
		{Func: Func{ID: FuncSimilarTo}, signatures: like},
		{Func: Func{ID: FuncGlob}, signatures: []signature{on(boolean, str, str)}},
		{Func: Func{ID: FuncRegexpLike}, aliases: []string{"~", "regexp_matches"}, signatures: like},
		{Func: Func{ID: FuncRegexpILike}, aliases: []string{"~*"}, signatures: []signature{on(boolean, str, str)}},
		// regexp_replace(x, pattern, by [, flags]), or (x, pattern, by, start [, n [, flags]]).
		{Func: Func{ID: FuncRegexpReplace}, signatures: []signature{
			on(str, str, str, str, str).withOptional(1),
			on(str, str, str, str, sqltype.Int64, sqltype.Int64, str).withOptional(2),
		}},
		{Func: Func{ID: FuncRegexpSubstr}, aliases: []string{"regexp_extract"}, signatures: []signature{on(str, str, str), on(str, str, str, sqltype.Int64)}},
		{Func: Func{ID: FuncRegexpCount}, signatures: []signature{
			on(i32, str, str, sqltype.Int64, str).withOptional(2),
		}},
		{Func: Func{ID: FuncRegexpInstr}, signatures: []signature{on(i32, str, str)}},
		{Func: Func{ID: FuncRegexpExtractAll}, signatures: []signature{on(sqltype.ListOf(str), str, str, sqltype.Int64).withOptional(1)}},
	}
}
