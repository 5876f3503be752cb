package catalog

import (
	"sort"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// Func is a function or operator. exec finds its code by Name and argument
// types; the planner tells functions apart by ID.
type Func struct {
	ID   FuncID
	Name string // canonical, lower case; operators by their text
	Kind FuncKind
	// Volatile functions (random, nextval) are never folded or shared; Stable
	// ones (now) are constant within a statement.
	Volatile, Stable bool
	// NullIn: the function sees NULL arguments. Otherwise one NULL argument
	// makes the result NULL and the code never hears of it.
	NullIn bool
}

// FuncKind is where a function may stand.
type FuncKind uint8

// The kinds of function.
const (
	Scalar FuncKind = iota
	Aggregate
	WindowOnly
	TableValued
)

// Resolved is a call after overload resolution: the arguments must be cast to
// Args, and the result is of type Result.
type Resolved struct {
	Func   *Func
	Args   []sqltype.Type
	Result sqltype.Type
}

// ResolveScalar finds the scalar function or operator that a call means: the
// signature that the arguments fit with the least conversion. An argument of
// type NULL fits all. Binary and unary operators go by their text; unary minus
// is "neg". The binder, which knows constants, calls ResolveScalarConst.
func ResolveScalar(name string, args []sqltype.Type) (Resolved, error) {
	return builtins.resolve(Scalar, name, args, nil)
}

// ResolveScalarConst is ResolveScalar where some arguments are known constants,
// the others nil. It matters where a type depends on a value: round(x, 2) of a
// DECIMAL has two digits, extract('year', d) is a BIGINT.
func ResolveScalarConst(name string, args []sqltype.Type, consts []*sqltype.Datum) (Resolved, error) {
	return builtins.resolve(Scalar, name, args, consts)
}

// ResolveAggregate finds an aggregate. count(*) has no arguments.
func ResolveAggregate(name string, args []sqltype.Type) (Resolved, error) {
	return builtins.resolve(Aggregate, name, args, nil)
}

// ResolveWindow finds what may stand before OVER: a window function or an
// aggregate.
func ResolveWindow(name string, args []sqltype.Type) (Resolved, error) {
	if IsAggregate(name) {
		return ResolveAggregate(name, args)
	}
	return builtins.resolve(WindowOnly, name, args, nil)
}

// IsAggregate reports that an aggregate has that name.
func IsAggregate(name string) bool { return builtins.has(Aggregate, name) }

// IsWindow reports that a function that needs OVER has that name.
func IsWindow(name string) bool { return builtins.has(WindowOnly, name) }

// IsScalar reports that a scalar function has that name.
func IsScalar(name string) bool { return builtins.has(Scalar, name) }

// FunctionNames are the names that a call may have, sorted: for suggestions and
// completion. Operators are not among them; what the binder knows by itself
// (coalesce, nullif and the like) is.
func FunctionNames() []string { return append([]string(nil), builtins.names...) }

// boundByBinder are the names that are syntax rather than functions.
var boundByBinder = []string{"coalesce", "nullif", "ifnull", "nvl", "if", "iif", "getvariable", "current_setting",
	"from_json", "json_transform", "from_json_strict", "json_transform_strict"}

// registry is the functions by kind and name.
type registry struct {
	byName [TableValued][]signatures
	index  [TableValued]map[string]int
	names  []string
}

// signatures are all that one name may mean.
type signatures []candidate

// candidate is one signature of a function.
type candidate struct {
	fn *Func
	signature
}

// builtins is never written after it is made.
var builtins = newRegistry()

func newRegistry() *registry {
	r := &registry{}
	for k := range r.index {
		r.index[k] = map[string]int{}
	}
	for _, table := range [...][]family{
		operatorFamilies(), mathFamilies(), stringFamilies(), patternFamilies(), listFamilies(), mapFamilies(), jsonFamilies(), dateFamilies(), sessionFamilies(),
		aggregateFamilies(), windowFamilies(),
	} {
		for i := range table {
			r.add(&table[i])
		}
	}
	for _, kind := range r.index {
		for name := range kind {
			if isWord(name) {
				r.names = append(r.names, name)
			}
		}
	}
	r.names = append(r.names, boundByBinder...)
	sort.Strings(r.names)
	return r
}

func isWord(name string) bool { return name[0] >= 'a' && name[0] <= 'z' && name != FuncNeg.String() }

func (r *registry) add(f *family) {
	fn := f.Func
	fn.Name = funcNames[fn.ID]
	for _, name := range append([]string{fn.Name}, f.aliases...) {
		at, ok := r.index[fn.Kind][name]
		if !ok {
			at = len(r.byName[fn.Kind])
			r.index[fn.Kind][name] = at
			r.byName[fn.Kind] = append(r.byName[fn.Kind], nil)
		}
		for _, s := range f.signatures {
			r.byName[fn.Kind][at] = append(r.byName[fn.Kind][at], candidate{&fn, s})
		}
	}
}

// lookup finds the signatures of a name, which may be in any case.
func (r *registry) lookup(kind FuncKind, name string) (signatures, bool) {
	at, ok := r.index[kind][name]
	if !ok {
		at, ok = r.index[kind][strings.ToLower(name)]
	}
	if !ok {
		return nil, false
	}
	return r.byName[kind][at], true
}

func (r *registry) has(kind FuncKind, name string) bool {
	_, ok := r.lookup(kind, name)
	return ok
}

func (r *registry) resolve(kind FuncKind, name string, args []sqltype.Type, consts []*sqltype.Datum) (Resolved, error) {
	sigs, ok := r.lookup(kind, name)
	if !ok {
		return Resolved{}, r.unknown(kind, name)
	}
	var best Resolved
	var refine refiner
	bestCost := noCast
	for i := range sigs {
		c := &sigs[i]
		params, result, cost := c.match(args)
		if cost < bestCost {
			best, refine, bestCost = Resolved{Func: c.fn, Args: params, Result: result}, c.refine, cost
			if cost == 0 {
				break
			}
		}
	}
	if bestCost == noCast {
		return Resolved{}, noMatch(name, args)
	}
	if refine != nil && consts != nil {
		refine(&best, consts)
	}
	return best, nil
}

// unknown is the error of a name that no function of the kind has.
func (r *registry) unknown(kind FuncKind, name string) error {
	switch {
	case kind == Scalar && r.has(Aggregate, name):
		return sqltype.Errorf(sqltype.CodeGrouping, "aggregate function %s is not allowed here", strings.ToLower(name))
	case kind == Scalar && r.has(WindowOnly, name):
		return sqltype.Errorf(sqltype.CodeWrongObject, "window function %s requires an OVER clause", strings.ToLower(name))
	case r.has(Scalar, name):
		return sqltype.Errorf(sqltype.CodeWrongObject, "%s is neither an aggregate nor a window function", strings.ToLower(name))
	}
	err := sqltype.Errorf(sqltype.CodeUndefinedFunc, "function %s does not exist", strings.ToLower(name))
	if s := Suggest(name, r.names); s != "" {
		err.Hint = "did you mean " + s + "?"
	}
	return err
}

// noMatch is the error of a known name with arguments that it does not take.
func noMatch(name string, args []sqltype.Type) error {
	texts := make([]string, len(args))
	for i, t := range args {
		texts[i] = t.String()
	}
	name = strings.ToLower(name)
	if !isWord(name) {
		switch {
		case name == FuncNeg.String() && len(args) == 1:
			return sqltype.Errorf(sqltype.CodeUndefinedFunc, "no operator matches - %s", texts[0])
		case len(args) == 1:
			return sqltype.Errorf(sqltype.CodeUndefinedFunc, "no operator matches %s %s", name, texts[0])
		case len(args) == 2:
			return sqltype.Errorf(sqltype.CodeUndefinedFunc, "no operator matches %s %s %s", texts[0], name, texts[1])
		}
	}
	err := sqltype.Errorf(sqltype.CodeUndefinedFunc, "no function matches %s(%s)", name, strings.Join(texts, ", "))
	err.Hint = "a cast of an argument may help"
	return err
}
