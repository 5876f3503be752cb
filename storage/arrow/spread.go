package arrow

import (
	"sync"
	"sync/atomic"
)

// spreadRows is a batch whose columns are worth several goroutines.
const spreadRows = 2048

// spread calls f for 0 to n-1, by as many goroutines as the table may have. A
// panic of one is the caller's.
func (t *Table) spread(n int, f func(i int)) {
	workers := min(t.workers, n)
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var failed atomic.Pointer[any]
	work := func() {
		defer func() {
			if p := recover(); p != nil {
				failed.Store(&p)
			}
		}()
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			f(int(i))
		}
	}
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if p := failed.Load(); p != nil {
		panic(*p)
	}
}

// columns calls f for the columns of a batch.
func (t *Table) columns(b *Batch, f func(i int)) {
	if b.Rows >= spreadRows {
		t.spread(len(b.Columns), f)
		return
	}
	for i := range b.Columns {
		f(i)
	}
}
