package guards

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// normal is a text in the form in which patterns search it: compatibility characters are
// replaced by those that they stand for (NFKC), digits of all scripts by 0 to 9, dashes by
// hyphens, and characters without a width are left out.
type normal struct {
	text string
	// from are, for each byte of the text and for its end, the offsets in the original; nil if
	// the two are the same.
	from []int
	// original is the length of the original.
	original int
}

// normalize returns the normal form of a text.
func normalize(text string) normal {
	if isASCII(text) {
		return normal{text: text}
	}
	n := normal{original: len(text)}
	var it norm.Iter
	it.InitString(norm.NFKC, text)
	var out []byte
	for !it.Done() {
		at := it.Pos()
		for _, r := range string(it.Next()) {
			if aigateway.IsInvisible(r) {
				continue
			}
			before := len(out)
			out = utf8.AppendRune(out, plain(r))
			for range len(out) - before {
				n.from = append(n.from, at)
			}
		}
	}
	n.text, n.from = string(out), append(n.from, len(text))
	return n
}

// plain returns the ASCII digit of a digit of any script, the hyphen of a dash, and other
// characters unchanged: models read a number the same in each of these spellings.
func plain(r rune) rune {
	const minus = '\u2212'
	switch {
	case r == minus, unicode.Is(unicode.Pd, r):
		return '-'
	case r < utf8.RuneSelf, !unicode.Is(unicode.Nd, r):
		return r
	}
	digit := '0' // the digits of a script follow each other, from 0 to 9
	for q := r - 1; unicode.Is(unicode.Nd, q); q-- {
		digit++
	}
	return '0' + (digit-'0')%10
}

// at returns the part of the original that a part of the normal text stands for.
func (n *normal) at(s span) span {
	if n.from == nil || s.start == s.end {
		return s
	}
	end := n.from[s.end]
	for i := s.end; i < len(n.from) && end <= n.from[s.end-1]; i++ { // several bytes of one original
		end = n.from[i]
	}
	return span{n.from[s.start], end}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
