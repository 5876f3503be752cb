package kernels

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// Fold runs a program over batches and adds its results to the states of a few
// groups, in one launch a batch: nothing of a row is written, and nobody waits.
//
//	columns ──▶ program ──▶ condition, arguments ──▶ sums of each thread, by group
//	                                                        │ Run: a block's become one
//	                 states of the caller ◀────────── states of groups
//	                                          Flush
//
// Groups go by the places of their keys in dictionaries. Whoever finds a Fold
// that has failed does the same work in another way: ErrNotFolded says that
// there is no code for it, Failed that a row had no value.
//
// It belongs to one goroutine.
type Fold struct {
	mem    device.Allocator
	p      *Program
	prog   *deviceProgram
	cond   int   // the program's result that says which rows; -1: all
	keys   []int // inputs
	states []FoldState

	begun   bool
	static  *device.Buffer // lists and texts; nil: there are none
	kernel  *device.Kernel[foldLaunch]
	args    foldLaunch
	shape   inputShape
	dicts   []Vec // of the keys
	sizes   []int // how many values each has, with NULL
	pending bool  // the groups' states have rows
	failed  bool

	group   Array // where bad rows go, and the states of groups: one download has both
	present Array
}

// foldBad is the bytes before the states of groups.
const foldBad = 16

// FoldState is an aggregate over a result of the program, for rows where another
// is true; -1: none.
type FoldState struct {
	Agg         Agg
	Arg, Filter int
}

// ErrNotFolded says that a Fold has no code for what it is given.
var ErrNotFolded = errors.New("kernels: not folded")

// NewFold is a Fold over a program whose results keys are columns; cond is the
// result that says which rows count, -1 for all.
func NewFold(p *Program, cond int, keys []int, states []FoldState, m device.Allocator) (*Fold, error) {
	f := &Fold{mem: m, p: p, cond: cond, states: append(slices.Clone(states), FoldState{Agg: Agg{Kind: AggCount}, Arg: -1, Filter: -1})}
	for _, k := range keys {
		if int(p.Out[k]) >= len(p.Inputs) {
			return nil, ErrNotFolded
		}
		f.keys = append(f.keys, int(p.Out[k]))
	}
	for _, st := range states {
		switch st.Agg.Kind {
		case AggCount, AggSum, AggSumFloat:
		case AggMin, AggMax:
			if st.Agg.Phys.Width() > 8 {
				return nil, ErrNotFolded
			}
		default:
			return nil, ErrNotFolded
		}
	}
	var none *NotOnDeviceError
	var err error
	if f.prog, err = p.lower(); errors.As(err, &none) || len(f.states) > foldStates || err == nil && !f.prog.compiles() {
		return nil, ErrNotFolded
	}
	return f, err
}

// counted reports a sum that has a value in every row of its group when no input
// is NULL: then the rows are counted once.
func (f *Fold) counted(st FoldState) bool {
	sum := st.Agg.Kind == AggSum || st.Agg.Kind == AggSumFloat
	return sum && st.Filter < 0 && f.p.plain(f.p.Out[st.Arg])
}

func groupsOf(sizes []int) int {
	n := 1
	for _, s := range sizes {
		if n *= s; n > foldGroups {
			return n
		}
	}
	return n
}

// Run adds n rows of a batch, those that visible has (0: all). Flush comes before
// a batch of other dictionaries: Changes says so.
func (f *Fold) Run(s device.Stream, cols []Vec, n int, visible device.Ptr) error {
	if err := f.begin(s); err != nil {
		return err
	}
	if f.kernel == nil {
		if err := f.prepare(s, cols, n); err != nil {
			return err
		}
	}
	for i, in := range f.p.Inputs {
		f.args.Columns[i] = cols[in.Column]
	}
	f.args.Visible = uint64(visible)
	f.pending = true
	return device.Launch(s, f.kernel, n, f.args)
}

