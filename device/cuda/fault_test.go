package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/kernels/simt"
)

// library is the emulator's path.
func library(t testing.TB) string {
	t.Helper()
	path, err := simt.Build()
	if errors.Is(err, simt.ErrNoCompiler) {
		t.Skip(err)
	}
	require.NoError(t, err)
	return path
}

// faults lets one call to the driver fail, and counts what it was asked for and
// what it got back.
type faults struct {
	mu     sync.Mutex
	calls  int
	failAt int
	result result
	failed fn
	things [numFns]int
}

// pairs are the functions that make something, and those that end it.
var pairs = map[fn]fn{
	fnPrimaryCtxRetain: fnPrimaryCtxRelease, fnMemAlloc: fnMemFree, fnMemHostAlloc: fnMemFreeHost,
	fnMemHostRegister: fnMemHostUnregister, fnStreamCreate: fnStreamDestroy, fnEventCreate: fnEventDestroy,
	fnModuleLoadDataEx: fnModuleUnload, fnGraphInstantiate: fnGraphExecDestroy, fnStreamEndCapture: fnGraphDestroy,
}

func (f *faults) call(which fn) result {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.calls == f.failAt && which != fnPrimaryCtxRelease { // or all later runs had the context of this one
		f.failed = which
		return f.result
	}
	f.things[which]++
	return success
}

// everything uses all that a device can do, and looks at what comes of it.
func everything(d *Device, host []byte) (err error) {
	one, err := d.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, one.Close()) }()
	two, err := d.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, two.Close()) }()
	mark, err := device.NewMark(one)
	if err != nil {
		return err
	}
	defer mark.Release()
	const large = 300000 // more than a piece of staging
	if err := errors.Join(copies(d, one, 1000), copies(d, two, 1000), copies(d, one, large), copies(d.Spare(), one, 1000), copies(d.Spare(), two, large), recorded(d, one, host)); err != nil {
		return err
	}
	end, err := device.NewMark(one)
	if err != nil {
		return err
	}
	defer end.Release()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := one.Wait(ctx); err != nil {
		return err
	}
	took, err := end.Since(mark)
	if err == nil && took <= 0 {
		err = fmt.Errorf("took %v", took)
	}
	return err
}

func copies(m device.Allocator, s device.Stream, n int) error {
	b, err := m.Alloc(8 * n)
	if err != nil {
		return err
	}
	defer b.Release()
	want := bytes.Repeat([]byte("gpusql!\n"), n)
	if err := s.Upload(b.Ptr(), want); err != nil {
		return err
	}
	if err := s.Upload(b.Ptr()+8, []byte("!")); err != nil {
		return err
	}
	want[8] = '!'
	got := make([]byte, 8*n)
	if err := s.Download(got, b.Ptr()); err != nil {
		return err
	}
	if !bytes.Equal(want, got) {
		return errors.New("the copy is not the original")
	}
	a := kernels.ProbeArgs{Out: b.Ptr(), Factor: 1, Status: s.Status()}
	return device.Launch(s, kernels.ProbeFill, 1000, a) // under way when b is released
}

func recorded(d *Device, s device.Stream, host []byte) (err error) {
	replay, err := device.Record(s, func() error { return nil })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, replay.Close()) }()
	if err := replay.Run(); err != nil {
		return err
	}
	unpin, err := d.Pin(host)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unpin()) }()
	b, err := d.Alloc(len(host))
	if err != nil {
		return err
	}
	defer b.Release()
	if err := s.Upload(b.Ptr(), host); err != nil {
		return err
	}
	return errors.Join(s.Download(host, b.Ptr()), kernels.Probe(s))
}

// TestEveryCallFails lets every call to the driver fail, in two ways: memory is
// short, the GPU is lost. The error says
// which, the device works on unless it is lost, and nothing is left behind.
func TestEveryCallFails(t *testing.T) {
	lib := library(t)
	var hosts [][]byte // kept: a call that fails may leave one pinned
	for _, r := range []result{errOutOfMemory, 700} {
		t.Run(fmt.Sprint(r), func(t *testing.T) {
			for at := 1; ; at++ {
				host := make([]byte, 40<<10)
				hosts = append(hosts, host)
				f := &faults{failAt: at, result: r}
				d, err := open(Options{Library: lib}, f.call)
				if err == nil {
					err = errors.Join(everything(d, host), usable(d), d.Close())
				}
				if f.calls < at {
					require.NoError(t, err)
					require.Greater(t, at, 100, "calls")
					f.balanced(t)
					return
				}
				if f.failed != fnInit || at == 1 { // else none was made to fail
					f.judge(t, err)
				}
			}
		})
	}
}

// judge is what must hold after a call has failed.
func (f *faults) judge(t *testing.T, err error) {
	where := symbols[f.failed]
	require.NotContains(t, fmt.Sprint(err), "streams were in use", where)
	switch f.failed {
	case fnDeviceGetAttribute, fnEventQuery, fnEventCreate, fnMemHostAlloc:
		// Another way is found, or the number does without.
	case fnMemAlloc:
		// Short of memory it asks for less.
		if f.result != errOutOfMemory {
			require.Error(t, err, where)
		}
	case fnStreamSynchronize:
		// Before memory goes back to the host it has nobody to tell.
		if f.result == 700 {
			require.ErrorIs(t, err, device.ErrLost)
		}
	case fnCtxSetCurrent, fnStreamDestroy, fnEventDestroy, fnMemFree, fnMemFreeHost, fnModuleUnload, fnGraphDestroy:
		return // what ends things has nobody to tell, and the context's end does the same
	default:
		require.Error(t, err, where)
		if f.result == 700 && err != nil && f.things[fnPrimaryCtxRetain] > 0 {
			require.ErrorIs(t, err, device.ErrLost, where)
		}
		if f.result == errOutOfMemory && f.things[fnPrimaryCtxRetain] > 0 {
			require.ErrorIs(t, err, device.ErrNoMemory, where)
		}
	}
	if f.result != 700 { // the end of its context frees what a lost GPU has
		f.balanced(t)
	}
}

// usable is whether a device is as good as before, once nothing fails.
func usable(d *Device) error {
	if d.Lost() != nil {
		if _, err := d.Alloc(1); !errors.Is(err, device.ErrLost) {
			return fmt.Errorf("a lost device gives memory: %v", err)
		}
		return nil
	}
	s, err := d.NewStream()
	if err != nil {
		return fmt.Errorf("afterwards: %w", err)
	}
	defer s.Close()
	if err := kernels.Probe(s); err != nil {
		return fmt.Errorf("afterwards: %w", err)
	}
	return nil
}

func (f *faults) balanced(t *testing.T) {
	t.Helper()
	for begin, end := range pairs {
		if end == f.failed {
			continue
		}
		require.Equal(t, f.things[begin], f.things[end], "%s and %s after a failure of %s", symbols[begin], symbols[end], symbols[f.failed])
	}
}
