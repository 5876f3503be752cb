package parser

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// binaryPrec is the precedence of a binary operator by its text.
func binaryPrec(op string) int {
	switch op {
	case "AND":
		return precAnd
	case "OR":
		return precOr
	case "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE":
		return precLike
	}
	for _, o := range infixOps {
		if o.op == op {
			return o.prec
		}
	}
	panic("parser: no operator " + op)
}

// precOf is the precedence of the outermost operator of e.
func precOf(e Expr) int {
	switch e := e.(type) {
	case *Binary:
		return binaryPrec(e.Op)
	case *Quantified:
		return binaryPrec(e.Op)
	case *Unary:
		switch e.Op {
		case "NOT":
			return precNot
		case "~":
			return precOther
		}
		return precUnary
	case *IsExpr, *IsDistinct:
		return precIs
	case *Between, *Like, *In:
		return precLike
	case *Index:
		return precPostfix
	case *Literal:
		if isNegative(e.Value) {
			return precLowest
		}
	}
	return precPrimary
}

func (f *formatter) expr(e Expr) { f.exprFrom(e, precLowest) }

func (f *formatter) exprs(list []Expr) { f.list(len(list), func(i int) { f.expr(list[i]) }) }

// exprFrom writes e, in parentheses when its operator is looser than prec.
func (f *formatter) exprFrom(e Expr, prec int) {
	if precOf(e) < prec {
		f.paren(func() { f.bare(e) })
		return
	}
	f.bare(e)
}

// bare writes e without parentheses around it.
func (f *formatter) bare(e Expr) {
	switch e := e.(type) {
	case *Binary:
		f.binary(e)
	case *Unary:
		f.unary(e)
	case *Literal:
		f.literal(e.Value)
	case *ColumnRef:
		f.name(e.Name)
	case *Star:
		f.star(e)
	case *ParamRef:
		f.text("$" + cmp.Or(e.Name, strconv.Itoa(e.Index)))
	case *IsExpr, *IsDistinct, *Between, *Like, *In, *Quantified:
		f.predicate(e)
	case *Exists:
		f.text("EXISTS ")
		f.paren(func() { f.query(e.Query) })
	case *Subquery:
		f.paren(func() { f.query(e.Query) })
	case *Case:
		f.caseExpr(e)
	case *Cast:
		f.cast(e)
	case *Call:
		f.call(e)
	case *Row:
		f.text("ROW")
		f.paren(func() { f.exprs(e.Exprs) })
	case *Array:
		f.text("ARRAY[")
		f.exprs(e.Exprs)
		f.text("]")
	case *Index:
		f.index(e)
	case *Default:
		f.text("DEFAULT")
	default:
		panic(fmt.Sprintf("parser: no text for %T", e))
	}
}

// binary writes a chain of operators that group to the left from its first
// operand on.
func (f *formatter) binary(e *Binary) {
	spine := []*Binary{e}
	for {
		l, ok := e.L.(*Binary)
		if !ok || binaryPrec(l.Op) < binaryPrec(e.Op) {
			break
		}
		spine = append(spine, l)
		e = l
	}
	f.exprFrom(e.L, binaryPrec(e.Op))
	for i := len(spine) - 1; i >= 0; i-- {
		f.text(" " + spine[i].Op + " ")
		f.exprFrom(spine[i].R, binaryPrec(spine[i].Op)+1)
	}
}

func (f *formatter) unary(e *Unary) {
	f.text(e.Op)
	_, nested := e.X.(*Unary) // two minus signs would begin a comment
	f.when(nested || e.Op == "NOT", " ")
	switch e.Op {
	case "NOT":
		f.exprFrom(e.X, precNot)
	case "~":
		f.exprFrom(e.X, precOther+1)
	default:
		f.exprFrom(e.X, precUnary)
	}
}

