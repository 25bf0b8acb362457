package fault

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Reveals reports whether a text of a provider repeats the secret: as it is, or
// spelt with the escapes of JSON, since some servers write every "/" as "\/"
// and "+" or "&" as \u escapes. It never does for "".
func Reveals(text, secret string) bool {
	if secret == "" {
		return false
	}
	for range maxNesting {
		if strings.Contains(text, secret) {
			return true
		}
		if strings.IndexByte(text, '\\') < 0 {
			return false
		}
		text = unescaped(text)
	}
	return strings.Contains(text, secret)
}

// maxNesting is how often a text may have been put into a JSON string: errors
// of a provider are often found inside the error of a proxy before it.
const maxNesting = 3

// unescaped takes one layer of JSON escapes from a text, which need not be
// JSON. It only serves to search in.
func unescaped(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		i++
		if r, ok := hexEscape(text[i:]); ok {
			out = utf8.AppendRune(out, r)
			i += 4
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

// hexEscape reads the "u" and four digits of an escape.
func hexEscape(text string) (rune, bool) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(text[1:5], 16, 16)
	return rune(r), err == nil
}

// telling is how many bytes of a secret tell more than whose it is.
const telling = 8

// endsWithin reports whether a text was cut within the secret: what is left of
// it stands at the end then.
func endsWithin(text, secret string) bool {
	if len(text) <= maxDetail-utf8.UTFMax {
		return false
	}
	for n := len(secret) - 1; n >= telling; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return true
		}
	}
	return false
}
