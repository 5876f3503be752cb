package kernels

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// maxWidth bounds the width and the digits that a format may ask for.
const maxWidth = 1 << 16

// printed is printf(format, ...) with C's places: %d %i %u %x %o %f %e %g %s %c
// and %%, with flags, a width and digits.
var printed = FuncRow(func(c *Call, i int) (View, error) {
	if c.Args[0].IsNull(i) {
		return View{}, ErrNull
	}
	text, next := ArgAt[string](c, 0, i), 1
	var dst []byte
	for {
		at := strings.IndexByte(text, '%')
		if at < 0 {
			return c.Heap.Bytes(append(dst, text...))
		}
		dst = append(dst, text[:at]...)
		text = text[at+1:]
		if strings.HasPrefix(text, "%") {
			dst, text = append(dst, '%'), text[1:]
			continue
		}
		end := strings.IndexAny(text, "diuxXofFeEgGsc")
		if end < 0 || strings.Trim(text[:end], "-+ #0123456789.,hl") != "" {
			return View{}, badFormat("%" + text[:min(len(text), 10)])
		}
		verb := text[end]
		flags := strings.TrimRight(text[:end], "hl")
		text = text[end+1:]
		part, err := c.formatPart(i, next, flags, verb)
		if err != nil {
			return View{}, err
		}
		next++
		dst = append(dst, part...)
	}
})

// braced is format(text, ...) with places {}, {1} and {:>8.2f}; {{ and }} are
// braces.
func braced(c *Call, i int) (View, error) {
	text, next := ArgAt[string](c, 0, i), 1
	var dst []byte
	for text != "" {
		switch at := strings.IndexAny(text, "{}"); {
		case at < 0:
			return c.Heap.Bytes(append(dst, text...))
		case strings.HasPrefix(text[at:], "{{"), strings.HasPrefix(text[at:], "}}"):
			dst, text = append(dst, text[:at+1]...), text[at+2:]
		default:
			end := strings.IndexByte(text[at:], '}')
			if text[at] == '}' || end < 0 {
				return View{}, badFormat(text[at:])
			}
			dst = append(dst, text[:at]...)
			place, spec, _ := strings.Cut(text[at+1:at+end], ":")
			text = text[at+end+1:]
			arg := next
			if place != "" {
				n, err := strconv.ParseUint(place, 10, 16)
				if err != nil {
					return View{}, badFormat("{" + place + "}")
				}
				arg = int(n) + 1
			} else {
				next++
			}
			part, err := c.bracedPart(i, arg, spec)
			if err != nil {
				return View{}, err
			}
			dst = append(dst, part...)
		}
	}
	return c.Heap.Bytes(dst)
}

// bracedPart writes an argument as [[fill]<>^][+][0][width][,][.digits][letter].
func (c *Call) bracedPart(i, arg int, spec string) (string, error) {
	align := byte(0)
	fill := " "
	switch {
	case len(spec) > 1 && strings.IndexByte("<>^", spec[1]) >= 0:
		fill, align, spec = spec[:1], spec[1], spec[2:]
	case spec != "" && strings.IndexByte("<>^", spec[0]) >= 0:
		align, spec = spec[0], spec[1:]
	}
	verb := byte(0)
	if n := len(spec); n > 0 && strings.IndexByte("dxXofFeEgGsc", spec[n-1]) >= 0 {
		verb, spec = spec[n-1], spec[:n-1]
	}
	if strings.Trim(spec, "+ #0123456789.,") != "" {
		return "", badFormat("{:" + spec + "}")
	}
	if verb == 0 {
		verb = 's'
		if arg < len(c.Args) && c.Args[arg].Type.Kind.IsNumeric() {
			if _, err := strconv.ParseInt(c.textArg(arg, i), 10, 64); err == nil {
				verb = 'd'
			} else if strings.Contains(spec, ".") {
				verb = 'g'
			}
		}
	}
	if align == 0 {
		if verb == 's' && strings.Trim(spec, "0123456789") == "" && spec != "" {
			spec = "-" + spec // text stands to the left
		}
		return c.formatPart(i, arg, spec, verb)
	}
	flags, width := spec, 0
	if at := strings.TrimLeft(spec, "+ #"); at != "" {
		digits := at[:len(at)-len(strings.TrimLeft(at, "0123456789"))]
		width, _ = strconv.Atoi(digits)
		flags = spec[:len(spec)-len(at)] + at[len(digits):]
	}
	if width > maxWidth {
		return "", badFormat("{:" + spec + "}")
	}
	text, err := c.formatPart(i, arg, flags, verb)
	missing := max(width-len([]rune(text)), 0)
	left := missing
	switch align {
	case '<':
		left = 0
	case '^':
		left = missing / 2
	}
	return strings.Repeat(fill, left) + text + strings.Repeat(fill, missing-left), err
}

// formatPart writes an argument as a verb of C's printf asks.
func (c *Call) formatPart(i, arg int, flags string, verb byte) (string, error) {
	if arg >= len(c.Args) {
		return "", sqltype.Errorf(sqltype.CodeInvalidParameter, "too few arguments for the format")
	}
	if c.Args[arg].IsNull(i) {
		return "", ErrNull
	}
	for _, n := range strings.FieldsFunc(flags, func(r rune) bool { return r < '0' || r > '9' }) {
		if v, err := strconv.Atoi(n); err != nil || v > maxWidth {
			return "", badFormat("%" + flags)
		}
	}
	grouped := strings.Contains(flags, ",")
	format := "%" + strings.ReplaceAll(flags, ",", "")
	text := c.textArg(arg, i)
	out := ""
	switch verb {
	case 's':
		out = fmt.Sprintf(format+"s", text)
	case 'c':
		out = fmt.Sprintf(format+"s", string([]rune(text)[:min(1, len([]rune(text)))]))
	case 'd', 'i', 'u', 'x', 'X', 'o':
		d, err := sqltype.CastDatum(sqltype.NewString(text), sqltype.Decimal(sqltype.MaxPrecision, 0))
		if err != nil {
			return "", err
		}
		letter := string(verb)
		if verb == 'i' || verb == 'u' {
			letter = "d"
		}
		n, err := sqltype.CastDatum(d, sqltype.Int64)
		if err != nil {
			return "", err
		}
		out = fmt.Sprintf(format+letter, n.I)
	default:
		d, err := sqltype.CastDatum(sqltype.NewString(text), sqltype.Float64)
		if err != nil {
			return "", err
		}
		if (verb == 'g' || verb == 'G') && !strings.Contains(flags, ".") && !math.IsInf(d.F, 0) {
			format += ".6"
		}
		out = fmt.Sprintf(format+string(verb), d.F)
	}
	if grouped {
		out = groupDigits(out)
	}
	return out, nil
}

// groupDigits puts commas between the thousands.
func groupDigits(s string) string {
	from := strings.IndexAny(s, "0123456789")
	if from < 0 {
		return s
	}
	to := from
	for to < len(s) && s[to] >= '0' && s[to] <= '9' {
		to++
	}
	for at := to - 3; at > from; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// textArg is argument k at row i as text.
func (c *Call) textArg(k, i int) string { return c.Args[k].datum(i).String() }

func badFormat(part string) error {
	return sqltype.Errorf(sqltype.CodeInvalidParameter, "the format has %q, which is not known", part)
}
