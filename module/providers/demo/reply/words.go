package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pieces splits a text into tokens. A token is a word with the space before it. Joined, the
// tokens are the text.
func pieces(text string) []string {
	var list []string
	start, inWord := 0, false
	for i, r := range text {
		space := unicode.IsSpace(r)
		if space && inWord {
			list = append(list, text[start:i])
			start = i
		}
		inWord = !space
	}
	if start < len(text) {
		list = append(list, text[start:])
	}
	return list
}

// tokens counts the tokens of a text.
func tokens(text string) int { return len(strings.Fields(text)) }

// fragments splits tool arguments, which may have no spaces, into pieces of about eight
// bytes. It never splits a character.
func fragments(text string) []string {
	const size = 8
	var list []string
	for len(text) > size {
		cut := size
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		list = append(list, text[:cut])
		text = text[cut:]
	}
	if text != "" {
		list = append(list, text)
	}
	return list
}

// shorten cuts a text to at most n bytes, on a character boundary.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// cutAtStop returns the text before the first stop string in it, and this stop string; ""
// for none.
func cutAtStop(text string, stops []string) (kept, matched string) {
	first := len(text)
	for _, stop := range stops {
		if i := strings.Index(text, stop); stop != "" && i >= 0 && i < first {
			first, matched = i, stop
		}
	}
	return text[:first], matched
}

// budget is the number of tokens that may still be written; negative for no limit.
type budget int

// take returns the pieces that fit into the budget, and whether all of them do.
func (b *budget) take(list []string) ([]string, bool) {
	if *b < 0 {
		return list, true
	}
	n := min(len(list), int(*b))
	*b -= budget(n)
	return list[:n], n == len(list)
}
