package kernels

import (
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/unicode/norm"

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
	case "strip_accents":
		return rewrite(appendWithoutAccents), true
	case "nfc_normalize":
		return rewrite(norm.NFC.AppendString), true
	case "lpad", "rpad":
		return padded(name == "lpad", len(args) == 3), true
	case "repeat":
		return Func2(repeated), true
	case "error":
		return Func1(func(_ *Heap, message string) (View, error) {
			return View{}, sqltype.Errorf("P0001", "%s", message)
		}), true
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
	case "hamming":
		return Func2(hamming), true
	case "format":
		return formatted, true
	}
	if f, ok := byteFuncs(name, args); ok {
		return f, true
	}
	return codeFuncs(name, args)
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
			lo, hi := max(from.At(i), -1<<62)-1, int64(len(s))
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

// appendWithoutAccents leaves out what marks a letter.
func appendWithoutAccents(dst []byte, s string) []byte {
	for _, r := range norm.NFD.String(s) {
		if !unicode.Is(unicode.Mn, r) {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
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

// hamming is the places where two strings of one length differ.
func hamming(_ *Heap, a, b string) (n int32, _ error) {
	ra, rb := []rune(a), []rune(b)
	if len(ra) != len(rb) {
		return 0, sqltype.Errorf(sqltype.CodeInvalidParameter, "hamming takes strings of one length")
	}
	for i := range ra {
		if ra[i] != rb[i] {
			n++
		}
	}
	return n, nil
}
