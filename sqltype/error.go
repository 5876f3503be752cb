package sqltype

import "fmt"

// Error is the one error type of the engine's lower rooms. The root package
// re-exports it. Code is an SQLSTATE; Pos is a byte offset into the statement's
// text plus one (0: not known), so that the zero Error has no position.
type Error struct {
	Code string
	Pos  int
	Msg  string
	Hint string // a suggestion, or empty
}

func (e *Error) Error() string {
	if e.Hint != "" {
		return e.Msg + " (" + e.Hint + ")"
	}
	return e.Msg
}

// The SQLSTATEs in use.
const (
	CodeSyntax           = "42601"
	CodeUndefinedTable   = "42P01"
	CodeUndefinedColumn  = "42703"
	CodeUndefinedFunc    = "42883"
	CodeUndefinedObject  = "42704"
	CodeAmbiguousColumn  = "42702"
	CodeDuplicateTable   = "42P07"
	CodeDuplicateColumn  = "42701"
	CodeDuplicateObject  = "42710"
	CodeGrouping         = "42803"
	CodeTypeMismatch     = "42804"
	CodeInvalidParameter = "22023"
	CodeWrongObject      = "42809"
	CodeNotSupported     = "0A000"
	CodeOutOfRange       = "22003"
	CodeDivisionByZero   = "22012"
	CodeInvalidText      = "22P02"
	CodeBadDatetime      = "22007"
	CodeDatetimeOverflow = "22008"
	CodeCannotCast       = "42846"
	CodeCardinality      = "21000"
	CodeUnique           = "23505"
	CodeNotNull          = "23502"
	CodeCheck            = "23514"
	CodeForeignKey       = "23503"
	CodeSerialization    = "40001"
	CodeInFailedTx       = "25P02"
	CodeNoActiveTx       = "25P01"
	CodeActiveTx         = "25001"
	CodeReadOnlyTx       = "25006"
	CodeDiskFull         = "53100"
	CodeOutOfMemory      = "53200"
	CodeTooComplex       = "54001"
	CodeCanceled         = "57014"
	CodeIO               = "58030"
	CodeBadFile          = "58P01"
	CodeDevice           = "58000"
	CodeInternal         = "XX000"
)

// Errorf makes an Error with no position.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// At returns a copy of e at byte offset pos, unless it has a position already.
func (e *Error) At(pos int) *Error {
	if e.Pos != 0 {
		return e
	}
	c := *e
	c.Pos = pos + 1
	return &c
}
