package exec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

func number(v int64) planner.Expr { return &planner.Const{Value: sqltype.NewInt64(v)} }

// frameCase is a frame with what it means: start and end as distances in its unit.
type frameCase struct {
	f          planner.Frame
	start, end int64
}

const far = 1 << 40

var frameCases = func() (out []frameCase) {
	bounds := []struct {
		kind string
		k    int64
		at   int64
	}{{"UNBOUNDED PRECEDING", 0, -far}, {"PRECEDING", 2, -2}, {"CURRENT ROW", 0, 0}, {"FOLLOWING", 1, 1}, {"FOLLOWING", 3, 3}, {"UNBOUNDED FOLLOWING", 0, far}}
	for _, unit := range []string{"ROWS", "GROUPS", "RANGE"} {
		for i, s := range bounds[:5] {
			for j, e := range bounds {
				if j < i || j == 0 {
					continue
				}
				f := planner.Frame{Unit: unit, StartKind: s.kind, EndKind: e.kind}
				offset := number
				if unit == "RANGE" {
					offset = func(v int64) planner.Expr { return &planner.Const{Value: sqltype.NewInt32(int32(v))} }
				}
				if s.k > 0 {
					f.StartOffset = offset(s.k)
				}
				if e.k > 0 {
					f.EndOffset = offset(e.k)
				}
				f.Exclude = []string{"", "CURRENT ROW", "GROUP", "TIES"}[(i+j)%4]
				out = append(out, frameCase{f, s.at, e.at})
			}
		}
	}
	return out
}()

// partitionRow is a row of a partition of the model, in the window's order.
type partitionRow struct {
	row   []sqltype.Datum
	group int64
}

// compareNullable orders as a sort key does.
func compareNullable(a, b sqltype.Datum, k planner.SortKey) int {
	switch {
	case a.Null && b.Null:
		return 0
	case a.Null || b.Null:
		if a.Null == k.NullsFirst {
			return -1
		}
		return 1
	}
	c := sqltype.Compare(a, b)
	if k.Desc {
		return -c
	}
	return c
}

// partitions are the rows by text, ordered by the integer, as they came when
// it is the same.
func partitions(tab tuples, key planner.SortKey) [][]partitionRow {
	by := map[string][]partitionRow{}
	var names []string
	for _, row := range tab {
		n := cell(row[1])
		if by[n] == nil {
			names = append(names, n)
		}
		by[n] = append(by[n], partitionRow{row: row})
	}
	var out [][]partitionRow
	for _, n := range names {
		p := by[n]
		slices.SortStableFunc(p, func(a, b partitionRow) int { return compareNullable(a.row[0], b.row[0], key) })
		for i := range p[1:] {
			p[i+1].group = p[i].group
			if compareNullable(p[i].row[0], p[i+1].row[0], key) != 0 {
				p[i+1].group++
			}
		}
		out = append(out, p)
	}
	return out
}

// frame is the rows of the frame of row i.
func (c frameCase) frame(p []partitionRow, i int, key planner.SortKey) (out []partitionRow) {
	in := func(j int, d int64, isEnd bool) bool {
		if d == -far || d == far {
			return true
		}
		sign := 1
		if isEnd {
			sign = -1
		}
		switch {
		case c.f.Unit == "ROWS":
			return (int64(j)-int64(i)-d)*int64(sign) >= 0
		case c.f.Unit == "GROUPS" || d == 0 || p[i].row[0].Null:
			if c.f.Unit == "RANGE" {
				d = 0 // NULLs are near to each other alone
			}
			return (p[j].group-p[i].group-d)*int64(sign) >= 0
		}
		if key.Desc {
			d = -d
		}
		reach := sqltype.NewInt32(int32(p[i].row[0].I + d))
		return compareNullable(p[j].row[0], reach, key)*sign >= 0
	}
	for j := range p {
		peer := p[j].group == p[i].group
		switch c.f.Exclude {
		case "CURRENT ROW":
			peer = j == i
		case "GROUP":
		case "TIES":
			peer = peer && j != i
		default:
			peer = false
		}
		if in(j, c.start, false) && in(j, c.end, true) && !peer {
			out = append(out, p[j])
		}
	}
	return out
}

