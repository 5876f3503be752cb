package tpch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

func TestAdhoc(t *testing.T) {
	scale, _ := strconv.ParseFloat(os.Getenv("ADHOC_SF"), 64)
	if scale == 0 {
		scale = 0.05
	}
	ctx := context.Background()
	db, err := gpusql.Open(":memory:?device=cuda")
	require.NoError(t, err)
	defer db.Close()
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	defer conn.Close()
	for _, table := range Tables {
		_, err := conn.Exec(ctx, table.CreateSQL(WithoutKeys))
		require.NoError(t, err)
	}
	start := time.Now()
	parts := runtime.NumCPU()
	var wg sync.WaitGroup
	for p := range parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, err := db.Conn(ctx)
			require.NoError(t, err)
			defer c.Close()
			appenders := map[*Table]*gpusql.Appender{}
			require.NoError(t, GeneratePart(scale, Compact, int64(p), int64(parts), func(table *Table, rec arrow.RecordBatch) error {
				if appenders[table] == nil {
					appenders[table], err = c.Appender(table.Name)
					require.NoError(t, err)
				}
				return appenders[table].AppendRecord(rec)
			}))
			for _, a := range appenders {
				_, err := a.Flush(ctx)
				require.NoError(t, err)
				require.NoError(t, a.Close())
			}
		}()
	}
	wg.Wait()
	fmt.Println("ADHOC loaded", time.Since(start))
	exec := func(sql string) time.Duration {
		start := time.Now()
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err)
		return time.Since(start)
	}
	median := func(name, sql string, n int) {
		first := exec(sql)
		second := exec(sql)
		var all []time.Duration
		for range n {
			all = append(all, exec(sql))
		}
		slices.Sort(all)
		fmt.Printf("ADHOC %-8s first %v second %v median %v min %v\n", name, first, second, all[n/2], all[0])
	}
	explain := func(sql string) {
		rows, err := conn.Query(ctx, "EXPLAIN ANALYZE "+sql)
		require.NoError(t, err)
		for rows.Next() {
			fmt.Println("ADHOC   ", rows.Value(0).String())
		}
		rows.Close()
	}
	median("count", "SELECT count(*) FROM lineitem", 50)
	median("count<", "SELECT count(*) FROM lineitem WHERE l_shipdate < DATE '1995-01-01'", 50)
	median("sum", "SELECT sum(l_quantity) FROM lineitem", 50)
	median("nation", "SELECT count(*) FROM nation", 50)
	for _, q := range []int{6, 1} {
		text, err := os.ReadFile(filepath.Join(suite, "queries", fmt.Sprintf("q%02d.sql", q)))
		require.NoError(t, err)
		median(fmt.Sprint("Q", q), string(text), 200)
		explain(string(text))
		explain(string(text))
	}
	if os.Getenv("ADHOC_ALL") != "" {
		for q := 1; q <= 22; q++ {
			text, err := os.ReadFile(filepath.Join(suite, "queries", fmt.Sprintf("q%02d.sql", q)))
			require.NoError(t, err)
			median(fmt.Sprint("Q", q), string(text), 5)
		}
	}
	q6, _ := os.ReadFile(filepath.Join(suite, "queries", "q06.sql"))
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		exec(string(q6))
	}
}