// predicate writes the operators that are words.
func (f *formatter) predicate(e Expr) {
	switch e := e.(type) {
	case *IsExpr:
		f.exprFrom(e.X, precIs)
		f.text(" IS ")
		f.when(e.Not, "NOT ")
		f.text(e.What)
	case *IsDistinct:
		f.exprFrom(e.L, precIs)
		f.text(" IS ")
		f.when(e.Not, "NOT ")
		f.text("DISTINCT FROM ")
		f.exprFrom(e.R, precIs+1)
	case *Between:
		f.exprFrom(e.X, precLike)
		f.when(e.Not, " NOT")
		f.text(" BETWEEN ")
		f.when(e.Symmetric, "SYMMETRIC ")
		f.exprFrom(e.Lo, precLike+1)
		f.text(" AND ")
		f.exprFrom(e.Hi, precLike+1)
	case *Like:
		f.exprFrom(e.X, precLike)
		f.when(e.Not, " NOT")
		f.text(" " + e.Op + " ")
		f.exprFrom(e.Pattern, precLike+1)
		if e.Esc != nil {
			f.text(" ESCAPE ")
			f.exprFrom(e.Esc, precLike+1)
		}
	case *In:
		f.exprFrom(e.X, precLike)
		f.when(e.Not, " NOT")
		f.text(" IN ")
		f.listOrQuery(e.Query, e.List)
	case *Quantified:
		f.exprFrom(e.X, binaryPrec(e.Op))
		f.text(" " + e.Op + " ")
		if e.All {
			f.text("ALL ")
		} else {
			f.text("ANY ")
		}
		f.listOrQuery(e.Query, []Expr{e.List})
	}
}

func (f *formatter) listOrQuery(q *Query, list []Expr) {
	f.paren(func() {
		if q != nil {
			f.query(q)
			return
		}
		f.exprs(list)
	})
}

// listSuffix is the brackets of a list's type; the outermost may have a length.
func listSuffix(t TypeName) string {
	if t.Length == 0 {
		return strings.Repeat("[]", t.List)
	}
	return strings.Repeat("[]", t.List-1) + "[" + strconv.Itoa(t.Length) + "]"
}

func (f *formatter) star(e *Star) {
	if e.Table != nil {
		f.name(*e.Table)
		f.text(".")
	}
	f.text("*")
	if e.Exclude != nil {
		f.text(" EXCLUDE ")
		f.idents(e.Exclude)
	}
	if e.Replace != nil {
		f.text(" REPLACE ")
		f.paren(func() { f.items(e.Replace) })
	}
	if e.Rename != nil {
		f.text(" RENAME ")
		f.paren(func() {
			f.list(len(e.Rename), func(i int) {
				f.ident(e.Rename[i].From)
				f.text(" AS ")
				f.ident(e.Rename[i].To)
			})
		})
	}
}

func (f *formatter) caseExpr(e *Case) {
	f.text("CASE")
	if e.Operand != nil {
		f.text(" ")
		f.expr(e.Operand)
	}
	for _, w := range e.Whens {
		f.text(" WHEN ")
		f.expr(w.Cond)
		f.text(" THEN ")
		f.expr(w.Then)
	}
	if e.Else != nil {
		f.text(" ELSE ")
		f.expr(e.Else)
	}
	f.text(" END")
}

func (f *formatter) cast(e *Cast) {
	f.when(e.Try, "TRY_")
	f.text("CAST")
	f.paren(func() {
		f.expr(e.X)
		f.text(" AS ")
		f.typeName(e.Type)
	})
}

func (f *formatter) typeName(t TypeName) {
	if t.User != nil {
		f.name(*t.User)
		f.text(listSuffix(t))
		return
	}
	if t.Map {
		f.text("MAP(")
		f.typeName(t.Fields[0].Type)
		f.text(", ")
		f.typeName(t.Fields[1].Type)
		f.text(")" + listSuffix(t))
		return
	}
	if t.Fields != nil {
		f.text("STRUCT")
		f.paren(func() {
			f.list(len(t.Fields), func(i int) {
				f.ident(t.Fields[i].Name)
				f.text(" ")
				f.typeName(t.Fields[i].Type)
			})
		})
		f.text(listSuffix(t))
		return
	}
	text := t.Text
	if text == "" {
		text = t.Type.String()
	}
	f.text(strings.ToUpper(text) + listSuffix(t))
}

func (f *formatter) index(e *Index) {
	f.exprFrom(e.X, precPostfix)
	f.text("[")
	if e.Lo != nil {
		f.expr(e.Lo)
	}
	f.when(e.Slice, ":")
	if e.Hi != nil {
		f.expr(e.Hi)
	}
	if e.Step != nil {
		f.when(e.Hi == nil, "-")
		f.text(":")
		f.expr(e.Step)
	}
	f.text("]")
}

