package arrow

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/gpusql/gpusql/sqltype"
)

// ipcFile is an Arrow IPC file (Feather v2); its parts are the record batches.
type ipcFile struct {
	name   string
	f      *os.File
	mu     sync.Mutex // the library's reader is not safe for concurrent use
	r      *ipc.FileReader
	schema sqltype.Schema
	errs   []error // why a column cannot be read
}

func openIPC(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, badFile(name, err)
	}
	r, err := newIPCReader(f)
	if err != nil {
		f.Close()
		return nil, badFile(name, err)
	}
	p := &ipcFile{name: name, f: f, r: r}
	for _, field := range r.Schema().Fields() {
		t, ok := TypeOf(field.Type)
		var err error
		if !ok {
			err = unsupported(name, field.Name, field.Type)
		}
		p.errs = append(p.errs, err)
		p.schema = append(p.schema, sqltype.Column{Name: field.Name, Type: t, NotNull: !field.Nullable})
	}
	return p, nil
}

func newIPCReader(f *os.File) (*ipc.FileReader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkIPC(f, st.Size()); err != nil {
		return nil, err
	}
	return ipc.NewFileReader(f, ipc.WithAllocator(boundedMemory{memory.DefaultAllocator}))
}

func (p *ipcFile) Schema() sqltype.Schema         { return p.schema }
func (p *ipcFile) Rows() int64                    { return -1 }
func (p *ipcFile) Parts() int                     { return p.r.NumRecords() }
func (p *ipcFile) Bounds(int, int) (Bounds, bool) { return Bounds{}, false }
func (p *ipcFile) Stats(c int) ColumnStats        { return unknownStats(p.schema[c].Type) }

func (p *ipcFile) Close() error {
	err := p.r.Close()
	if cerr := p.f.Close(); err == nil {
		err = cerr
	}
	return badFile(p.name, err)
}

// Read implements File.
func (p *ipcFile) Read(part int, cols []int, rows int, im *Importer) (BatchReader, error) {
	for _, c := range cols {
		if p.errs[c] != nil {
			return nil, p.errs[c]
		}
	}
	rec, err := p.record(part)
	if err != nil {
		return nil, err
	}
	picked := reorder(rec, cols)
	rec.Release()
	return &recordBatches{&recordSlicer{rec: picked, rows: int64(rows)}, p.name, im}, nil
}

func (p *ipcFile) record(part int) (rec arrow.RecordBatch, err error) {
	name := fmt.Sprintf("%s: record batch %d", p.name, part)
	p.mu.Lock()
	defer p.mu.Unlock()
	defer caught(name, &err)
	rec, err = p.r.RecordBatchAt(part)
	return rec, badFile(name, err)
}

// reorder is a record of some columns of another, which it retains.
func reorder(rec arrow.RecordBatch, order []int) arrow.RecordBatch {
	fields := make([]arrow.Field, len(order))
	cols := make([]arrow.Array, len(order))
	for i, c := range order {
		fields[i], cols[i] = rec.Schema().Field(c), rec.Column(c)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, rec.NumRows())
}

// recordSlicer gives a record in slices; it owns the record.
type recordSlicer struct {
	rec  arrow.RecordBatch
	last arrow.RecordBatch
	at   int64
	rows int64
}

// Next implements recordReader.
func (s *recordSlicer) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.last != nil {
		s.last.Release()
		s.last = nil
	}
	if s.at >= s.rec.NumRows() {
		return nil, nil
	}
	end := min(s.at+s.rows, s.rec.NumRows())
	s.last = s.rec.NewSlice(s.at, end)
	s.at = end
	return s.last, nil
}

// Close implements recordReader.
func (s *recordSlicer) Close() error {
	if s.last != nil {
		s.last.Release()
		s.last = nil
	}
	if s.rec != nil {
		s.rec.Release()
		s.rec = nil
	}
	return nil
}

// ipcWriter writes an Arrow IPC file.
type ipcWriter struct {
	part *partFile
	w    *ipc.FileWriter
}

func newIPCWriter(part *partFile, schema sqltype.Schema) (RecordWriter, error) {
	w, err := ipc.NewFileWriter(part.File, ipc.WithSchema(ArrowSchema(schema)))
	if err != nil {
		return nil, err
	}
	return &ipcWriter{part: part, w: w}, nil
}

// Write implements RecordWriter.
func (w *ipcWriter) Write(rec arrow.RecordBatch) error { return badFile(w.part.name, w.w.Write(rec)) }

// Close implements RecordWriter.
func (w *ipcWriter) Close() error {
	if err := w.w.Close(); err != nil {
		w.part.abort()
		return badFile(w.part.name, err)
	}
	return w.part.commit()
}

// Abort implements RecordWriter.
func (w *ipcWriter) Abort() { w.part.abort() }
