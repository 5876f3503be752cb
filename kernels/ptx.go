package kernels

import (
	"fmt"
	"strings"
)

// ptx writes a kernel in NVIDIA's portable assembly. Registers are numbered and
// have the bits of any type: %d 64, %r 32, %p one. What is written is straight:
// instructions that not all threads do have a predicate, so that a warp stays
// together; the emulator's reader of it (simt/host/ptx.cpp) knows no more than
// what stands here and in the files that use it.
type ptx struct {
	text    strings.Builder
	d, r, p int
	labels  int
	shared  bool // it uses acc, the memory that the threads of a block share
}

// pred is a predicate: a register, or one of the two that are known.
type pred string

const (
	always pred = "always"
	never  pred = "never"
)

func (x *ptx) wide() string { x.d++; return fmt.Sprintf("%%d%d", x.d) }
func (x *ptx) half() string { x.r++; return fmt.Sprintf("%%r%d", x.r) }
func (x *ptx) bit() pred    { x.p++; return pred(fmt.Sprintf("%%p%d", x.p)) }

// do writes an instruction.
func (x *ptx) do(format string, args ...any) {
	x.text.WriteByte('\t')
	fmt.Fprintf(&x.text, format, args...)
	x.text.WriteString(";\n")
}

// when writes an instruction for the threads where p is true.
func (x *ptx) when(p pred, format string, args ...any) {
	switch p {
	case never:
	case always:
		x.do(format, args...)
	default:
		x.do("@%s "+format, append([]any{p}, args...)...)
	}
}

// op is the result of an instruction: 64 bits.
func (x *ptx) op(name string, args ...any) string {
	d := x.wide()
	x.do("%s %s%s", name, d, list(args))
	return d
}

// op32 is op with a result of 32 bits.
func (x *ptx) op32(name string, args ...any) string {
	r := x.half()
	x.do("%s %s%s", name, r, list(args))
	return r
}

// test is op with a predicate for a result.
func (x *ptx) test(name string, args ...any) pred {
	p := x.bit()
	x.do("%s %s%s", name, p, list(args))
	return p
}

func list(args []any) string {
	var b strings.Builder
	for _, a := range args {
		fmt.Fprintf(&b, ", %v", a)
	}
	return b.String()
}

func (x *ptx) and(a, b pred) pred {
	switch {
	case a == never || b == never:
		return never
	case a == always || a == b:
		return b
	case b == always:
		return a
	}
	return x.test("and.pred", a, b)
}

func (x *ptx) or(a, b pred) pred {
	switch {
	case a == always || b == always:
		return always
	case a == never || a == b:
		return b
	case b == never:
		return a
	}
	return x.test("or.pred", a, b)
}

func (x *ptx) not(a pred) pred {
	switch a {
	case always:
		return never
	case never:
		return always
	}
	return x.test("not.pred", a)
}

func (x *ptx) xor(a, b pred) pred {
	switch {
	case a == never:
		return b
	case b == never:
		return a
	case a == always:
		return x.not(b)
	case b == always:
		return x.not(a)
	}
	return x.test("xor.pred", a, b)
}

// pick is a where p is true, else b.
func (x *ptx) pick(p pred, a, b string) string {
	switch {
	case p == always || a == b:
		return a
	case p == never:
		return b
	}
	return x.op("selp.b64", a, b, p)
}

// pickBit is pick of predicates.
func (x *ptx) pickBit(p, a, b pred) pred {
	if a == b {
		return a
	}
	return x.or(x.and(p, a), x.and(x.not(p), b))
}

// number is a predicate as 0 or 1.
func (x *ptx) number(p pred) string {
	switch p {
	case always:
		return x.op("mov.b64", 1)
	case never:
		return x.op("mov.b64", 0)
	}
	return x.op("selp.b64", 1, 0, p)
}

// kernel is the module: an entry whose argument has so many bytes. Its blocks
// have as many threads, and perSM of them find room on a multiprocessor.
func (x *ptx) kernel(name string, arg, threads, perSM int) string {
	shared := ""
	if x.shared {
		shared = ".extern .shared .align 16 .b8 acc[];\n"
	}
	return fmt.Sprintf(`.version 7.8
.target sm_80
.address_size 64
%s.visible .entry %s(
	.param .align 8 .b8 a[%d],
	.param .u64 n
)
.maxntid %d, 1, 1
.minnctapersm %d
{
	.reg .b64 %%d<%d>;
	.reg .b32 %%r<%d>;
	.reg .pred %%p<%d>;
%s	ret;
}
`, shared, name, arg, threads, perSM, x.d+1, x.r+1, x.p+1, x.text.String())
}
