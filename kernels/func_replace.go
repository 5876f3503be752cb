package kernels

import (
	"regexp"

	"github.com/gpusql/gpusql/sqltype"
)

// replacing says which matches regexp_replace replaces.
type replacing struct {
	start int64 // characters from 1 where it begins; 0 and 1 are the beginning
	nth   int64 // the only one that is replaced; 0: the first, or all
	all   bool
}

// replacingAt reads where to begin from argument 3 and perhaps which match from
// argument 4, of which 0 means all.
func replacingAt(c *Call, i int) (replacing, error) {
	r := replacing{start: ArgAt[int64](c, 3, i)}
	if len(c.Args) > 4 {
		r.nth = ArgAt[int64](c, 4, i)
		r.all = r.nth == 0
	}
	if r.start < 1 || r.nth < 0 {
		return r, sqltype.Errorf(sqltype.CodeInvalidParameter, "regexp_replace begins at 1, and counts matches from 0")
	}
	return r, nil
}

// regexpReplace replaces matches. In with, \1 to \9 are groups and \& is the
// whole match.
func regexpReplace(re *regexp.Regexp, s, with string, which replacing) string {
	dst := []byte(s[:offsetOf(s, which.start-1)])
	s = s[len(dst):]
	end, limit := 0, int(max(which.nth, 1))
	if which.all {
		limit = -1
	}
	for n, m := range re.FindAllStringSubmatchIndex(s, limit) {
		if int64(n+1) < which.nth {
			continue
		}
		dst = append(dst, s[end:m[0]]...)
		end = m[1]
		dst = appendExpanded(dst, s, with, m)
	}
	return string(append(dst, s[end:]...))
}

// appendExpanded appends with, with the groups of match m of s in it.
func appendExpanded(dst []byte, s, with string, m []int) []byte {
	for i := 0; i < len(with); i++ {
		if with[i] != '\\' || i+1 == len(with) {
			dst = append(dst, with[i])
			continue
		}
		i++
		group := -1
		switch b := with[i]; {
		case b == '&':
			group = 0
		case b >= '1' && b <= '9':
			group = int(b - '0')
		case b == '\\':
			dst = append(dst, '\\')
		default:
			dst = append(dst, '\\', b)
		}
		if group >= 0 && 2*group+1 < len(m) && m[2*group] >= 0 {
			dst = append(dst, s[m[2*group]:m[2*group+1]]...)
		}
	}
	return dst
}
