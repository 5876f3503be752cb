package gpusql

import (
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// Rows is the result of a query, read batch by batch as the query runs.
//
// It is for one goroutine. It ends at the last row, at an error, and at Close,
// which must be called when the rows are not read to the end: a Rows that is
// open holds its snapshot. Values are copied out, and stay valid.
type Rows struct {
	columns []sqltype.Column
	// pull gives the next batch, nil at the end; it knows the query's context.
	pull func() (*arrow.Batch, error)
	// close ends the query, whose statement ended in err, and gives the error
	// that the caller is to have. It is called once.
	close    func(err error) error
	placed   placement
	version  uint64 // that the statement saw
	affected int64  // rows changed, when there are no columns
	tag      string // what was done, when there are no columns

	batch *arrow.Batch
	row   int // within batch; Next moves on to it
	done  bool
	err   error
}

// Columns are the names of the result's columns.
func (r *Rows) Columns() []string {
	names := make([]string, len(r.columns))
	for i := range r.columns {
		names[i] = r.columns[i].Name
	}
	return names
}

// Types are the types of the result's columns.
func (r *Rows) Types() []Type {
	types := make([]Type, len(r.columns))
	for i := range r.columns {
		types[i] = r.columns[i].Type
	}
	return types
}

// Next moves to the next row. At the end, and after an error, it returns
// false; Err tells which.
func (r *Rows) Next() bool {
	r.row++
	if r.batch != nil && r.row < r.batch.Rows {
		return true
	}
	return r.nextBatch()
}

// nextBatch moves to the first row of the next batch.
func (r *Rows) nextBatch() bool {
	r.batch, r.row = nil, 0
	if r.done {
		return false
	}
	b, err := r.pull()
	if err != nil || b == nil {
		r.end(err)
		return false
	}
	r.batch = b
	return true
}

// hold keeps the first batch, which was read ahead, for the first Next.
func (r *Rows) hold(first *arrow.Batch) {
	pull := r.pull
	r.pull = func() (*arrow.Batch, error) {
		r.pull = pull
		return first, nil
	}
}

// doneRows is the result of a statement without rows, which has ended.
func doneRows(tag string, affected int64) *Rows {
	return &Rows{done: true, tag: tag, affected: affected}
}

func (r *Rows) end(err error) {
	if r.done {
		return
	}
	r.done, r.batch = true, nil
	r.err = r.close(err)
}

// onEnd has f run when the rows have ended.
func (r *Rows) onEnd(f func() error) {
	if r.done {
		if err := f(); r.err == nil {
			r.err = err
		}
		return
	}
	before := r.close
	r.close = func(err error) error {
		err = before(err)
		if ferr := f(); err == nil {
			err = ferr
		}
		return err
	}
}

// Tag says what a statement without rows did, such as "CREATE TABLE" or "INSERT 3".
func (r *Rows) Tag() string { return r.tag }

// Warning is what the user should know besides the result: that a query does not
// run on the GPU that was asked for, and why. Empty for most.
func (r *Rows) Warning() string { return r.placed.warning }

// RowsAffected is how many rows a statement without rows changed.
func (r *Rows) RowsAffected() int64 { return r.affected }

// Err is what ended the rows, nil when that was the last of them or Close.
func (r *Rows) Err() error { return r.err }

// Close ends the query. It may be called more than once.
func (r *Rows) Close() error {
	r.end(nil)
	return r.err
}

// Value is column i of the row.
func (r *Rows) Value(i int) Value {
	c := &r.batch.Columns[i]
	return c.Datum(r.row)
}

// Scan copies the row's values to where dest points: a *Value takes any value,
// an *any one of Go's types; NULL needs one of these or a pointer to a pointer.
// A number that does not fit is an error.
func (r *Rows) Scan(dest ...any) error {
	if r.batch == nil || r.row >= r.batch.Rows {
		return ErrNoRows
	}
	if len(dest) != len(r.columns) {
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "Scan got %d places for %d columns", len(dest), len(r.columns))
	}
	for i, d := range dest {
		if err := scanInto(d, r.Value(i)); err != nil {
			return sqltype.Errorf(sqltype.CodeTypeMismatch, "column %q: %v", r.columns[i].Name, err)
		}
	}
	return nil
}

// drain reads the rows to the end, for statements whose rows nobody wants.
func (r *Rows) drain() error {
	for r.nextBatch() {
	}
	return r.err
}
