package exec_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryNodeHasAnOperator reads the set of nodes from planner and looks each
// up in the switch that makes operators.
func TestEveryNodeHasAnOperator(t *testing.T) {
	methods, err := os.ReadFile("../planner/node_methods.go")
	require.NoError(t, err)
	build, err := os.ReadFile("build.go")
	require.NoError(t, err)
	operators := string(build)[strings.Index(string(build), "func (w *worker) operator"):]
	var sides string // of a query on a device: each node is on one
	for _, file := range []string{"ondevice.go", "crossing.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		sides += string(text)
	}
	nodes := regexp.MustCompile(`func \(\w+ \*(\w+)\) WithInputs`).FindAllStringSubmatch(string(methods), -1)
	require.Greater(t, len(nodes), 15)
	for _, n := range nodes {
		require.Contains(t, operators, "case *planner."+n[1]+":", n[1])
		require.Regexp(t, `case .*\*planner\.`+n[1]+`[,:]`, sides, n[1])
	}
}
