package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pieces cuts a text into tokens: one word each, with the space before it.
// Together they are the text again.
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

// fragments cuts tool arguments, which may hold no space at all, into pieces
// of about eight bytes that never split a character.
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

// cutAtStop cuts the text before the first of the stop strings in it, and returns
// that stop string, "" for none.
func cutAtStop(text string, stops []string) (kept, matched string) {
	first := len(text)
	for _, stop := range stops {
		if at := strings.Index(text, stop); stop != "" && at >= 0 && at < first {
			first, matched = at, stop
		}
	}
	return text[:first], matched
}

// budget is the number of tokens that may still be written; negative: no limit.
type budget int

// take returns as many of the pieces as the budget allows, and whether these are all.
func (b *budget) take(list []string) ([]string, bool) {
	if *b < 0 {
		return list, true
	}
	n := min(len(list), int(*b))
	*b -= budget(n)
	return list[:n], n == len(list)
}
