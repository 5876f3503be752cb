package kernels

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// numberToChar is to_char of a number of type t.
func numberToChar(t sqltype.Type) ScalarFunc {
	return func(c *Call) error {
		formats := Read[string](c, 1)
		var room []byte
		var p numberPattern
		last := ""
		return funcRows(c, func(i int) (View, error) {
			if f := formats.At(i); f != last || p.tokens == "" {
				last = strings.Clone(f)
				p = readNumberPattern(last)
			}
			v, ok := decimalArg(c, i, t, p.decimals)
			room = p.append(room[:0], v, ok)
			return c.Heap.Bytes(room)
		})
	}
}

// decimalArg is the number in argument 0, of type t, unscaled at a scale;
// false when it has none there.
func decimalArg(c *Call, i int, t sqltype.Type, scale int) (sqltype.Int128, bool) {
	switch {
	case t.Kind.IsFloat():
		v, err := sqltype.DecimalFromFloat(ArgAt[float64](c, 0, i), sqltype.MaxPrecision, scale)
		return v, err == nil
	case t.Phys() == sqltype.PhysI128:
		return ArgAt[sqltype.Int128](c, 0, i).Rescale(int(t.Scale), scale)
	}
	return sqltype.Int128Of(ArgAt[int64](c, 0, i)).Rescale(int(t.Scale), scale)
}

// numberPattern is a format of to_char: 9 and 0 are digits, 0 also where the
// number has none; comma or G groups, point or D divides; S, MI, PL and PR are
// signs, $ or L a currency; FM drops what is only filling.
type numberPattern struct {
	tokens   string // the format without signs, FM and quotes
	whole    int    // digits before the point
	decimals int    // and after it
	sign     byte   // 0, 'S' before, 's' after, 'M' MI, 'P' PR, '+' PL
	fill     bool
}

func readNumberPattern(format string) numberPattern {
	p := numberPattern{fill: true}
	var tokens []byte
	upper := strings.ToUpper(format)
	point := false
	for i := 0; i < len(upper); {
		two := upper[i:min(i+2, len(upper))]
		switch {
		case two == "FM":
			p.fill = false
			i++
		case two == "MI":
			p.sign = 'M'
			i++
		case two == "PL":
			p.sign = '+'
			i++
		case two == "PR":
			p.sign = 'P'
			i++
		case upper[i] == 'S':
			p.sign = 'S'
			if len(tokens) > 0 {
				p.sign = 's'
			}
		case upper[i] == '9' || upper[i] == '0':
			if point {
				p.decimals = min(p.decimals+1, sqltype.MaxPrecision)
			} else {
				p.whole++
			}
			tokens = append(tokens, upper[i])
		case (upper[i] == '.' || upper[i] == 'D') && !point:
			point = true
			tokens = append(tokens, '.')
		case upper[i] == ',' || upper[i] == 'G':
			tokens = append(tokens, ',')
		case upper[i] == 'L':
			tokens = append(tokens, '$')
		default:
			tokens = append(tokens, format[i])
		}
		i++
	}
	p.tokens = string(tokens)
	return p
}

// append appends v, which has p's decimals. What does not fit is shown as #.
func (p *numberPattern) append(dst []byte, v sqltype.Int128, ok bool) []byte {
	neg := v.Sign() < 0
	if neg {
		v, _ = v.Neg()
	}
	digits := v.String()
	for len(digits) <= p.decimals {
		digits = "0" + digits
	}
	whole, decimals := digits[:len(digits)-p.decimals], digits[len(digits)-p.decimals:]
	whole = strings.TrimLeft(whole, "0")
	if whole == "" && p.decimals == 0 && p.whole > 0 {
		whole = "0"
	}
	ok = ok && len(whole) <= p.whole
	blanks, body := p.body(whole, decimals, ok)
	if p.fill {
		for range blanks {
			dst = append(dst, ' ')
		}
	}
	before, after := p.signs(neg)
	dst = append(dst, before...)
	dst = append(dst, body...)
	return append(dst, after...)
}

// body lays the digits into the pattern, and counts the places before the first.
func (p *numberPattern) body(whole, decimals string, ok bool) (blanks int, body []byte) {
	place, after, started, point := p.whole, 0, false, false
	for i := 0; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; t {
		case '9', '0':
			if point {
				if after < len(decimals) {
					body = append(body, digitOr(decimals[after], ok))
				}
				after++
				continue
			}
			started = started || t == '0' || place <= len(whole) || !ok
			if !started {
				blanks++
			} else if d := len(whole) - place; d >= 0 && ok {
				body = append(body, whole[d])
			} else {
				body = append(body, digitOr('0', ok))
			}
			place--
		case ',':
			if started {
				body = append(body, ',')
			} else {
				blanks++
			}
		case '.':
			point, started = true, true
			body = append(body, '.')
		default:
			body = append(body, t)
		}
	}
	if !p.fill && point {
		// Of the digits after the point only those that a 0 asks for must stay.
		keep := strings.LastIndexByte(p.tokens, '0') - strings.IndexByte(p.tokens, '.')
		dot := len(body) - len(decimals) - 1
		for len(body)-1 > dot+max(keep, 0) && body[len(body)-1] == '0' {
			body = body[:len(body)-1]
		}
	}
	return blanks, body
}

func digitOr(d byte, ok bool) byte {
	if ok {
		return d
	}
	return '#'
}

// signs are what stands before and after the digits.
func (p *numberPattern) signs(neg bool) (before, after string) {
	pick := func(minus, plus string) string {
		if neg {
			return minus
		}
		if !p.fill && plus == " " {
			return ""
		}
		return plus
	}
	switch p.sign {
	case 'S':
		return pick("-", "+"), ""
	case 's':
		return "", pick("-", "+")
	case 'M':
		return "", pick("-", " ")
	case '+':
		return pick("-", " "), pick("", "+")
	case 'P':
		return pick("<", " "), pick(">", " ")
	}
	return pick("-", " "), ""
}
