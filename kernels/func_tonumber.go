package kernels

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// numberScale is the digits after the point that to_number gives.
const numberScale = 10

// toNumber reads a number by one of to_char's formats: as many digits as it has
// places, whatever stands between them; a minus anywhere, or brackets, is its sign.
func toNumber(_ *Heap, text, format string) (sqltype.Int128, error) {
	p := readNumberPattern(format)
	var digits []byte
	whole, decimals, point, minus := 0, 0, false, false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '-' || ch == '<':
			minus = true
		case ch == '.' && p.decimals > 0:
			point = true
		case ch >= '0' && ch <= '9' && point && decimals < p.decimals:
			digits = append(digits, ch)
			decimals++
		case ch >= '0' && ch <= '9' && !point && whole < p.whole:
			digits = append(digits, ch)
			whole++
		}
	}
	if len(digits) == 0 {
		return sqltype.Int128{}, sqltype.Errorf(sqltype.CodeInvalidText, "invalid input syntax for type numeric: %q", text)
	}
	number := string(digits[:whole]) + "." + string(digits[whole:])
	if minus {
		number = "-" + number
	}
	return sqltype.ParseDecimal(strings.TrimSuffix(number, "."), sqltype.MaxPrecision, numberScale)
}
