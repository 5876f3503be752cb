package kernels

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gpusql/gpusql/sqltype"
)

// textFuncs are functions that write text in another form.
func textFuncs(name string, args []sqltype.Type, _ sqltype.Type, _ []*sqltype.Datum) (ScalarFunc, bool) {
	if f, ok := likenessFuncs[name]; ok {
		return f, true
	}
	if f, ok := vectorFuncs[name]; ok {
		return onVectors(f), true
	}
	switch name {
	case "printf":
		return printed, true
	case "strptime", "try_strptime":
		return strptimeFunc(name == "try_strptime"), true
	case "regexp_extract_all":
		return makeList(allMatches), true
	case "regexp_full_match":
		return FuncRow(func(c *Call, i int) (bool, error) {
			flags := ""
			if len(c.Args) > 2 {
				flags = ArgAt[string](c, 2, i)
			}
			re, err := regexpOf("^(?:"+ArgAt[string](c, 1, i)+")$", flags)
			return err == nil && re.MatchString(ArgAt[string](c, 0, i)), err
		}), true
	case "regexp_escape":
		return rewritten(regexp.QuoteMeta), true
	case "url_encode":
		return rewritten(func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }), true
	case "url_decode":
		return Func1(func(h *Heap, s string) (View, error) {
			out, err := url.PathUnescape(s)
			if err != nil || !utf8.ValidString(out) {
				return View{}, sqltype.Errorf(sqltype.CodeInvalidText, "%.60q is not encoded for a URL", s)
			}
			return h.String(out)
		}), true
	case "to_base64":
		return rewritten(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }), true
	case "from_base64":
		return Func1(func(h *Heap, s string) (View, error) {
			out, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				return View{}, sqltype.Errorf(sqltype.CodeInvalidText, "%.60q is not base64", s)
			}
			return h.Bytes(out)
		}), true
	case "unhex":
		return Func1(func(h *Heap, s string) (View, error) {
			out, err := hex.DecodeString(strings.Repeat("0", len(s)%2) + s)
			if err != nil {
				return View{}, sqltype.Errorf(sqltype.CodeInvalidText, "%.60q is not hexadecimal", s)
			}
			return h.Bytes(out)
		}), true
	case "to_base":
		return FuncRow(toBase), true
	case "format_bytes", "format_decimal_bytes":
		base, units := 1024.0, [...]string{"KiB", "MiB", "GiB", "TiB", "PiB"}
		if name == "format_decimal_bytes" {
			base, units = 1000, [...]string{"kB", "MB", "GB", "TB", "PB"}
		}
		return Func1(func(h *Heap, n int64) (View, error) { return h.String(bytesText(n, base, units[:])) }), true
	case "parse_filename":
		return rewritten(func(s string) string { return s[strings.LastIndexAny(s, `/\`)+1:] }), true
	case "parse_dirpath":
		return rewritten(func(s string) string { return s[:max(strings.LastIndexAny(s, `/\`), 0)] }), true
	case "bar":
		return FuncRow(barOf), true
	}
	return nil, false
}

// allMatches is regexp_extract_all(x, pattern [, group]).
func allMatches(c *Call, i int, out []byte) ([]byte, error) {
	re, err := regexpOf(ArgAt[string](c, 1, i), "")
	if err != nil {
		return nil, err
	}
	group := int64(0)
	if len(c.Args) > 2 {
		group = ArgAt[int64](c, 2, i)
	}
	if group < 0 || group > int64(re.NumSubexp()) {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "the pattern has no group %d", group)
	}
	s := ArgAt[string](c, 0, i)
	for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
		if at[2*group] >= 0 {
			out = sqltype.AppendElement(out, sqltype.NewString(s[at[2*group]:at[2*group+1]]))
		}
	}
	return out, nil
}

// rewritten makes a ScalarFunc of a function from text to text.
func rewritten(f func(string) string) ScalarFunc {
	return Func1(func(h *Heap, s string) (View, error) { return h.String(f(s)) })
}

// toBase is to_base(n, base [, digits]).
func toBase(c *Call, i int) (View, error) {
	n, base := ArgAt[int64](c, 0, i), ArgAt[int64](c, 1, i)
	least := int64(0)
	if len(c.Args) > 2 {
		least = ArgAt[int64](c, 2, i)
	}
	if n < 0 || base < 2 || base > 36 || least < 0 || least > 64 {
		return View{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "to_base takes a number from 0, a base from 2 to 36 and up to 64 digits")
	}
	s := strings.ToUpper(strconv.FormatInt(n, int(base)))
	return c.Heap.String(strings.Repeat("0", max(int(least)-len(s), 0)) + s)
}

// bytesText is a number of bytes in the greatest unit that has one.
func bytesText(n int64, base float64, units []string) string {
	v, unit := math.Abs(float64(n)), ""
	for _, u := range units {
		if v < base {
			break
		}
		v, unit = v/base, u
	}
	switch {
	case unit == "" && n == 1:
		return "1 byte"
	case unit == "":
		return strconv.FormatInt(n, 10) + " bytes"
	}
	return strconv.FormatFloat(math.Copysign(math.Trunc(v*10)/10, float64(n)), 'f', 1, 64) + " " + unit
}

// barOf is bar(x, min, max [, width]): a bar of blocks of an eighth.
func barOf(c *Call, i int) (View, error) {
	x, lo, hi, width := ArgAt[float64](c, 0, i), ArgAt[float64](c, 1, i), ArgAt[float64](c, 2, i), 80.0
	if len(c.Args) > 3 {
		width = ArgAt[float64](c, 3, i)
	}
	if !(width >= 1 && width <= 1000) || !(lo < hi) || math.IsInf(hi-lo, 0) || math.IsNaN(x) {
		return View{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "bar takes a range and a width from 1 to 1000")
	}
	share := min(max((x-lo)/(hi-lo), 0), 1)
	eighths := int(share*width*8 + 1e-9)
	out := strings.Repeat("█", eighths/8)
	if eighths%8 > 0 {
		out += string([]rune("▏▎▍▌▋▊▉")[eighths%8-1])
	}
	return c.Heap.String(out + strings.Repeat(" ", max(int(width)-len([]rune(out)), 0)))
}
