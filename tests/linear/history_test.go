package linear

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func appended(key, value int) Op   { return Op{Key: key, Value: value} }
func read(key int, list ...int) Op { return Op{Key: key, Read: true, List: list} }
func at(begin, end int64, ops ...Op) Transaction {
	return Transaction{Ops: ops, Begin: begin, End: end}
}
func together(ops ...Op) Transaction { return at(0, 100, ops...) }
func aborted(ops ...Op) Transaction {
	return Transaction{Ops: ops, End: 100, Outcome: Aborted}
}

// TestAnomalies plants each anomaly, and what looks like one and is none.
func TestAnomalies(t *testing.T) {
	for _, tt := range []struct {
		name string
		h    History
		want string // empty: none
	}{
		{"one after the other", History{at(1, 2, appended(1, 1)), at(3, 4, read(1, 1), appended(1, 2)), at(5, 6, read(1, 1, 2))}, ""},
		{"own writes", History{together(appended(1, 1), read(1, 1), appended(1, 2), read(1, 1, 2))}, ""},
		{"an aborted append that nobody reads", History{aborted(appended(1, 1)), together(read(1))}, ""},
		{"write skew", History{together(read(1), appended(2, 1)), together(read(2), appended(1, 2)), at(200, 201, read(1, 2), read(2, 1))}, ""},
		{"three and two anti-dependencies in a row", History{together(read(1), appended(3, 1)), together(read(2), appended(1, 2)),
			together(read(3, 1), appended(2, 3)), at(200, 201, read(1, 2), read(2, 3), read(3, 1))}, ""},
		{"old reads beside writers", History{together(appended(1, 1)), together(read(1)), together(read(1, 1))}, ""},

		{"aborted read", History{aborted(appended(1, 1)), together(read(1, 1))}, "which aborted"},
		{"intermediate read", History{together(appended(1, 1), appended(1, 2)), together(read(1, 1))}, "in the middle"},
		{"garbage", History{together(read(1, 9))}, "nobody appended"},
		{"twice", History{together(appended(1, 1)), together(read(1, 1, 1))}, "twice"},
		{"two orders", History{together(appended(1, 1)), together(appended(1, 2)), together(read(1, 1, 2)), together(read(1, 2, 1))}, "was read as"},
		{"not repeatable", History{together(appended(1, 1)), together(read(1), read(1, 1))}, "not repeatable"},
		{"own write not seen", History{together(appended(1, 1), read(1))}, "without its own"},
		{"lost update", History{at(1, 9, read(1), appended(1, 1)), at(1, 9, read(1), appended(1, 2)), at(10, 11, read(1, 2))}, "lost"},
		{"an update over one not seen", History{together(read(1), appended(1, 1)), together(read(1), appended(1, 2)), at(200, 201, read(1, 1, 2))}, "cycle"},
		{"dirty write", History{together(appended(1, 1), appended(2, 1)), together(appended(1, 2), appended(2, 2)),
			at(200, 201, read(1, 1, 2), read(2, 2, 1))}, "cycle"},
		{"circular reads", History{together(appended(1, 1), read(2, 2)), together(appended(2, 2), read(1, 1))}, "cycle"},
		{"fractured read", History{together(appended(1, 1), appended(2, 1)), together(read(1, 1), read(2)), at(200, 201, read(2, 1))}, "cycle"},
		{"long fork", History{together(appended(1, 1)), together(appended(2, 2)), together(read(1, 1), read(2)), together(read(1), read(2, 2)),
			at(200, 201, read(1, 1), read(2, 2))}, "cycle"},
		{"a read of the past", History{at(1, 2, appended(1, 1)), at(3, 4, read(1)), at(5, 6, read(1, 1))}, "cycle"},
		{"a read of the future", History{at(1, 2, read(1, 1)), at(3, 4, appended(1, 1))}, "cycle"},
	} {
		found := tt.h.Anomalies()
		if tt.want == "" {
			require.Empty(t, found, tt.name)
			continue
		}
		require.NotEmpty(t, found, tt.name)
		require.Contains(t, found[0], tt.want, tt.name)
	}
	require.Panics(t, func() { History{together(appended(1, 1)), together(appended(1, 1))}.Anomalies() })
}
