package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

// codeSerialization is the SQLSTATE of a transaction that met another one.
const codeSerialization = "40001"

// TestSnapshotIsolation runs transactions that append to lists and read them, by
// key and by a secondary index, and finds nothing that snapshot isolation forbids.
func TestSnapshotIsolation(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			db := open(t, kind)
			exec(t, db, "CREATE TABLE lists (k INTEGER PRIMARY KEY, g INTEGER, v VARCHAR)", "CREATE INDEX lists_g ON lists (g)",
				fmt.Sprintf("INSERT INTO lists SELECT i, i, '' FROM generate_series(-%d, -1) AS s(i)", padding))
			committed := 0
			for seed := range max(*histories/4, 1) {
				h := appendHistory(t, db, seed)
				require.Empty(t, h.Anomalies(), "seed %d: %+v", seed, h)
				for _, x := range h {
					if x.Outcome == Committed {
						committed++
					}
				}
			}
			require.Positive(t, committed)
		})
	}
}

// appendHistory has clients run transactions on three lists of their own, and
// reads the lists at the end.
func appendHistory(t *testing.T, db *gpusql.DB, seed int) History {
	const clients, rounds, lists = 3, 5, 3
	for k := range lists {
		exec(t, db, fmt.Sprintf("INSERT INTO lists VALUES (%d, %d, '')", seed*lists+k, seed*lists+k))
	}
	start := time.Now()
	parts := make([]History, clients)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(seed), uint64(c)))
			for round := range rounds {
				var ops []Op
				for i := range 1 + r.IntN(4) {
					op := Op{Key: seed*lists + r.IntN(lists), Read: r.IntN(2) == 0}
					if !op.Read {
						op.Value = 1 + i + 10*(round+rounds*c)
					}
					ops = append(ops, op)
				}
				parts[c] = append(parts[c], transact(t, db, start, ops))
			}
		})
	}
	wg.Wait()
	var h History
	for _, p := range parts {
		h = append(h, p...)
	}
	var ops []Op
	for k := range lists {
		ops = append(ops, Op{Key: seed*lists + k, Read: true})
	}
	return append(h, transact(t, db, start, ops))
}

// transact runs one transaction and notes what it read.
func transact(t *testing.T, db *gpusql.DB, start time.Time, ops []Op) Transaction {
	ctx := context.Background()
	x := Transaction{Begin: time.Since(start).Nanoseconds(), Outcome: Aborted}
	tx, err := db.Begin(ctx)
	assert.NoError(t, err)
	for i, op := range ops {
		if op.Read {
			column := []string{"k", "g"}[i%2]
			op.List, err = readList(ctx, tx, fmt.Sprintf("SELECT v FROM lists WHERE %s = %d", column, op.Key))
		} else {
			_, err = tx.Exec(ctx, fmt.Sprintf("UPDATE lists SET v = v || ' %d' WHERE k = %d", op.Value, op.Key))
		}
		x.Ops = append(x.Ops, op)
		if err != nil {
			break
		}
	}
	if err == nil {
		err = tx.Commit()
	}
	if err == nil {
		x.Outcome = Committed
	} else {
		assert.Equal(t, codeSerialization, stateOf(err), "%v", err)
		assert.NoError(t, tx.Rollback())
	}
	x.End = time.Since(start).Nanoseconds()
	return x
}

func readList(ctx context.Context, tx *gpusql.Tx, q string) ([]int, error) {
	rows, err := tx.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // the error is asked for
	var list []int
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		for _, f := range strings.Fields(text) {
			n, err := strconv.Atoi(f)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
	}
	return list, rows.Err()
}

// stateOf is the SQLSTATE of an error.
func stateOf(err error) string {
	var e *gpusql.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
