package kernels

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// Set is the list of an IN with constants only, made for quick tests. It never
// changes. Integers and strings are found by hash in a long list; otherwise, as
// for a list too short for that to pay, the values are tried one by one.
type Set struct {
	HasNull bool // a value that is not found is then unknown
	Values  []sqltype.Datum

	ints  []int64 // the values, or the slots of an open hash table
	used  []bool  // nil: ints is a plain list
	strs  map[string]struct{}
	plain []string
	// views are the values when there are few and all lie in their view: then
	// two words decide.
	views []View
}

// linearSet is the longest list that is searched one by one.
const linearSet = 8

// NewSet makes the set of values, which are all of one type.
func NewSet(values []sqltype.Datum) *Set {
	s := &Set{}
	for _, v := range values {
		if v.Null {
			s.HasNull = true
			continue
		}
		s.Values = append(s.Values, v)
	}
	if len(s.Values) == 0 {
		return s
	}
	switch p := s.Values[0].Type.Phys(); {
	case p <= sqltype.PhysU64:
		s.addInts()
	case p == sqltype.PhysStr:
		if len(s.Values) <= linearSet {
			s.addPlain()
			break
		}
		s.strs = make(map[string]struct{}, len(s.Values))
		for _, v := range s.Values {
			s.strs[v.S] = struct{}{}
		}
	}
	return s
}

func (s *Set) addPlain() {
	short := true
	for _, v := range s.Values {
		s.plain = append(s.plain, v.S)
		short = short && len(v.S) <= InlineLen
	}
	if !short {
		return
	}
	for _, v := range s.plain {
		s.views = append(s.views, inlineView(v))
	}
}

func (s *Set) addInts() {
	if len(s.Values) <= linearSet {
		for _, v := range s.Values {
			s.ints = append(s.ints, v.I)
		}
		return
	}
	size := 16
	for size < 2*len(s.Values) {
		size *= 2
	}
	s.ints, s.used = make([]int64, size), make([]bool, size)
	for _, v := range s.Values {
		i := HashWord(uint64(v.I)) & uint64(size-1)
		for s.used[i] && s.ints[i] != v.I {
			i = (i + 1) & uint64(size-1)
		}
		s.ints[i], s.used[i] = v.I, true
	}
}

func (s *Set) hasInt(v int64) bool {
	if s.used == nil {
		for _, x := range s.ints {
			if x == v {
				return true
			}
		}
		return false
	}
	mask := uint64(len(s.ints) - 1)
	for i := HashWord(uint64(v)) & mask; s.used[i]; i = (i + 1) & mask {
		if s.ints[i] == v {
			return true
		}
	}
	return false
}

func (s *Set) hasString(v string) bool {
	if s.strs != nil {
		_, ok := s.strs[v]
		return ok
	}
	for _, x := range s.plain {
		if x == v {
			return true
		}
	}
	return false
}

// String lists the values, in part when there are many.
func (s *Set) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range s.Values {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == linearSet {
			fmt.Fprintf(&b, "... %d more", len(s.Values)-i)
			break
		}
		b.WriteString(v.String())
	}
	if s.HasNull {
		b.WriteString("; NULL")
	}
	b.WriteByte('}')
	return b.String()
}

// inIntStep computes OpIn; T is the integer form of the argument.
func inIntStep[T Integer](x *frame, in *Instr) error {
	set := x.prog.Sets[in.Imm]
	d := results[uint8](x, in)
	a := vals[T](x, in.Args[0])
	for i, v := range a {
		d[i] = b2u(set.hasInt(int64(v)))
	}
	return inNulls(x, in, set)
}

func inStringStep(x *frame, in *Instr) error {
	set := x.prog.Sets[in.Imm]
	d := results[uint8](x, in)
	a := vals[View](x, in.Args[0])
	if set.views != nil {
		for i := range a {
			var found uint8
			for j := range set.views {
				v := &set.views[j]
				found |= b2u((a[i].Lo^v.Lo)|(a[i].Hi^v.Hi) == 0)
			}
			d[i] = found
		}
		return inNulls(x, in, set)
	}
	rows := x.maskWords(in.Mask)
	for i := range a {
		d[i] = 0
		if rows == nil || rows[i>>6]>>(i&63)&1 != 0 {
			d[i] = b2u(set.hasString(a[i].Str()))
		}
	}
	return inNulls(x, in, set)
}

// inPlainStep serves the forms that are rare in an IN: it tries value by value.
func inPlainStep[T Value](equal func(a, b T) bool) stepFunc {
	return func(x *frame, in *Instr) error {
		set := x.prog.Sets[in.Imm]
		d := results[uint8](x, in)
		list := make([]T, len(set.Values))
		for i, v := range set.Values {
			storeDatum(unsafe.Pointer(&list[i]), v, View{})
		}
		for i, v := range vals[T](x, in.Args[0]) {
			d[i] = 0
			for _, w := range list {
				if equal(v, w) {
					d[i] = 1
					break
				}
			}
		}
		return inNulls(x, in, set)
	}
}

// inNulls makes a value that was not found unknown when the list has a NULL.
func inNulls(x *frame, in *Instr, set *Set) error {
	x.strictValid(in)
	if !set.HasNull {
		return nil
	}
	d := x.reg[in.Dst]
	found := device.View[uint8](d.Data, x.n)
	out := x.words(x.own[in.Dst])
	arg := x.words(d.Valid)
	for w := range out {
		word := packBools(found, w)
		if arg != nil {
			word &= arg[w]
		}
		out[w] = word
	}
	x.reg[in.Dst].Valid = x.own[in.Dst]
	return nil
}
