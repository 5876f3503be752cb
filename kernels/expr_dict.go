package kernels

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// region is the part of a program that depends on one input and on constants
// only, by strict instructions: where the input is NULL all of it is NULL, and
// otherwise it can be run on the values of the input's dictionary instead of
// on its rows.
type region struct {
	input   Reg
	roots   []Reg // what the rest of the program, or its results, use of it
	members []int // offsets in Code
	prog    *Program
}

// strict reports that the result is NULL where an argument is, and is made
// from the row's arguments alone.
func (p *Program) strict(in *Instr) bool {
	switch in.Op {
	case OpIsNull, OpCase, OpDistinct, OpNotDistinct, OpMaskTrue, OpMaskNotTrue, OpMaskNotFalse:
		return false
	case OpAnd, OpOr: // of one column only, see source
		return !p.IsConst(in.Args[0]) && !p.IsConst(in.Args[1])
	case OpCall:
		return !p.Funcs[in.Imm].NullIn && !p.Funcs[in.Imm].Volatile
	}
	return in.Flag&Speculative == 0
}

// findRegions fills in p.regions.
func (p *Program) findRegions() {
	const constant, mixed = -1, -2
	from := make([]int, len(p.Types)) // by register: the one input it is made of
	for r := range from {
		from[r] = r
		if r >= len(p.Inputs) {
			from[r] = constant
		}
	}
	by := make([]*region, len(p.Inputs))
	for i := range p.Code {
		in := &p.Code[i]
		src := constant
		for _, a := range in.Args {
			switch {
			case from[a] == constant || from[a] == src:
			case src == constant:
				src = from[a]
			default:
				src = mixed
			}
		}
		if !p.strict(in) || src == constant {
			src = mixed
		}
		from[in.Dst] = src
		if src >= 0 {
			if by[src] == nil {
				by[src] = &region{input: Reg(src)}
			}
			by[src].members = append(by[src].members, i)
		}
	}
	isRoot := make([]bool, len(p.Types))
	for i := range p.Code {
		for _, a := range p.Code[i].Args {
			if from[p.Code[i].Dst] != from[a] {
				isRoot[a] = true
			}
		}
	}
	for _, r := range p.Out {
		isRoot[r] = true
	}
	for _, g := range by {
		if g == nil {
			continue
		}
		g.prog = &Program{Inputs: p.Inputs, Consts: p.Consts, Types: p.Types, Sets: p.Sets, Funcs: p.Funcs}
		for _, i := range g.members {
			in := p.Code[i]
			in.Mask = NoReg
			g.prog.Code = append(g.prog.Code, in)
			if isRoot[in.Dst] {
				g.roots = append(g.roots, in.Dst)
			}
		}
		g.prog.Out = g.roots
		p.regions = append(p.regions, *g)
	}
}

// dictionary is an evaluator's results of a region for one dictionary. The
// address alone does not tell a dictionary: readers of files use memory again,
// and so do evaluators whose results have dictionaries. Its content does, with
// the addresses in it, which results may share.
type dictionary struct {
	vec    Vec // the dictionary's address and length
	hash   uint64
	state  dictState
	active bool // in this batch
	ev     *Evaluator
	outs   []Vec // by root
}

type dictState uint8

const (
	dictNew    dictState = iota
	dictReady            // outs are its results
	dictFailed           // a value of it is an error; perhaps of no row
)

func (d *dictionary) close() {
	if d.ev != nil {
		d.ev.Close()
	}
	*d = dictionary{}
}

// prepareDicts decides which regions this batch takes from a dictionary: those
// where it has no more values than the batch has rows. Looking at every value
// to know it again is then cheaper than to look at every row.
func (e *Evaluator) prepareDicts(s device.Stream, n int) error {
	if len(e.dicts) == 0 {
		return nil
	}
	clear(e.skip)
	for k := range e.dicts {
		d, g := &e.dicts[k], &e.prog.regions[k]
		v := e.in[e.prog.Inputs[g.input].Column]
		d.active = false
		if v.Dict == 0 || v.DictLen == 0 || int(v.DictLen) > n {
			continue
		}
		h := hashDict(v, e.prog.Inputs[g.input].Type.Phys())
		if d.vec.Dict != v.Dict || d.vec.DictLen != v.DictLen || d.hash != h {
			d.vec, d.hash, d.state = v, h, dictNew
		}
		if d.state == dictNew {
			if err := e.runDict(s, d, g); err != nil {
				return err
			}
		}
		if d.active = d.state == dictReady; d.active {
			for _, i := range g.members {
				e.skip[i] = true
			}
		}
	}
	return nil
}

