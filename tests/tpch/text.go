package tpch

import "sync"

// poolSize is how much text comments are cut from.
const poolSize = 300 << 20

// pool is the text that comments are cut from. It is the same for every scale,
// and takes a second or two to write, so it is written once.
var pool = sync.OnceValue(func() []byte {
	s := newStream(933588178, 0)
	text := make([]byte, 0, poolSize+1024)
	for len(text) < poolSize {
		text = append(appendSentence(text, &s), ' ')
	}
	return text[:poolSize]
})

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
func comment(avg int, s *stream) string {
	p := pool()
	lo, hi := int64(float64(avg)*0.4), int64(float64(avg)*1.6)
	at := s.between(0, poolSize-hi)
	n := s.between(lo, hi)
	return string(p[at : at+n])
}

// address is random letters of average length 25.
func address(s *stream) string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,"
	b := make([]byte, s.between(10, 40))
	var bits int64
	for i := range b {
		if i%5 == 0 {
			bits = s.between(0, modulus)
		}
		b[i] = letters[bits&63]
		bits >>= 6
	}
	return string(b)
}
