package txn

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type change func()

func (c change) Commit(uint64) { c() }
func (change) Undo()           {}

func TestRetain(t *testing.T) {
	m := NewManager()
	swept := []uint64{}
	commit := func() {
		tx := m.Begin()
		v := m.Clock() + 1
		tx.Log(change(func() { tx.RetireAt(v, func() { swept = append(swept, v) }) }))
		_, err := tx.Commit()
		require.NoError(t, err)
	}
	m.Retain(time.Hour)
	commit()
	commit()
	require.NoError(t, m.Settle(context.Background()))
	require.Empty(t, swept, "version 1 can be asked for")
	require.EqualValues(t, 1, m.Horizon())
	tx := m.Begin()
	require.NoError(t, tx.Pin(2))
	var outside *OutsideError
	require.ErrorAs(t, tx.Pin(4), &outside)
	require.Equal(t, OutsideError{4, 1, 3}, *outside)
	m.Retain(0)
	commit()
	require.NoError(t, m.Settle(context.Background()))
	require.Equal(t, []uint64{2}, swept, "version 2 is pinned")
	require.ErrorAs(t, tx.Pin(1), &outside)
	tx.Rollback()
	require.NoError(t, m.Settle(context.Background()))
	require.Equal(t, []uint64{2, 3, 4}, swept)
	v, ok := m.VersionAt(time.Now().UnixMicro())
	require.True(t, ok)
	require.EqualValues(t, 4, v)
	_, ok = m.VersionAt(time.Now().Add(time.Hour).UnixMicro())
	require.False(t, ok)
	_, ok = m.VersionAt(0)
	require.False(t, ok)
}
