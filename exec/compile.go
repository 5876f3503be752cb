package exec

import (
	"fmt"
	"time"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// Compile makes the program of exprs over batches whose columns are input, in
// that order. params[i] is $i+1. Result i has the form of exprs[i].Type().
func Compile(exprs []planner.Expr, input []planner.ColDef, params []sqltype.Datum) (*kernels.Program, error) {
	return compileAll(compiler{input: input, params: params}, exprs)
}

// Compile is Compile with what the execution knows besides: the statement's
// time and the columns of an enclosing row.
func (env *Env) Compile(exprs []planner.Expr, input []planner.ColDef) (*kernels.Program, error) {
	return compileAll(env.compiler(input), exprs)
}

func (env *Env) compiler(input []planner.ColDef) compiler {
	return compiler{input: input, params: env.Params, outer: env.Outer, now: env.Now, version: env.Version, sequences: env.Sequences}
}

// compileAll makes a program that computes wide DECIMALs in 64 bits, and when
// that may fail at run time the one that does not beside it.
func compileAll(c compiler, exprs []planner.Expr) (*kernels.Program, error) {
	c.narrow = true
	narrow := c
	p, err := narrow.program(exprs)
	if err != nil || !narrow.speculated {
		return p, err
	}
	c.narrow = false
	p.Wide, err = c.program(exprs)
	return p, err
}

// compiler turns expressions into instructions. mask is the rows that the
// expression at hand is needed for.
//
// A DECIMAL of more than 18 digits takes 128 bits, by its type, although most
// values are far smaller. With narrow set its register may hold 64 bits, of
// the same scale; an instruction whose result may not fit is then Speculative.
// The results of the program always have the form of their type.
type compiler struct {
	b       kernels.Builder
	input   []planner.ColDef
	params  []sqltype.Datum
	outer   map[planner.ColumnID]sqltype.Datum
	now     time.Time
	version uint64
	mask    kernels.Reg

	sequences Sequences
	where     planner.Expr // the rows that results are needed for; it is the last one

	narrow     bool
	speculated bool
}

func (c *compiler) program(exprs []planner.Expr) (*kernels.Program, error) {
	c.mask = kernels.NoReg
	out := make([]kernels.Reg, len(exprs))
	if c.where != nil {
		cond, err := c.condition(c.where)
		if err != nil {
			return nil, err
		}
		out = append(out, cond)
		c.mask = c.emit(kernels.Instr{Op: kernels.OpMaskTrue, Args: []kernels.Reg{cond}}, sqltype.Bool)
	}
	for i, e := range exprs {
		r, err := c.whole(e)
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return c.b.Finish(out), nil
}

// emit adds an instruction for the rows at hand.
func (c *compiler) emit(in kernels.Instr, t sqltype.Type) kernels.Reg {
	in.Mask = c.mask
	if in.Flag&kernels.Speculative != 0 {
		c.speculated = true
	}
	return c.b.Emit(in, t)
}

// whole is expr in a register of its type's form.
func (c *compiler) whole(e planner.Expr) (kernels.Reg, error) {
	r, err := c.expr(e)
	if err != nil {
		return r, err
	}
	return c.widen(r, e.Type()), nil
}

// widen makes a register that may be narrow one of the form of t.
func (c *compiler) widen(r kernels.Reg, t sqltype.Type) kernels.Reg {
	from := c.b.Type(r)
	if from.Kind == sqltype.KindNull && t.Kind != sqltype.KindNull {
		return c.b.Const(sqltype.NullOf(t))
	}
	if t.Kind != sqltype.KindDecimal || from.Phys() == t.Phys() {
		return r
	}
	if d, ok := c.b.Value(r); ok {
		v := d.Int128()
		d = sqltype.NewDecimal(v, t)
		d.Null = d.Null || c.isNull(r)
		return c.b.Const(d)
	}
	return c.emit(kernels.Instr{Op: kernels.OpCast, Phys: from.Phys(), Args: []kernels.Reg{r}}, t)
}

func (c *compiler) isNull(r kernels.Reg) bool {
	d, ok := c.b.Value(r)
	return ok && d.Null
}

// expr compiles one expression. The result may be narrow.
func (c *compiler) expr(e planner.Expr) (kernels.Reg, error) {
	switch e := e.(type) {
	case *planner.Const:
		return c.constant(e.Value), nil
	case *planner.Param:
		return c.param(e)
	case *planner.Col:
		return c.column(e)
	case *planner.Call:
		return c.call(e)
	case *planner.Cast:
		x, err := c.expr(e.X)
		if err != nil {
			return x, err
		}
		return c.cast(x, e.X.Type(), e.To, castMode{try: e.Try, pos: e.Pos})
	case *planner.Cmp:
		return c.compare(e)
	case *planner.And:
		return c.logic(e.Args, kernels.OpAnd, kernels.OpMaskNotFalse)
	case *planner.Or:
		return c.logic(e.Args, kernels.OpOr, kernels.OpMaskNotTrue)
	case *planner.Not:
		x, err := c.condition(e.X)
		if err != nil {
			return x, err
		}
		return c.emit(kernels.Instr{Op: kernels.OpNot, Args: []kernels.Reg{x}}, sqltype.Bool), nil
	case *planner.IsNull:
		x, err := c.expr(e.X)
		if err != nil {
			return x, err
		}
		phys := c.b.Type(x).Phys()
		return c.emit(kernels.Instr{Op: kernels.OpIsNull, Phys: phys, Args: []kernels.Reg{x}}, sqltype.Bool), nil
	case *planner.In:
		return c.in(e)
	case *planner.Case:
		return c.choose(e)
	case *planner.Subquery:
		return 0, sqltype.Errorf(sqltype.CodeInternal, "a subquery was left in the plan")
	default:
		panic(fmt.Sprintf("exec: no program for %T", e))
	}
}

// constant takes a DECIMAL of few digits as narrow.
func (c *compiler) constant(d sqltype.Datum) kernels.Reg {
	if c.narrow && !d.Null && d.Type.Kind == sqltype.KindDecimal && d.Type.Precision > narrowDigits && d.Type.Scale <= narrowDigits {
		if v, ok := d.Int128().Int64(); ok {
			return c.b.Const(sqltype.Datum{Type: narrowType(d.Type), I: v})
		}
	}
	return c.b.Const(d)
}

func (c *compiler) param(e *planner.Param) (kernels.Reg, error) {
	if e.Index < 1 || e.Index > len(c.params) {
		return 0, sqltype.Errorf(sqltype.CodeInvalidParameter, "there is no value for parameter $%d", e.Index)
	}
	d, err := sqltype.CastDatum(c.params[e.Index-1], e.T)
	if err != nil {
		return 0, err
	}
	return c.constant(d), nil
}

func (c *compiler) column(e *planner.Col) (kernels.Reg, error) {
	for i := range c.input {
		if c.input[i].ID == e.ID {
			return c.b.Input(i, e.T), nil
		}
	}
	if d, ok := c.outer[e.ID]; ok {
		return c.constant(d), nil
	}
	return 0, sqltype.Errorf(sqltype.CodeInternal, "column %s (#%d) is not among the input's", e.Name, e.ID)
}

// condition is a BOOLEAN expression's register, also when it is a bare NULL.
func (c *compiler) condition(e planner.Expr) (kernels.Reg, error) {
	r, err := c.expr(e)
	if err != nil {
		return r, err
	}
	return c.widen(r, sqltype.Bool), nil
}

func (c *compiler) compare(e *planner.Cmp) (kernels.Reg, error) {
	l, err := c.expr(e.L)
	if err != nil {
		return l, err
	}
	r, err := c.expr(e.R)
	if err != nil {
		return r, err
	}
	l, r = c.sameForm(l, e.L.Type(), r, e.R.Type())
	op := [...]kernels.Op{planner.Eq: kernels.OpEq, planner.Ne: kernels.OpNe, planner.Lt: kernels.OpLt, planner.Le: kernels.OpLe,
		planner.Gt: kernels.OpGt, planner.Ge: kernels.OpGe, planner.Distinct: kernels.OpDistinct, planner.NotDistinct: kernels.OpNotDistinct}[e.Op]
	return c.emit(kernels.Instr{Op: op, Phys: c.b.Type(l).Phys(), Args: []kernels.Reg{l, r}}, sqltype.Bool), nil
}

// sameForm brings two registers to one form: both narrow, or both whole. A
// bare NULL takes the other's type.
func (c *compiler) sameForm(l kernels.Reg, lt sqltype.Type, r kernels.Reg, rt sqltype.Type) (kernels.Reg, kernels.Reg) {
	if lt.Kind == sqltype.KindNull {
		lt = c.b.Type(r)
	}
	if rt.Kind == sqltype.KindNull {
		rt = c.b.Type(l)
	}
	if c.b.Type(l).Phys() == c.b.Type(r).Phys() {
		return l, r
	}
	return c.widen(l, lt), c.widen(r, rt)
}

// logic compiles AND and OR. An argument that could fail, or costs much, is
// evaluated only for the rows that those before it leave open.
func (c *compiler) logic(args []planner.Expr, op, open kernels.Op) (kernels.Reg, error) {
	acc, err := c.condition(args[0])
	if err != nil {
		return acc, err
	}
	outer := c.mask
	defer func() { c.mask = outer }()
	for _, e := range args[1:] {
		c.mask = outer
		if guarded(e) {
			c.mask = c.emit(kernels.Instr{Op: open, Args: []kernels.Reg{acc}}, sqltype.Bool)
		}
		r, err := c.condition(e)
		if err != nil {
			return r, err
		}
		c.mask = outer
		acc = c.emit(kernels.Instr{Op: op, Args: []kernels.Reg{acc, r}}, sqltype.Bool)
	}
	return acc, nil
}

// guarded reports an expression that is better not evaluated for rows that do
// not need it.
func guarded(e planner.Expr) bool {
	switch e := e.(type) {
	case *planner.Const, *planner.Param, *planner.Col:
		return false
	case *planner.Cmp:
		return guarded(e.L) || guarded(e.R)
	case *planner.And:
		return anyGuarded(e.Args)
	case *planner.Or:
		return anyGuarded(e.Args)
	case *planner.Not:
		return guarded(e.X)
	case *planner.IsNull:
		return guarded(e.X)
	case *planner.In:
		return guarded(e.X) || anyGuarded(e.List)
	}
	return true
}

func anyGuarded(list []planner.Expr) bool {
	for _, e := range list {
		if guarded(e) {
			return true
		}
	}
	return false
}

// in makes a list of constants a set, and anything else a disjunction.
func (c *compiler) in(e *planner.In) (kernels.Reg, error) {
	x, err := c.whole(e.X)
	if err != nil {
		return x, err
	}
	t := e.X.Type()
	values := make([]sqltype.Datum, 0, len(e.List))
	var rest []kernels.Reg
	for _, item := range e.List {
		if d, ok := c.known(item); ok {
			values = append(values, d)
			continue
		}
		r, err := c.whole(item)
		if err != nil {
			return r, err
		}
		rest = append(rest, r)
	}
	acc := kernels.NoReg
	if len(values) > 0 {
		acc = c.emit(kernels.Instr{Op: kernels.OpIn, Phys: t.Phys(), Args: []kernels.Reg{x}, Imm: c.b.Set(kernels.NewSet(values))}, sqltype.Bool)
	}
	for _, r := range rest {
		eq := c.emit(kernels.Instr{Op: kernels.OpEq, Phys: t.Phys(), Args: []kernels.Reg{x, r}}, sqltype.Bool)
		if acc == kernels.NoReg {
			acc = eq
			continue
		}
		acc = c.emit(kernels.Instr{Op: kernels.OpOr, Args: []kernels.Reg{acc, eq}}, sqltype.Bool)
	}
	if acc == kernels.NoReg {
		return c.b.Const(sqltype.NewBool(false)), nil
	}
	return acc, nil
}

// known is the value of a constant or a parameter that has its type already.
func (c *compiler) known(e planner.Expr) (sqltype.Datum, bool) {
	switch e := e.(type) {
	case *planner.Const:
		return e.Value, true
	case *planner.Param:
		if e.Index >= 1 && e.Index <= len(c.params) && c.params[e.Index-1].Type == e.T {
			return c.params[e.Index-1], true
		}
	}
	return sqltype.Datum{}, false
}

// choose compiles CASE: each condition for the rows that no arm before took,
// each value for the rows of its arm.
func (c *compiler) choose(e *planner.Case) (kernels.Reg, error) {
	outer := c.mask
	defer func() { c.mask = outer }()
	args := make([]kernels.Reg, 0, 2*len(e.Whens)+1)
	for _, w := range e.Whens {
		rest := c.mask
		cond, err := c.condition(w.Cond)
		if err != nil {
			return cond, err
		}
		c.mask = c.emit(kernels.Instr{Op: kernels.OpMaskTrue, Args: []kernels.Reg{cond}}, sqltype.Bool)
		args = append(args, c.mask)
		v, err := c.expr(w.Then)
		if err != nil {
			return v, err
		}
		args = append(args, v)
		c.mask = rest
		c.mask = c.emit(kernels.Instr{Op: kernels.OpMaskNotTrue, Args: []kernels.Reg{cond}}, sqltype.Bool)
	}
	v, err := c.expr(e.Else)
	if err != nil {
		return v, err
	}
	args = append(args, v)
	c.mask = outer
	t := c.armsForm(args, e.T)
	return c.emit(kernels.Instr{Op: kernels.OpCase, Phys: t.Phys(), Args: args}, t), nil
}

// armsForm brings the values among the arguments of a CASE to one form and
// returns its type: narrow when all are.
func (c *compiler) armsForm(args []kernels.Reg, t sqltype.Type) sqltype.Type {
	narrow := t.Kind == sqltype.KindDecimal && t.Phys() == sqltype.PhysI128 && t.Scale <= narrowDigits
	value := func(i int) bool { return i%2 == 1 || i == len(args)-1 }
	for i, r := range args {
		if value(i) && !c.isNull(r) && c.b.Type(r).Phys() != sqltype.PhysI64 {
			narrow = false
		}
	}
	if narrow {
		t = narrowType(t)
	}
	for i, r := range args {
		switch {
		case !value(i):
		case c.isNull(r):
			args[i] = c.b.Const(sqltype.NullOf(t))
		default:
			args[i] = c.widen(r, t)
		}
	}
	return t
}

// call compiles a function or arithmetic operator.
func (c *compiler) call(e *planner.Call) (kernels.Reg, error) {
	if d, ok := catalog.StatementTime(e.Func.ID, c.now.UnixMicro()); ok {
		return c.b.Const(d), nil
	}
	if e.Func.ID == catalog.FuncCurrentVersion {
		return c.b.Const(sqltype.NewInt64(int64(c.version))), nil
	}
	if isArithmetic(e) {
		return c.arithmetic(e)
	}
	args := make([]kernels.Reg, len(e.Args))
	types := make([]sqltype.Type, len(e.Args))
	consts := make([]*sqltype.Datum, len(e.Args))
	for i, a := range e.Args {
		r, err := c.whole(a)
		if err != nil {
			return r, err
		}
		args[i], types[i] = r, a.Type()
		if d, ok := c.b.Value(r); ok {
			consts[i] = &d
		}
	}
	var code kernels.ScalarFunc
	ok := true
	if catalog.UsesSequence(e.Func.ID) {
		var err error
		if code, err = c.sequenceCode(e); err != nil {
			return 0, err
		}
	} else {
		code, ok = kernels.LookupFunc(e.Func.Name, types, e.T, consts)
	}
	if !ok {
		err := sqltype.Errorf(sqltype.CodeUndefinedFunc, "function %s has no code for %v", e.Func.Name, types)
		return 0, placed(err, e.Pos)
	}
	f := c.b.Func(kernels.FuncRef{Name: e.Func.Name, Call: code, NullIn: e.Func.NullIn, Volatile: e.Func.Volatile})
	return c.emit(kernels.Instr{Op: kernels.OpCall, Phys: e.T.Phys(), Args: args, Imm: f, Pos: e.Pos}, e.T), nil
}

// placed is err at pos, a byte offset plus one.
func placed(err *sqltype.Error, pos int) *sqltype.Error {
	if pos > 0 {
		return err.At(pos - 1)
	}
	return err
}
