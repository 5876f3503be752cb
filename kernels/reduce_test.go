package kernels

import (
	"fmt"
	"testing"
)

func TestReduce(t *testing.T) {
	for op := range ReduceMax + 1 {
		t.Run(fmt.Sprint(op), func(t *testing.T) {
			agree(t, selectSizes, func(m *memory, n int) []any {
				in, out := upload(m, random[int64](m, n+1)), m.room(8)
				m.ok(Reduce(m.s, op, in, n, out))
				all := []any{download[int64](m, out, 1)}
				m.ok(Reduce(m.s, op, in+8, n, out))
				return append(all, download[int64](m, out, 1))
			})
		})
	}
}
