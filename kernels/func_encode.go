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

	"github.com/gpusql/gpusql/sqltype"
)

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
	case "encode", "decode":
		switch {
		case len(args) == 1 && name == "encode":
			return Func1(func(h *Heap, s string) (View, error) { return h.String(s) }), true
		case len(args) == 1:
			return Func1(func(h *Heap, s string) (View, error) {
				if !utf8.ValidString(s) {
					return View{}, sqltype.Errorf(sqltype.CodeInvalidText, "the bytes are no UTF-8 text")
				}
				return h.String(s)
			}), true
		case name == "encode":
			return Func2(encoded), true
		}
		return Func2(decoded), true
	case "quote_literal":
		return rewrite(appendLiteral), true
	case "quote_ident":
		return rewrite(appendIdent), true
	case "quote_nullable":
		return FuncRow(func(c *Call, i int) (View, error) {
			if c.Args[0].IsNull(i) {
				return c.Heap.String("NULL")
			}
			return c.Heap.Bytes(appendLiteral(nil, ArgAt[string](c, 0, i)))
		}), true
	case "unistr":
		return Func1(unistr), true
	case "version":
		return Func0(func(h *Heap) (View, error) { return h.String("gpusql") }), true
	}
	return nil, false
}

// appendLiteral appends s as SQL writes a string.
func appendLiteral(dst []byte, s string) []byte {
	if strings.Contains(s, `\`) {
		dst = append(dst, 'E')
		s = strings.ReplaceAll(s, `\`, `\\`)
	}
	return appendQuoted(dst, s, '\'')
}

// appendIdent appends s as SQL writes a name.
func appendIdent(dst []byte, s string) []byte {
	if isPlainIdent(s) {
		return append(dst, s...)
	}
	return appendQuoted(dst, s, '"')
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
