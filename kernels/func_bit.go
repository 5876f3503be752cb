package kernels

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// bitFuncs are the functions and operators over strings of bits, which are held as
// the characters 0 and 1.
func bitFuncs(name string, args []sqltype.Type, _ sqltype.Type, _ []*sqltype.Datum) (ScalarFunc, bool) {
	if name == "bitstring" {
		return Func2(bitString), true
	}
	if len(args) == 0 || args[0].Kind != sqltype.KindBit {
		return nil, false
	}
	switch name {
	case "&":
		return bitPairs("AND", func(a, b byte) byte { return a & b }), true
	case "|":
		return bitPairs("OR", func(a, b byte) byte { return a | b }), true
	case "#":
		return bitPairs("XOR", func(a, b byte) byte { return '0' + (a ^ b) }), true
	case "~":
		return Func1(func(h *Heap, s string) (View, error) {
			b := []byte(s)
			for i := range b {
				b[i] ^= 1
			}
			return h.Bytes(b)
		}), true
	case "<<":
		return Func2(func(h *Heap, s string, n int64) (View, error) { return shiftBits(h, s, n, true) }), true
	case ">>":
		return Func2(func(h *Heap, s string, n int64) (View, error) { return shiftBits(h, s, n, false) }), true
	case "||":
		return Func2(func(h *Heap, a, b string) (View, error) { return h.String(a + b) }), true
	case "length", "bit_length":
		return Pure1(func(s string) int32 { return int32(len(s)) }), true
	case "octet_length":
		return Pure1(func(s string) int32 { return int32((len(s) + 7) / 8) }), true
	case "bit_count":
		return Pure1(func(s string) int64 { return int64(strings.Count(s, "1")) }), true
	case "bit_position":
		return Pure2(func(part, s string) int32 { return int32(strings.Index(s, part) + 1) }), true
	case "get_bit":
		return Func2(func(_ *Heap, s string, n int64) (int32, error) {
			if err := indexIn(n, int64(len(s))); err != nil {
				return 0, err
			}
			return int32(s[n] - '0'), nil
		}), true
	case "set_bit":
		return Func3(func(h *Heap, s string, n, v int64) (View, error) {
			if err := indexIn(n, int64(len(s))); err != nil {
				return View{}, err
			}
			if v != 0 && v != 1 {
				return View{}, errNewBit()
			}
			b := []byte(s)
			b[n] = '0' + byte(v)
			return h.Bytes(b)
		}), true
	}
	return nil, false
}

func errNewBit() error {
	return sqltype.Errorf(sqltype.CodeInvalidParameter, "new bit must be 0 or 1")
}

// bitString is bitstring(text, n): the bits of a text, with zeros before them.
func bitString(h *Heap, s string, n int64) (View, error) {
	bits, err := sqltype.ParseBit(s)
	if err != nil {
		return View{}, err
	}
	if n < int64(len(bits)) || n > maxString {
		return View{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "a bit string of %d bits cannot have a length of %d", len(bits), n)
	}
	return h.String(strings.Repeat("0", int(n)-len(bits)) + bits)
}

// bitPairs is an operator over the bits of two strings of one length.
func bitPairs(name string, op func(a, b byte) byte) ScalarFunc {
	return Func2(func(h *Heap, s, t string) (View, error) {
		if len(s) != len(t) {
			return View{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "cannot %s bit strings of different sizes", name)
		}
		out := make([]byte, len(s))
		for i := range out {
			out[i] = op(s[i], t[i])
		}
		return h.Bytes(out)
	})
}

// shiftBits moves bits by n places within their string; zeros come in.
func shiftBits(h *Heap, s string, n int64, left bool) (View, error) {
	if n < 0 {
		return View{}, sqltype.Errorf(sqltype.CodeOutOfRange, "cannot shift by negative number %d", n)
	}
	k := int(min(n, int64(len(s))))
	zeros := strings.Repeat("0", k)
	if left {
		return h.String(s[k:] + zeros)
	}
	return h.String(zeros + s[:len(s)-k])
}
