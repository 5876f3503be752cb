package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// textSpan is where a field's text lies: n bytes from at on.
type textSpan struct {
	at uint32
	n  uint32 // with the flags
}

// The flags of a textSpan. A span that is noText is NULL.
const (
	spanQuoted = 1 << 31
	spanSide   = 1 << 30 // the text had escapes, and lies aside without them
	spanLength = 1<<30 - 1
	noText     = ^uint32(0)
)

// csvSplitter splits text into records, and records into fields.
type csvSplitter struct {
	o    CSVOptions
	data []byte // whole records, and padding behind them
	end  int    // of the records
	pos  int    // the next record
	row  []textSpan
	side []byte
}

// errOpenQuote and the like are a record's errors; the reader adds the place.
var errOpenQuote = errors.New("a quoted field is never closed")

// reset starts on data, which has textPadding bytes behind end.
func (s *csvSplitter) reset(data []byte, end int) {
	data[end] = '\n'
	s.data, s.end, s.pos, s.side = data, end, 0, s.side[:0]
}

func (s *csvSplitter) aside() []byte { return s.side }
func (s *csvSplitter) forget()       { s.side = s.side[:0] }

// record splits the next record into row. Nothing is left when it is false.
func (s *csvSplitter) record() (bool, error) {
	s.row = s.row[:0]
	if s.pos >= s.end {
		return false, nil
	}
	delimiter := uint64(s.o.Delimiter) * 0x0101010101010101
	at := s.pos
	for {
		var sp textSpan
		var stop int
		if s.data[at] == s.o.Quote && s.o.Quote != 0 && at < s.end {
			var err error
			if sp, stop, err = s.quoted(at); err != nil {
				return false, err
			}
		} else {
			stop = fieldEnd(s.data, at, delimiter)
			sp = textSpan{at: uint32(at), n: uint32(stop - at)}
			if s.data[stop] == '\n' && sp.n > 0 && s.data[stop-1] == '\r' {
				sp.n--
			}
		}
		s.row = append(s.row, sp)
		if s.data[stop] == '\n' {
			s.pos = stop + 1
			return true, nil
		}
		at = stop + 1
	}
}

// fieldEnd is where the next delimiter or line end is.
func fieldEnd(data []byte, at int, delimiter uint64) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	const lines = '\n' * ones
	for {
		w := binary.LittleEndian.Uint64(data[at:])
		d, l := w^delimiter, w^lines
		if m := ((d - ones) &^ d & highs) | ((l - ones) &^ l & highs); m != 0 {
			return at + bits.TrailingZeros64(m)>>3
		}
		at += 8
	}
}

// quoted reads a field that begins with a quote, and gives where it ends.
func (s *csvSplitter) quoted(at int) (textSpan, int, error) {
	from := at + 1
	escaped := false
	to := from
	for {
		i := s.quoteIn(to)
		if i < 0 {
			return textSpan{}, 0, errOpenQuote
		}
		to += i
		if s.data[to] == s.o.Escape && to+1 < s.end && (s.data[to+1] == s.o.Quote || s.data[to+1] == s.o.Escape) {
			escaped = true
			to += 2
			continue
		}
		if s.data[to] == s.o.Quote {
			break
		}
		to++ // an escape with nothing to escape
	}
	sp := textSpan{at: uint32(from), n: uint32(to-from) | spanQuoted}
	if escaped {
		sp.at = uint32(len(s.side))
		s.unescape(s.data[from:to])
		sp.n = uint32(len(s.side)) - sp.at | spanQuoted | spanSide
	}
	stop := to + 1
	if s.data[stop] == '\r' && s.data[stop+1] == '\n' {
		stop++
	}
	if c := s.data[stop]; c != s.o.Delimiter && c != '\n' {
		return sp, stop, fmt.Errorf("unexpected %q behind a quoted field", c)
	}
	return sp, stop, nil
}

// quoteIn is how far the next quote or escape is, -1 for nowhere.
func (s *csvSplitter) quoteIn(at int) int {
	rest := s.data[at:s.end]
	i := bytes.IndexByte(rest, s.o.Quote)
	if s.o.Escape == s.o.Quote {
		return i
	}
	if i >= 0 {
		rest = rest[:i]
	}
	if j := bytes.IndexByte(rest, s.o.Escape); j >= 0 {
		return j
	}
	return i
}

// unescape puts text without its escapes aside.
func (s *csvSplitter) unescape(text []byte) {
	for i := 0; i < len(text); i++ {
		if text[i] == s.o.Escape && i+1 < len(text) && (text[i+1] == s.o.Quote || text[i+1] == s.o.Escape) {
			i++
		}
		s.side = append(s.side, text[i])
	}
}

// text is a field's.
func (s *csvSplitter) text(sp textSpan) []byte {
	n := sp.n & spanLength
	if sp.n&spanSide != 0 {
		return s.side[sp.at : sp.at+n]
	}
	return s.data[sp.at : sp.at+n]
}

// recordEnd is where the first record at or behind target begins, -1 when w,
// which begins with a record, is not enough to tell. Last says that nothing
// comes behind w.
func recordEnd(w []byte, target int, o CSVOptions, last bool) int {
	s := csvSplitter{o: o, data: w, end: len(w)}
	at := 0
	for {
		q := -1
		if o.Quote != 0 {
			q = bytes.IndexByte(w[at:], o.Quote)
		}
		until := len(w)
		if q >= 0 {
			until = at + q
		}
		if from := max(at, target-1); from < until {
			if i := bytes.IndexByte(w[from:until], '\n'); i >= 0 {
				return from + i + 1
			}
		}
		if q < 0 {
			break
		}
		at = until
		if at > 0 && w[at-1] != o.Delimiter && w[at-1] != '\n' {
			at++ // a quote within a field is one of its letters
			continue
		}
		if at = s.closing(at + 1); at < 0 {
			break
		}
	}
	if last {
		return len(w)
	}
	return -1
}

// closing is what is behind the quote that closes a field whose text begins at
// at, -1 when it is not to be seen.
func (s *csvSplitter) closing(at int) int {
	for {
		i := s.quoteIn(at)
		if i < 0 {
			return -1
		}
		at += i
		next := byte(0)
		if at+1 < s.end {
			next = s.data[at+1]
		} else {
			return -1
		}
		switch {
		case s.data[at] == s.o.Escape && (next == s.o.Quote || next == s.o.Escape):
			at += 2
		case s.data[at] == s.o.Quote:
			return at + 1
		default:
			at++
		}
	}
}
