package storage

import (
	"context"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/storage/arrow"
)

// Statement is what one statement sees and changes. Reading methods are safe
// for concurrent use; changing ones are for one goroutine, and the statement
// does not see what they do.
type Statement struct {
	tx      *Tx
	start   Savepoint
	snap    arrow.Snap // without segments
	pending []pending  // appended, and not in the indexes yet
	grown   []*table   // tables that were appended to
	added   []addedKeys
	removed []removedKeys
	changed bool // there is something to undo
	past    bool // it reads an older version than its transaction
}

// data is the storage of a table as the transaction sees it.
func (s *Statement) data(t *catalog.Table) (*table, error) {
	e := s.tx.version.byID[t.ID]
	if e == nil {
		return nil, errNoTable(t.Schema, t.Name)
	}
	return e.data, s.history(t, e.data)
}

// Snap is the table as the statement sees it, until the statement ends.
func (s *Statement) Snap(t *catalog.Table) (arrow.Snap, error) {
	d, err := s.data(t)
	if err != nil {
		return arrow.Snap{}, err
	}
	return d.rows.Snap(s.snap.Version, s.snap.Own), nil
}

// Flush enters what waited into the indexes, so that their constraints hold, and
// encodes what was loaded. No change of the statement comes after it.
func (s *Statement) Flush(ctx context.Context) error {
	for i := range s.pending {
		if err := s.pending[i].flush(ctx, s); err != nil {
			return err
		}
	}
	s.pending = nil
	for _, t := range s.grown {
		if err := t.rows.Encode(ctx, s.snap.Own); err != nil {
			return err
		}
	}
	s.grown = nil
	return nil
}

// End finishes the statement: constraints that waited are checked. When that
// fails the statement is undone.
func (s *Statement) End(ctx context.Context) error {
	if s.tx.open == s {
		s.tx.open = nil
	}
	err := s.Flush(ctx)
	if err == nil {
		err = s.CheckKeys(ctx)
	}
	if err != nil {
		s.Undo()
		return err
	}
	return nil
}

// Undo takes back what the statement did.
func (s *Statement) Undo() {
	if s.tx.open == s {
		s.tx.open = nil
	}
	s.pending, s.grown, s.added, s.removed = nil, nil, nil, nil
	if s.changed { // a reader's end must not take back what came after its start
		s.tx.RollbackTo(s.start)
	}
}
