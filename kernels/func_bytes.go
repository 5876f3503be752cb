package kernels

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash/crc32"
	"strconv"
	"unicode/utf8"

	"github.com/gpusql/gpusql/sqltype"
)

// byteFuncs are the functions over the bytes and bits of a BLOB, and digests: of
// text in hexadecimal digits, of a BLOB as a BLOB.
func byteFuncs(name string, args []sqltype.Type) (ScalarFunc, bool) {
	digest := func(sum func(b []byte) []byte) (ScalarFunc, bool) {
		text := args[0].Kind == sqltype.KindVarchar
		return Func1(func(h *Heap, s string) (View, error) {
			b := sum(bytesOf(s))
			if text {
				b = hex.AppendEncode(nil, b)
			}
			return h.Bytes(b)
		}), true
	}
	switch name {
	case "sha1":
		return digest(func(b []byte) []byte { d := sha1.Sum(b); return d[:] })
	case "sha224":
		return digest(func(b []byte) []byte { d := sha256.Sum224(b); return d[:] })
	case "sha384":
		return digest(func(b []byte) []byte { d := sha512.Sum384(b); return d[:] })
	case "sha512":
		return digest(func(b []byte) []byte { d := sha512.Sum512(b); return d[:] })
	case "crc32":
		return Pure1(func(s string) int64 { return int64(crc32.ChecksumIEEE(bytesOf(s))) }), true
	case "to_bin":
		return Func1(func(h *Heap, v int64) (View, error) {
			return h.Bytes(strconv.AppendUint(nil, uint64(v), 2))
		}), true
	case "get_byte":
		return Func2(func(_ *Heap, s string, n int64) (int32, error) {
			if err := indexIn(n, int64(len(s))); err != nil {
				return 0, err
			}
			return int32(s[n]), nil
		}), true
	case "get_bit":
		return Func2(func(_ *Heap, s string, n int64) (int32, error) {
			if err := indexIn(n, int64(len(s))*8); err != nil {
				return 0, err
			}
			return int32(s[n/8] >> (n % 8) & 1), nil
		}), true
	case "set_byte":
		return Func3(func(h *Heap, s string, n, v int64) (View, error) {
			if err := indexIn(n, int64(len(s))); err != nil {
				return View{}, err
			}
			b := []byte(s)
			b[n] = byte(v)
			return h.Bytes(b)
		}), true
	case "set_bit":
		return Func3(func(h *Heap, s string, n, v int64) (View, error) {
			if err := indexIn(n, int64(len(s))*8); err != nil {
				return View{}, err
			}
			if v != 0 && v != 1 {
				return View{}, errNewBit()
			}
			b := []byte(s)
			b[n/8] = b[n/8]&^(1<<(n%8)) | byte(v)<<(n%8)
			return h.Bytes(b)
		}), true
	}
	return nil, false
}

func indexIn(n, size int64) error {
	if n < 0 || n >= size {
		return sqltype.Errorf(codeArrayElement, "index %d out of valid range, 0..%d", n, size-1)
	}
	return nil
}

// unicodeEscape reads what follows a backslash: XXXX, +XXXXXX, uXXXX or
// UXXXXXXXX; n is its bytes, 0 when it is none.
func unicodeEscape(s string) (r rune, n int) {
	skip, digits := 0, 4
	if s != "" {
		switch s[0] {
		case '+':
			skip, digits = 1, 6
		case 'u':
			skip = 1
		case 'U':
			skip, digits = 1, 8
		}
	}
	n = skip + digits
	if len(s) < n {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[skip:n], 16, 32)
	if err != nil || v == 0 || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
		return 0, 0
	}
	return rune(v), n
}
