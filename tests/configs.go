package tests

import (
	"fmt"
	"strings"
)

// Config is a way to run scripts whose results must be the same in all of them.
type Config struct {
	Name string
	Set  []string // statements that prepare a session
}

// configs are the known parts of a configuration; a configuration joins some by commas.
var configs = [...]Config{
	{"cpu", []string{"SET device = 'cpu'"}},
	{"cuda", []string{"SET device = 'cuda'"}},
	{"require_gpu", []string{"SET require_gpu = on"}},
	{"optimizer=off", []string{"SET optimizer = off"}},
	{"morsel=3", []string{"SET morsel = 3"}},
	{"hash=zero", []string{"SET hash = 'zero'"}},
	{"index=none", []string{"SET index = 'none'"}},
	{"index=btree", []string{"SET index = 'btree'"}},
	{"index=lsm", []string{"SET index = 'lsm'"}},
	{"index=mvcc", []string{"SET index = 'mvcc'"}},
	{"spill=always", []string{"SET spill = 'always'"}},
	{"threads=1", []string{"SET threads = 1"}},
}

// ParseConfig reads a configuration: names joined by commas, or nothing.
func ParseConfig(text string) (Config, error) {
	c := Config{Name: text}
parts:
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		for _, known := range configs {
			if known.Name == part {
				c.Set = append(c.Set, known.Set...)
				continue parts
			}
		}
		return Config{}, fmt.Errorf("no configuration %q: there are %s", part, strings.Join(configNames(), ", "))
	}
	return c, nil
}

func configNames() []string {
	names := make([]string, len(configs))
	for i := range configs {
		names[i] = configs[i].Name
	}
	return names
}
