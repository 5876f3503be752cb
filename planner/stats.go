package planner

import (
	"math"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// What is assumed where nothing is known, in the tradition of System R.
const (
	defaultEqual   = 0.005
	defaultRange   = 1.0 / 3
	defaultBetween = 0.11
	defaultLike    = 0.1
	defaultPrefix  = 0.02
	defaultNull    = 0.02
	defaultOther   = 0.25
	defaultRows    = 1000
)

// columnStat is what is known about a column's values. Values are numbers here:
// dates by days, strings by their first bytes, which is enough to interpolate.
type columnStat struct {
	distinct float64 // 0: not known
	nullFrac float64
	min, max float64
	bounded  bool // min and max are known
}

func newColumnStat(s *catalog.ColumnStats) columnStat {
	c := columnStat{distinct: s.Distinct, nullFrac: s.NullFrac}
	if c.nullFrac >= 1 {
		c.distinct = 1 // NULL is known to be alone
	}
	if s.Min.Type.Kind != sqltype.KindNull && !s.Min.Null && !s.Max.Null {
		lo, ok1 := datumNumber(s.Min)
		hi, ok2 := datumNumber(s.Max)
		c.min, c.max, c.bounded = lo, hi, ok1 && ok2
	}
	return c
}

// datumNumber is a number in the order of the values.
func datumNumber(d sqltype.Datum) (float64, bool) {
	switch k := d.Type.Kind; {
	case d.Null:
		return 0, false
	case k.IsFloat():
		return d.F, !math.IsNaN(d.F)
	case k == sqltype.KindDecimal:
		v := float64(d.I)
		if d.Type.Phys() == sqltype.PhysI128 {
			v = float64(d.Hi)*(1<<64) + float64(uint64(d.I))
		}
		return v / math.Pow10(int(d.Type.Scale)), true
	case k == sqltype.KindUint64:
		return float64(uint64(d.I)), true
	case k.IsString(), k.IsNested(), k == sqltype.KindJSON:
		v, scale := 0.0, 1.0
		for i := 0; i < len(d.S) && i < 8; i++ {
			scale /= 256
			v += float64(d.S[i]) * scale
		}
		return v, true
	case k == sqltype.KindInterval, k == sqltype.KindUUID:
		return 0, false
	}
	return float64(d.I), true
}

// selectivity is the share of a node's rows for which e is true; the columns
// that it names must be known to the model, that is, their node's size asked for.
func (m *costModel) selectivity(e Expr) float64 {
	switch e := e.(type) {
	case nil:
		return 1
	case *Const:
		if isTrue(e) {
			return 1
		}
		return 0
	case *And:
		return m.selectivityAll(e.Args)
	case *Or:
		none := 1.0
		for _, a := range e.Args {
			none *= 1 - m.selectivity(a)
		}
		return 1 - none
	case *Not:
		return m.selectivityNot(e.X)
	case *IsNull:
		if c, ok := e.X.(*Col); ok {
			if s := m.column(c.ID); s.nullFrac > 0 || s.distinct > 0 {
				return s.nullFrac
			}
		}
		return defaultNull
	case *In:
		one := m.equal(e.X)
		return math.Min(1, one*float64(len(e.List)))
	case *Cmp:
		return m.selectivityCmp(e)
	case *Call:
		return selectivityCall(e)
	}
	return defaultOther
}

func selectivityCall(e *Call) float64 {
	if strings.Contains(e.Func.Name, "like") && len(e.Args) > 1 {
		if c, ok := e.Args[1].(*Const); ok && !strings.HasPrefix(c.Value.S, "%") {
			return defaultPrefix
		}
		return defaultLike
	}
	return defaultOther
}

func (m *costModel) selectivityNot(e Expr) float64 {
	if n, ok := e.(*IsNull); ok {
		return 1 - m.selectivity(n)
	}
	return math.Max(0, 1-m.selectivity(e))
}

// selectivityAll multiplies, but reads a lower and an upper bound of one
// column as an interval.
func (m *costModel) selectivityAll(list []Expr) float64 {
	type bound struct {
		share float64
		lower bool
	}
	var bounds map[ColumnID]bound
	all := 1.0
	for _, e := range list {
		s := m.selectivity(e)
		c, ok := e.(*Cmp)
		if !ok || c.Op < Lt || c.Op > Ge || !isCol(c.L) || !isFixed(c.R) {
			all *= s
			continue
		}
		id, lower := c.L.(*Col).ID, c.Op == Gt || c.Op == Ge
		b, seen := bounds[id]
		switch {
		case !seen:
			if bounds == nil {
				bounds = make(map[ColumnID]bound, 4)
			}
			bounds[id] = bound{s, lower}
		case b.lower == lower:
			bounds[id] = bound{math.Min(s, b.share), lower}
		case !m.column(id).bounded || !isConst(c.R):
			all *= defaultBetween / b.share
		default:
			all *= math.Max(s+b.share-1, 0.0005) / b.share
		}
	}
	for _, b := range bounds {
		all *= b.share
	}
	return all
}

func isConst(e Expr) bool {
	_, ok := e.(*Const)
	return ok
}

// equal is the share of rows in which e has one given value.
func (m *costModel) equal(e Expr) float64 {
	if c, ok := e.(*Col); ok {
		if s := m.column(c.ID); s.distinct > 0 {
			return (1 - s.nullFrac) / s.distinct
		}
		return defaultEqual
	}
	return math.Sqrt(defaultEqual)
}

func (m *costModel) selectivityCmp(e *Cmp) float64 {
	switch e.Op {
	case Eq, NotDistinct:
		if isFixed(e.R) {
			return m.equal(e.L)
		}
		return math.Min(m.equal(e.L), m.equal(e.R))
	case Ne, Distinct:
		return 1 - m.equal(e.L)
	}
	col, ok := e.L.(*Col)
	c, fixed := e.R.(*Const)
	if !ok || !fixed {
		return defaultRange
	}
	s := m.column(col.ID)
	v, ok := datumNumber(c.Value)
	if !s.bounded || !ok || s.max <= s.min {
		return defaultRange
	}
	below := math.Min(1, math.Max(0, (v-s.min)/(s.max-s.min)))
	if e.Op == Gt || e.Op == Ge {
		below = 1 - below
	}
	return (1 - s.nullFrac) * math.Max(below, 0.0001)
}
