package kernels

import "github.com/gpusql/gpusql/device"

// Pieces has f launch a step over n items, which may be many, in runs of a few
// batches: a stream that is watched asks between two launches whether to go on.
// Runs begin at multiples of 64.
func Pieces(s device.Stream, n int, f func(lo, hi int) error) error {
	return piecesOf(PieceItems(s), n, f)
}

func piecesOf(size, n int, f func(lo, hi int) error) error {
	for lo := 0; lo < n; lo += size {
		if err := f(lo, min(n, lo+size)); err != nil {
			return err
		}
	}
	return nil
}

// PiecesBack is Pieces from the last run to the first.
func PiecesBack(s device.Stream, n int, f func(lo, hi int) error) error {
	size := PieceItems(s)
	for hi := n; hi > 0; {
		lo := (hi - 1) / size * size
		if err := f(lo, hi); err != nil {
			return err
		}
		hi = lo
	}
	return nil
}

// PieceItems is what a launch does at most of work without bound: items that
// each go to a place of their own in memory take some milliseconds.
func PieceItems(s device.Stream) int {
	return max(64, 2*s.Device().Traits().BatchRows&^63)
}

// pieceBytes is the same for bytes that are copied or cleared.
func pieceBytes(s device.Stream) int { return 256 * PieceItems(s) }

// from is the vector from row lo on, a multiple of 64; width is of a row.
func (v Vec) from(lo, width int) Vec {
	if v.Dict != 0 {
		width = 4
	}
	v.Data += device.Ptr(lo * width)
	v.Valid = bitsFrom(v.Valid, lo)
	return v
}

// bitsFrom is the bitmap, if there is one, from row lo on, a multiple of 64.
func bitsFrom(bits device.Ptr, lo int) device.Ptr {
	if bits != 0 {
		bits += device.Ptr(lo / 8)
	}
	return bits
}
