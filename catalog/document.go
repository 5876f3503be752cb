package catalog

import (
	"slices"
	"strings"
)

// Doc is what the reference says of a function: how it is called, what it gives,
// and the select list and FROM of a query that shows it.
type Doc struct {
	Call, Text, Example string
}

// Documented is a function in the reference.
type Documented struct {
	Doc
	Name    string
	Aliases []string // sorted
	Kind    FuncKind
	Area    string
	Varies  bool // its result is not the same each time
}

// areas are the chapters of the reference, by the first function of each.
var areas = []struct {
	first FuncID
	title string
}{
	{FuncAdd, "Operators"}, {FuncLike, "Patterns"}, {FuncAbs, "Mathematics"}, {FuncListValue, "Lists and structs"},
	{FuncMap, "Maps"}, {FuncJSONExtract, "JSON"}, {FuncLength, "Text, bytes and bits"}, {FuncHash, "Values, sequences and the session"}, {FuncDatePart, "Dates and times"},
	{FuncCount, "Aggregates"}, {FuncRowNumber, "Window functions"},
}

// Reference is every function with its description, in the order of FuncIDs, and
// the names that the binder knows by itself at the end.
func Reference() []Documented {
	byID := map[FuncID]*Documented{}
	for kind := range builtins.index {
		for name, at := range builtins.index[kind] {
			for _, c := range builtins.byName[kind][at] {
				d := byID[c.fn.ID]
				if d == nil {
					d = &Documented{Doc: functionDocs[c.fn.ID], Name: c.fn.Name, Kind: c.fn.Kind, Varies: c.fn.Volatile || c.fn.Stable}
					byID[c.fn.ID] = d
				}
				if name != c.fn.Name && !slices.Contains(d.Aliases, name) {
					d.Aliases = append(d.Aliases, name)
				}
			}
		}
	}
	var out []Documented
	for id := FuncNone + 1; id < numFuncs; id++ {
		if d := byID[id]; d != nil {
			slices.Sort(d.Aliases)
			for _, a := range areas {
				if id >= a.first {
					d.Area = a.title
				}
			}
			out = append(out, *d)
		}
	}
	for _, m := range macros {
		out = append(out, Documented{Doc: m.Doc, Name: m.name(), Area: "Functions written in SQL"})
	}
	for _, d := range binderDocs {
		out = append(out, Documented{Doc: d, Name: d.name(), Area: "Conditions"})
	}
	return out
}

// name is the name in a call.
func (d Doc) name() string {
	name, _, _ := strings.Cut(d.Call, "(")
	return name
}
