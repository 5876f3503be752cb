package kernels

import (
	"encoding/binary"

	"github.com/gpusql/gpusql/device"
)

type windowListArgs struct {
	WindowIndex
	Frames, IDs, List, ListIDs, Count device.Ptr
}

var (
	windowNumber = &device.Kernel[windowListArgs]{Name: "window_number", Steps: windowNumberSteps, Host: windowNumberHost}
	windowList   = &device.Kernel[windowListArgs]{Name: "window_list", Steps: windowListSteps, Host: windowListHost}
)

// NumberFrames gives n frames numbers, the same one to neighbours that are
// equal, and returns how many different ones there are and how many rows they
// have in all. ids has 16 bytes more than n numbers.
func (x WindowIndex) NumberFrames(s device.Stream, frames device.Ptr, n int, ids device.Ptr) (groups, rows int, err error) {
	count := ids + device.Ptr((4*n+7)/8*8)
	if err := device.Launch(s, windowNumber, n, windowListArgs{WindowIndex: x, Frames: frames, IDs: ids, Count: count}); err != nil {
		return 0, 0, err
	}
	var c [16]byte
	err = s.Download(c[:], count)
	return int(binary.LittleEndian.Uint64(c[:])), int(binary.LittleEndian.Uint64(c[8:])), err
}

// ListFrames writes the rows of n frames with numbers ids, each frame once: the
// rows' numbers to list and the frames' to listIDs.
func (x WindowIndex) ListFrames(s device.Stream, frames, ids device.Ptr, n int, list, listIDs device.Ptr) error {
	return device.Launch(s, windowList, n, windowListArgs{WindowIndex: x, Frames: frames, IDs: ids, List: list, ListIDs: listIDs})
}

func windowNumberHost(a *windowListArgs, lo, n int) {
	frames, ids := device.View[frameSpans](a.Frames, n), device.View[uint32](a.IDs, n)
	var next uint32
	var rows uint64
	for k, f := range frames {
		if k == 0 || f != frames[k-1] {
			next++
			for _, s := range f {
				rows += uint64(s.Hi - s.Lo)
			}
		}
		ids[k] = next - 1
	}
	count := device.View[uint64](a.Count, 2)
	count[0], count[1] = uint64(next), rows
}

func windowListHost(a *windowListArgs, lo, n int) {
	frames, ids := device.View[frameSpans](a.Frames, n), device.View[uint32](a.IDs, n)
	rows := device.View[uint32](a.Rows, maxRows)
	list, listIDs := device.View[uint32](a.List, maxRows), device.View[uint32](a.ListIDs, maxRows)
	at := 0
	for k, f := range frames {
		if k > 0 && ids[k] == ids[k-1] {
			continue
		}
		for _, s := range f {
			for _, row := range rows[s.Lo:s.Hi] {
				list[at], listIDs[at] = row, ids[k]
				at++
			}
		}
	}
}
