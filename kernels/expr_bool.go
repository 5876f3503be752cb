package kernels

// andStep and orStep are three-valued. The bytes of the result are right
// wherever it is not NULL: an operand that decides alone is FALSE (TRUE) in
// its byte, and where none decides both are known.
func andStep(x *frame, in *Instr) error {
	a, b := vals[uint8](x, in.Args[0]), vals[uint8](x, in.Args[1])
	d := results[uint8](x, in)
	va, vb := x.words(x.reg[in.Args[0]].Valid), x.words(x.reg[in.Args[1]].Valid)
	whole := len(d) / 8 * 8
	wa, wb, wd := eights(a[:whole]), eights(b[:whole]), eights(d[:whole])
	for i := range wd {
		wd[i] = wa[i] & wb[i] & 0x0101010101010101
	}
	for i := whole; i < len(d); i++ {
		d[i] = a[i] & b[i] & 1
	}
	if va == nil && vb == nil {
		return nil
	}
	own := x.words(x.own[in.Dst])
	for w := range own {
		ka, kb := known(va, w), known(vb, w)
		own[w] = ka&kb | ka&^packBools(a, w) | kb&^packBools(b, w)
	}
	x.reg[in.Dst].Valid = x.own[in.Dst]
	return nil
}

func orStep(x *frame, in *Instr) error {
	a, b := vals[uint8](x, in.Args[0]), vals[uint8](x, in.Args[1])
	d := results[uint8](x, in)
	va, vb := x.words(x.reg[in.Args[0]].Valid), x.words(x.reg[in.Args[1]].Valid)
	whole := len(d) / 8 * 8
	wa, wb, wd := eights(a[:whole]), eights(b[:whole]), eights(d[:whole])
	for i := range wd {
		wd[i] = (wa[i] | wb[i]) & 0x0101010101010101
	}
	for i := whole; i < len(d); i++ {
		d[i] = (a[i] | b[i]) & 1
	}
	if va == nil && vb == nil {
		return nil
	}
	own := x.words(x.own[in.Dst])
	for w := range own {
		ka, kb := known(va, w), known(vb, w)
		own[w] = ka&kb | ka&packBools(a, w) | kb&packBools(b, w)
	}
	x.reg[in.Dst].Valid = x.own[in.Dst]
	return nil
}

// known is word w of a bitmap that may be absent.
func known(valid []uint64, w int) uint64 {
	if valid == nil {
		return ^uint64(0)
	}
	return valid[w]
}

func notStep(x *frame, in *Instr) error {
	a := vals[uint8](x, in.Args[0])
	d := results[uint8](x, in)
	x.strictValid(in)
	for i, v := range a {
		d[i] = v&1 ^ 1
	}
	return nil
}

func isNullStep(x *frame, in *Instr) error {
	valid := x.words(x.reg[in.Args[0]].Valid)
	d := results[uint8](x, in)
	if valid == nil {
		clear(d)
		return nil
	}
	for i := range d {
		d[i] = uint8(valid[i>>6]>>(i&63))&1 ^ 1
	}
	return nil
}

// maskStep makes a mask of a BOOLEAN, within the instruction's own mask.
func maskStep(x *frame, in *Instr) error {
	a := vals[uint8](x, in.Args[0])
	valid := x.words(x.reg[in.Args[0]].Valid)
	within := x.maskWords(in.Mask)
	own := x.words(x.own[in.Dst])
	var some uint64
	for w := range own {
		word, k := packBools(a, w), known(valid, w)
		switch in.Op {
		case OpMaskTrue:
			word &= k
		case OpMaskNotTrue:
			word = ^(word & k)
		default:
			word |= ^k
		}
		word &= known(within, w)
		if rest := x.n - w*64; rest < 64 {
			word &= 1<<rest - 1
		}
		own[w] = word
		some |= word
	}
	x.any[in.Dst] = some != 0
	return nil
}

// chooseStep computes OpCase: the value of the rest everywhere, and then each
// arm's over it. T is any type of the values' width.
func chooseStep[T any](x *frame, in *Instr) error {
	last := len(in.Args) - 1
	valid := false
	for k := 1; k < len(in.Args); k += 2 {
		valid = valid || x.reg[in.Args[k]].Valid != 0
	}
	valid = valid || x.reg[in.Args[last]].Valid != 0
	rest := operand[T](x, in.Args[last])
	d := results[T](x, in)
	if len(rest) == len(d) {
		copy(d, rest)
	} else {
		for i := range d {
			d[i] = rest[0]
		}
	}
	var own []uint64
	if valid {
		own = x.words(x.own[in.Dst])
		from := x.words(x.reg[in.Args[last]].Valid)
		for w := range own {
			own[w] = known(from, w)
		}
		x.reg[in.Dst].Valid = x.own[in.Dst]
	}
	for k := 0; k < last; k += 2 {
		if !x.any[in.Args[k]] {
			continue
		}
		mask := x.words(x.own[in.Args[k]])
		blend(d, operand[T](x, in.Args[k+1]), mask)
		if valid {
			from := x.words(x.reg[in.Args[k+1]].Valid)
			for w, m := range mask {
				own[w] = own[w]&^m | known(from, w)&m
			}
		}
	}
	return nil
}

// blend copies the rows of mask from a, or its one value, to d.
func blend[T any](d, a []T, mask []uint64) {
	one := len(a) == 1
	for w, m := range mask {
		lo, hi := w*64, min(w*64+64, len(d))
		switch {
		case m == 0:
		case m == ^uint64(0) && !one:
			copy(d[lo:hi], a[lo:hi])
		case one:
			v := a[0]
			part := d[lo:hi]
			for i := range part {
				if m>>i&1 != 0 {
					part[i] = v
				}
			}
		default:
			part, from := d[lo:hi], a[lo:hi]
			for i := range part {
				if m>>i&1 != 0 {
					part[i] = from[i]
				}
			}
		}
	}
}

// callStep calls a scalar function.
func callStep(x *frame, in *Instr) error {
	f := &x.prog.Funcs[in.Imm]
	c := &x.call
	c.N, c.Heap, c.nulls = x.n, x.heap, nil
	c.Args = c.Args[:0]
	for _, r := range in.Args {
		t := x.prog.Types[r]
		if x.reg[r].Dict != 0 {
			flattenWidth(x, r, t.Phys().Width())
		}
		c.Args = append(c.Args, Arg{Vec: x.reg[r], Type: t, Const: x.prog.IsConst(r)})
	}
	c.Result = x.prog.Types[in.Dst]
	c.Out = x.data[in.Dst]
	x.reg[in.Dst] = Vec{Data: c.Out}
	if f.NullIn {
		c.Rows = x.maskWords(in.Mask)
	} else {
		x.strictValid(in)
		c.Rows = x.rows(in)
	}
	if err := f.Call(c); err != nil {
		return x.failed(in, err)
	}
	if c.nulls != nil {
		own := x.takeValid(in.Dst)
		for w, v := range c.nulls {
			own[w] &= v
		}
	}
	return nil
}

func flattenWidth(x *frame, r Reg, width int) {
	switch width {
	case 1:
		flatten[uint8](x, r)
	case 2:
		flatten[uint16](x, r)
	case 4:
		flatten[uint32](x, r)
	case 8:
		flatten[uint64](x, r)
	default:
		flatten[View](x, r)
	}
}
