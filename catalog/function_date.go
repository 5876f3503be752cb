package catalog

import "github.com/gpusql/gpusql/sqltype"

// dateFamilies are the functions over dates, times and intervals.
//
// A part of a date is a BIGINT when it is a whole number and a DOUBLE when it
// has a fraction: second, millisecond, epoch and julian. extract and date_part
// with a constant field are the function of that field (see refineDatePart);
// with any other field they are a DOUBLE.
func dateFamilies() []family {
	date, tm, ts, tz, iv := sqltype.Date, sqltype.Time, sqltype.Timestamp, sqltype.TimestampTZ, sqltype.Interval
	i64, f64, str, boolean := sqltype.Int64, sqltype.Float64, sqltype.Varchar, sqltype.Bool
	part := func(id FuncID, result sqltype.Type, aliases ...string) family {
		return family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{
			on(result, date), on(result, ts), on(result, tz), on(result, tm), on(result, iv), on(result, sqltype.TimeTZ),
		}}
	}
	spanOf := func(id FuncID, n sqltype.Type) family {
		return family{Func: Func{ID: id}, signatures: []signature{on(iv, n)}}
	}
	return []family{
		{Func: Func{ID: FuncDatePart}, aliases: []string{"extract", "datepart"}, signatures: []signature{
			on(f64, str, date).refinedBy(refineDatePart), on(f64, str, ts).refinedBy(refineDatePart),
			on(f64, str, tz).refinedBy(refineDatePart), on(f64, str, tm).refinedBy(refineDatePart),
			on(f64, str, iv).refinedBy(refineDatePart), on(f64, str, sqltype.TimeTZ).refinedBy(refineDatePart),
		}},
		part(FuncYear, i64), part(FuncMonth, i64), part(FuncDay, i64, "dayofmonth"), part(FuncHour, i64), part(FuncMinute, i64),
		part(FuncSecond, f64), part(FuncMillisecond, f64), part(FuncMicrosecond, i64), part(FuncQuarter, i64),
		part(FuncWeek, i64, "weekofyear"), part(FuncISOYear, i64), part(FuncDayOfWeek, i64), part(FuncISODayOfWeek, i64, "weekday"),
		part(FuncDayOfYear, i64), part(FuncDecade, i64), part(FuncCentury, i64), part(FuncMillennium, i64),
		part(FuncEra, i64), part(FuncEpoch, f64), part(FuncJulian, f64),
		// Of one argument the offset of the session, of two AT TIME ZONE.
		{Func: Func{ID: FuncTimezone}, signatures: []signature{
			on(i64, date), on(i64, ts), on(i64, tz), on(tz, str, ts), on(ts, str, tz),
		}},
		{Func: Func{ID: FuncDateTrunc}, aliases: []string{"datetrunc"}, signatures: []signature{
			on(ts, str, ts), on(tz, str, tz), on(iv, str, iv), on(tz, str, tz, str),
		}},
		// date_bin(stride, x [, origin]) is the beginning of the stride that x is in.
		{Func: Func{ID: FuncDateBin}, aliases: []string{"time_bucket"}, signatures: []signature{
			on(ts, iv, ts, ts).withOptional(1), on(tz, iv, tz, tz).withOptional(1),
		}},
		// date_diff counts the boundaries of the unit that lie between.
		{Func: Func{ID: FuncDateDiff}, aliases: []string{"datediff"}, signatures: []signature{
			on(i64, str, date, date), on(i64, str, ts, ts), on(i64, str, tz, tz),
			on(i64, date, date), // MySQL's, in days, the later first
		}},
		// date_sub counts the units that go whole between.
		{Func: Func{ID: FuncDateSub}, aliases: []string{"datesub"}, signatures: []signature{
			on(i64, str, date, date), on(i64, str, ts, ts), on(i64, str, tz, tz),
		}},
		{Func: Func{ID: FuncAge}, signatures: []signature{on(iv, ts, ts), on(iv, tz, tz)}},
		{Func: Func{ID: FuncMakeDate}, signatures: []signature{on(date, i64, i64, i64)}},
		{Func: Func{ID: FuncMakeTime}, signatures: []signature{on(tm, i64, i64, f64)}},
		{Func: Func{ID: FuncMakeTimestamp}, signatures: []signature{on(ts, i64, i64, i64, i64, i64, f64), on(ts, i64)}},
		{Func: Func{ID: FuncMakeTimestampTZ}, signatures: []signature{on(tz, i64, i64, i64, i64, i64, f64, str).withOptional(1)}},
		{Func: Func{ID: FuncEpochMs}, signatures: []signature{on(i64, ts), on(i64, tz), on(ts, i64)}},
		{Func: Func{ID: FuncEpochUs}, signatures: []signature{on(i64, ts), on(i64, tz)}},
		{Func: Func{ID: FuncOverlaps}, signatures: []signature{on(boolean, ts, ts, ts, ts), on(boolean, tz, tz, tz, tz), on(boolean, tm, tm, tm, tm)}},
		{Func: Func{ID: FuncMakeInterval}, signatures: []signature{on(iv, i64, i64, i64, i64, i64, i64, f64).withOptional(7)}},
		spanOf(FuncToYears, i64), spanOf(FuncToMonths, i64), spanOf(FuncToDays, i64), spanOf(FuncToHours, i64), spanOf(FuncToMinutes, i64),
		spanOf(FuncToSeconds, f64), spanOf(FuncToMilliseconds, f64), spanOf(FuncToMicroseconds, i64), spanOf(FuncToWeeks, i64),
		spanOf(FuncToQuarters, i64), spanOf(FuncToDecades, i64), spanOf(FuncToCenturies, i64), spanOf(FuncToMillennia, i64),
		{Func: Func{ID: FuncToTimestamp}, signatures: []signature{on(tz, f64), on(tz, str, str)}},
		{Func: Func{ID: FuncToDate}, signatures: []signature{on(date, str, str)}},
		{Func: Func{ID: FuncLastDay}, signatures: []signature{on(date, date), on(date, ts)}},
		{Func: Func{ID: FuncDayName}, signatures: []signature{on(str, date), on(str, ts), on(str, tz)}},
		{Func: Func{ID: FuncMonthName}, signatures: []signature{on(str, date), on(str, ts), on(str, tz)}},
		{Func: Func{ID: FuncStrftime}, signatures: []signature{
			on(str, date, str), on(str, ts, str), on(str, tz, str), on(str, str, date), on(str, str, ts), on(str, str, tz),
		}},
		{Func: Func{ID: FuncToChar}, signatures: []signature{
			on(str, ts, str), on(str, tz, str), on(str, iv, str), on(str, i64, str), on(str, anyDecimal, str), on(str, f64, str),
		}},
		{Func: Func{ID: FuncJustifyDays}, signatures: []signature{on(iv, iv)}},
		{Func: Func{ID: FuncJustifyHours}, signatures: []signature{on(iv, iv)}},
		{Func: Func{ID: FuncJustifyInterval}, signatures: []signature{on(iv, iv)}},
		{Func: Func{ID: FuncNow, Stable: true}, aliases: []string{"current_timestamp", "transaction_timestamp", "statement_timestamp"},
			signatures: []signature{on(tz)}},
		{Func: Func{ID: FuncLocalTimestamp, Stable: true}, signatures: []signature{on(ts)}},
		{Func: Func{ID: FuncCurrentDate, Stable: true}, aliases: []string{"today"}, signatures: []signature{on(date)}},
		{Func: Func{ID: FuncCurrentTime, Stable: true}, aliases: []string{"localtime"}, signatures: []signature{on(tm)}},
		{Func: Func{ID: FuncClockTimestamp, Volatile: true}, signatures: []signature{on(tz)}},
	}
}

