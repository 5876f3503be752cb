package kernels

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// SQLSTATEs that only functions give.
const (
	codeSubstring = "22011"
	codeTooLong   = "54000"
)

// maxString is the most bytes of a string that a function makes: a few rows of
// repeat must not fill the memory before its limit is asked.
const maxString = 1 << 28

// stringFuncs are the functions over text and bytes. Lengths and places count
// characters; a BLOB's are bytes.
func stringFuncs(name string, args []sqltype.Type, _ sqltype.Type, _ []*sqltype.Datum) (ScalarFunc, bool) {
	blob := len(args) > 0 && args[0].Kind == sqltype.KindBlob
	switch name {
	case "length":
		if blob {
			return byteLength(1), true
		}
		return charLength, true
	case "octet_length":
		return byteLength(1), true
	case "bit_length":
		return byteLength(8), true
	case "substring":
		return substring(blob, len(args) == 3), true
	case "left", "right":
		return cutSide(name == "left"), true
	case "trim", "ltrim", "rtrim":
		return trimmed(name != "rtrim", name != "ltrim", len(args) == 2), true
	case "lower":
		return mapCase('A', strings.ToLower), true
	case "upper":
		return mapCase('a', strings.ToUpper), true
	case "initcap":
		return rewrite(appendInitcap), true
	case "reverse":
		return rewrite(appendReverse), true
	case "lpad", "rpad":
		return padded(name == "lpad", len(args) == 3), true
	case "repeat":
		return Func2(repeated), true
	case "replace":
		return Func3(func(h *Heap, s, from, to string) (View, error) {
			if from == "" {
				return h.String(s)
			}
			return h.String(strings.ReplaceAll(s, from, to))
		}), true
	case "translate":
		return Func3(translated), true
	case "||":
		return Func2(joined), true
	case "concat":
		return concatenation(false), true
	case "concat_ws":
		return concatenation(true), true
	case "strpos":
		return Pure2(position), true
	case "starts_with":
		return Pure2(strings.HasPrefix), true
	case "ends_with":
		return Pure2(strings.HasSuffix), true
	case "contains":
		return Pure2(func(s, part string) bool { return strings.Contains(s, part) }), true
	case "split_part":
		return Func3(splitPart), true
	case "overlay":
		return overlay(len(args) == 4), true
	case "levenshtein":
		return Pure2(levenshtein), true
	}
	return codeFuncs(name, args)
}

