package jsonscan

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The end of a text was decoded as a whole, and encoded again.
func TestWhiteSpaceIsCutFromTheEndOfATextAsItIsWritten(t *testing.T) {
	for text, want := range map[string]string{
		``: ``, `a`: `a`, `a `: `a`, ` `: ``, `a\n`: `a`, `a\t\r\n \n`: `a`, `a\\n`: `a\\n`, `a\\\n`: `a\\`,
		`a\u0020`: `a`, `a\u00A0\u2003`: `a`, `a\\u0020`: `a\\u0020`, `a\u0041`: `a\u0041`, `a\u001f`: `a`,
		"a\u00a0": `a`, "ä\u3000 ": `ä`, `\ud83d\ude00 `: `\ud83d\ude00`, `\"`: `\"`, `\f\b`: `\f\b`, `\b\f`: `\b`,
	} {
		assert.Equal(t, want, string(TrimEnd([]byte(text))), "%q", text)
	}
}
