// Package driver registers gpusql with database/sql, under the name "gpusql".
//
//	import _ "github.com/gpusql/gpusql/driver"
//
//	db, err := sql.Open("gpusql", ":memory:")
//
// It is the one place of the project that acts when it is imported. Without
// it, sql.OpenDB takes a gpusql.NewConnector.
//
// Invariants:
//
//  1. Nothing but the registration happens here.
package driver

import (
	"database/sql"

	"github.com/gpusql/gpusql"
)

// registered makes the registration happen once, at import.
var _ = register()

func register() struct{} {
	sql.Register("gpusql", gpusql.Driver{})
	return struct{}{}
}
