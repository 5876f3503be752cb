package arrow

import "sort"

// A stamp says when a row was born or died, in one word:
//
//	            0 .. 2^63-1   a commit's version
//	2^63 .. Never-1           a statement of a transaction that has not committed:
//	                          bit 63, the transaction's number, the statement's (24 bits)
//	Never                     not born (rolled back), or not dead
//
// so that one comparison with the snapshot's version settles most rows.
const (
	Uncommitted   = uint64(1) << 63
	StatementBits = 24
	Never         = ^uint64(0)
)

// Snap is a table as a statement sees it. It is a value; its segments stay
// valid as long as the statement does.
type Snap struct {
	Version uint64 // commits up to this one are seen
	// Own is the running statement's stamp: what earlier statements of its
	// transaction did is seen, what it does itself is not. 0: no transaction.
	Own      uint64
	Segments []*Segment // by ID, ascending
}

// sees reports whether what was done at stamp is seen.
func (s *Snap) sees(stamp uint64) bool {
	return stamp <= s.Version || stamp < s.Own && stamp >= s.Own&^(1<<StatementBits-1)
}

// Segment returns the segment with that id, or nil.
func (s *Snap) Segment(id uint32) *Segment {
	if int(id) < len(s.Segments) && s.Segments[id].id == id {
		return s.Segments[id]
	}
	i := sort.Search(len(s.Segments), func(i int) bool { return s.Segments[i].id >= id })
	if i < len(s.Segments) && s.Segments[i].id == id {
		return s.Segments[i]
	}
	return nil
}

// RowID makes a row id: segment and offset.
func RowID(segment uint32, offset int) int64 { return int64(segment)<<32 | int64(offset) }

// SplitRowID is the segment and offset of a row id.
func SplitRowID(id int64) (segment uint32, offset int) { return uint32(id >> 32), int(uint32(id)) }
