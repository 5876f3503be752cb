package storage

import (
	"context"
	"math"
	"sync"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// sequence is a sequence's definition, and where it stands. Versions of the
// catalogue share the state: numbers that were given are not taken back.
type sequence struct {
	def   *catalog.Sequence
	state *sequenceState
}

type sequenceState struct {
	mu     sync.Mutex
	value  int64
	called bool // value has been given
}

// CreateSequence makes a sequence from q, whose ID is given here.
func (x *Tx) CreateSequence(ctx context.Context, q catalog.Sequence) (*catalog.Sequence, error) {
	v, err := x.define(ctx)
	if err != nil {
		return nil, err
	}
	if q.Schema, err = x.schemaFor(v, q.Schema, q.Temp); err != nil {
		return nil, err
	}
	if err := v.free(q.Schema, q.Name); err != nil {
		return nil, err
	}
	q.Temp = q.Schema == x.session.temp
	q.ID = catalog.SequenceID(x.store.nextID.Add(1))
	v.sequences[nameOf(q.Schema, q.Name)] = &sequence{&q, &sequenceState{value: q.Start}}
	x.defined(v)
	return &q, nil
}

// AlterSequence replaces the definition of a sequence by q, which may have
// another name. With restart it begins again, at that number, and is as it was
// when the transaction is rolled back.
func (x *Tx) AlterSequence(ctx context.Context, old *catalog.Sequence, q catalog.Sequence, restart *int64) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	at := nameOf(old.Schema, old.Name)
	s := v.sequences[at]
	if s == nil {
		return errNoSequence(old.Name)
	}
	state := s.state
	if restart != nil {
		state = &sequenceState{value: *restart}
	}
	delete(v.sequences, at)
	if err := v.free(q.Schema, q.Name); err != nil {
		return err
	}
	v.sequences[nameOf(q.Schema, q.Name)] = &sequence{&q, state}
	x.defined(v)
	return nil
}

// DropSequence drops a sequence.
func (x *Tx) DropSequence(ctx context.Context, q *catalog.Sequence) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	delete(v.sequences, nameOf(q.Schema, q.Name))
	x.defined(v)
	return nil
}

// SequenceValue is where a sequence stands: the number given last, or with
// called false the one that comes next.
func (x *Tx) SequenceValue(q *catalog.Sequence) (value int64, called bool, err error) {
	s := x.version.sequences[nameOf(q.Schema, q.Name)]
	if s == nil {
		return 0, false, errNoSequence(q.Name)
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.value, s.state.called, nil
}

// NextValue takes the next number of a sequence. It stays taken whatever becomes
// of the transaction. Safe for concurrent use.
func (x *Tx) NextValue(q *catalog.Sequence) (int64, error) {
	s := x.version.sequences[nameOf(q.Schema, q.Name)]
	if s == nil {
		return 0, errNoSequence(q.Name)
	}
	if err := x.writes("take a number of sequence \""+q.Name+"\"", q.Temp); err != nil {
		return 0, err
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if !s.state.called {
		s.state.called = true
		return s.state.value, nil
	}
	next := s.state.value + q.Increment
	switch {
	case q.Increment > 0 && (next > q.Max || next < s.state.value):
		if !q.Cycle {
			return 0, sqltype.Errorf("2200H", "nextval: reached maximum value of sequence \"%s\" (%d)", q.Name, q.Max)
		}
		next = q.Min
	case q.Increment < 0 && (next < q.Min || next > s.state.value):
		if !q.Cycle {
			return 0, sqltype.Errorf("2200H", "nextval: reached minimum value of sequence \"%s\" (%d)", q.Name, q.Min)
		}
		next = q.Max
	}
	s.state.value = next
	return next, nil
}

// SetValue sets where a sequence stands, as setval does: at once and for all.
func (x *Tx) SetValue(q *catalog.Sequence, value int64, called bool) error {
	s := x.version.sequences[nameOf(q.Schema, q.Name)]
	switch {
	case s == nil:
		return errNoSequence(q.Name)
	case value < q.Min || value > q.Max:
		return sqltype.Errorf(sqltype.CodeOutOfRange, "setval: value %d is out of bounds for sequence \"%s\" (%d..%d)", value, q.Name, q.Min, q.Max)
	}
	if err := x.writes("set sequence \""+q.Name+"\"", q.Temp); err != nil {
		return err
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.value, s.state.called = value, called
	return nil
}

// SequenceBounds are the least and greatest numbers of a sequence's type in its
// direction, when none are given.
func SequenceBounds(t sqltype.Type, increment int64) (lo, hi int64) {
	switch t.Kind {
	case sqltype.KindInt16:
		lo, hi = math.MinInt16, math.MaxInt16
	case sqltype.KindInt32:
		lo, hi = math.MinInt32, math.MaxInt32
	default:
		lo, hi = math.MinInt64, math.MaxInt64
	}
	if increment > 0 {
		return 1, hi
	}
	return lo, -1
}

func errNoSequence(object string) error {
	return sqltype.Errorf(sqltype.CodeUndefinedTable, "sequence \"%s\" does not exist", object)
}
