package gpusql

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// Error is what went wrong in a statement.
type Error struct {
	Code      string // SQLSTATE
	Message   string
	Hint      string // a suggestion, or empty
	Statement string // the text that was given
	Pos       int    // byte offset into Statement plus one; 0 when not known
	cause     error
}

// The errors of wrong use.
var (
	ErrClosed = errors.New("gpusql: closed")
	ErrNoRows = errors.New("gpusql: no row: call Next first, and only while it returns true")
)

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	if line, column, ok := e.Position(); ok {
		fmt.Fprintf(&b, " at line %d, column %d", line, column)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// Unwrap is the error below, such as context.Canceled.
func (e *Error) Unwrap() error { return e.cause }

// Position is the line and column, from 1, columns in characters.
func (e *Error) Position() (line, column int, ok bool) {
	at := e.Pos - 1
	if at < 0 || at > len(e.Statement) {
		return 0, 0, false
	}
	before := e.Statement[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1, true
}

// Caret is the line of the statement that the error is in, and below it a
// caret at the place; empty when the place is not known.
func (e *Error) Caret() string {
	_, column, ok := e.Position()
	if !ok {
		return ""
	}
	at := e.Pos - 1
	start := strings.LastIndexByte(e.Statement[:at], '\n') + 1
	text, _, _ := strings.Cut(e.Statement[start:], "\n")
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string([]rune(text)[:min(column-1, utf8.RuneCountInString(text))]))
	return strings.TrimRight(text, "\r") + "\n" + pad + "^"
}

// wrapError makes any error of a statement an *Error.
func wrapError(err error, statement string) error {
	if err == nil {
		return nil
	}
	var done *Error
	if errors.As(err, &done) {
		return err
	}
	e := &Error{Code: sqltype.CodeInternal, Message: err.Error(), Statement: statement, cause: err}
	var low *sqltype.Error
	var memory *device.NoMemoryError
	switch {
	case errors.As(err, &low):
		e.Code, e.Message, e.Hint, e.Pos = low.Code, low.Msg, low.Hint, low.Pos
	case errors.As(err, &memory):
		e.Code = sqltype.CodeOutOfMemory
	case errors.Is(err, device.ErrLost), errors.Is(err, device.ErrNoCode):
		e.Code = sqltype.CodeDevice
	}
	return e
}

// caught turns a panic of the calling function into its error.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = sqltype.Errorf(sqltype.CodeInternal, "internal error: %v\n%s", r, debug.Stack())
	}
}
