package kernels

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/gpusql/gpusql/sqltype"
)

// What a call does, in Imm.
//
//gpu:layout
const (
	callYear = iota
	callMonth
	callDay
	callQuarter
	callDayOfWeek
	callDayOfYear
	callAddDays // X: the range of dates
	callSubDays
	callDaysBetween
	callAddInterval // X: the range of timestamps
	callSubInterval
	callLike
	callStartsWith
	callLength
	callSubstring // X: the first character and how many
	callAbs
	callAbsFloat
	callHour
	callMinute
	callISODayOfWeek
	callTruncTo    // X: the microseconds of the unit
	callTruncMonth // X: the months of the unit
	callTruncWeek
	callJoin   // a || b
	callConcat // List: the arguments
	callUpper  // List: letters and their capitals, by letter
	callLower
	callTrim // X: 1 from the left, 2 from the right
	callRight
	callPosition
	callContains
	callEndsWith
	callOctets
	callRound  // X: what to do with the rest; Y: the power of ten that is dropped; of DECIMAL, X: 1, List: the limit, the power of ten that it comes to
	callDigits // X: what to do with the rest, and 1 for digits before the point; Y: the power of ten
	callSquareRoot
)

var deviceParts = map[sqltype.DatePart]int32{
	sqltype.PartYear: callYear, sqltype.PartMonth: callMonth, sqltype.PartDay: callDay,
	sqltype.PartQuarter: callQuarter, sqltype.PartDayOfWeek: callDayOfWeek, sqltype.PartDayOfYear: callDayOfYear,
	sqltype.PartISODayOfWeek: callISODayOfWeek, sqltype.PartHour: callHour, sqltype.PartMinute: callMinute,
}

