package sqltype

import (
	"encoding/binary"
	"encoding/hex"
	"math"
)

// ParseUUID reads 32 hexadecimal digits, with hyphens after any group of four
// and braces around it all. hi and lo are its halves in the form of I128.
func ParseUUID(text string) (hi, lo int64, err error) {
	s := text
	if n := len(s); n >= 2 && s[0] == '{' && s[n-1] == '}' {
		s = s[1 : n-1]
	}
	var digits [32]byte
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '-' && n%4 == 0 && n > 0 && s[i-1] != '-' && i < len(s)-1 {
			continue
		}
		if n == len(digits) {
			return 0, 0, invalidText(UUID, text)
		}
		digits[n] = s[i]
		n++
	}
	var b [16]byte
	if _, bad := hex.Decode(b[:], digits[:n]); bad != nil || n != len(digits) {
		return 0, 0, invalidText(UUID, text)
	}
	v := UUIDOf(b)
	return v.Hi, int64(v.Lo), nil
}

// UUIDOf is 16 bytes in the form of I128.
func UUIDOf(b [16]byte) Int128 {
	return Int128{Hi: int64(binary.BigEndian.Uint64(b[:8])) ^ math.MinInt64, Lo: binary.BigEndian.Uint64(b[8:])}
}

// AppendUUID appends a value's text: 8-4-4-4-12 digits.
func AppendUUID(dst []byte, hi, lo int64) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(hi^math.MinInt64))
	binary.BigEndian.PutUint64(b[8:], uint64(lo))
	at := 0
	for i, n := range [...]int{4, 2, 2, 2, 6} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, b[at:at+n])
		at += n
	}
	return dst
}
