package mysql

import (
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// Parse reads the statements of a text in MySQL's dialect.
func Parse(text string) ([]parser.Parsed, error) {
	return nil, sqltype.Errorf(sqltype.CodeNotSupported, "not yet")
}
