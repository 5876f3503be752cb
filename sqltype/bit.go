package sqltype

import (
	"strings"
)

// A BIT is a string of bits, one or more. It is held as the characters 0 and 1:
// eight times the room that the bits need, for which its order, its hash and its
// places are those of text, and no step needs to know of it.

// ParseBit reads a string of bits. Nothing is one bit that is 0.
func ParseBit(text string) (string, error) {
	if strings.Trim(text, "01") != "" {
		return "", invalidText(Bit, text)
	}
	if text == "" {
		return "0", nil
	}
	return text, nil
}

// bitsOf are the lowest n bits of v, the highest first.
func bitsOf(v Int128, n int) string {
	out := make([]byte, n)
	for i := range out {
		at := n - 1 - i
		word := v.Lo
		if at >= 64 {
			word = uint64(v.Hi)
		}
		out[i] = '0' + byte(word>>(at%64)&1)
	}
	return string(out)
}

// bitsToInt is a string of bits as an integer of a kind: all the bits of the
// kind, or the lowest of them.
func bitsToInt(bits string, k Kind) (int64, error) {
	width := Type{Kind: k}.Phys().Width() * 8
	if len(bits) > width {
		return 0, Errorf(CodeOutOfRange, "%d bits do not fit in %s", len(bits), k)
	}
	var v uint64
	for i := range bits {
		v = v<<1 | uint64(bits[i]-'0')
	}
	if k.IsSigned() {
		return int64(v<<(64-width)) >> (64 - width), nil
	}
	return int64(v), nil
}

// castBit converts a string of bits to a type, or a value to bits.
func castBit(d Datum, t Type) (Datum, error) {
	r := Datum{Type: t}
	var err error
	switch f := d.Type.Kind; {
	case t.Kind == KindBlob:
		r.S = packBits(d.S)
	case t.Kind == KindBool:
		r.I, err = bitsToInt(d.S, KindUint8)
		if r.I > 1 && err == nil {
			r.I = 1
		}
	case f == KindBit:
		r.I, err = bitsToInt(d.S, t.Kind)
	case f == KindBlob && d.S == "":
		err = Errorf(CodeInvalidText, "cannot cast an empty BLOB to BIT")
	case f == KindBlob:
		var b strings.Builder
		for i := range len(d.S) {
			b.WriteString(bitsOf(Int128Of(int64(d.S[i])), 8))
		}
		r.S = b.String()
	case f == KindBool:
		r.S = bitsOf(d.Int128(), 8)
	default:
		r.S = bitsOf(d.Int128(), d.Type.Phys().Width()*8)
	}
	return r, err
}

// packBits are bits as bytes, with zeros before the first.
func packBits(bits string) string {
	out := make([]byte, (len(bits)+7)/8)
	for i := range bits {
		at := len(bits) - 1 - i
		out[len(out)-1-at/8] |= (bits[i] - '0') << (at % 8)
	}
	return string(out)
}
