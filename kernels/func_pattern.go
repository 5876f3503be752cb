package kernels

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// SQLSTATEs of patterns.
const (
	codeEscape = "22025"
	codeRegexp = "2201B"
)

// matcher is a compiled pattern: it says whether a string matches.
type matcher interface{ match(s string) bool }

// compiler makes a matcher of a pattern and an escape character or flags.
type compiler func(pattern, extra string) (matcher, error)

// patternFuncs are the functions that match text against patterns. A constant
// pattern is compiled once.
func patternFuncs(name string, args []sqltype.Type, _ sqltype.Type, consts []*sqltype.Datum) (ScalarFunc, bool) {
	switch name {
	case "like":
		return matching(compileLike, `\`, args, consts), true
	case "ilike":
		return matching(compileILike, `\`, args, consts), true
	case "similar_to":
		return matching(compileSimilar, `\`, args, consts), true
	case "glob":
		return matching(compileGlob, "", args, consts), true
	case "regexp_like":
		return matching(compileRegexp, "", args, consts), true
	case "regexp_ilike":
		return matching(compileRegexp, "i", args, consts), true
	}
	return regexpFuncs(name, args)
}

// matching is the test of a string by a pattern; extra is what stands for an
// absent third argument.
func matching(compile compiler, extra string, args []sqltype.Type, consts []*sqltype.Datum) ScalarFunc {
	if len(consts) < len(args) || !isText(consts[1]) || len(args) == 3 && !isText(consts[2]) {
		return matchingRows(compile, extra)
	}
	if len(args) == 3 {
		extra = consts[2].S
	}
	m, err := compile(consts[1].S, extra)
	if err != nil {
		// It is an error of the row that needs the pattern, if there is one.
		return FuncRow(func(*Call, int) (bool, error) { return false, err })
	}
	if like, ok := m.(*like); ok && !like.fold {
		return like.run
	}
	return func(c *Call) error {
		in := Read[string](c, 0)
		return funcRows(c, func(i int) (bool, error) { return m.match(in.At(i)), nil })
	}
}

func isText(d *sqltype.Datum) bool { return d != nil && !d.Null }

// matchingRows compiles a pattern whenever it differs from the row before.
func matchingRows(compile compiler, extra string) ScalarFunc {
	return func(c *Call) error {
		in, pattern := Read[string](c, 0), Read[string](c, 1)
		var last, lastExtra string
		var m matcher
		return funcRows(c, func(i int) (bool, error) {
			p, e := pattern.At(i), extra
			if len(c.Args) == 3 {
				e = ArgAt[string](c, 2, i)
			}
			if m == nil || p != last || e != lastExtra {
				last, lastExtra = strings.Clone(p), strings.Clone(e)
				var err error
				if m, err = compile(last, lastExtra); err != nil {
					return false, err
				}
			}
			return m.match(in.At(i)), nil
		})
	}
}

// like is a compiled LIKE pattern: runs of characters with a % between each
// two. A run may hold places for any one character.
type like struct {
	runs       []likeRun
	start, end bool // the first run is at the beginning, the last at the end
	fold       bool // compare in lower case
}

// likeRun is what stands between two %.
type likeRun struct {
	text string // a place for any character is a 0xff, which no UTF-8 has
	wild bool   // there is such a place
}

const anyChar = 0xff

// compileLike reads a LIKE pattern. Escape is one character or none.
func compileLike(pattern, escape string) (matcher, error) {
	if utf8.RuneCountInString(escape) > 1 {
		return nil, sqltype.Errorf(codeEscape, "invalid escape string")
	}
	m := &like{start: true}
	var run likeRun
	var text []byte
	flush := func() {
		run.text = string(text)
		m.runs = append(m.runs, run)
		run, text = likeRun{}, text[:0]
	}
	percent := false // the last thing read was a %
	for i := 0; i < len(pattern); {
		_, n := utf8.DecodeRuneInString(pattern[i:])
		ch := pattern[i : i+n]
		i += n
		was := percent
		percent = false
		switch {
		case ch == escape:
			if i == len(pattern) {
				return nil, sqltype.Errorf(codeEscape, "LIKE pattern must not end with escape character")
			}
			_, n = utf8.DecodeRuneInString(pattern[i:])
			text = append(text, pattern[i:i+n]...)
			i += n
		case ch == "%":
			if len(text) > 0 {
				flush()
			} else if !was && len(m.runs) == 0 {
				m.start = false
			}
			percent = true
		case ch == "_":
			text, run.wild = append(text, anyChar), true
		default:
			text = append(text, ch...)
		}
	}
	m.end = !percent
	if len(text) > 0 {
		flush()
	}
	return m, nil
}

func compileILike(pattern, escape string) (matcher, error) {
	m, err := compileLike(strings.ToLower(pattern), escape)
	if err == nil {
		m.(*like).fold = true
	}
	return m, err
}

// run is the test over a column by a constant pattern.
func (m *like) run(c *Call) error {
	in := Read[string](c, 0)
	out := device.View[bool](c.Out, c.N)
	for i := range out {
		out[i] = c.Has(i) && m.match(in.views[i&in.mask].Str())
	}
	return nil
}

func (m *like) match(s string) bool {
	if m.fold {
		s = strings.ToLower(s)
	}
	runs := m.runs
	if len(runs) == 0 {
		return !m.start || s == "" // only %, or nothing at all
	}
	if m.start {
		n := runs[0].matchAt(s)
		if n < 0 {
			return false
		}
		s, runs = s[n:], runs[1:]
		if len(runs) == 0 {
			return !m.end || s == ""
		}
	}
	last := len(runs)
	if m.end {
		last--
	}
	// The first place where a run fits leaves most for those after it.
	for k := range runs[:last] {
		at, n := runs[k].find(s)
		if at < 0 {
			return false
		}
		s = s[at+n:]
	}
	return !m.end || runs[last].matchEnd(s)
}

// matchAt is the bytes of s that the run matches at its beginning, -1 for none.
func (r *likeRun) matchAt(s string) int {
	if !r.wild {
		if strings.HasPrefix(s, r.text) {
			return len(r.text)
		}
		return -1
	}
	at := 0
	for i := 0; i < len(r.text); i++ {
		switch {
		case at >= len(s):
			return -1
		case r.text[i] == anyChar:
			_, n := utf8.DecodeRuneInString(s[at:])
			at += n
		case r.text[i] == s[at]:
			at++
		default:
			return -1
		}
	}
	return at
}

// find is the first place in s where the run matches, and its bytes there.
func (r *likeRun) find(s string) (at, n int) {
	if !r.wild {
		return strings.Index(s, r.text), len(r.text)
	}
	for at < len(s) {
		if n = r.matchAt(s[at:]); n >= 0 {
			return at, n
		}
		_, n = utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return -1, 0
}

// matchEnd reports that the run matches the end of s.
func (r *likeRun) matchEnd(s string) bool {
	if !r.wild {
		return strings.HasSuffix(s, r.text)
	}
	// Step back over as many characters as the run has.
	at := len(s)
	for range utf8.RuneCountInString(r.text) { // a place counts as one
		if at == 0 {
			return false
		}
		_, n := utf8.DecodeLastRuneInString(s[:at])
		at -= n
	}
	return r.matchAt(s[at:]) == len(s)-at
}

// regexpMatcher matches anywhere in the string.
type regexpMatcher struct{ re *regexp.Regexp }

func (m regexpMatcher) match(s string) bool { return m.re.MatchString(s) }

func compileRegexp(pattern, flags string) (matcher, error) {
	re, err := regexpOf(pattern, flags)
	if err != nil {
		return nil, err
	}
	return regexpMatcher{re}, nil
}

// posixEscapes are PostgreSQL's escapes that RE2 writes otherwise.
var posixEscapes = strings.NewReplacer(`\\`, `\\`, `\y`, `\b`, `\Y`, `\B`, `\m`, `\b`, `\M`, `\b`, `\Z`, `\z`)

// regexpOf compiles a pattern. Flags: i ignores case, n or m lets ^ and $ match
// at line ends; the others that PostgreSQL has change nothing here.
func regexpOf(pattern, flags string) (*regexp.Regexp, error) {
	mode := "s" // a dot matches a newline too
	for _, f := range flags {
		switch f {
		case 'i':
			mode += "i"
		case 'n', 'm':
			mode = strings.Replace(mode, "s", "m", 1)
		case 'c', 'g', 's', 'x', 't', 'e':
		default:
			return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "invalid regular expression option: %q", f)
		}
	}
	re, err := regexp.Compile("(?" + mode + ")" + posixEscapes.Replace(pattern))
	if err != nil {
		return nil, sqltype.Errorf(codeRegexp, "invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

// compileSimilar is SIMILAR TO: the whole string by a pattern with SQL's % and
// _ and the regular operators | * + ? {} () [].
func compileSimilar(pattern, escape string) (matcher, error) {
	var b strings.Builder
	b.WriteString(`^(?:`)
	inSet := false
	for i := 0; i < len(pattern); {
		_, n := utf8.DecodeRuneInString(pattern[i:])
		ch := pattern[i : i+n]
		i += n
		switch {
		case ch == escape:
			if i == len(pattern) {
				return nil, sqltype.Errorf(codeEscape, "pattern must not end with escape character")
			}
			_, n = utf8.DecodeRuneInString(pattern[i:])
			b.WriteString(regexp.QuoteMeta(pattern[i : i+n]))
			i += n
		case inSet:
			inSet = ch != "]"
			b.WriteString(ch)
		case ch == "[":
			inSet = true
			b.WriteString(ch)
		case ch == "%":
			b.WriteString(".*")
		case ch == "_":
			b.WriteString(".")
		case strings.Contains(`.^$\`, ch):
			b.WriteString(`\` + ch)
		default:
			b.WriteString(ch)
		}
	}
	b.WriteString(`)$`)
	return compileRegexp(b.String(), "")
}

// compileGlob is GLOB: the whole string, * for any characters, ? for one, and
// [] for a set, as in file names.
func compileGlob(pattern, _ string) (matcher, error) {
	var b strings.Builder
	b.WriteString(`^`)
	inSet := false
	for _, r := range pattern {
		switch {
		case inSet:
			inSet = r != ']'
			if r == '\\' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		case r == '[':
			inSet = true
			b.WriteRune(r)
		case r == '*':
			b.WriteString(".*")
		case r == '?':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`$`)
	return compileRegexp(b.String(), "")
}

// regexps compiles patterns as rows bring them, keeping the last.
type regexps struct {
	pattern, flags string
	re             *regexp.Regexp
}

func (r *regexps) get(pattern, flags string) (*regexp.Regexp, error) {
	if r.re != nil && r.pattern == pattern && r.flags == flags {
		return r.re, nil
	}
	re, err := regexpOf(strings.Clone(pattern), flags)
	if err != nil {
		return nil, err
	}
	*r = regexps{strings.Clone(pattern), strings.Clone(flags), re}
	return re, nil
}

// regexpFuncs are the functions that find and replace.
func regexpFuncs(name string, args []sqltype.Type) (ScalarFunc, bool) {
	// flagged is the flags' argument, or "".
	flagged := func(c *Call, k, i int) string {
		if len(c.Args) <= k {
			return ""
		}
		return ArgAt[string](c, k, i)
	}
	switch name {
	case "regexp_replace":
		return func(c *Call) error {
			in, pattern, with := Read[string](c, 0), Read[string](c, 1), Read[string](c, 2)
			placed := len(args) > 3 && args[3].Kind == sqltype.KindInt64
			var cache regexps
			return funcRows(c, func(i int) (View, error) {
				var at replacing
				var err error
				flags := ""
				if placed {
					at, err = replacingAt(c, i)
					flags = flagged(c, 5, i)
				} else {
					flags = flagged(c, 3, i)
					at.all = strings.Contains(flags, "g")
				}
				if err != nil {
					return View{}, err
				}
				re, err := cache.get(pattern.At(i), flags)
				if err != nil {
					return View{}, err
				}
				return c.Heap.String(regexpReplace(re, in.At(i), with.At(i), at))
			})
		}, true
	case "regexp_substr":
		return regexpSearch(func(c *Call, i int, re *regexp.Regexp, s string) (View, error) {
			at := re.FindStringSubmatchIndex(s)
			group := int64(0)
			if len(c.Args) == 3 {
				group = ArgAt[int64](c, 2, i)
			}
			if at == nil || group < 0 || 2*group >= int64(len(at)) || at[2*group] < 0 {
				return View{}, ErrNull
			}
			return c.Heap.String(s[at[2*group]:at[2*group+1]])
		}, nil), true
	case "regexp_instr":
		return regexpSearch(func(_ *Call, _ int, re *regexp.Regexp, s string) (int32, error) {
			at := re.FindStringIndex(s)
			if at == nil {
				return 0, nil
			}
			return int32(charCount(s[:at[0]])) + 1, nil
		}, nil), true
	case "regexp_count":
		var from func(c *Call, i int) int64
		if len(args) > 2 {
			from = func(c *Call, i int) int64 { return ArgAt[int64](c, 2, i) }
		}
		return regexpSearch(func(_ *Call, _ int, re *regexp.Regexp, s string) (int32, error) {
			return int32(len(re.FindAllStringIndex(s, -1))), nil
		}, from), true
	}
	return nil, false
}

// regexpSearch makes a function of a string, a pattern, perhaps where to begin
// and perhaps flags.
func regexpSearch[R Value](f func(c *Call, i int, re *regexp.Regexp, s string) (R, error), from func(c *Call, i int) int64) ScalarFunc {
	return func(c *Call) error {
		in, pattern := Read[string](c, 0), Read[string](c, 1)
		var cache regexps
		return funcRows(c, func(i int) (R, error) {
			s, flags := in.At(i), ""
			var none R
			if len(c.Args) > 3 {
				flags = ArgAt[string](c, 3, i)
			}
			if from != nil {
				start := from(c, i)
				if start < 1 {
					return none, sqltype.Errorf(sqltype.CodeInvalidParameter, "invalid value for parameter \"start\": %d", start)
				}
				s = s[offsetOf(s, start-1):]
			}
			re, err := cache.get(pattern.At(i), flags)
			if err != nil {
				return none, err
			}
			return f(c, i, re, s)
		})
	}
}
