package arrow

import (
	"fmt"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// CSVOptions say how a CSV file is written down. What the zero value leaves
// open is found out from the file's beginning.
type CSVOptions struct {
	Delimiter  byte // 0: "|" for .tbl, a tab for .tsv, else found out
	Quote      byte // 0: a double quote
	Escape     byte // 0: the quote, doubled
	Header     HeaderMode
	Null       string   // the unquoted field that is NULL
	Skip       int      // lines before the header
	AllText    bool     // every column is VARCHAR
	Sample     int      // the records that are looked at to find types; 0: sampleRecords
	IgnoreBad  bool     // pass over records that do not fit the columns
	PadMissing bool     // fields that a record lacks are NULL
	Names      []string // instead of the header's
	// Types are those of columns by their place, those of kind Null being found out,
	// and NamedTypes by name.
	Types      []sqltype.Type
	NamedTypes sqltype.Schema
}

// HeaderMode says whether the first line has the columns' names.
type HeaderMode uint8

// The modes. A writer takes HeaderGuess for HeaderYes.
const (
	HeaderGuess HeaderMode = iota
	HeaderYes
	HeaderNo
)

// withDefaults fills in what was not said and is not found out.
func (o CSVOptions) withDefaults(name string) CSVOptions {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	if o.Delimiter == 0 {
		switch {
		case strings.HasSuffix(name, ".tbl"):
			o.Delimiter = '|'
		case strings.HasSuffix(name, ".tsv"):
			o.Delimiter = '\t'
		}
	}
	if o.Quote == 0 {
		o.Quote = '"'
	}
	if o.Escape == 0 {
		o.Escape = o.Quote
	}
	if o.Sample == 0 {
		o.Sample = sampleRecords
	}
	return o
}

// csvFile is a CSV file.
type csvFile struct {
	textFile
	o CSVOptions
}

func openCSV(name string, o FileOptions) (File, error) {
	c := &csvFile{o: o.CSV.withDefaults(name)}
	c.end = func(w []byte, target int, last bool) int { return recordEnd(w, target, c.o, last) }
	if err := c.open(name, o); err != nil {
		return nil, err
	}
	if err := c.sniff(); err != nil {
		c.Close() //nolint:errcheck // it was only read
		return nil, err
	}
	return c, nil
}

// Read implements File.
func (c *csvFile) Read(part int, cols []int, rows int, im *Importer) (BatchReader, error) {
	s := &csvRecords{csvSplitter: csvSplitter{o: c.o}}
	r, err := c.read(part, cols, rows, im, s, c.o.IgnoreBad)
	if err == nil {
		s.want = r.want
	}
	return r, err
}

// csvRecords puts records into columns.
type csvRecords struct {
	csvSplitter
	want []*textColumn // by column of the file; nil: not asked for
}

// next implements recordSplitter.
func (s *csvRecords) next(n int) (int, bool, error) {
	for {
		at := s.pos
		more, err := s.record()
		if !more || err != nil {
			return at, false, err
		}
		if len(s.row) == 1 && s.row[0].n == 0 && len(s.want) > 1 {
			continue // an empty line
		}
		return at, true, s.place(n)
	}
}

// place puts the record's fields into the columns, as row n.
func (s *csvRecords) place(n int) error {
	row, width := s.row, len(s.want)
	if len(row) != width {
		switch {
		case len(row) == width+1 && row[width].n == 0:
			row = row[:width] // a delimiter behind the last field, as the TPC tools write it, is no field
		case len(row) > width || !s.o.PadMissing:
			return badRecord{fmt.Errorf("expected %d fields, found %d", width, len(row))}
		}
	}
	null := s.o.Null
	for i, c := range s.want {
		if c == nil {
			continue
		}
		if i >= len(row) {
			c.spans[n] = textSpan{n: noText}
			continue
		}
		f := row[i]
		if int(f.n) == len(null) && (len(null) == 0 || string(s.text(f)) == null) {
			f.n = noText
		}
		c.spans[n] = f
	}
	return nil
}

// badRecord is the error of a record that may be passed over.
type badRecord struct{ error }
