package kernels

import (
	"math"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

//gpu:layout
type collectLaunch struct {
	Rows, IDs        device.Ptr
	Src, Second, Dst Vec
	Bits             device.Ptr // what was found
	Starts           device.Ptr // where the groups, or the runs of CollectMode, begin
	Best             device.Ptr // by group: its longest run
	Places           device.Ptr // by position: where its string goes
	Base             device.Ptr
	Bad              device.Ptr
	N                uint64 // positions
	Op, Form, Width  uint32
	_                uint32
}

func collectKernel(c *device.Code) *device.Kernel[collectLaunch] {
	return &device.Kernel[collectLaunch]{Name: c.Entry, Code: c}
}

var (
	collectHeadsCode = collectKernel(codeCollectHeads)
	collectRunsCode  = collectKernel(codeCollectRuns)
	collectBestCode  = collectKernel(codeCollectBest)
	collectPickCode  = collectKernel(codeCollectPick)
	collectSizesCode = collectKernel(codeCollectSizes)
	collectJoinCode  = collectKernel(codeCollectJoin)
	collectViewsCode = collectKernel(codeCollectViews)
)

// CheckDevice reports an aggregate that has no code for a device with memory of
// its own: a *NotOnDeviceError, or nil.
func (c Collect) CheckDevice() error {
	if c.Op == CollectList {
		return &NotOnDeviceError{"list"}
	}
	return nil
}

// collectDevice is a Collect under way on a device with memory of its own.
type collectDevice struct {
	s device.Stream
	m Array // one piece of memory for what follows
	l collectLaunch
}

func (c Collect) onDevice(s device.Stream, in Collected) (*collectDevice, error) {
	if err := c.CheckDevice(); err != nil {
		return nil, err
	}
	d := &collectDevice{s: s, l: collectLaunch{Rows: in.Rows, IDs: in.IDs, Src: in.Src, Second: in.Second, N: uint64(in.N),
		Op: uint32(c.Op), Form: uint32(c.Phys), Width: uint32(c.out().Width())}}
	places := align(8*in.N + 8)
	starts := align(SelectBytes(in.N))
	if err := d.m.Extend(s.Device(), s, 0, places+starts+align(BitmapBytes(in.N))+64+ScanBytes(in.N)); err != nil {
		return nil, err
	}
	d.l.Places = d.m.Ptr()
	d.l.Starts = d.l.Places + device.Ptr(places)
	d.l.Bits = d.l.Starts + device.Ptr(starts)
	d.l.Bad = d.l.Bits + device.Ptr(align(BitmapBytes(in.N)))
	return d, nil
}

func (d *collectDevice) release() { d.m.Release() }

// scratch is the room of Scan.
func (d *collectDevice) scratch() device.Ptr { return d.l.Bad + 64 }

func (d *collectDevice) launch(k *device.Kernel[collectLaunch], n int) error {
	return device.Launch(d.s, k, n, d.l)
}

// find has Starts name the positions that a kernel finds, and returns how many.
func (d *collectDevice) find(k *device.Kernel[collectLaunch]) (int, error) {
	if err := d.launch(k, int(d.l.N)); err != nil {
		return 0, err
	}
	return SelectBits(d.s, d.l.Bits, 0, int(d.l.N), d.l.Starts)
}

// headsDevice is Heads.
func (c Collect) headsDevice(s device.Stream, in Collected, out device.Ptr) (int, error) {
	d, err := c.onDevice(s, in)
	if err != nil {
		return 0, err
	}
	defer d.release()
	n, err := d.find(collectHeadsCode)
	if err != nil {
		return 0, err
	}
	to := Vec{Data: out}
	return n, Gather(s, 4, &to, Vec{Data: in.Rows}, d.l.Starts, n)
}

// finalDevice is Final; dst is all NULL.
func (c Collect) finalDevice(s device.Stream, in Collected, groups int, dst Vec, heap *Heap) error {
	d, err := c.onDevice(s, in)
	if err != nil {
		return err
	}
	defer d.release()
	d.l.Dst = dst
	if err := Zero(s, d.l.Bad, 16); err != nil {
		return err
	}
	if c.Op == CollectMode {
		best, err := device.Scratch(s, 8*groups)
		if err != nil {
			return err
		}
		defer best.Release()
		if err := d.mode(best.Ptr(), groups); err != nil {
			return err
		}
	}
	d.l.Op = uint32(CollectFirst) // heads of groups, whatever is made of them
	n, err := d.find(collectHeadsCode)
	if err != nil {
		return err
	}
	d.l.Op = uint32(c.Op)
	if c.Op == CollectJoin {
		err = d.join(n, heap)
	} else {
		err = d.launch(collectPickCode, n)
	}
	if err != nil || c.Op <= CollectMode {
		return err
	}
	var bad [2]uint64
	if err := s.Download(rawOf(bad[:]), d.l.Bad); err != nil {
		return err
	}
	switch {
	case bad[0] == 0:
		return nil
	case c.Op == CollectJoin:
		return errLongJoin()
	default:
		return badFraction(math.Float64frombits(bad[1]))
	}
}

// mode finds the longest run of equal values of each group.
func (d *collectDevice) mode(best device.Ptr, groups int) error {
	if err := Zero(d.s, best, 8*groups); err != nil {
		return err
	}
	d.l.Best = best
	n, err := d.find(collectRunsCode)
	if err != nil {
		return err
	}
	return d.launch(collectBestCode, n)
}

// join puts the strings of n groups together.
func (d *collectDevice) join(n int, heap *Heap) error {
	all := int(d.l.N)
	if err := d.launch(collectSizesCode, all); err != nil {
		return err
	}
	total := d.l.Places + device.Ptr(8*all)
	if err := Scan(d.s, 8, d.l.Places, d.l.Places, all, total, d.scratch()); err != nil {
		return err
	}
	var bytes [1]uint64
	if err := d.s.Download(rawOf(bytes[:]), total); err != nil {
		return err
	}
	var err error
	if d.l.Base, err = heap.Room(max(int(bytes[0]), 1)); err != nil {
		return err
	}
	if err := d.launch(collectJoinCode, all); err != nil {
		return err
	}
	return d.launch(collectViewsCode, n)
}

func errLongJoin() error {
	return sqltype.Errorf(sqltype.CodeOutOfRange, "the string is longer than %d bytes", math.MaxInt32)
}

func badFraction(p float64) error {
	return sqltype.Errorf(sqltype.CodeOutOfRange, "percentile value %g is not between 0 and 1", p)
}