// DatePartFunc is the function, of one argument, that extract of a field means.
func DatePartFunc(field string) (FuncID, bool) {
	p, ok := sqltype.ParseDatePart(field)
	if !ok {
		return FuncNone, false
	}
	return FuncYear + FuncID(p), true
}

// refineDatePart makes the result of a known whole part a BIGINT. The call
// keeps both arguments.
func refineDatePart(r *Resolved, consts []*sqltype.Datum) {
	if c := consts[0]; c != nil && !c.Null {
		if p, ok := sqltype.ParseDatePart(c.S); ok && p.IsWhole() {
			r.Result = sqltype.Int64
		}
	}
}

// StatementTime is the value of a Stable function of the clock in a statement
// that began at now, in microseconds since 1970 UTC; false for other functions.
func StatementTime(id FuncID, now int64) (sqltype.Datum, bool) {
	day := now / sqltype.MicrosPerDay
	if now%sqltype.MicrosPerDay < 0 {
		day--
	}
	switch id {
	case FuncNow:
		return sqltype.Datum{Type: sqltype.TimestampTZ, I: now}, true
	case FuncLocalTimestamp:
		return sqltype.Datum{Type: sqltype.Timestamp, I: now}, true
	case FuncCurrentDate:
		return sqltype.Datum{Type: sqltype.Date, I: day}, true
	case FuncCurrentTime:
		return sqltype.Datum{Type: sqltype.Time, I: now - day*sqltype.MicrosPerDay}, true
	}
	return sqltype.Datum{}, false
}
