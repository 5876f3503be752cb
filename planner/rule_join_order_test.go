package planner

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// joinShapes are the conditions between n inputs, as pairs.
var joinShapes = map[string]func(n int) [][2]int{
	"chain": func(n int) (edges [][2]int) {
		for i := 1; i < n; i++ {
			edges = append(edges, [2]int{i - 1, i})
		}
		return edges
	},
	"star": func(n int) (edges [][2]int) {
		for i := 1; i < n; i++ {
			edges = append(edges, [2]int{0, i})
		}
		return edges
	},
	"clique": func(n int) (edges [][2]int) {
		for i := range n {
			for k := range i {
				edges = append(edges, [2]int{k, i})
			}
		}
		return edges
	},
	"none": func(int) [][2]int { return nil },
}

// TestJoinOrderEffort: whatever the shape, a tree has each input once, and the
// pairs that were weighed for it are bounded: by all splits of all sets up to
// maxExact inputs, and by the square of their number above.
func TestJoinOrderEffort(t *testing.T) {
	for shape, edges := range joinShapes {
		for _, n := range []int{2, 5, maxExact, maxExact + 1, 20, 40, 64, 65, 100} {
			g := &joinGraph{}
			for i := range n {
				rows := float64(10 + i*7919%1000)
				g.inputs = append(g.inputs, joinInput{rows: rows, base: rows})
			}
			for _, e := range edges(n) {
				g.conds = append(g.conds, joinCond{expr: &Cmp{Op: Eq}, inputs: oneInput(e[0]).or(oneInput(e[1])), share: 0.01})
			}
			bound := float64(n * n)
			var tree *joinTree
			if n <= maxExact {
				tree, bound = g.exact(), math.Pow(3, float64(n))
			}
			if tree == nil {
				tree, bound = g.greedy(), bound+float64(n*n)
			}
			name := fmt.Sprintf("%s of %d", shape, n)
			require.LessOrEqual(t, float64(g.pairs), bound, name)
			seen := map[int]bool{}
			leaves(tree, func(i int) {
				require.False(t, seen[i], name)
				seen[i] = true
			})
			require.Len(t, seen, n, name)
			if len(g.conds) > 0 {
				require.Zero(t, crossed(g, tree), name)
			}
		}
	}
}

func leaves(t *joinTree, visit func(int)) {
	if t.left == nil {
		visit(t.input)
		return
	}
	leaves(t.left, visit)
	leaves(t.right, visit)
}

// crossed counts the joins of a tree that no condition is for.
func crossed(g *joinGraph, t *joinTree) int {
	if t.left == nil {
		return 0
	}
	n := crossed(g, t.left) + crossed(g, t.right)
	if !g.connected(t.left, t.right) {
		n++
	}
	return n
}
