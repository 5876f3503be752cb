package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpusql/gpusql"
)

// maxHistory is how many texts the history file keeps.
const maxHistory = 1000

// repl reads statements at the terminal until .quit or the end of input.
func (sh *shell) repl() {
	sh.interactive = true
	fmt.Fprintln(sh.stdout, "gpusql. Statements end in a semicolon; .help lists commands, .quit leaves.")
	h := openHistory()
	words := &completion{shell: sh}
	newLineReader(promptOptions{
		prefix:   func() string { return "gpusql> " },
		history:  h.texts,
		complete: words.complete,
		whole:    func(text string) bool { return isCommand(text) || gpusql.Complete(text) },
	}).Run(func(text string) bool {
		if strings.TrimSpace(text) != "" {
			h.add(text)
			sh.text(text)
			words.forget()
		}
		return !sh.quit
	})
	if err := h.save(); err != nil {
		fmt.Fprintln(sh.stderr, "history:", err)
	}
}

// history is the texts that were entered, kept in a file of JSON strings.
type history struct {
	path  string
	texts []string
}

// openHistory reads the history; one that cannot be read is empty.
func openHistory() *history {
	dir, err := os.UserConfigDir()
	if err != nil {
		return &history{}
	}
	h := &history{path: filepath.Join(dir, "gpusql", "history")}
	data, err := os.ReadFile(h.path)
	if err != nil {
		return h
	}
	for _, line := range strings.Split(string(data), "\n") {
		var text string
		if json.Unmarshal([]byte(line), &text) == nil {
			h.texts = append(h.texts, text)
		}
	}
	return h
}

func (h *history) add(text string) {
	if n := len(h.texts); n > 0 && h.texts[n-1] == text {
		return
	}
	h.texts = append(h.texts, text)
	h.texts = h.texts[max(0, len(h.texts)-maxHistory):]
}

// save writes the history for its owner alone: statements may hold secrets.
func (h *history) save() error {
	if h.path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	var b strings.Builder
	for _, text := range h.texts {
		line, err := json.Marshal(text)
		if err != nil {
			return err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return os.WriteFile(h.path, []byte(b.String()), 0o600)
}

// completion knows the words that can be completed: keywords, tables, and the
// columns of all tables. It asks the database again after each text.
type completion struct {
	shell *shell
	names []string
	known bool
}

func (c *completion) forget() { c.known = false }

// complete gives the words that begin with word.
func (c *completion) complete(word, before string) []string {
	if isCommand(before) {
		var list []string
		for _, cmd := range commands() {
			list = append(list, before[:1]+cmd.name)
		}
		return starting(list, word)
	}
	if !c.known {
		c.names, c.known = c.load(), true
	}
	if i := strings.LastIndexByte(word, '.'); i >= 0 {
		list := starting(c.names, word[i+1:])
		for j := range list {
			list[j] = word[:i+1] + list[j]
		}
		return list
	}
	list := starting(c.names, word)
	keywords := starting(gpusql.Keywords(), word)
	if word == strings.ToLower(word) {
		for i := range keywords {
			keywords[i] = strings.ToLower(keywords[i])
		}
	}
	return append(list, keywords...)
}

// starting are the words that begin with prefix, in any case, but not the word itself.
func starting(words []string, prefix string) []string {
	var list []string
	for _, w := range words {
		if len(w) > len(prefix) && strings.EqualFold(w[:len(prefix)], prefix) {
			list = append(list, w)
		}
	}
	return list
}

// load asks for tables and columns. While typing, an error is no reason to
// trouble anyone: there is less to suggest.
func (c *completion) load() []string {
	tables, err := c.shell.tableNames()
	if err != nil {
		return nil
	}
	names := slices.Clone(tables)
	for _, t := range tables {
		columns, err := c.shell.columnNames(t)
		if err != nil {
			continue
		}
		names = append(names, columns...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
