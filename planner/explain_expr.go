package planner

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// maxListShown is how many elements of a long list are printed.
const maxListShown = 8

// namer gives every column a name that tells it from the others of its plan:
// two columns with one name get their number behind it.
type namer struct {
	names map[ColumnID]string
	taken map[string]ColumnID
}

func newNamer(root Node) *namer {
	n := &namer{names: map[ColumnID]string{}, taken: map[string]ColumnID{}}
	var visit func(Node)
	visit = func(x Node) {
		for _, in := range x.Inputs() {
			visit(in)
		}
		for _, c := range x.Cols() {
			n.add(c)
		}
		for _, c := range ownCols(x) {
			n.add(c)
		}
		eachExpr(x, func(e Expr) {
			walkExpr(e, func(e Expr) bool {
				if s, ok := e.(*Subquery); ok {
					visit(s.Plan)
				}
				return true
			})
		})
	}
	visit(root)
	return n
}

func (n *namer) add(c ColDef) {
	if _, ok := n.names[c.ID]; ok {
		return
	}
	name := c.Name
	if name == "" {
		name = "column"
	}
	if _, ok := n.taken[name]; ok {
		name += ":" + strconv.Itoa(int(c.ID))
	}
	n.names[c.ID], n.taken[name] = name, c.ID
}

func (n *namer) col(id ColumnID, name string) string {
	if s, ok := n.names[id]; ok {
		return s
	}
	return name + ":" + strconv.Itoa(int(id))
}

// exprWriter prints expressions as SQL would write them.
type exprWriter struct {
	*namer
	strings.Builder
}

// text is an expression's text.
func (n *namer) text(e Expr) string {
	w := &exprWriter{namer: n}
	w.expr(e, 0)
	return w.String()
}

// The strengths of binding: an operand that binds weaker stands in brackets.
const (
	bindOr = iota + 1
	bindAnd
	bindNot
	bindCmp
	bindAdd
	bindMul
	bindAtom
)

func (w *exprWriter) expr(e Expr, outer int) {
	own := bindingOf(e)
	if own < outer {
		w.WriteByte('(')
		defer w.WriteByte(')')
	}
	switch e := e.(type) {
	case *Const:
		w.constant(e.Value)
	case *Param:
		fmt.Fprintf(w, "$%d", e.Index)
	case *Col:
		w.WriteString(w.col(e.ID, e.Name))
	case *Call:
		w.call(e, own)
	case *Cast:
		if e.Try {
			w.WriteString("try_")
		}
		w.WriteString("cast(")
		w.expr(e.X, 0)
		fmt.Fprintf(w, " as %s)", e.To)
	case *Cmp:
		w.expr(e.L, own+1)
		fmt.Fprintf(w, " %s ", e.Op)
		w.expr(e.R, own+1)
	case *And:
		w.list(e.Args, " AND ", own+1)
	case *Or:
		w.list(e.Args, " OR ", own+1)
	case *Not:
		if n, ok := e.X.(*IsNull); ok {
			w.expr(n.X, bindCmp+1)
			w.WriteString(" IS NOT NULL")
			return
		}
		w.WriteString("NOT ")
		w.expr(e.X, own+1)
	case *IsNull:
		w.expr(e.X, own+1)
		w.WriteString(" IS NULL")
	case *In:
		w.expr(e.X, own+1)
		w.WriteString(" IN (")
		w.list(e.List, ", ", 0)
		w.WriteByte(')')
	case *Case:
		w.cases(e)
	case *Subquery:
		w.subquery(e)
	default:
		panic(fmt.Sprintf("planner: no text for %T", e))
	}
}

func bindingOf(e Expr) int {
	switch e := e.(type) {
	case *Or:
		return bindOr
	case *And:
		return bindAnd
	case *Not:
		if _, ok := e.X.(*IsNull); ok {
			return bindCmp
		}
		return bindNot
	case *Cmp, *IsNull, *In:
		return bindCmp
	case *Call:
		if len(e.Args) != 2 {
			return bindAtom
		}
		switch e.Func.Name {
		case "+", "-", "||":
			return bindAdd
		case "*", "/", "%", "//":
			return bindMul
		}
	}
	return bindAtom
}

func (w *exprWriter) list(es []Expr, sep string, strength int) {
	for i, e := range es {
		if i > 0 {
			w.WriteString(sep)
		}
		if i == maxListShown && len(es) > maxListShown+1 {
			fmt.Fprintf(w, "... %d more", len(es)-i)
			return
		}
		w.expr(e, strength)
	}
}

func (w *exprWriter) constant(d sqltype.Datum) {
	k := d.Type.Kind
	switch {
	case d.Null:
		w.WriteString("NULL")
	case k == sqltype.KindVarchar:
		w.WriteString("'" + strings.ReplaceAll(d.S, "'", "''") + "'")
	case k.IsTemporal() || k == sqltype.KindInterval || k == sqltype.KindBlob || k == sqltype.KindUUID || k == sqltype.KindTimeTZ || k == sqltype.KindBit || k == sqltype.KindEnum || k == sqltype.KindJSON:
		fmt.Fprintf(w, "%s '%s'", d.Type, d)
	default:
		w.WriteString(d.String())
	}
}

func (w *exprWriter) call(e *Call, own int) {
	if own < bindAtom {
		w.expr(e.Args[0], own)
		fmt.Fprintf(w, " %s ", e.Func.Name)
		w.expr(e.Args[1], own+1)
		return
	}
	if e.Func.Name == "neg" {
		w.WriteByte('-')
		w.expr(e.Args[0], own)
		return
	}
	w.WriteString(e.Func.Name + "(")
	w.list(e.Args, ", ", 0)
	w.WriteByte(')')
}

func (w *exprWriter) cases(e *Case) {
	w.WriteString("CASE")
	for _, when := range e.Whens {
		w.WriteString(" WHEN ")
		w.expr(when.Cond, 0)
		w.WriteString(" THEN ")
		w.expr(when.Then, 0)
	}
	w.WriteString(" ELSE ")
	w.expr(e.Else, 0)
	w.WriteString(" END")
}

func (w *exprWriter) subquery(e *Subquery) {
	switch e.Kind {
	case SubExists:
		w.WriteString("EXISTS ")
	case SubAny:
		w.list(e.X, ", ", bindCmp+1)
		fmt.Fprintf(w, " %s ANY ", e.Op)
	}
	w.WriteString("(subquery)")
}
