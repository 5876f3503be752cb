package gpusql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

// Parameters with names take their arguments by name, in either case, or in order.
func TestNamedArguments(t *testing.T) {
	db := open(t)
	const sql = "SELECT $low + $High, $LOW"
	for range 2 { // the second time the text is known
		require.Equal(t, []string{"3 1"}, all(t, db, sql, gpusql.Named{"high", 2}, gpusql.Named{"Low", 1}))
		require.Equal(t, []string{"3 1"}, all(t, db, sql, 1, 2))
		for _, tt := range []struct {
			args []any
			want string
		}{
			{[]any{gpusql.Named{"low", 1}}, "parameter $high has no argument"},
			{[]any{1}, "parameter $high has no argument"},
			{[]any{1, 2, 3}, "takes 2 arguments, 3 were given"},
			{nil, "takes 2 arguments, 0 were given"},
			{[]any{gpusql.Named{"low", 1}, gpusql.Named{"x", 1}}, "no parameter $x"},
			{[]any{gpusql.Named{"low", 1}, gpusql.Named{"low", 1}}, "two arguments are given for parameter $low"},
			{[]any{gpusql.Named{"low", 1}, gpusql.Named{"high", struct{}{}}}, "argument $high: an argument of Go type struct {}"},
		} {
			_, err := db.Query(t.Context(), sql, tt.args...)
			require.ErrorContains(t, err, tt.want)
		}
	}
	_, err := db.Query(t.Context(), "SELECT $1", gpusql.Named{"x", 1})
	require.ErrorContains(t, err, "no parameter $x")
	s, err := db.Prepare(t.Context(), sql)
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, 2, s.NumInput())
	rows, err := s.Query(t.Context(), gpusql.Named{"high", 2}, gpusql.Named{"low", 5})
	require.NoError(t, err)
	require.True(t, rows.Next())
	require.Equal(t, "7", rows.Value(0).String())
	require.NoError(t, rows.Close())
}
