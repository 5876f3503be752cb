package gpusql

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// dialect is whose SQL a text is in.
type dialect uint8

const (
	dialectGPUSQL dialect = iota
	dialectMySQL
)

// settings are what SET changes: a value that a connection owns. Statements
// that are prepared remember plan, which counts the changes that planning sees.
type settings struct {
	device        string
	memoryLimit   int64 // bytes a query may use; 0: the database's limit alone
	threads       int   // 0: one a core
	optimizer     bool
	disabled      []string // rules that do not run
	morsel        int      // rows a batch; 0: the device's number
	hashZero      bool
	useIndexes    bool
	retention     time.Duration // of the database
	tempDirectory string        // of files for what memory has no room for; empty: there are none
	maxTempSize   int64         // bytes of them that a query may use; 0: the database's limit alone
	spillAlways   bool
	indexKind     string // of indexes without USING; empty: the database's
	dialect       dialect
	timezone      string
	path          []string // schemas
	gpuMemory     int64    // bytes of a GPU's memory that a query may use; 0: the database's limit alone
	requireGPU    bool
	canary        canary
	plan          int
}

func defaultSettings() settings {
	return settings{device: "auto", optimizer: true, useIndexes: true, timezone: "UTC", tempDirectory: autoTempDirectory, path: []string{storage.Main}}
}

// setting is one name that SET and SHOW know.
type setting struct {
	name  string
	about string
	get   func(*settings) string
	set   func(*settings, string) error
}

// settingList is every setting, sorted by name; the functions in it close over nothing.
func settingList() []setting {
	return []setting{
		{"device", "where queries run: auto, cpu, cuda or cuda:1 and so on",
			func(s *settings) string { return s.device }, setDevice},
		{"dialect", "whose SQL is read: gpusql or mysql",
			func(s *settings) string { return s.dialect.String() }, setDialect},
		{"disabled_rules", "rules of the optimizer that do not run, separated by commas",
			func(s *settings) string { return strings.Join(s.disabled, ",") }, setDisabled},
		{"gpu_canary", "none, or fail or lose to have a kernel of every query on a GPU fail, or lose the GPU (for tests)",
			func(s *settings) string { return s.canary.String() }, setCanary},
		{"gpu_memory_limit", "the most memory of a GPU that a query may use, such as 8GB; 0 for no limit of its own; what does not fit lies in the host's memory",
			func(s *settings) string { return strconv.FormatInt(s.gpuMemory, 10) },
			func(s *settings, v string) error { return setBytes(&s.gpuMemory, "gpu_memory_limit", v) }},
		{"hash", "auto, or zero to have all hashes collide (for tests)",
			func(s *settings) string { return word(s.hashZero, "zero", "auto") }, setHash},
		{"index", "auto, or the kind of new indexes without USING: btree, lsm or mvcc; none to answer without indexes",
			func(s *settings) string {
				return word(s.useIndexes, word(s.indexKind != "", s.indexKind, "auto"), "none")
			}, setIndex},
		{"max_temp_size", "the most bytes of temporary files that a query may use, such as 10GB; 0 for no limit of its own",
			func(s *settings) string { return strconv.FormatInt(s.maxTempSize, 10) },
			func(s *settings, v string) error { return setBytes(&s.maxTempSize, "max_temp_size", v) }},
		{"memory_limit", "the most memory that a query may use, such as 512MB; 0 for no limit of its own",
			func(s *settings) string { return strconv.FormatInt(s.memoryLimit, 10) },
			func(s *settings, v string) error { return setBytes(&s.memoryLimit, "memory_limit", v) }},
		{"morsel", "rows a batch; 0 for what suits the device",
			func(s *settings) string { return strconv.Itoa(s.morsel) },
			func(s *settings, v string) error { return setCount(&s.morsel, "morsel", v) }},
		{"optimizer", "on, or off to run only the rules that execution needs",
			func(s *settings) string { return word(s.optimizer, "on", "off") },
			func(s *settings, v string) error { return setSwitch(&s.optimizer, "optimizer", v) }},
		{"require_gpu", "on to have a query that would not run on a GPU be an error",
			func(s *settings) string { return word(s.requireGPU, "on", "off") },
			func(s *settings, v string) error { return setSwitch(&s.requireGPU, "require_gpu", v) }},
		{"retention", "for how long AS OF finds a version after it was replaced, such as 1h, in the whole database; an index may ask for longer",
			func(s *settings) string { return s.retention.String() }, setRetention},
		{"search_path", "the schemas in which names without one are looked for, separated by commas",
			func(s *settings) string { return strings.Join(s.path, ",") }, setPath},
		{"spill", "auto, or always to have operators put their rows into temporary files whether memory is short or not (for tests)",
			func(s *settings) string { return word(s.spillAlways, "always", "auto") }, setSpill},
		{"temp_directory", "where temporary files are for what memory_limit leaves no room for; auto for the system's place, empty for none",
			func(s *settings) string { return s.tempDirectory },
			func(s *settings, v string) error { s.tempDirectory = v; return nil }},
		{"threads", "the most workers of a query; 0 for one a core",
			func(s *settings) string { return strconv.Itoa(s.threads) },
			func(s *settings, v string) error { return setCount(&s.threads, "threads", v) }},
		{"timezone", "the zone in which TIMESTAMPTZ is written: UTC",
			func(s *settings) string { return s.timezone }, setTimezone},
	}
}

func word(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// findSetting is the setting of that name, or an error that suggests one.
func findSetting(name string) (setting, error) {
	list := settingList()
	i := slices.IndexFunc(list, func(s setting) bool { return strings.EqualFold(s.name, name) })
	if i >= 0 {
		return list[i], nil
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].name
	}
	e := sqltype.Errorf(sqltype.CodeUndefinedObject, "there is no setting %q", name)
	e.Hint = "there are " + strings.Join(names, ", ")
	return setting{}, e
}

