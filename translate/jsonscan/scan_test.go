package jsonscan_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The cursor looks at many bytes at once. The reference of these tests looks at one after the
// other, and knows of every error where it is and why it is one.

// wrongUTF8 returns the offset of the first byte that is not UTF-8, -1 for none.
func wrongUTF8(document []byte) int {
	for i := 0; i < len(document); {
		r, size := utf8.DecodeRune(document[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// wrongString returns the first error of a document whose value is a string.
func wrongString(document []byte) (offset int, reason string) {
	if i := wrongUTF8(document); i >= 0 {
		return i, "invalid UTF-8"
	}
	for i := 1; i < len(document); {
		size := 1
		switch b := document[i]; {
		case b == '"':
			rest := bytes.TrimLeft(document[i+1:], " \t\r\n")
			if len(rest) == 0 {
				return 0, ""
			}
			return len(document) - len(rest), "something follows the value"
		case b < ' ':
			return i, "a control character in a string"
		case b == '\\' && i+1 == len(document):
			return i + 1, "unexpected end"
		case b == '\\':
			if size = escapeLen(document[i:]); size == 0 {
				return i, "a malformed escape"
			}
		}
		i += size
	}
	return len(document), "unexpected end"
}

// escapeLen returns the length of the escape that the bytes begin with, 0 for a malformed one.
func escapeLen(text []byte) int {
	const digits = "0123456789abcdefABCDEF"
	switch {
	case bytes.IndexByte([]byte(`"\/bfnrt`), text[1]) >= 0:
		return 2
	case text[1] == 'u' && len(text) >= 6 && len(bytes.Trim(text[2:6], digits)) == 0:
		return 6
	}
	return 0
}

// assertAsTheReference reads a document whose value is a string.
func assertAsTheReference(t *testing.T, document []byte) {
	t.Helper()
	offset, reason := wrongString(document)
	c := jsonscan.New(document)
	c.Skip()
	err := c.Finish()
	if reason == "" {
		assert.NoError(t, err, "%q", document)
		return
	}
	var syntax *jsonscan.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != offset || syntax.Reason != reason {
		assert.Fail(t, "another error", "%q: %#v, not %q at %d", document, err, reason, offset)
	}
}

func TestEveryByteOfALongStringIsLookedAt(t *testing.T) {
	for _, part := range []string{
		`\n`, `\"`, `\\`, `\\\\`, `\\\"`, `\\\\\"`, `\u00e9`, `\n\t\t\"`, "é", "世", "🙂", // valid
		`"`, `\`, `\x`, `\u12`, `\u12g4`, `\\"`, "\n", "\x00", "\x1f", "\x1f\\", "\xff", "é\xe9", "\xf0\x9f\x99", // or not
	} {
		for at := range 140 {
			for _, rest := range []int{0, 1, 7, 8, 63, 64, 140} {
				assertAsTheReference(t, fmt.Appendf(nil, `"%s%s%s"`, strings.Repeat("a", at), part, strings.Repeat("b", rest)))
				assertAsTheReference(t, fmt.Appendf(nil, `"%s%s%s`, strings.Repeat(`\n`, at/2), part, strings.Repeat("世", rest/3)))
			}
		}
	}
}

// TestEveryCharacterIsUTF8 reads all pairs of bytes that may begin a character, and the bytes behind
// them that differ, at all offsets of a word.
func TestEveryCharacterIsUTF8(t *testing.T) {
	ends := []string{"", "\x80", "\xbf", "\x80\x80", "\xbf\xbf", "\x80\x80\x80", "\xc3\xa9", "\xbf\xe4\xb8\x96"}
	document := make([]byte, 0, 200)
	for first := 0x80; first <= 0xff; first++ {
		for second := 0x3f; second <= 0xff; second++ {
			for k, end := range ends {
				document = append(document[:0], strings.Repeat("a", (first+second)%8)...)
				document = append(document, strings.Repeat("é", 5+k)...)
				document = append(document, byte(first), byte(second))
				document = append(document, end...)
				document = append(document, strings.Repeat("世界", 20)...)
				got, c := -1, jsonscan.New(document)
				if syntax := (*jsonscan.SyntaxError)(nil); errors.As(c.Err(), &syntax) {
					got = syntax.Offset
				}
				if want := wrongUTF8(document); got != want {
					assert.Failf(t, "another offset", "%q: %d, not %d", document, got, want)
				}
			}
		}
	}
}

func FuzzStringsAreReadAsByTheReference(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed))
	}
	text := `A gateway forwards \"requests\", größer and\nsmaller ones: 世界 🙂 \\ \u00e9` + "\t ед. Шлюз "
	f.Add([]byte(text))
	f.Add([]byte(strings.Repeat(text[:70], 5) + `" `))
	f.Fuzz(func(t *testing.T, text []byte) {
		assertAsTheReference(t, append([]byte{'"'}, text...))
	})
}
