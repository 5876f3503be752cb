package kernels

import (
	"github.com/gpusql/gpusql/device"
)

//gpu:layout
type flagArgs struct {
	Flags, Rows, Other, Count device.Ptr
}

var (
	flagHeads = &device.Kernel[flagArgs]{Name: "flag_heads", Code: codeFlagHeads, Host: flagHeadsHost}
	flagRows  = &device.Kernel[flagArgs]{Name: "flag_rows", Host: flagRowsHost, Steps: flagRowsSteps}
	orFlags   = &device.Kernel[flagArgs]{Name: "or_flags", Code: codeOrFlags, Host: orFlagsHost}
	andBits   = &device.Kernel[flagArgs]{Name: "and_bits", Code: codeAndBits, Host: andBitsHost}
	markKnown = &device.Kernel[flagArgs]{Name: "mark_known", Code: codeMarkKnown, Host: markKnownHost}
)

// FlagHeads sets byte i of flags to 1 when head i of a JoinTable's look-up is a row.
func FlagHeads(s device.Stream, heads device.Ptr, n int, flags device.Ptr) error {
	return device.Launch(s, flagHeads, n, flagArgs{Flags: flags, Rows: heads})
}

// FlagRows sets the bytes of flags that the n numbers at rows name, and returns
// how many of them were set before. scratch is 8 bytes.
func FlagRows(s device.Stream, rows device.Ptr, n int, flags, scratch device.Ptr) (int, error) {
	if n == 0 {
		return 0, nil
	}
	if err := device.Launch(s, flagRows, n, flagArgs{Flags: flags, Rows: rows, Count: scratch}); err != nil {
		return 0, err
	}
	return readCount(s, scratch)
}

// OrFlags sets the flags that are set in other.
func OrFlags(s device.Stream, flags, other device.Ptr, n int) error {
	return device.Launch(s, orFlags, n, flagArgs{Flags: flags, Other: other})
}

// AndBits writes the common ones of two bitmaps of n rows to out.
func AndBits(s device.Stream, a, b device.Ptr, n int, out device.Ptr) error {
	return device.Launch(s, andBits, (n+63)/64, flagArgs{Flags: out, Rows: a, Other: b})
}

// MarkKnown writes the bitmap of a mark: a row is known when its flag is set,
// or when its bit in may is (0: in none) and its byte in unknown (0: none) is not.
func MarkKnown(s device.Stream, flags, may, unknown device.Ptr, n int, out device.Ptr) error {
	return device.Launch(s, markKnown, n, flagArgs{Flags: flags, Rows: may, Other: unknown, Count: out})
}

func flagHeadsHost(a *flagArgs, lo, hi int) {
	heads := device.View[uint32](a.Rows, hi)
	flags := device.View[uint8](a.Flags, hi)[:len(heads)]
	for i, h := range heads {
		flags[i] = 0
		if h != 0 {
			flags[i] = 1
		}
	}
}

// flagRowsSteps clears the count that blocks add to.
func flagRowsSteps(s device.Stream, a *flagArgs, n int) error {
	if err := Zero(s, a.Count, 8); err != nil {
		return err
	}
	return device.Launch(s, flagRowsCode, n, *a)
}

var flagRowsCode = &device.Kernel[flagArgs]{Name: "flag_rows", Code: codeFlagRows}

func flagRowsHost(a *flagArgs, lo, hi int) {
	flags := device.View[uint8](a.Flags, maxRows)
	var again uint64
	for _, r := range device.View[uint32](a.Rows, hi) {
		again += uint64(flags[r])
		flags[r] = 1
	}
	device.View[uint64](a.Count, 1)[0] = again
}

func orFlagsHost(a *flagArgs, lo, hi int) {
	flags, other := device.View[uint8](a.Flags, hi), device.View[uint8](a.Other, hi)
	for i, f := range other {
		flags[i] |= f
	}
}

func andBitsHost(a *flagArgs, lo, hi int) {
	out, x, y := device.View[uint64](a.Flags, hi), device.View[uint64](a.Rows, hi), device.View[uint64](a.Other, hi)
	for i := range out {
		out[i] = x[i] & y[i]
	}
}

func markKnownHost(a *flagArgs, lo, hi int) {
	flags := device.View[uint8](a.Flags, hi)
	may := device.View[uint64](a.Rows, (hi+63)/64)
	unknown := device.View[uint8](a.Other, hi)
	out := device.View[uint64](a.Count, (hi+63)/64)
	clear(out)
	for i, f := range flags {
		known := f != 0 || may != nil && may[i>>6]>>(i&63)&1 != 0
		if unknown != nil {
			known = f != 0 || unknown[i] == 0
		}
		if known {
			out[i>>6] |= 1 << (i & 63)
		}
	}
}

//gpu:layout
type addArgs struct {
	Rows device.Ptr
	Add  uint32
	_    uint32
}

var (
	addTo = &device.Kernel[addArgs]{Name: "add_to", Code: codeAddTo, Host: func(a *addArgs, lo, hi int) {
		rows := device.View[uint32](a.Rows, hi)[lo:hi]
		for i := range rows {
			rows[i] += a.Add
		}
	}}
	fillBytes = &device.Kernel[addArgs]{Name: "fill", Code: codeFill, Host: func(a *addArgs, lo, hi int) {
		b := device.View[uint8](a.Rows, hi)[lo:hi]
		for i := range b {
			b[i] = uint8(a.Add)
		}
	}}
)

// AddTo adds to each of n row numbers.
func AddTo(s device.Stream, rows device.Ptr, add uint32, n int) error {
	return device.Launch(s, addTo, n, addArgs{Rows: rows, Add: add})
}

// Fill sets n bytes.
func Fill(s device.Stream, dst device.Ptr, v uint8, n int) error {
	return device.Launch(s, fillBytes, n, addArgs{Rows: dst, Add: uint32(v)})
}
