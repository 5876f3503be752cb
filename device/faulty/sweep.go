package faulty

import (
	"errors"
	"testing"

	"github.com/gpusql/gpusql/device"
)

// Sweep runs f again and again over d, letting call 1 fail, then call 2, until
// a run needs no more calls. A run in which a call failed must return an error
// that is ErrFault; check, if not nil, then says whether all is as it was before.
func Sweep(t *testing.T, d device.Device, f func(d device.Device) error, check func() error) {
	t.Helper()
	fd := New(d)
	for n := int64(1); ; n++ {
		fd.FailAt(n)
		err := f(fd)
		if !fd.Failed() {
			if err != nil {
				t.Fatalf("with no call failing: %v", err)
			}
			return
		}
		fd.FailAt(0)
		if !errors.Is(err, ErrFault) {
			t.Fatalf("call %d was made to fail, and the error is %v", n, err)
		}
		if check == nil {
			continue
		}
		if err := check(); err != nil {
			t.Fatalf("after call %d was made to fail: %v", n, err)
		}
	}
}
