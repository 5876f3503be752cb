package main

import (
	"github.com/elk-language/go-prompt"
	istrings "github.com/elk-language/go-prompt/strings"
)

// lineReader asks for texts at a terminal.
type lineReader interface {
	// Run hands each text to use until that returns false or the input ends.
	// The terminal is in its usual state while use runs, and after Run.
	Run(use func(text string) bool)
}

// promptOptions say what a lineReader needs to know.
type promptOptions struct {
	prefix   func() string
	history  []string
	complete func(word, before string) []string // words that may stand for word after before
	whole    func(text string) bool             // the text is to be used, and not gone on with
}

// promptReader is the lineReader over go-prompt.
type promptReader struct{ options promptOptions }

func newLineReader(o promptOptions) lineReader { return &promptReader{o} }

// wordEnds are the characters that a word to be completed does not hold.
const wordEnds = " \t\n()[],;=<>+-*/%|&!'"

// Run implements lineReader.
func (r *promptReader) Run(use func(string) bool) {
	more := true
	p := prompt.New(
		func(text string) { more = use(text) },
		// go-prompt draws a last prompt before it asks whether to leave.
		prompt.WithPrefixCallback(func() string {
			if !more {
				return ""
			}
			return r.options.prefix()
		}),
		prompt.WithHistory(r.options.history),
		prompt.WithHistorySize(maxHistory),
		prompt.WithCompleter(r.suggest),
		prompt.WithCompletionWordSeparator(wordEnds),
		prompt.WithExecuteOnEnterCallback(func(p *prompt.Prompt, _ int) (int, bool) {
			return 0, r.options.whole(p.Buffer().Text())
		}),
		// It is asked after every key as well, when nothing was used yet.
		prompt.WithExitChecker(func(_ string, entered bool) bool { return entered && !more }),
	)
	p.Run()
}

// suggest gives go-prompt what can stand at the cursor.
func (r *promptReader) suggest(d prompt.Document) ([]prompt.Suggest, istrings.RuneNumber, istrings.RuneNumber) {
	word := d.GetWordBeforeCursorUntilSeparator(wordEnds)
	end := d.CurrentRuneIndex()
	start := end - istrings.RuneCountInString(word)
	if word == "" {
		return nil, start, end
	}
	var list []prompt.Suggest
	for _, s := range r.options.complete(word, d.TextBeforeCursor()) {
		list = append(list, prompt.Suggest{Text: s})
	}
	return list, start, end
}