// Changes reports that a batch has other groups than those before it.
func (f *Fold) Changes(cols []Vec) bool {
	if f.kernel == nil {
		return false
	}
	for i, k := range f.keys {
		if v := cols[f.p.Inputs[k].Column]; v.Dict != f.dicts[i].Dict || v.DictLen != f.dicts[i].DictLen {
			return true
		}
	}
	return f.shapeOf(cols) != f.shape
}

func (f *Fold) shapeOf(cols []Vec) inputShape {
	s := inputShape{plain: true}
	for i, in := range f.p.Inputs {
		v := cols[in.Column]
		s.plain = s.plain && v.Valid == 0
		if v.Dict != 0 {
			s.dicts |= 1 << i
		}
	}
	return s
}

// begin takes to the device what all batches share.
func (f *Fold) begin(s device.Stream) error {
	if f.begun {
		return nil
	}
	f.begun = true
	copy(f.args.Consts[:], f.prog.consts)
	at := 8 * len(f.prog.lists)
	text := 0
	for _, t := range f.prog.texts {
		text += len(t.text)
	}
	if at+text == 0 {
		return nil
	}
	var err error
	if f.static, err = f.mem.Alloc(at + text + 8); err != nil {
		return err
	}
	image := make([]byte, at+text)
	base, next := uint64(f.static.Ptr()), at
	for _, t := range f.prog.texts {
		*t.word = base + uint64(next)
		next += copy(image[next:], t.text)
	}
	copy(image, rawOf(f.prog.lists))
	copy(f.args.Consts[:], f.prog.consts) // which say where texts are
	f.args.Lists = base
	return s.Upload(f.static.Ptr(), image)
}

// prepare finds the code for batches like this one, and makes the states of its groups.
func (f *Fold) prepare(s device.Stream, cols []Vec, n int) error {
	maker, ok := s.Device().(device.Maker)
	if !ok {
		return ErrNotFolded
	}
	f.shape = f.shapeOf(cols)
	f.dicts, f.sizes = f.dicts[:0], f.sizes[:0]
	for _, k := range f.keys {
		v := cols[f.p.Inputs[k].Column]
		size := 2
		switch {
		case v.Dict != 0:
			size = int(v.DictLen)
		case f.p.Inputs[k].Type.Phys() != sqltype.PhysBool:
			return ErrNotFolded
		}
		if !f.shape.plain {
			size++
		}
		f.dicts, f.sizes = append(f.dicts, v), append(f.sizes, size)
	}
	groups := groupsOf(f.sizes)
	_, bytes := f.layout(f.shape.plain)
	shared := bytes * groups * compiledBlock
	if groups == 0 || groups > foldGroups || shared > s.Device().Traits().Shared {
		return ErrNotFolded
	}
	c := maker.Made(f.codeKey(), n, nil, func() *device.Code {
		text, ok := f.text(f.shape, f.sizes)
		if !ok {
			return nil
		}
		return &device.Code{Module: &device.Module{Name: foldEntry, PTX: text}, Entry: foldEntry, Block: compiledBlock,
			Items: compiledRows * compiledBlock, Shared: shared, PerSM: foldPerSM(shared)}
	})
	if c == nil {
		return ErrNotFolded
	}
	f.kernel = &device.Kernel[foldLaunch]{Name: foldEntry, Code: c}
	return f.clear(s, groups)
}

// codeKey is what the text depends on.
func (f *Fold) codeKey() string {
	b := append([]byte(foldEntry), byte(f.cond+1), byte(len(f.keys)))
	for i, k := range f.keys {
		b = append(b, byte(k), byte(f.sizes[i]))
	}
	for _, st := range f.states {
		b = append(b, byte(st.Agg.Kind), byte(st.Agg.Phys), byte(st.Arg+1), byte(st.Filter+1))
	}
	for _, v := range f.prog.values {
		b = binary.LittleEndian.AppendUint16(b, uint16(v.Slot))
		b = binary.LittleEndian.AppendUint16(b, uint16(v.Bit))
	}
	return string(f.prog.key(b, f.shape, nil))
}

