package gpusql_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
	"github.com/gpusql/gpusql/device/devicetest"
)

// emulated is a database whose GPU is the emulator.
func emulated(t *testing.T, dsn string) *gpusql.DB {
	t.Helper()
	db, err := gpusql.Open(dsn, gpusql.WithCUDALibrary(devicetest.Library(t)), gpusql.WithCompileRows(1<<18))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// session is a connection until the test ends.
func session(t *testing.T, db *gpusql.DB) *gpusql.Conn {
	t.Helper()
	c, err := db.Conn(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func TestNoGPU(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libnone.so")
	db, err := gpusql.Open("", gpusql.WithCUDALibrary(path))
	require.NoError(t, err)
	defer db.Close()
	rows := all(t, db, "SHOW DEVICES")
	require.Len(t, rows, 2)
	require.Contains(t, rows[1], "cuda gpu absent")
	require.Contains(t, rows[1], "no NVIDIA driver: "+path)
	_, err = db.Exec(context.Background(), "SET device = 'cuda'")
	require.ErrorContains(t, err, "no CUDA device: device: no NVIDIA driver: "+path)
	require.Equal(t, []string{"auto"}, all(t, db, "SHOW device"))
	_, err = gpusql.Open("?device=cuda", gpusql.WithCUDALibrary(path))
	require.ErrorContains(t, err, "no CUDA device")
	_, err = db.Exec(context.Background(), "SET device = 'cuda:x'")
	require.ErrorContains(t, err, `device cannot be "cuda:x": want auto, cpu or cuda`)
}

func TestShowDevices(t *testing.T) {
	db := emulated(t, ":memory:?gpu_memory_limit=1GB")
	rows := all(t, db, "SHOW DEVICES")
	require.Len(t, rows, 2)
	require.Equal(t, "cuda:0 gpu ready 4.0 GiB  1.0 GiB CUDA 13.0 SIMT emulator, compute capability 8.0", rows[1])
	_, err := db.Exec(context.Background(), "SET device = 'cuda:0'")
	require.NoError(t, err)
	rows = all(t, db, "SHOW DEVICES")
	require.Contains(t, rows[1], "cuda:0 gpu open 4.0 GiB 0 bytes 1.0 GiB")
	require.Contains(t, rows[1], "kernels loaded in ")
	_, err = db.Exec(context.Background(), "SET device = 'cuda:3'")
	require.ErrorContains(t, err, "there is no GPU 3")
}

func TestRequireGPU(t *testing.T) {
	c := session(t, emulated(t, ""))
	ctx := context.Background()
	for _, sql := range []string{"CREATE TABLE t (x INT)", "SET require_gpu = on", "INSERT INTO t VALUES (1)"} {
		_, err := c.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	_, err := c.Exec(ctx, "SELECT x FROM t")
	require.ErrorContains(t, err, "require_gpu is on, and with device = auto the query runs on the CPU: auto: 1 rows are read, a GPU pays from 262144")
	var e *gpusql.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "58000", e.Code)
	require.Contains(t, e.Hint, "SET device = 'cuda'")
}
