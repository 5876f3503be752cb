package kernels

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// formatted is format(text, ...) with places {}, see braced, or PostgreSQL's: %s as it is, %I as a
// name, %L as a literal, %% a percent sign; between the % and the letter perhaps
// the argument's number and $, a - for the left and a width.
var formatted = FuncRow(func(c *Call, i int) (View, error) {
	if c.Args[0].IsNull(i) {
		return View{}, ErrNull
	}
	text := ArgAt[string](c, 0, i)
	if strings.IndexByte(text, '{') >= 0 && strings.IndexByte(text, '%') < 0 {
		return braced(c, i)
	}
	f := formatReader{c: c, row: i, text: text, next: 1}
	var dst []byte
	for {
		at := strings.IndexByte(f.text, '%')
		if at < 0 {
			return c.Heap.Bytes(append(dst, f.text...))
		}
		dst = append(dst, f.text[:at]...)
		f.text = f.text[at+1:]
		var err error
		if dst, err = f.place(dst); err != nil {
			return View{}, err
		}
		if len(dst) > maxString {
			return View{}, sqltype.Errorf(codeTooLong, "the text is longer than %d bytes", maxString)
		}
	}
})

// formatReader is what of the format is to come, and the argument that is next.
type formatReader struct {
	c    *Call
	row  int
	text string
	next int
}

func (f *formatReader) number() (v int, some bool) {
	for f.text != "" && f.text[0] >= '0' && f.text[0] <= '9' {
		v, some = min(v*10+int(f.text[0]-'0'), maxString+1), true
		f.text = f.text[1:]
	}
	return v, some
}

func (f *formatReader) skip(b byte) bool {
	if f.text == "" || f.text[0] != b {
		return false
	}
	f.text = f.text[1:]
	return true
}

// place appends the argument that a % asks for.
func (f *formatReader) place(dst []byte) ([]byte, error) {
	if f.skip('%') {
		return append(dst, '%'), nil
	}
	arg := f.next
	width, some := f.number()
	if some && f.skip('$') {
		arg = width
		width = 0
		some = false
	}
	left := false
	if !some {
		left = f.skip('-')
		width, _ = f.number()
	}
	if f.text == "" {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "unterminated format() type specifier")
	}
	letter := f.text[0]
	f.text = f.text[1:]
	switch {
	case strings.IndexByte("sIL", letter) < 0:
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "unrecognized format() type specifier \"%c\"", letter)
	case arg < 1 || arg >= len(f.c.Args):
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "too few arguments for format()")
	case width > maxString:
		return nil, sqltype.Errorf(codeTooLong, "the text is longer than %d bytes", maxString)
	}
	f.next = arg + 1
	text, err := f.argument(arg, letter)
	if err != nil {
		return nil, err
	}
	blanks := strings.Repeat(" ", max(width-charCount(string(text)), 0))
	if left {
		return append(append(dst, text...), blanks...), nil
	}
	return append(append(dst, blanks...), text...), nil
}

func (f *formatReader) argument(k int, letter byte) ([]byte, error) {
	null := f.c.Args[k].IsNull(f.row)
	switch {
	case null && letter == 'I':
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "null values cannot be formatted as an SQL identifier")
	case null && letter == 'L':
		return []byte("NULL"), nil
	case null:
		return nil, nil
	}
	s := f.c.textArg(k, f.row)
	switch letter {
	case 'I':
		return appendIdent(nil, s), nil
	case 'L':
		return appendLiteral(nil, s), nil
	}
	return []byte(s), nil
}

// unistr reads \XXXX, \+XXXXXX, \uXXXX and \UXXXXXXXX as characters.
func unistr(h *Heap, s string) (View, error) {
	var dst []byte
	for s != "" {
		at := strings.IndexByte(s, '\\')
		if at < 0 {
			dst = append(dst, s...)
			break
		}
		dst = append(dst, s[:at]...)
		s = s[at+1:]
		if strings.HasPrefix(s, `\`) {
			dst = append(dst, '\\')
			s = s[1:]
			continue
		}
		r, n := unicodeEscape(s)
		if n == 0 {
			return View{}, sqltype.Errorf(sqltype.CodeSyntax, "invalid Unicode escape")
		}
		dst = append(dst, string(r)...)
		s = s[n:]
	}
	return h.Bytes(dst)
}