// hashDict tells dictionaries at one address from each other.
func hashDict(v Vec, p sqltype.Phys) uint64 {
	h := uint64(v.DictLen)
	if p == sqltype.PhysStr {
		values := device.View[View](v.Dict, int(v.DictLen))
		for i := range values {
			h = mix(h, hashView(&values[i])^values[i].Hi)
		}
		return h
	}
	b := device.View[byte](v.Dict, int(v.DictLen)*p.Width())
	for len(b) >= 8 {
		h = mix(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	for _, c := range b {
		h = mix(h, uint64(c))
	}
	return h
}

func (e *Evaluator) runDict(s device.Stream, d *dictionary, g *region) error {
	if d.ev == nil {
		d.ev = NewEvaluator(g.prog, e.mem)
	}
	cols := make([]Vec, len(e.in))
	cols[e.prog.Inputs[g.input].Column] = Vec{Data: d.vec.Dict}
	outs, err := d.ev.Run(s, cols, int(d.vec.DictLen))
	var bad *sqltype.Error
	switch {
	case errors.As(err, &bad):
		d.state = dictFailed // the rows decide
		return nil
	case err != nil:
		return err
	}
	d.outs, d.state = outs, dictReady
	return nil
}

// enterDict points the roots of region k at the chunk's codes.
func (e *Evaluator) enterDict(k int) {
	d, g := &e.dicts[k], &e.prog.regions[k]
	if !d.active {
		return
	}
	col := e.reg[g.input]
	for i, r := range g.roots {
		v := Vec{Data: col.Data, Valid: col.Valid, Dict: d.outs[i].Data, DictLen: d.vec.DictLen}
		if d.outs[i].Valid != 0 {
			v.Valid = e.dictNulls(r, col, d.outs[i].Valid)
		}
		e.reg[r] = v
	}
}

// dictNulls is the bitmap of a root of which some dictionary values are NULL.
func (e *Evaluator) dictNulls(r Reg, col Vec, valid device.Ptr) device.Ptr {
	dict := device.View[uint64](valid, int(col.DictLen+63)/64)
	codes := device.View[uint32](col.Data, e.n)
	own := e.words(e.own[r])
	clear(own)
	for i, c := range codes {
		if c < col.DictLen {
			own[i>>6] |= dict[c>>6] >> (c & 63) & 1 << (i & 63)
		}
	}
	for w, v := range e.words(col.Valid) {
		own[w] &= v
	}
	return e.own[r]
}

// dictOf finds the active region and the root that register r is; -1 for none.
func (e *Evaluator) dictOf(r Reg) (k, root int) {
	for k := range e.dicts {
		if !e.dicts[k].active {
			continue
		}
		if root := slices.Index(e.prog.regions[k].roots, r); root >= 0 {
			return k, root
		}
	}
	return -1, -1
}

// dictOut is a root as a result: a string stays in its dictionary.
func (e *Evaluator) dictOut(k, root int, r Reg, n int) Vec {
	d := &e.dicts[k]
	in := e.in[e.prog.Inputs[e.prog.regions[k].input].Column]
	v := Vec{Data: in.Data, Valid: in.Valid, Dict: d.outs[root].Data, DictLen: d.vec.DictLen}
	if e.prog.Types[r].Phys() == sqltype.PhysStr {
		return v
	}
	data := e.buf.Ptr() + device.Ptr(e.layout.place[r].data)
	switch e.layout.place[r].width {
	case 1:
		gatherCodes[uint8](data, v, n)
	case 2:
		gatherCodes[uint16](data, v, n)
	case 4:
		gatherCodes[uint32](data, v, n)
	case 8:
		gatherCodes[uint64](data, v, n)
	default:
		gatherCodes[View](data, v, n)
	}
	return Vec{Data: data}
}

// gatherCodes writes the n values that the codes of v stand for; a code under
// a NULL may be any number.
func gatherCodes[T any](to device.Ptr, v Vec, n int) {
	dict := device.View[T](v.Dict, int(v.DictLen))
	codes := device.View[uint32](v.Data, n)
	d := device.View[T](to, n)[:len(codes)]
	if v.Valid == 0 {
		for i, c := range codes {
			d[i] = dict[c]
		}
		return
	}
	var zero T
	for i, c := range codes {
		if int(c) < len(dict) {
			d[i] = dict[c]
		} else {
			d[i] = zero
		}
	}
}