// call chooses what a function does.
func (l *lowering) call(in *Instr, e *evalInstr) error {
	f := &l.p.Funcs[in.Imm]
	kind := func(i int) sqltype.Kind {
		if i < len(in.Args) {
			return l.p.Types[in.Args[i]].Kind
		}
		return sqltype.KindNull
	}
	text := func(i int) (string, bool) {
		if i >= len(in.Args) || !l.p.IsConst(in.Args[i]) {
			return "", false
		}
		d := l.p.Const(in.Args[i])
		return d.S, !d.Null && d.Type.Kind.IsString()
	}
	none := &NotOnDeviceError{"function " + f.Name}
	stamp := func(k sqltype.Kind) bool { return k == sqltype.KindTimestamp || k == sqltype.KindTimestampTZ }
	part := func(word string, value int) error {
		p, ok := sqltype.ParseDatePart(word)
		call, known := deviceParts[p]
		if k := kind(value); !ok || !known || k != sqltype.KindDate && k != sqltype.KindTimestamp {
			return none
		}
		e.A, e.B, e.Imm = l.arg[in.Args[value]], evalArg{Slot: -1}, call
		e.Form = l.p.Types[in.Args[value]].Phys()
		return nil
	}
	switch name := f.Name; {
	case name == "date_part":
		if word, ok := text(0); ok {
			return part(word, 1)
		}
		return none
	case name == "date_trunc" && len(in.Args) == 2 && stamp(kind(1)):
		word, _ := text(0)
		e.A, e.B = l.arg[in.Args[1]], evalArg{Slot: -1}
		if !e.truncTo(word) {
			return none
		}
	case name == "+" && kind(0) == sqltype.KindInterval || name == "+" && kind(0) == sqltype.KindInt32 && kind(1) == sqltype.KindDate:
		e.A, e.B = e.B, e.A
		return l.moveDate(in, e, kind(1), kind(0), callAddDays, callAddInterval, none)
	case name == "+":
		return l.moveDate(in, e, kind(0), kind(1), callAddDays, callAddInterval, none)
	case name == "-" && kind(0) == sqltype.KindDate && kind(1) == sqltype.KindDate:
		e.Imm = callDaysBetween
	case name == "-":
		return l.moveDate(in, e, kind(0), kind(1), callSubDays, callSubInterval, none)
	case name == "like" && len(in.Args) == 2:
		if pattern, ok := text(1); !ok || slices.Contains([]byte(pattern), '\\') || kind(0) != sqltype.KindVarchar {
			return none
		}
		e.Imm = callLike
	case name == "starts_with":
		e.Imm = callStartsWith
	case name == "length" && kind(0) == sqltype.KindVarchar:
		e.Imm = callLength
	case name == "substring" && len(in.Args) == 3 && kind(0) == sqltype.KindVarchar && l.p.IsConst(in.Args[1]) && l.p.IsConst(in.Args[2]):
		from, count := l.p.Const(in.Args[1]), l.p.Const(in.Args[2])
		if from.Null || count.Null || from.I < 1 || count.I < 0 {
			return none
		}
		e.Imm, e.X = callSubstring, [2]uint64{uint64(from.I), uint64(count.I)}
	case name == "substring" && len(in.Args) == 2 && kind(0) == sqltype.KindVarchar && l.p.IsConst(in.Args[1]),
		name == "left" && kind(0) == sqltype.KindVarchar && l.p.IsConst(in.Args[1]):
		n := l.p.Const(in.Args[1])
		if n.Null || n.I < 0 {
			return none
		}
		e.Imm, e.X = callSubstring, [2]uint64{1, uint64(n.I)}
		if name == "substring" {
			e.X = [2]uint64{uint64(max(n.I, 1)), math.MaxInt64}
		}
	case name == "right" && kind(0) == sqltype.KindVarchar && l.p.IsConst(in.Args[1]) && l.p.Const(in.Args[1]).I >= 0:
		e.Imm = callRight
	case (name == "trim" || name == "ltrim" || name == "rtrim") && len(in.Args) == 1 && kind(0) == sqltype.KindVarchar:
		e.Imm, e.X[0] = callTrim, map[string]uint64{"trim": 3, "ltrim": 1, "rtrim": 2}[name]
	case name == "strpos" && kind(0) == sqltype.KindVarchar:
		e.Imm = callPosition
	case name == "contains" && kind(0) == sqltype.KindVarchar:
		e.Imm = callContains
	case name == "ends_with" && kind(0) == sqltype.KindVarchar:
		e.Imm = callEndsWith
	case name == "octet_length":
		e.Imm = callOctets
	case name == "||" && kind(0) == sqltype.KindVarchar && kind(1) == sqltype.KindVarchar:
		e.Imm, l.makes = callJoin, true
	case name == "concat":
		e.Imm, e.List, l.makes = callConcat, uint32(len(l.lists)), true
		for i, a := range in.Args {
			if kind(i) != sqltype.KindVarchar {
				return none
			}
			l.lists = append(l.lists, uint64(uint16(l.arg[a].Slot))|uint64(uint16(l.arg[a].Bit))<<16)
		}
	case name == "upper" && kind(0) == sqltype.KindVarchar:
		e.Imm, e.List, l.makes = callUpper, l.letters(unicode.ToUpper), true
	case name == "lower" && kind(0) == sqltype.KindVarchar:
		e.Imm, e.List, l.makes = callLower, l.letters(unicode.ToLower), true
	case (name == "round" || name == "trunc" || name == "ceil" || name == "floor") && len(in.Args) <= 2:
		return l.round(in, e, name, none)
	case name == "sqrt" && kind(0) == sqltype.KindFloat64:
		e.Imm = callSquareRoot
	case name == "abs" && kind(0).IsInteger():
		e.Imm, e.Form = callAbs, l.p.Types[in.Args[0]].Phys()
		if e.Form > sqltype.PhysI64 {
			return none
		}
	case name == "abs" && kind(0) == sqltype.KindFloat64:
		e.Imm = callAbsFloat
	case len(in.Args) == 1 && (kind(0) == sqltype.KindDate || stamp(kind(0))):
		if p, ok := sqltype.ParseDatePart(name); ok && p.String() == name {
			return part(name, 0)
		}
		return none
	default:
		return none
	}
	return nil
}