// show is the value of a setting.
func (s *settings) show(name string) (string, error) {
	f, err := findSetting(name)
	if err != nil {
		return "", err
	}
	return f.get(s), nil
}

// change sets a setting, by the words of SET.
func (s *settings) change(name, value string) error {
	f, err := findSetting(name)
	if err != nil {
		return err
	}
	next := *s
	if err := f.set(&next, strings.TrimSpace(value)); err != nil {
		return err
	}
	next.plan++
	*s = next
	return nil
}

// reset gives a setting its first value back.
func (s *settings) reset(name string, first settings) error {
	f, err := findSetting(name)
	if err != nil {
		return err
	}
	return s.change(name, f.get(&first))
}

func badValue(name, value, want string) *sqltype.Error {
	return sqltype.Errorf(sqltype.CodeInvalidParameter, "%s cannot be %q: want %s", name, value, want)
}

// setDevice takes a GPU's name; whether there is such a GPU only the database
// knows (devices.open).
func setDevice(s *settings, v string) error {
	v = strings.ToLower(v)
	if _, isGPU := deviceOrdinal(v); !isGPU && v != "auto" && v != "cpu" {
		return badValue("device", v, "auto, cpu or cuda")
	}
	s.device = v
	return nil
}

// setWord gives a field the value of a word.
func setWord[T any](field *T, name, v, want string, words map[string]T) error {
	value, ok := words[strings.ToLower(v)]
	if !ok {
		return badValue(name, v, want)
	}
	*field = value
	return nil
}

func setCanary(s *settings, v string) error {
	return setWord(&s.canary, "gpu_canary", v, "none, fail or lose", map[string]canary{"none": canaryNone, "fail": canaryFail, "lose": canaryLose})
}

func setDialect(s *settings, v string) error {
	return setWord(&s.dialect, "dialect", v, "gpusql or mysql", map[string]dialect{
		"gpusql": dialectGPUSQL, "postgresql": dialectGPUSQL, "default": dialectGPUSQL, "mysql": dialectMySQL})
}

func setDisabled(s *settings, v string) error {
	s.disabled = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	return nil
}

func setPath(s *settings, v string) error {
	var path []string
	for name := range strings.SplitSeq(v, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			path = append(path, name)
		}
	}
	s.path = path
	return nil
}

func setHash(s *settings, v string) error {
	return setWord(&s.hashZero, "hash", v, "auto or zero", map[string]bool{"auto": false, "zero": true})
}

func setSpill(s *settings, v string) error {
	return setWord(&s.spillAlways, "spill", v, "auto or always", map[string]bool{"auto": false, "always": true})
}

func setIndex(s *settings, v string) error {
	v = strings.ToLower(v)
	switch v {
	case "auto":
		s.useIndexes, s.indexKind = true, ""
	case "btree", "lsm", "mvcc":
		s.useIndexes, s.indexKind = true, v
	case "none":
		s.useIndexes = false
	default:
		return badValue("index", v, "auto, btree, lsm, mvcc or none")
	}
	return nil
}

func setRetention(s *settings, v string) error {
	d, err := retentionOf(v)
	if err != nil {
		return err
	}
	s.retention = d
	return nil
}

// retentionOf is a time that is written as Go's are or as an INTERVAL. How long a
// month is depends on the month.
func retentionOf(v string) (time.Duration, *sqltype.Error) {
	d, err := time.ParseDuration(v)
	if err != nil {
		var span sqltype.Span
		span, err = sqltype.ParseInterval(v)
		d = time.Duration(span.Days)*24*time.Hour + time.Duration(span.Micros)*time.Microsecond
		const century = 36525 * sqltype.MicrosPerDay
		if span.Months != 0 || max(int64(span.Days)*sqltype.MicrosPerDay, span.Micros) > century {
			d = -1
		}
	}
	if err != nil || d < 0 {
		return 0, badValue("retention", v, "a time such as 90s, 1h or 7 days")
	}
	return d, nil
}

func setSwitch(field *bool, name, v string) error {
	return setWord(field, name, v, "on or off", map[string]bool{"on": true, "true": true, "1": true, "off": false, "false": false, "0": false})
}

func setTimezone(s *settings, v string) error {
	switch strings.ToUpper(v) {
	case "UTC", "GMT", "Z", "ETC/UTC":
		s.timezone = "UTC"
		return nil
	}
	return badValue("timezone", v, "UTC")
}

func setCount(field *int, name, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return badValue(name, v, "a number from 0")
	}
	*field = n
	return nil
}

func setBytes(field *int64, name, v string) error {
	n, err := parseBytes(name, v)
	if err != nil {
		return err
	}
	*field = n
	return nil
}

// parseBytes reads a size: a number with B, KB, MB, GB or TB, in powers of 1024.
func parseBytes(name, v string) (int64, error) {
	bad := badValue(name, v, "a size such as 512MB")
	text := strings.ToUpper(strings.ReplaceAll(v, " ", ""))
	text = strings.TrimSuffix(strings.Replace(text, "IB", "B", 1), "B")
	scale := 1.0
	if n := len(text); n > 0 {
		if i := strings.IndexByte("KMGT", text[n-1]); i >= 0 {
			scale, text = math.Pow(1024, float64(i+1)), text[:n-1]
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n*scale >= 1<<62 {
		return 0, bad
	}
	return int64(n * scale), nil
}

// String is for error messages and tests.
func (d dialect) String() string {
	switch d {
	case dialectGPUSQL:
		return "gpusql"
	case dialectMySQL:
		return "mysql"
	default:
		panic(fmt.Sprintf("gpusql: no dialect %d", uint8(d)))
	}
}
