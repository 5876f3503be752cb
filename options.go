package gpusql

import (
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// Option sets something of a database when it is opened.
type Option func(*options)

// options is what Open goes by. Settings are the first values of every
// connection's, in the words of SET.
type options struct {
	settings [][2]string
	resolve  func(string) string
	library  string
	compile  int
}

// WithSetting sets a setting for every connection, as SET name = value would.
func WithSetting(name, value string) Option {
	return func(o *options) { o.settings = append(o.settings, [2]string{name, value}) }
}

// WithMemoryLimit bounds the memory of the whole database, in bytes.
func WithMemoryLimit(bytes int64) Option {
	return WithSetting("memory_limit", strconv.FormatInt(bytes, 10))
}

// WithThreads bounds the workers of a query.
func WithThreads(n int) Option { return WithSetting("threads", strconv.Itoa(n)) }

// WithCUDALibrary names the library that is used as the driver of GPUs, in place
// of the system's (libcuda.so.1, nvcuda.dll). The variable GPUSQL_CUDA_LIBRARY
// of the environment does so for all databases.
func WithCUDALibrary(path string) Option { return func(o *options) { o.library = path } }

// WithCompileRows says from how many rows of a batch a GPU gets code that is made
// of a query's expressions, which takes its driver some 10 ms once; 0: a quarter
// of a million, and fewer before the interpreter of expressions, which takes the
// driver seconds once, has been needed. The variable GPUSQL_COMPILE_ROWS does so for all databases.
func WithCompileRows(n int) Option { return func(o *options) { o.compile = n } }

// WithFilePaths maps the names of files that statements read (FROM 'file',
// COPY ... FROM 'file') to the paths that are opened.
func WithFilePaths(resolve func(name string) string) Option {
	return func(o *options) { o.resolve = resolve }
}

// parseDSN reads a data source name: "", ":memory:" or a path, and settings
// after a question mark.
func parseDSN(dsn string, opts []Option) (path string, o *options, err error) {
	o = &options{resolve: func(name string) string { return name }, library: os.Getenv("GPUSQL_CUDA_LIBRARY")}
	if v := os.Getenv("GPUSQL_COMPILE_ROWS"); v != "" {
		if o.compile, err = strconv.Atoi(v); err != nil {
			return "", nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "GPUSQL_COMPILE_ROWS: %v", err)
		}
	}
	path, query, _ := strings.Cut(dsn, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "data source name %q: %v", dsn, err)
	}
	for name, list := range values {
		o.settings = append(o.settings, [2]string{name, list[len(list)-1]})
	}
	// A map's order is random, and errors should not be.
	slices.SortFunc(o.settings, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	for _, set := range opts {
		set(o)
	}
	if path == ":memory:" {
		path = ""
	}
	return path, o, nil
}
