package index

import "github.com/gpusql/gpusql/sqltype"

// Range is a range of rows by the values of the key columns: those that begin
// with Prefix and whose next column lies between Lo and Hi (nil: open). A NULL
// among them makes it empty, but for one in Prefix that is meant to be looked for.
type Range struct {
	Prefix         []sqltype.Datum
	Nulls          bool // NULLs in Prefix are
	Lo, Hi         *sqltype.Datum
	LoOpen, HiOpen bool
	Reverse        bool
	Limit          int64
}

// Interval is the encoded keys from Lo to below Hi.
type Interval struct {
	Lo, Hi []byte
	NoHi   bool // nothing above: Hi is not looked at
	Empty  bool
}