// clear makes the states of groups, which have no rows.
func (f *Fold) clear(s device.Stream, groups int) error {
	image := make([]byte, foldBad+f.stateBytes(groups))
	if err := f.group.Extend(f.mem, s, 0, len(image)); err != nil {
		return err
	}
	p := uint64(f.group.Ptr())
	f.args.Bad, f.args.States = [2]uint64{p, p + 8}, p+foldBad
	return s.Upload(f.group.Ptr(), image)
}

func (f *Fold) stateBytes(groups int) int {
	n := 0
	for _, st := range f.states {
		n += st.Agg.Bytes() * groups
	}
	return n
}

// Failed reports that a row of those that were flushed had no value, or needs
// another program.
func (f *Fold) Failed() bool { return f.failed }

// Flush gives what was added since the last one: the keys of n groups, and for
// each state an array of which rows says the places of the groups (0: as they
// come). It returns how many rows there were.
func (f *Fold) Flush(s device.Stream, give func(keys []Vec, n int, states []device.Ptr, rows device.Ptr) error) (int, error) {
	if !f.pending {
		return 0, nil
	}
	groups := groupsOf(f.sizes)
	image := make([]uint64, (foldBad+f.stateBytes(groups))/8)
	if err := s.Download(rawOf(image), f.group.Ptr()); err != nil {
		return 0, err
	}
	f.failed = f.failed || image[0]|image[1] != 0
	at := foldBad
	states := make([]device.Ptr, len(f.states))
	for i, st := range f.states {
		states[i] = f.group.Ptr() + device.Ptr(at)
		at += st.Agg.Bytes() * groups
	}
	last := len(f.states) - 1 // it counts rows
	counts := image[len(image)-groups:]
	var some []uint32
	rows := 0
	for g, n := range counts {
		rows += int(n)
		if n > 0 || len(f.keys) == 0 {
			some = append(some, uint32(g))
		}
	}
	f.pending = false
	f.kernel = nil // the next batch may have other groups
	if len(some) == 0 {
		return rows, nil
	}
	if len(f.keys) == 0 {
		return rows, give(nil, 1, states[:last], 0)
	}
	keys, index, err := f.keysOf(s, some)
	if err != nil {
		return 0, err
	}
	return rows, give(keys, len(some), states[:last], index)
}

// keysOf are the keys of groups, and the groups' numbers.
func (f *Fold) keysOf(s device.Stream, groups []uint32) ([]Vec, device.Ptr, error) {
	const part = 4 * foldGroups
	image := make([]byte, part*(1+2*len(f.keys)))
	copy(image, rawOf(groups))
	if err := f.present.Extend(f.mem, s, 0, len(image)); err != nil {
		return nil, 0, err
	}
	base := f.present.Ptr()
	keys := make([]Vec, len(f.keys))
	div := groupsOf(f.sizes)
	for i, k := range f.keys {
		div /= f.sizes[i]
		at := part * (1 + 2*i)
		codes, valid := image[at:at+part], image[at+part:at+2*part]
		known := f.sizes[i]
		if !f.shape.plain {
			known--
		}
		for j, g := range groups {
			code := int(g) / div % f.sizes[i]
			if code >= known {
				continue
			}
			valid[j/8] |= 1 << (j % 8)
			if f.p.Inputs[k].Type.Phys() == sqltype.PhysBool && f.dicts[i].Dict == 0 {
				codes[j] = byte(code)
			} else {
				binary.LittleEndian.PutUint32(codes[4*j:], uint32(code))
			}
		}
		keys[i] = Vec{Data: base + device.Ptr(at), Valid: base + device.Ptr(at+part), Dict: f.dicts[i].Dict, DictLen: f.dicts[i].DictLen}
	}
	return keys, base, s.Upload(base, image)
}

// Release gives the memory back.
func (f *Fold) Release() {
	f.static.Release()
	f.group.Release()
	f.present.Release()
}
