package exec

import (
	"context"

	"github.com/gpusql/gpusql/storage/arrow"
)

// Operator gives a result batch by batch, to one goroutine.
//
// Next returns nil at the end and after it; a batch has at least one row, and
// is valid until the next call. After an error only Close may be called.
// Close releases everything, may be called at any time and more than once, and
// closes the operator's inputs. Opening is the first Next's job: making an
// operator reads nothing and can be undone by Close alone.
type Operator interface {
	Next(context.Context) (*arrow.Batch, error)
	Close() error
}
