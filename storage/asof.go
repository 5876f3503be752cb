package storage

import (
	"errors"
	"time"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
	"github.com/gpusql/gpusql/txn"
)

// Retain has old versions be readable for so long after they were replaced: rows
// that die, and their index entries, stay until then.
func (s *Store) Retain(d time.Duration) { s.manager.Retain(d) }

// Version is the version that the statement sees.
func (s *Statement) Version() uint64 { return s.snap.Version }

// At is the statement at an older version, for reading. That version stays
// readable until the transaction ends. What tables are there, and their columns
// and indexes, is what the transaction sees.
func (s *Statement) At(version uint64) (*Statement, error) {
	var outside *txn.OutsideError
	if err := s.tx.tx.Pin(version); errors.As(err, &outside) {
		e := sqltype.Errorf(sqltype.CodeInvalidParameter, "%v", err)
		if version < outside.Oldest {
			e.Hint = "SET retention = '1h' keeps versions for an hour, and so does an index WITH (retention = '1h')"
		}
		return nil, e
	} else if err != nil {
		return nil, err
	}
	return &Statement{tx: s.tx, start: s.start, snap: arrow.Snap{Version: version}, past: true}, nil
}

// AtTime is At for the version that was current at a time, in microseconds since
// 1970 UTC.
func (s *Statement) AtTime(at int64) (*Statement, error) {
	version, ok := s.tx.store.manager.VersionAt(at)
	if !ok {
		e := sqltype.Errorf(sqltype.CodeInvalidParameter, "the version of %s is not known", sqltype.Datum{Type: sqltype.TimestampTZ, I: at})
		e.Hint = "it is outside of the setting retention, or in the future"
		return nil, e
	}
	return s.At(version)
}

// history reports an error when the storage of a table, which was made anew, does
// not reach back to the statement's version.
func (s *Statement) history(t *catalog.Table, d *table) error {
	if since := d.since.Load(); s.past && (since == 0 || s.snap.Version < since) {
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "table \"%s\" has no rows of version %d: they begin with version %d", t.Name, s.snap.Version, since)
	}
	return nil
}
