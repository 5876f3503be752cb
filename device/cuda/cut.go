package cuda

import "strings"

// cut is the part of PTX that one entry needs. The driver compiles a module whole,
// at some 5 ms for a KB of it, and a query launches few of a module's entries; so
// each is loaded as a module of its own.
//
// What clang writes are items that begin at the start of a line with a full stop:
// directives of the module, variables, functions (declared, and then defined) and
// entries, each of a name of its own.
func cut(ptx, entry string) string {
	items := itemsOf(ptx)
	byName := map[string][]int{}
	for i := range items {
		byName[items[i].name] = append(byName[items[i].name], i)
	}
	keep := make([]bool, len(items))
	var need func(name string)
	need = func(name string) {
		for _, i := range byName[name] {
			if !keep[i] {
				keep[i] = true
				words(items[i].text, need)
			}
		}
	}
	need("") // the module's directives
	need(entry)
	var b strings.Builder
	for i := range items {
		if keep[i] {
			b.WriteString(items[i].text)
		}
	}
	return b.String()
}

// item is a directive of a module, without a name, or what has one.
type item struct{ name, text string }

func itemsOf(ptx string) []item {
	var out []item
	begin, whole := -1, 0 // of the item that the lines are in; whole: up to here all is in items
	for at := 0; at < len(ptx); {
		end := len(ptx)
		if i := strings.IndexByte(ptx[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := strings.TrimRight(ptx[at:end], "\r\n")
		first := begin < 0 && strings.HasPrefix(line, ".")
		if first {
			begin = at
		}
		if begin >= 0 && (strings.HasPrefix(line, "}") || line == ";" || first && (strings.HasSuffix(line, ";") || directive(line))) {
			text := ptx[begin:end]
			out = append(out, item{nameOf(text), text})
			begin, whole = -1, end
		}
		at = end
	}
	if begin >= 0 { // not what clang writes: the driver says what is wrong
		out = append(out, item{"", ptx[whole:]})
	}
	return out
}

func directive(line string) bool {
	return strings.HasPrefix(line, ".version") || strings.HasPrefix(line, ".target") || strings.HasPrefix(line, ".address_size")
}

// nameOf is the name of a variable, function or entry.
func nameOf(text string) string {
	if directive(text) {
		return ""
	}
	head := text
	if _, after, ok := strings.Cut(text, ".entry "); ok {
		head = after
	} else if _, after, ok := strings.Cut(text, ".func"); ok {
		head = strings.TrimLeft(after, " \t")
		if strings.HasPrefix(head, "(") { // what it returns
			_, head, _ = strings.Cut(head, ")")
		}
	}
	name := ""
	for w := range strings.FieldsFuncSeq(head, func(r rune) bool { return strings.ContainsRune(" \t\r\n([=;", r) }) {
		if name = w; !strings.HasPrefix(w, ".") && !isNumber(w) {
			break
		}
	}
	return name
}

func isNumber(w string) bool { return w[0] >= '0' && w[0] <= '9' }

// words gives f the words of a text that may be names.
func words(text string, f func(string)) {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '_' && r != '$' && r != '.' && r != '%' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		if c := w[0]; c == '_' || c == '$' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			f(w)
		}
	}
}
