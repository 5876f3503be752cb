package tpch

import "sync"

// An Edition is one of the generators that write the same tables with other
// comments and addresses.
type Edition uint8

// Reference is the official generator. Compact is the one that DuckDB made of
// it, and that the suite's answers come from: comments are cut from the first
// tenth or so of the text, and addresses are of the numbers that were meant.
const (
	Reference Edition = iota
	Compact
)

// poolSize is how much text comments are cut from.
func (e Edition) poolSize() int {
	if e == Compact {
		return 10 << 20
	}
	return 300 << 20
}

// The text is the same for every scale, so it is written once.
var pools = [...]func() []byte{
	Reference: sync.OnceValue(func() []byte { return writePool(Reference.poolSize()) }),
	Compact:   sync.OnceValue(func() []byte { return writePool(Compact.poolSize()) }),
}

func writePool(size int) []byte {
	s := newStream(933588178, 0)
	text := make([]byte, 0, size+1024)
	for len(text) < size {
		text = append(appendSentence(text, &s), ' ')
	}
	return text[:size]
}

// appendSentence writes one sentence of the grammar.
func appendSentence(b []byte, s *stream) []byte {
	syntax := sentences.draw(s)
	for i := 0; i < len(syntax); i += 2 {
		switch syntax[i] {
		case 'N':
			b = appendPhrase(b, s, nounPhrases.draw(s), nouns)
		case 'V':
			b = appendPhrase(b, s, verbPhrases.draw(s), verbs)
		case 'P':
			b = append(append(b, prepositions.draw(s)...), " the "...)
			b = appendPhrase(b, s, nounPhrases.draw(s), nouns)
		case 'T':
			b = append(b[:len(b)-1], terminators.draw(s)...)
		}
	}
	return b
}

// appendPhrase writes a phrase around head, nouns or verbs, and a blank behind
// each word.
func appendPhrase(b []byte, s *stream, syntax string, head *distribution) []byte {
	for _, c := range syntax {
		switch c {
		case 'J':
			b = append(append(b, adjectives.draw(s)...), ' ')
		case 'D':
			b = append(append(b, adverbs.draw(s)...), ' ')
		case 'X':
			b = append(append(b, auxiliaries.draw(s)...), ' ')
		case 'N', 'V':
			b = append(append(b, head.draw(s)...), ' ')
		case ',':
			b = append(b[:len(b)-1], ", "...)
		}
	}
	return b
}

// comment cuts a text of average length avg out of the pool.
func (m *maker) comment(avg int, s *stream) string {
	lo, hi := int64(float64(avg)*0.4), int64(float64(avg)*1.6)
	at := s.between(0, int64(len(m.pool))-hi)
	n := s.between(lo, hi)
	return string(m.pool[at : at+n])
}

// address is random letters of average length 25.
func (m *maker) address(s *stream) string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,"
	b := make([]byte, s.between(10, 40))
	var bits int64
	for i := range b {
		if i%5 == 0 {
			bits = s.draw(float64(1<<31) * m.sign)
		}
		b[i] = letters[bits&63]
		bits >>= 6
	}
	return string(b)
}
