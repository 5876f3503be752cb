package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
)

// The reference is that of this source, and has at least 250 functions, each with
// an example unless it is about a sequence, a type or a version that a text has not.
func TestReferenceIsFresh(t *testing.T) {
	text, err := reference(t.Context())
	require.NoError(t, err)
	have, err := os.ReadFile("../../docs/functions.md")
	require.NoError(t, err)
	require.Equal(t, text, string(have), "run go generate ./tests/reference")
	without, all := 0, catalog.Reference()
	for _, f := range all {
		if f.Example == "" {
			without++
		}
	}
	require.GreaterOrEqual(t, len(all), 250)
	require.LessOrEqual(t, without, 10)
}