func (f *formatter) call(e *Call) {
	if id := e.Name.Parts[0]; len(e.Name.Parts) == 1 && keywordOf(id.Name).namesFunction() {
		f.label(id)
	} else {
		f.name(e.Name)
	}
	f.paren(func() { f.arguments(e) })
	if e.Within != nil {
		f.text(" WITHIN GROUP (")
		f.orderBy(e.Within)
		f.text(")")
	}
	if e.Filter != nil {
		f.text(" FILTER (WHERE ")
		f.expr(e.Filter)
		f.text(")")
	}
	f.when(e.IgnoreNulls, " IGNORE NULLS")
	switch w := e.Over; {
	case w == nil:
	case w.Ref != nil && w.PartitionBy == nil && w.OrderBy == nil && w.Frame == nil:
		// OVER (w) and OVER w mean the same without a frame.
		f.text(" OVER ")
		f.ident(*w.Ref)
	default:
		f.text(" OVER ")
		f.window(w)
	}
}

func (f *formatter) arguments(e *Call) {
	f.when(e.Star, "*")
	f.when(e.Distinct, "DISTINCT ")
	f.exprs(e.Args)
	f.when(e.Args != nil && e.Named != nil, ", ")
	f.list(len(e.Named), func(i int) {
		f.ident(e.Named[i].Name)
		f.text(" => ")
		f.expr(e.Named[i].Value)
	})
	if e.OrderBy != nil {
		f.text(" ")
		f.orderBy(e.OrderBy)
	}
}

// window writes a window definition in parentheses.
func (f *formatter) window(w *Window) {
	f.paren(func() {
		sep := ""
		part := func(s string) {
			f.text(sep + s)
			sep = " "
		}
		if w.Ref != nil {
			part("")
			f.ident(*w.Ref)
		}
		if w.PartitionBy != nil {
			part("PARTITION BY ")
			f.exprs(w.PartitionBy)
		}
		if w.OrderBy != nil {
			part("")
			f.orderBy(w.OrderBy)
		}
		if w.Frame != nil {
			part(w.Frame.Unit + " BETWEEN ")
			f.frameBound(w.Frame.Start)
			f.text(" AND ")
			f.frameBound(w.Frame.End)
			f.when(w.Frame.Exclude != "", " EXCLUDE "+w.Frame.Exclude)
		}
	})
}

func (f *formatter) frameBound(b FrameBound) {
	if b.Offset != nil {
		f.expr(b.Offset)
		f.text(" ")
	}
	f.text(b.Kind)
}

// literal writes a constant so that it is read back with the same type.
func (f *formatter) literal(d sqltype.Datum) {
	if d.Null {
		f.text("NULL")
		return
	}
	switch d.Type.Kind {
	case sqltype.KindBool:
		f.text(map[bool]string{true: "TRUE", false: "FALSE"}[d.I != 0])
	case sqltype.KindVarchar:
		f.quoteString(d.S)
	case sqltype.KindBlob:
		f.text("x'" + hex.EncodeToString([]byte(d.S)) + "'")
	case sqltype.KindFloat64:
		f.text(strconv.FormatFloat(d.F, 'e', -1, 64))
	case sqltype.KindDecimal:
		f.decimal(d)
	case sqltype.KindInt32, sqltype.KindInt64:
		f.buf = strconv.AppendInt(f.buf, d.I, 10)
	default:
		panic("parser: no constant of type " + d.Type.String())
	}
}

func decimalOf(d sqltype.Datum) sqltype.Int128 {
	if d.Type.Phys() == sqltype.PhysI64 {
		return sqltype.Int128Of(d.I)
	}
	return sqltype.Int128{Lo: uint64(d.I), Hi: d.Hi}
}

func (f *formatter) decimal(d sqltype.Datum) {
	v := decimalOf(d)
	digits, scale := v.String(), int(d.Type.Scale)
	if v.Sign() < 0 {
		f.text("-")
		digits = digits[1:]
	}
	if scale == 0 {
		f.text(digits)
		_, small := v.Int64()
		f.when(small, ".") // or it would be an integer
		return
	}
	for len(digits) <= scale {
		digits = "0" + digits
	}
	f.text(digits[:len(digits)-scale] + "." + digits[len(digits)-scale:])
}

// isNegative reports a constant that begins with a minus sign: none that was
// parsed does.
func isNegative(d sqltype.Datum) bool {
	switch d.Type.Kind {
	case sqltype.KindInt32, sqltype.KindInt64:
		return d.I < 0
	case sqltype.KindFloat64:
		return d.F < 0
	case sqltype.KindDecimal:
		return decimalOf(d).Sign() < 0
	}
	return false
}
