package metamorphic

// ways are sessions whose answers must be those of a default one.
var ways = [][]string{
	{"SET optimizer = off"},
	{"SET morsel = 3"},
	{"SET hash = 'zero'"},
	{"SET index = 'none'"},
	{"SET optimizer = off", "SET morsel = 3", "SET index = 'none'"},
	{"SET spill = 'always'"},
	{"SET threads = 4", "SET morsel = 3"},
	{"SET spill = 'always'", "SET morsel = 3", "SET hash = 'zero'"},
}

// Default is gpusql as it is, but for a bound of memory: a query that a thousand
// rows make too large is to fail, and not the process.
func Default() *Way {
	return &Way{Name: "gpusql", Driver: "gpusql", Setup: []string{"SET memory_limit = '1GB'"}}
}

// Ways opens gpusql as it is, and in another way, by the seed. It needs gpusql's
// driver.
func Ways(seed uint64) Opener {
	other := Default()
	other.Name = "other"
	other.Setup = append(other.Setup, ways[seed%uint64(len(ways))]...)
	return Pair(Default(), other)
}
