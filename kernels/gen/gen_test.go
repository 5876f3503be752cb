package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLayoutIsCurrent: whoever changes an argument generates anew.
func TestLayoutIsCurrent(t *testing.T) {
	want, err := layout("..")
	require.NoError(t, err)
	got, err := os.ReadFile("../layout.cuh")
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(want), "\n"), strings.Split(string(got), "\n"), "run go generate ./kernels")
}

var (
	codeLine  = regexp.MustCompile(`Module: module\w+, Entry: "(\w+)", Block: (\d+), Items: \d+} +// (\w+)`)
	entryText = regexp.MustCompile(`\.visible \.entry (\w+)\(\s+\.param \.align \d+ \.b8 \w+\[(\d+)\],\s+\.param \.u64 \w+\s+\)\s+\.maxntid (\d+), 1, 1`)
)

// TestShippedEntries compares what Go launches with what the PTX takes: the
// argument's bytes, the count after it, the threads of a block.
func TestShippedEntries(t *testing.T) {
	s, err := load("..")
	require.NoError(t, err)
	scope := s.packages[module+"kernels"].Scope()
	modules, err := os.ReadFile("../modules.go")
	require.NoError(t, err)
	want := map[string]string{}
	for _, m := range codeLine.FindAllStringSubmatch(string(modules), -1) {
		o := scope.Lookup(m[3])
		require.NotNil(t, o, "type %s of %s", m[3], m[1])
		want[m[1]] = fmt.Sprintf("%d bytes, %s threads", sizes.Sizeof(o.Type()), m[2])
	}
	require.Equal(t, strings.Count(string(modules), "&device.Code{"), len(want))

	got := map[string]string{}
	files, err := os.ReadDir("..")
	require.NoError(t, err)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".ptx") {
			continue
		}
		text, err := os.ReadFile("../" + f.Name())
		require.NoError(t, err)
		for _, m := range entryText.FindAllStringSubmatch(string(text), -1) {
			require.NotContains(t, got, m[1], "two modules have this entry")
			got[m[1]] = fmt.Sprintf("%s bytes, %s threads", m[2], m[3])
		}
	}
	require.Greater(t, len(got), 20)
	require.Equal(t, want, got)
}
