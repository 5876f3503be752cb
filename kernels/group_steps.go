package kernels

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// tableColumn is a key column of the batch and where the table has its own.
//
//gpu:layout
type tableColumn struct {
	Src, Dst Vec
	Form     uint32
	Width    uint32
}

//gpu:layout
type groupLaunch struct {
	Keys, Hashes, IDs      device.Ptr
	Slots, Count           device.Ptr
	GroupKeys, GroupHashes device.Ptr
	Columns                device.Ptr
	Mask, First            uint64
	Many                   uint32 // columns
	_                      uint32
}

// groupSteps launches code that finds or places groups. On a GPU the groups'
// numbers are in no order, since all rows arrive at once.
func groupSteps(c *device.Code) func(device.Stream, *findArgs, int) error {
	k := &device.Kernel[groupLaunch]{Name: c.Entry, Code: c}
	return func(s device.Stream, a *findArgs, n int) error {
		l := groupLaunch{Keys: a.Keys, Hashes: a.Hashes, IDs: a.IDs, Slots: a.Slots, Count: a.Count,
			GroupKeys: a.GroupKeys, GroupHashes: a.GroupHashes, Mask: a.Mask, First: a.First, Many: uint32(len(a.Columns))}
		columns, err := uploadColumns(s, a.Columns)
		if err != nil {
			return err
		}
		defer columns.Release()
		if columns != nil {
			l.Columns = columns.Ptr()
		}
		return device.Launch(s, k, n, l)
	}
}

// uploadColumns takes the description of key columns to the device; nil when there are none.
func uploadColumns(s device.Stream, columns []keyColumn) (*device.Buffer, error) {
	if len(columns) == 0 {
		return nil, nil
	}
	out := make([]tableColumn, len(columns))
	for i, c := range columns {
		out[i] = tableColumn{Src: c.Src, Dst: c.Dst, Form: uint32(c.Phys), Width: uint32(c.Phys.Width())}
	}
	b, err := device.Scratch(s, len(out)*int(unsafe.Sizeof(out[0])))
	if err != nil {
		return nil, err
	}
	if err := s.Upload(b.Ptr(), rawOf(out)); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

//gpu:layout
type joinLaunch struct {
	Key           Vec
	Keys, Hashes  device.Ptr
	Skip          device.Ptr
	Slots, Next   device.Ptr
	Columns       device.Ptr
	Heads         device.Ptr
	Low           device.Ptr // the range; of pairs, a count and then a place for each row
	Probes, Build device.Ptr
	Cursor        device.Ptr
	Mask, Span    uint64
	Base          int64
	Cap           uint64
	First         uint64
	Many, Width   uint32
}

func (a *joinArgs) launch(width int) joinLaunch {
	return joinLaunch{Key: a.Key, Keys: a.Keys, Hashes: a.Hashes, Skip: a.Skip, Slots: a.Slots, Next: a.Next, Heads: a.Heads,
		Low: a.Low, Probes: a.Probes, Build: a.Build, Cursor: a.Cursor, Mask: a.Mask, Span: a.Span, Base: a.Base,
		Cap: uint64(a.Cap), First: uint64(a.First), Many: uint32(len(a.Columns)), Width: uint32(width)}
}

// joinSteps launches code over keys of this form.
func joinSteps(c *device.Code, p sqltype.Phys) func(device.Stream, *joinArgs, int) error {
	k := &device.Kernel[joinLaunch]{Name: c.Entry, Code: c}
	return func(s device.Stream, a *joinArgs, n int) error {
		l := a.launch(p.Width())
		columns, err := uploadColumns(s, a.Columns)
		if err != nil {
			return err
		}
		defer columns.Release()
		if columns != nil {
			l.Columns = columns.Ptr()
		}
		return device.Launch(s, k, n, l)
	}
}

// rangeSteps begins with the range that holds nothing.
func rangeSteps(p sqltype.Phys) func(device.Stream, *joinArgs, int) error {
	launch := joinSteps(boundGrid(codeJoinRange), p)
	return func(s device.Stream, a *joinArgs, n int) error {
		none := []int64{1<<63 - 1, -1 << 63}
		if err := s.Upload(a.Low, rawOf(none)); err != nil {
			return err
		}
		return launch(s, a, n)
	}
}

// boundGrid is code that loops until all is done, by as many blocks as run at a time.
func boundGrid(c *device.Code) *device.Code {
	b := *c
	b.PerSM = 8
	return &b
}

var (
	joinCount = &device.Kernel[joinLaunch]{Name: "join_count", Code: codeJoinCount}
	joinWrite = &device.Kernel[joinLaunch]{Name: "join_pairs", Code: codeJoinPairs}
)

// pairSteps counts the matches of all rows, gives each row its place, and
// writes the pairs that there is room for.
func pairSteps(s device.Stream, a *joinArgs, n int) error {
	l := a.launch(0)
	places := (8*n + 8 + 15) &^ 15 // and the total; what Scan gets lies at 16 bytes
	size := places + ScanBytes(n) + 48
	b, err := device.Scratch(s, size)
	if err != nil {
		return err
	}
	defer b.Release()
	total := b.Ptr() + device.Ptr(8*n)
	scratch := b.Ptr() + device.Ptr(places)
	l.Low = b.Ptr()
	// The cursor is read by all rows while one writes the new one behind it.
	l.Cursor = scratch + device.Ptr(ScanBytes(n))
	if err := Copy(s, l.Cursor, a.Cursor, 24); err != nil {
		return err
	}
	if err := device.Launch(s, joinCount, n, l); err != nil {
		return err
	}
	if err := Scan(s, 8, l.Low, l.Low, n, total, scratch); err != nil {
		return err
	}
	if err := device.Launch(s, joinWrite, n, l); err != nil {
		return err
	}
	var pairs [1]uint64
	if err := s.Download(rawOf(pairs[:]), total); err != nil {
		return err
	}
	if pairs[0] > l.Cap {
		var on [2]uint64
		if err := s.Download(rawOf(on[:]), l.Cursor+24); err != nil {
			return err
		}
		return s.Upload(a.Cursor, rawOf([]uint64{on[0], on[1], l.Cap}))
	}
	return s.Upload(a.Cursor, rawOf([]uint64{uint64(n), 0, pairs[0]}))
}
