package gpusql

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

func TestCaret(t *testing.T) {
	tests := []struct {
		statement    string
		pos          int
		line, column int
		caret        string
	}{
		{"SELECT x", 8, 1, 8, "SELECT x\n       ^"},
		{"SELECT\n\tx,\n  y FROM t", 14, 3, 3, "  y FROM t\n  ^"},
		{"SELECT\n\tx", 9, 2, 2, "\tx\n\t^"},
		{"SELECT 'é', x", 14, 1, 13, "SELECT 'é', x\n            ^"},
		{"SELECT", 7, 1, 7, "SELECT\n      ^"},
		{"a\r\nb c", 6, 2, 3, "b c\n  ^"},
	}
	for _, tt := range tests {
		e := &Error{Statement: tt.statement, Pos: tt.pos}
		line, column, ok := e.Position()
		require.True(t, ok)
		require.Equal(t, []int{tt.line, tt.column}, []int{line, column}, tt.statement)
		require.Equal(t, tt.caret, e.Caret())
	}
	require.Empty(t, (&Error{Statement: "x"}).Caret())
	require.Empty(t, (&Error{Statement: "x", Pos: 9}).Caret())
}

func TestWrapError(t *testing.T) {
	low := sqltype.Errorf(sqltype.CodeUndefinedColumn, "no column").At(3)
	low.Hint = "look"
	err := wrapError(fmt.Errorf("scan: %w", low), "SELECT 1")
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, Error{Code: "42703", Message: "no column", Hint: "look", Pos: 4, Statement: "SELECT 1", cause: e.cause}, *e)
	require.EqualError(t, err, "no column at line 1, column 4 (look)")
	require.Same(t, err, wrapError(err, "another"), "an Error stays as it is")

	require.ErrorIs(t, wrapError(context.Canceled, ""), context.Canceled)
	err = wrapError(&device.NoMemoryError{Tier: "host memory"}, "")
	require.ErrorAs(t, err, &e)
	require.Equal(t, "53200", e.Code)
	require.NoError(t, wrapError(nil, ""))
}

func TestCaught(t *testing.T) {
	f := func() (err error) {
		defer caught(&err)
		panic("broken")
	}
	require.ErrorContains(t, f(), "internal error: broken")
}