// codeFuncs are the string functions about characters' codes and encodings.
func codeFuncs(name string, args []sqltype.Type) (ScalarFunc, bool) {
	switch name {
	case "ascii":
		return Pure1(func(s string) int32 {
			r, _ := utf8.DecodeRuneInString(s)
			if s == "" {
				return 0
			}
			return int32(r)
		}), true
	case "chr":
		return Func1(func(h *Heap, code int64) (View, error) {
			if code <= 0 || code > unicode.MaxRune || !utf8.ValidRune(rune(code)) {
				return View{}, sqltype.Errorf(sqltype.CodeOutOfRange, "requested character %d is not valid", code)
			}
			return h.String(string(rune(code)))
		}), true
	case "md5":
		return Func1(func(h *Heap, s string) (View, error) {
			sum := md5.Sum(bytesOf(s))
			return h.Bytes(hex.AppendEncode(nil, sum[:]))
		}), true
	case "sha256":
		return Func1(func(h *Heap, s string) (View, error) {
			sum := sha256.Sum256(bytesOf(s))
			return h.Bytes(hex.AppendEncode(nil, sum[:]))
		}), true
	case "to_hex":
		if args[0].Kind.IsInteger() {
			return Func1(func(h *Heap, v int64) (View, error) {
				return h.Bytes(strconv.AppendUint(nil, uint64(v), 16))
			}), true
		}
		return Func1(func(h *Heap, s string) (View, error) {
			return h.Bytes(bytes.ToUpper(hex.AppendEncode(nil, bytesOf(s))))
		}), true
	case "encode":
		return Func2(encoded), true
	case "decode":
		return Func2(decoded), true
	case "quote_literal":
		return rewrite(func(dst []byte, s string) []byte {
			if strings.Contains(s, `\`) {
				dst = append(dst, 'E')
				s = strings.ReplaceAll(s, `\`, `\\`)
			}
			return appendQuoted(dst, s, '\'')
		}), true
	case "quote_ident":
		return rewrite(func(dst []byte, s string) []byte {
			if isPlainIdent(s) {
				return append(dst, s...)
			}
			return appendQuoted(dst, s, '"')
		}), true
	case "version":
		return Func0(func(h *Heap) (View, error) { return h.String("gpusql") }), true
	}
	return nil, false
}

// bytesOf is s as bytes that must not be written.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// isASCII reports that each character is a byte. It looks at eight at a time.
func isASCII(s string) bool {
	for len(s) >= 8 {
		if *(*uint64)(unsafe.Pointer(unsafe.StringData(s)))&0x8080808080808080 != 0 {
			return false
		}
		s = s[8:]
	}
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// offsetOf is the byte where character n (from 0) begins, len(s) beyond the end.
func offsetOf(s string, n int64) int {
	if n <= 0 {
		return 0
	}
	if n >= int64(len(s)) && isASCII(s) {
		return len(s)
	}
	if n < int64(len(s)) && isASCII(s[:n]) {
		return int(n)
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// charCount is the characters of s.
func charCount(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// part is the view of s[lo:hi], where s is the string of v: the bytes are
// shared with it and not copied.
func (v *View) part(s string, lo, hi int) View {
	if hi-lo <= InlineLen {
		return inlineView(s[lo:hi])
	}
	return longView(bytesOf(s[lo:hi]), device.Ptr(v.Hi)+device.Ptr(lo))
}

// view is the argument's view at row i.
func (r *Reader[T]) view(i int) *View { return &r.views[i&r.mask] }

func byteLength(unit int32) ScalarFunc {
	return func(c *Call) error {
		in := Read[string](c, 0)
		out := device.View[int32](c.Out, c.N)
		for i := range out {
			out[i] = int32(in.view(i).Len()) * unit
		}
		return nil
	}
}

func charLength(c *Call) error {
	in := Read[string](c, 0)
	return funcRows(c, func(i int) (int32, error) { return int32(charCount(in.At(i))), nil })
}

// substring is substring(s, from [, count]): a place before the first
// character counts, but gives nothing.
func substring(blob, counted bool) ScalarFunc {
	return func(c *Call) error {
		in, from := Read[string](c, 0), Read[int64](c, 1)
		var count Reader[int64]
		if counted {
			count = Read[int64](c, 2)
		}
		return funcRows(c, func(i int) (View, error) {
			v := in.view(i)
			s := v.Str()
			lo, hi := from.At(i)-1, int64(len(s))
			if counted {
				n := count.At(i)
				if n < 0 {
					return View{}, sqltype.Errorf(codeSubstring, "negative substring length not allowed")
				}
				hi = lo + n
				if hi < lo { // the sum overflowed: to the end
					hi = int64(len(s))
				}
			}
			lo = max(lo, 0)
			if lo >= hi || lo >= int64(len(s)) {
				return View{}, nil
			}
			if blob {
				return v.part(s, int(lo), int(min(hi, int64(len(s))))), nil
			}
			start := offsetOf(s, lo)
			end := start + offsetOf(s[start:], hi-lo)
			return v.part(s, start, end), nil
		})
	}
}

// cutSide is left and right: n characters, or all but -n.
func cutSide(left bool) ScalarFunc {
	return func(c *Call) error {
		in, count := Read[string](c, 0), Read[int64](c, 1)
		return funcRows(c, func(i int) (View, error) {
			v := in.view(i)
			s := v.Str()
			// Where the cut is, in characters from the front.
			n := count.At(i)
			switch {
			case left && n < 0:
				n += int64(charCount(s))
			case !left && n >= 0:
				n = int64(charCount(s)) - n
			case !left:
				n = -n
			}
			at := offsetOf(s, n)
			if left {
				return v.part(s, 0, at), nil
			}
			return v.part(s, at, len(s)), nil
		})
	}
}

// trimmed drops characters of a set, or blanks, from the ends.
func trimmed(left, right, withSet bool) ScalarFunc {
	return func(c *Call) error {
		in := Read[string](c, 0)
		var set Reader[string]
		if withSet {
			set = Read[string](c, 1)
		}
		return funcRows(c, func(i int) (View, error) {
			v := in.view(i)
			s := v.Str()
			cut := " "
			if withSet {
				cut = set.At(i)
			}
			lo, hi := 0, len(s)
			if left {
				lo = hi - len(strings.TrimLeft(s, cut))
			}
			if right {
				hi = lo + len(strings.TrimRight(s[lo:], cut))
			}
			return v.part(s, lo, hi), nil
		})
	}
}

// mapCase changes the case of letters; first is the first ASCII letter that
// changes, full does it for all of Unicode.
func mapCase(first byte, full func(string) string) ScalarFunc {
	return func(c *Call) error {
		in := Read[string](c, 0)
		return funcRows(c, func(i int) (View, error) {
			s := in.At(i)
			if !isASCII(s) {
				return c.Heap.String(full(s))
			}
			var room [InlineLen]byte
			dst, p := room[:min(len(s), InlineLen)], device.Ptr(0)
			if len(s) > InlineLen {
				var err error
				if dst, p, err = c.Heap.Grab(len(s)); err != nil {
					return View{}, err
				}
			}
			for j := range dst {
				b := s[j]
				if b-first < 26 {
					b ^= 0x20
				}
				dst[j] = b
			}
			if p != 0 {
				return longView(dst, p), nil
			}
			return inlineView(unsafe.String(unsafe.SliceData(dst), len(dst))), nil
		})
	}
}

// rewrite makes a function of one that appends the new string.
func rewrite(f func(dst []byte, s string) []byte) ScalarFunc {
	return func(c *Call) error {
		in := Read[string](c, 0)
		var room []byte
		return funcRows(c, func(i int) (View, error) {
			room = f(room[:0], in.At(i))
			return c.Heap.Bytes(room)
		})
	}
}

// appendInitcap makes the first letter of each word a capital.
func appendInitcap(dst []byte, s string) []byte {
	inWord := false
	for _, r := range s {
		if inWord {
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		} else {
			dst = utf8.AppendRune(dst, unicode.ToUpper(r))
		}
		inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return dst
}

func appendReverse(dst []byte, s string) []byte {
	for len(s) > 0 {
		_, n := utf8.DecodeLastRuneInString(s)
		dst = append(dst, s[len(s)-n:]...)
		s = s[:len(s)-n]
	}
	return dst
}

func appendQuoted(dst []byte, s string, quote byte) []byte {
	dst = append(dst, quote)
	for i := 0; i < len(s); i++ {
		if s[i] == quote {
			dst = append(dst, quote)
		}
		dst = append(dst, s[i])
	}
	return append(dst, quote)
}

func isPlainIdent(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

func errTooLong() error {
	return sqltype.Errorf(codeTooLong, "requested length too large")
}

// padded is lpad and rpad: exactly n characters, cut or filled.
func padded(left, withFill bool) ScalarFunc {
	return func(c *Call) error {
		in, width := Read[string](c, 0), Read[int64](c, 1)
		var fill Reader[string]
		if withFill {
			fill = Read[string](c, 2)
		}
		var room []byte
		return funcRows(c, func(i int) (View, error) {
			v := in.view(i)
			s, with := v.Str(), " "
			if withFill {
				with = fill.At(i)
			}
			n := max(width.At(i), 0)
			if n > maxString {
				return View{}, errTooLong()
			}
			missing := int(n) - charCount(s)
			if missing <= 0 || with == "" {
				return v.part(s, 0, offsetOf(s, n)), nil
			}
			room = room[:0]
			if !left {
				room = append(room, s...)
			}
			for whole := charCount(with); missing > 0; missing -= whole {
				room = append(room, with[:offsetOf(with, int64(missing))]...)
			}
			if left {
				room = append(room, s...)
			}
			return c.Heap.Bytes(room)
		})
	}
}

func repeated(h *Heap, s string, n int64) (View, error) {
	if n <= 0 || s == "" {
		return View{}, nil
	}
	if n > int64(maxString/len(s)) {
		return View{}, errTooLong()
	}
	return h.String(strings.Repeat(s, int(n)))
}

// translated replaces each character of from by the one at its place in to,
// and drops those that have none there.
func translated(h *Heap, s, from, to string) (View, error) {
	target := []rune(to)
	return h.String(strings.Map(func(r rune) rune {
		at := strings.IndexRune(from, r)
		if at < 0 {
			return r
		}
		if n := utf8.RuneCountInString(from[:at]); n < len(target) {
			return target[n]
		}
		return -1
	}, s))
}

// joined is a || b.
func joined(h *Heap, a, b string) (View, error) {
	n := len(a) + len(b)
	if n <= InlineLen {
		var room [InlineLen]byte
		copy(room[copy(room[:], a):], b)
		return inlineView(unsafe.String(&room[0], n)), nil
	}
	dst, p, err := h.Grab(n)
	if err != nil {
		return View{}, err
	}
	copy(dst[copy(dst, a):], b)
	return longView(dst, p), nil
}

// concatenation is concat and concat_ws, which leave NULLs out.
func concatenation(separated bool) ScalarFunc {
	return func(c *Call) error {
		readers := make([]Reader[string], len(c.Args))
		for k := range readers {
			readers[k] = Read[string](c, k)
		}
		first := 0
		if separated {
			first = 1
		}
		var room []byte
		return funcRows(c, func(i int) (View, error) {
			if separated && c.Args[0].IsNull(i) {
				return View{}, ErrNull
			}
			room = room[:0]
			some := false
			for k := first; k < len(readers); k++ {
				if c.Args[k].IsNull(i) {
					continue
				}
				if separated && some {
					room = append(room, readers[0].At(i)...)
				}
				some = true
				room = append(room, readers[k].At(i)...)
			}
			return c.Heap.Bytes(room)
		})
	}
}

// position is where part first begins in s, from 1; 0 when it does not.
func position(s, part string) int32 {
	at := strings.Index(s, part)
	if at < 0 {
		return 0
	}
	return int32(charCount(s[:at])) + 1
}

// splitPart is the nth piece of s between separators, from the end when n is
// negative.
func splitPart(h *Heap, s, sep string, n int64) (View, error) {
	if n == 0 {
		return View{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "field position must not be zero")
	}
	pieces := 1
	if sep != "" {
		pieces = strings.Count(s, sep) + 1
	}
	if n < 0 {
		n += int64(pieces) + 1
	}
	if n < 1 || n > int64(pieces) {
		return View{}, nil
	}
	for ; n > 1; n-- {
		_, s, _ = strings.Cut(s, sep)
	}
	if sep != "" {
		s, _, _ = strings.Cut(s, sep)
	}
	return h.String(s)
}

// overlay is overlay(s, new, from [, count]).
func overlay(counted bool) ScalarFunc {
	return FuncRow(func(c *Call, i int) (View, error) {
		s, with, from := ArgAt[string](c, 0, i), ArgAt[string](c, 1, i), ArgAt[int64](c, 2, i)
		count := int64(charCount(with))
		if counted {
			count = ArgAt[int64](c, 3, i)
		}
		if from <= 0 {
			return View{}, sqltype.Errorf(codeSubstring, "negative substring length not allowed")
		}
		rest := from - 1 + count
		if count > 0 && rest < 0 {
			rest = int64(len(s))
		}
		return c.Heap.String(s[:offsetOf(s, from-1)] + with + s[offsetOf(s, rest):])
	})
}

// levenshtein is the insertions, deletions and substitutions from a to b.
func levenshtein(a, b string) int32 {
	ra, rb := []rune(a), []rune(b)
	row := make([]int32, len(rb)+1)
	for j := range row {
		row[j] = int32(j)
	}
	for i, x := range ra {
		diagonal := row[0]
		row[0] = int32(i + 1)
		for j, y := range rb {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(rb)]
}

func encoded(h *Heap, s, format string) (View, error) {
	switch strings.ToLower(format) {
	case "hex":
		return h.Bytes(hex.AppendEncode(nil, bytesOf(s)))
	case "base64":
		return h.Bytes(base64.StdEncoding.AppendEncode(nil, bytesOf(s)))
	case "escape":
		var out []byte
		for i := 0; i < len(s); i++ {
			switch b := s[i]; {
			case b == '\\':
				out = append(out, `\\`...)
			case b == 0 || b >= utf8.RuneSelf:
				out = append(out, '\\', '0'+b>>6, '0'+b>>3&7, '0'+b&7)
			default:
				out = append(out, b)
			}
		}
		return h.Bytes(out)
	}
	return View{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "unrecognized encoding: %q", format)
}

func decoded(h *Heap, s, format string) (View, error) {
	var out []byte
	var err error
	switch strings.ToLower(format) {
	case "hex":
		out, err = hex.DecodeString(s)
	case "base64":
		out, err = base64.StdEncoding.DecodeString(s)
	case "escape":
		var text string
		text, err = sqltype.ParseBlob(s)
		out = []byte(text)
	default:
		return View{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "unrecognized encoding: %q", format)
	}
	if err != nil {
		return View{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "invalid %s data: %q", strings.ToLower(format), s)
	}
	return h.Bytes(out)
}
