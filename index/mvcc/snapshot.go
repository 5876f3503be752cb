package mvcc

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// snapshot is a state that is held.
type snapshot struct {
	x     *tree
	state *state
	args  readArgs
}

// Snapshot is the index at a version. It costs the same at any.
func (x *tree) Snapshot(v index.Version) (index.Snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.history.at(v)
	if s == nil {
		return nil, index.ErrVersion
	}
	s.refs++
	return x.snapshotOf(s), nil
}

// snapshotOf is a snapshot of a state that somebody holds.
func (x *tree) snapshotOf(s *state) *snapshot {
	return &snapshot{x: x, state: s, args: readArgs{
		Form: x.form, Table: x.store.Table(), Root: s.root, Height: uint32(s.height), Entries: uint64(s.entries),
	}}
}

// Release lets the state go. What only it could reach is given back.
func (s *snapshot) Release() {
	s.x.mu.Lock()
	s.state.refs--
	garbage := s.x.history.forget(s.state, nil)
	s.x.garbage += len(garbage)
	s.x.mu.Unlock()
	s.x.store.Give(garbage)
}

// Lookup finds the rows of each key.
func (s *snapshot) Lookup(st device.Stream, k index.Keys, a *index.Answer) error {
	args := s.args
	args.Keys = k.Data
	return s.answer(st, find, args, k.N, a, func(args readArgs, _ int) error {
		return device.Launch(st, takeFound, k.N, args)
	})
}

// Scan finds the entries of each range.
func (s *snapshot) Scan(st device.Stream, r index.Ranges, o index.Order, a *index.Answer) error {
	args := s.ranged(r)
	args.Limit = uint64(o.Limit)
	if o.Direction == index.Backward {
		args.Backward = 1
	}
	keySize := 0
	if o.Keys {
		keySize = int(s.x.form.size)
	}
	return s.answerWith(st, bound, args, r.N, a, keySize, func(args readArgs, total int) error {
		if args.Order != 0 && total/r.N < collectStep {
			return device.Launch(st, each, r.N, args)
		}
		return device.Launch(st, collect, (total+collectStep-1)/collectStep, args)
	})
}

func (s *snapshot) ranged(r index.Ranges) readArgs {
	a := s.args
	a.LoKeys, a.LoRows, a.HiKeys, a.HiRows = r.Lo.Keys, r.Lo.Rows, r.Hi.Keys, r.Hi.Rows
	return a
}

func (s *snapshot) answer(st device.Stream, k *device.Kernel[readArgs], args readArgs, n int, a *index.Answer, fill func(readArgs, int) error) error {
	return s.answerWith(st, k, args, n, a, 0, fill)
}

// answerWith asks n questions by kernel k, makes room for what they find, and
// lets fill write it.
func (s *snapshot) answerWith(st device.Stream, k *device.Kernel[readArgs], args readArgs, n int, a *index.Answer, keySize int, fill func(readArgs, int) error) error {
	if err := a.Ask(n); err != nil {
		return err
	}
	if n == 0 {
		return upload(st, a.Offsets(), []uint64{0})
	}
	room, err := s.ask(st, k, n, &args)
	if err != nil {
		return err
	}
	defer room.Release()
	args.Offsets = a.Offsets()
	if err := device.Launch(st, offsets, n, args); err != nil {
		return err
	}
	var total [1]uint64
	if err := download(st, total[:], a.Offsets()+device.Ptr(8*n)); err != nil {
		return err
	}
	if err := a.Room(int(total[0]), keySize); err != nil {
		return err
	}
	args.Rows, args.ToKeys = a.Rows(), 0
	if keySize > 0 {
		args.ToKeys = a.Keys()
	}
	if total[0] == 0 {
		return nil
	}
	return fill(args, int(total[0]))
}

// manyQuestions is from where questions are put in the order of their keys, so
// that neighbours find what they need in the caches.
const manyQuestions = 256

// ask lets kernel k find what n questions ask for: args.Found is in the buffer
// that it returns.
func (s *snapshot) ask(st device.Stream, k *device.Kernel[readArgs], n int, args *readArgs) (*device.Buffer, error) {
	args.N = uint64(n)
	size := n * int(unsafe.Sizeof(found{}))
	pairs, all := size, size
	if n >= manyQuestions && args.Keys|args.LoKeys != 0 {
		all += n*int(unsafe.Sizeof(kernels.Pair{})) + kernels.SortPairsBytes(n)
	}
	room, err := s.x.mem.Alloc(all)
	if err != nil {
		return nil, err
	}
	args.Found = room.Ptr()
	if all > pairs {
		args.Order = room.Ptr() + device.Ptr(pairs)
		err = device.Launch(st, order, n, *args)
		if err == nil {
			err = kernels.SortPairs(st, args.Order, args.Order+device.Ptr(n*int(unsafe.Sizeof(kernels.Pair{}))), n)
		}
	}
	if err == nil {
		err = device.Launch(st, k, n, *args)
	}
	if err != nil {
		room.Release()
		return nil, err
	}
	return room, nil
}

// Count writes the number of entries of each range.
func (s *snapshot) Count(st device.Stream, r index.Ranges, counts device.Ptr) error {
	if r.N == 0 {
		return nil
	}
	args := s.ranged(r)
	room, err := s.ask(st, bound, r.N, &args)
	if err != nil {
		return err
	}
	defer room.Release()
	args.Offsets = counts
	return device.Launch(st, counted, r.N, args)
}