// moveDate is a date or timestamp and days or an interval.
func (l *lowering) moveDate(in *Instr, e *evalInstr, a, b sqltype.Kind, days, interval int32, none error) error {
	switch {
	case a == sqltype.KindDate && b == sqltype.KindInt32:
		e.Imm = days
		e.X = [2]uint64{uint64(int64(sqltype.MinDate)), uint64(int64(sqltype.MaxDate))}
		return nil
	case (a == sqltype.KindTimestamp || a == sqltype.KindDate) && b == sqltype.KindInterval:
		e.Imm, e.Form = interval, sqltype.PhysI64
		if a == sqltype.KindDate {
			e.Form = sqltype.PhysI32
		}
		lo, hi := int64(sqltype.MinTimestamp), int64(sqltype.MaxTimestamp)
		e.X = [2]uint64{uint64(lo), uint64(hi)}
		return nil
	}
	return none
}

// truncTo is date_trunc to a unit; false when it has no code.
func (e *evalInstr) truncTo(word string) bool {
	p, ok := sqltype.ParseDatePart(word)
	units := map[sqltype.DatePart]int64{sqltype.PartMicrosecond: 1, sqltype.PartMillisecond: 1000, sqltype.PartSecond: sqltype.MicrosPerSecond,
		sqltype.PartMinute: sqltype.MicrosPerMinute, sqltype.PartHour: sqltype.MicrosPerHour, sqltype.PartDay: 24 * sqltype.MicrosPerHour}
	months := map[sqltype.DatePart]uint64{sqltype.PartMonth: 1, sqltype.PartQuarter: 3, sqltype.PartYear: 12}
	switch {
	case !ok:
		return false
	case units[p] > 0:
		e.Imm, e.X[0] = callTruncTo, uint64(units[p])
	case months[p] > 0:
		e.Imm, e.X[0] = callTruncMonth, months[p]
	case p == sqltype.PartWeek:
		e.Imm = callTruncWeek
	default:
		return false
	}
	return true
}

// letters writes the letters beyond ASCII that have another case: how many, and
// each with what becomes of it, in order.
func (l *lowering) letters(to func(rune) rune) uint32 {
	at := len(l.lists)
	l.lists = append(l.lists, 0)
	for _, c := range unicode.CaseRanges {
		for r := max(rune(c.Lo), utf8.RuneSelf); r <= rune(c.Hi); r++ {
			if to(r) != r {
				l.lists = append(l.lists, uint64(r)<<32|uint64(to(r)))
			}
		}
	}
	l.lists[at] = uint64(len(l.lists) - at - 1)
	return uint32(at)
}

// round is round, trunc, ceil and floor, of a number and digits that are known.
func (l *lowering) round(in *Instr, e *evalInstr, name string, none error) error {
	from, to := l.p.Types[in.Args[0]], l.p.Types[in.Dst]
	how := map[string]rounding{"round": roundNearest, "trunc": roundTrunc, "ceil": roundCeil, "floor": roundFloor}[name]
	digits := 0
	if len(in.Args) == 2 {
		if !l.p.IsConst(in.Args[1]) || l.p.Const(in.Args[1]).Null {
			return none
		}
		digits = int(max(min(l.p.Const(in.Args[1]).I, 300), -300))
	}
	e.Imm, e.Form, e.X[0] = callRound, from.Phys(), uint64(how)
	switch {
	case from.Kind == sqltype.KindFloat64 && len(in.Args) == 1:
		return nil
	case from.Kind == sqltype.KindFloat64 && digits > -300 && digits < 300:
		e.Imm, e.X[1] = callDigits, uint64(b2u(digits < 0))
		e.Y[0] = math.Float64bits(math.Pow(10, math.Abs(float64(digits))))
		return nil
	case from.Kind == sqltype.KindDecimal && to.Kind == sqltype.KindDecimal && digits >= 0 && int(to.Scale) >= min(digits, int(from.Scale)):
		keep := min(digits, int(from.Scale))
		e.Y, e.X[1] = tenTo(int(from.Scale)-keep), 1
		e.List = uint32(len(l.lists))
		most, up := tenTo(int(to.Precision)), tenTo(int(to.Scale)-keep)
		l.lists = append(append(l.lists, most[:]...), up[:]...)
		return nil
	case from.Kind.IsInteger() && len(in.Args) == 1 && from.Phys() == to.Phys():
		e.Y = [2]uint64{1, 0}
		return nil
	}
	return none
}
