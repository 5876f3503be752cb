package txn_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/txn"
)

// note is a change that writes down what becomes of it.
type note struct {
	name string
	log  *[]string
}

func (n note) Commit(v uint64) { *n.log = append(*n.log, fmt.Sprintf("%s at %d", n.name, v)) }
func (n note) Undo()           { *n.log = append(*n.log, n.name+" undone") }

func TestChangesEndInOrder(t *testing.T) {
	m := txn.NewManager()
	var log []string
	x := m.Begin()
	require.Equal(t, uint64(1), x.Version())
	x.Log(note{"a", &log})
	mark := x.Mark()
	x.Log(note{"b", &log})
	x.Log(note{"c", &log})
	x.UndoTo(mark)
	x.Log(note{"d", &log})
	v, err := x.Commit()
	require.NoError(t, err)
	require.Equal(t, uint64(2), v)
	require.Equal(t, []string{"c undone", "b undone", "a at 2", "d at 2"}, log)
	_, err = x.Commit()
	require.ErrorIs(t, err, txn.ErrDone)
	x.Rollback()

	log = nil
	y := m.Begin()
	y.Log(note{"e", &log})
	y.Log(note{"f", &log})
	y.Rollback()
	y.Rollback()
	require.Equal(t, []string{"f undone", "e undone"}, log)
	_, err = m.Begin().Commit()
	require.NoError(t, err)
	require.Equal(t, uint64(2), m.Clock(), "what changed nothing is no version")
}

// retire retires at its commit.
type retire struct {
	tx   *txn.Tx
	done *bool
}

func (r retire) Commit(v uint64) { r.tx.RetireAt(v, func() { *r.done = true }) }
func (r retire) Undo()           {}

func TestRetiredWaitsForReaders(t *testing.T) {
	m := txn.NewManager()
	old := m.Begin()
	done := false
	x := m.Begin()
	x.Log(retire{x, &done})
	_, err := x.Commit()
	require.NoError(t, err)
	young := m.Begin()
	require.Equal(t, uint64(1), m.Horizon())
	require.False(t, done)
	old.Rollback()
	settle(t, m)
	require.True(t, done, "young reads at the new version")
	require.Equal(t, uint64(2), m.Horizon())

	left := false
	m.Retire(func() { left = true })
	later := m.Begin()
	require.False(t, left)
	young.Rollback()
	settle(t, m)
	require.True(t, left)
	later.Rollback()
	left = false
	m.Retire(func() { left = true })
	settle(t, m)
	require.True(t, left, "nobody is there")
}

func settle(t *testing.T, m *txn.Manager) {
	t.Helper()
	require.NoError(t, m.Settle(context.Background()))
}

// TestNobodyWaitsForSweeps: but for who settles, as long as he wants to.
func TestNobodyWaitsForSweeps(t *testing.T) {
	m := txn.NewManager()
	held, ran := make(chan struct{}), []string{}
	x := m.Begin()
	m.Retire(func() { <-held; ran = append(ran, "a") })
	x.Rollback()
	y := m.Begin()
	m.Retire(func() { ran = append(ran, "b"); m.Retire(func() { ran = append(ran, "c") }) })
	_, err := y.Commit()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, m.Settle(ctx), context.Canceled)
	close(held)
	settle(t, m)
	require.Equal(t, []string{"a", "b", "c"}, ran)
}

// TestSweepThatPanics: who settles is told, and the sweeps go on.
func TestSweepThatPanics(t *testing.T) {
	m := txn.NewManager()
	done := false
	m.Retire(func() { panic("lost") })
	m.Retire(func() { done = true })
	require.ErrorContains(t, m.Settle(context.Background()), "lost")
	require.True(t, done)
}

func TestManyTransactions(t *testing.T) {
	m := txn.NewManager()
	var mu sync.Mutex
	live := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 300 {
				x := m.Begin()
				x.Log(note{"n", new([]string)})
				mu.Lock()
				live++
				mu.Unlock()
				m.Retire(func() { mu.Lock(); live--; mu.Unlock() })
				if i%2 == 0 {
					x.Rollback()
				} else if _, err := x.Commit(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	settle(t, m)
	require.Zero(t, live)
	require.Equal(t, uint64(601), m.Horizon())
}

// Work that is alone waits for who runs, has others wait, and leaves room between.
func TestAlone(t *testing.T) {
	m := txn.NewManager()
	defer m.Close()
	running := m.Begin()
	began, goOn := make(chan *txn.Tx), make(chan struct{})
	for range 2 {
		m.Alone(func(x *txn.Tx) {
			began <- x
			<-goOn
		})
	}
	select {
	case <-began:
		t.Fatal("another transaction runs")
	case <-time.After(10 * time.Millisecond):
	}
	running.Rollback()
	<-began
	other := make(chan *txn.Tx)
	go func() { other <- m.Begin() }()
	select {
	case <-other:
		t.Fatal("begun beside work that is alone")
	case <-time.After(10 * time.Millisecond):
	}
	goOn <- struct{}{}
	x := <-other // before the second work
	x.Rollback()
	<-began
	goOn <- struct{}{}
}

// Closing does not begin what waits, and waits for what has begun.
func TestCloseWithWorkAlone(t *testing.T) {
	m := txn.NewManager()
	x := m.Begin()
	m.Alone(func(*txn.Tx) { t.Error("begun after Close") })
	m.Close()
	x.Rollback()
	m.Alone(func(*txn.Tx) { t.Error("begun after Close") })
	m.Close()
}
