package storage

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
	"github.com/gpusql/gpusql/txn"
)

// Store is a database's state in memory. It is safe for concurrent use.
type Store struct {
	memory  *device.Scope // the tables' and indexes', over the database's
	options Options
	manager *txn.Manager
	version atomic.Pointer[version]
	defines chan struct{} // holds a token while no transaction defines things
	session *Session      // of transactions without one
	nextID  atomic.Uint32 // of tables, indexes, sequences and sessions

	mu     sync.Mutex
	tables map[*table]struct{} // all whose memory is held
}

// Options adapt a store.
type Options struct {
	Device      device.Device // whose memory the store's is: the host's
	Kinds       []index.Kind  // of indexes, the first for those without USING
	SegmentRows int           // fewer rows a segment, for tests
	// GPU is where an index lies that names a device.
	GPU func(name string) (Home, error)
}

// Home is where indexes lie: a device, memory of it, and the kinds that there are
// for it, the first for those without USING.
type Home struct {
	Device device.Device
	Memory device.Allocator
	Kinds  []index.Kind
}

// home is where an index of a device lies.
func (s *Store) home(name string) (Home, error) {
	if name == "" {
		return Home{s.options.Device, s.memory, s.options.Kinds}, nil
	}
	if s.options.GPU == nil {
		return Home{}, sqltype.Errorf(sqltype.CodeDevice, "there is no device %q", name)
	}
	return s.options.GPU(name)
}

// Open returns an empty store whose memory comes from m: the device, or a scope
// over it.
func Open(m device.Allocator, o Options) *Store {
	s := &Store{
		memory:  device.NewScope(m, device.ScopeOptions{Name: "tables"}),
		options: o,
		manager: txn.NewManager(),
		defines: make(chan struct{}, 1),
		tables:  map[*table]struct{}{},
	}
	s.session = s.NewSession()
	s.version.Store(newVersion(s))
	s.defines <- struct{}{}
	return s
}

// Settle waits until what nobody can see any more is given back. An error says
// that doing so went wrong.
func (s *Store) Settle(ctx context.Context) error { return s.manager.Settle(ctx) }

// Close gives all memory back. No transaction may be running.
func (s *Store) Close() error {
	s.manager.Close()
	err := s.Settle(context.Background())
	s.mu.Lock()
	all := s.tables
	s.tables = map[*table]struct{}{}
	s.mu.Unlock()
	for t := range all {
		t.close()
	}
	s.memory.Close()
	return err
}

// Bytes is the memory that tables and indexes hold.
func (s *Store) Bytes() int64 { return s.memory.Used() }

// Reader is the catalogue as the next transaction of a session would see it.
func (s *Store) Reader(o *Session) catalog.Reader { return sight{s.version.Load(), o} }

// Begin starts a transaction without a session: what it makes that is temporary
// goes with nobody.
func (s *Store) Begin() *Tx { return s.BeginIn(s.session) }

// BeginIn starts a transaction of a session.
func (s *Store) BeginIn(o *Session) *Tx {
	// The version of the catalogue is read with the clock standing still: a
	// commit publishes both under the manager's lock.
	x := &Tx{store: s, session: o}
	x.tx = s.manager.BeginWith(func() { x.version = s.version.Load() })
	return x
}

// lockDefinitions waits until no other transaction defines things.
func (s *Store) lockDefinitions(ctx context.Context) error {
	timeout := time.NewTimer(5 * time.Second)
	defer timeout.Stop()
	select {
	case <-s.defines:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout.C:
		return sqltype.Errorf(sqltype.CodeSerialization, "another transaction is changing the definitions of tables")
	}
}

// newTable makes the storage of a table without indexes.
func (s *Store) newTable(types []sqltype.Type) *table {
	t := &table{store: s, rows: arrow.NewTable(s.memory, types, arrow.TableOptions{SegmentRows: s.options.SegmentRows, Workers: s.options.Device.Traits().Streams})}
	s.mu.Lock()
	s.tables[t] = struct{}{}
	s.mu.Unlock()
	return t
}

// drop gives the memory of a table back.
func (s *Store) drop(t *table) {
	s.mu.Lock()
	_, held := s.tables[t]
	delete(s.tables, t)
	s.mu.Unlock()
	if held {
		t.close()
	}
}