func TestWindowFrames(t *testing.T) {
	fn := func(id planner.ColumnID, f catalog.FuncID, out sqltype.Type, frame planner.Frame, args ...planner.Expr) planner.WindowFunc {
		return planner.WindowFunc{Col: planner.ColDef{ID: id, Type: out}, Func: &catalog.Func{ID: f, Name: "f"}, Args: args, Frame: frame}
	}
	r := rand.New(rand.NewPCG(9, 10))
	for variant, c := range []config{{3, false}, {64, false}, {0, false}} {
		for _, n := range []int{0, 1, 65} {
			tab := randomTable(r, n, 6)
			key := planner.SortKey{Expr: ref(1, 0), Desc: variant == 1, NullsFirst: variant == 2}
			for _, fc := range frameCases {
				text := planner.Expr(&planner.Cast{X: ref(1, 2), To: sqltype.Varchar})
				w := &planner.Window{Input: tab.node(1), Partition: []planner.Expr{ref(1, 1)}, Order: []planner.SortKey{key}}
				w.Funcs = []planner.WindowFunc{
					fn(30, catalog.FuncCount, sqltype.Int64, fc.f),
					fn(31, catalog.FuncSum, sqltype.Int64, fc.f, ref(1, 0)),
					fn(32, catalog.FuncMax, sqltype.Varchar, fc.f, text),
					fn(33, catalog.FuncFirstValue, sqltype.Int64, fc.f, ref(1, 2)),
					fn(34, catalog.FuncLastValue, sqltype.Int64, fc.f, ref(1, 2)),
					fn(35, catalog.FuncNthValue, sqltype.Int64, fc.f, ref(1, 2), number(2)),
					fn(36, catalog.FuncStringAgg, sqltype.Varchar, fc.f, text),
				}
				var want []string
				for _, p := range partitions(tab, key) {
					for i := range p {
						want = append(want, line(p[i].row...)+"|"+frameLine(fc.frame(p, i, key)))
					}
				}
				got, err := run(t, w, c)
				require.NoError(t, err)
				if strings.Join(want, "\n") != strings.Join(got, "\n") {
					t.Logf("%+v", fc.f)
				}
				sameLines(t, want, got)
			}
		}
	}
}

// frameLine is what the functions of TestWindowFrames give of a frame.
func frameLine(f []partitionRow) string {
	sum, most, first, last, second, joined := "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"
	var total int64
	var texts []string
	for k, r := range f {
		if !r.row[0].Null {
			total += r.row[0].I
			sum = fmt.Sprint(total)
		}
		v := cell(r.row[2])
		texts = append(texts, v)
		last = v
		switch k {
		case 0:
			first = v
		case 1:
			second = v
		}
	}
	if len(texts) > 0 {
		most, joined = slices.Max(texts), strings.Join(texts, ",")
	}
	return strings.Join([]string{fmt.Sprint(len(f)), sum, most, first, last, second, joined}, "|")
}

func TestWindowRanks(t *testing.T) {
	fn := func(id planner.ColumnID, f catalog.FuncID, out sqltype.Type, args ...planner.Expr) planner.WindowFunc {
		return planner.WindowFunc{Col: planner.ColDef{ID: id, Type: out}, Func: &catalog.Func{ID: f, Name: "f"}, Args: args}
	}
	configs(t, func(t *testing.T, c config) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, n := range sizes {
			tab := randomTable(r, n, 9)
			key := planner.SortKey{Expr: ref(1, 0)}
			w := &planner.Window{Input: tab.node(1), Partition: []planner.Expr{ref(1, 1)}, Order: []planner.SortKey{key}}
			w.Funcs = []planner.WindowFunc{
				fn(30, catalog.FuncRowNumber, sqltype.Int64),
				fn(31, catalog.FuncRank, sqltype.Int64),
				fn(32, catalog.FuncDenseRank, sqltype.Int64),
				fn(33, catalog.FuncPercentRank, sqltype.Float64),
				fn(34, catalog.FuncCumeDist, sqltype.Float64),
				fn(35, catalog.FuncNtile, sqltype.Int32, number(3)),
				fn(36, catalog.FuncLag, sqltype.Int32, ref(1, 0)),
				fn(37, catalog.FuncLead, sqltype.Int64, ref(1, 2), number(2), number(-7)),
			}
			lag := fn(38, catalog.FuncLag, sqltype.Int32, ref(1, 0), number(2))
			lag.IgnoreNulls = true
			w.Funcs = append(w.Funcs, lag)
			var want []string
			for _, p := range partitions(tab, key) {
				for i := range p {
					want = append(want, line(p[i].row...)+"|"+rankLine(p, i))
				}
			}
			got, err := run(t, w, c)
			require.NoError(t, err)
			sameLines(t, want, got)
		}
	})
}

// rankLine is what the functions of TestWindowRanks give.
func rankLine(p []partitionRow, i int) string {
	size, rank, past := len(p), 1, 0
	for j := range p {
		if p[j].group < p[i].group {
			rank++
		}
		if p[j].group <= p[i].group {
			past++
		}
	}
	percent := 0.0
	if size > 1 {
		percent = float64(rank-1) / float64(size-1)
	}
	bucket, left := 1, i
	for ; ; bucket++ {
		rows := size / 3
		if bucket <= size%3 {
			rows++
		}
		if left < rows {
			break
		}
		left -= rows
	}
	lag, lead, known := "NULL", "-7", []string{}
	for j := range i {
		lag = cell(p[j].row[0])
		if !p[j].row[0].Null {
			known = append(known, lag)
		}
	}
	if i+2 < size {
		lead = cell(p[i+2].row[2])
	}
	second := "NULL"
	if len(known) > 1 {
		second = known[len(known)-2]
	}
	return fmt.Sprintf("%d|%d|%d|%.6f|%.6f|%d|%s|%s|%s", i+1, rank, p[i].group+1, percent, float64(past)/float64(size), bucket, lag, lead, second)
}
