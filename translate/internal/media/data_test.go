package media

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A CSV file that a program had written on Windows was refused, though its type named its character set, and the
// signs that Latin-1 lacks were lost where the type named that.
func TestTextsOfCharacterSetsAreDecoded(t *testing.T) {
	for _, c := range []struct{ stated, data, want string }{
		{"text/plain", "\uFEFFcafé", "café"},
		{"text/plain;charset=US-ASCII", "café", "café"},
		{"text/csv; charset=ISO-8859-1", "caf\xe9 \x80", "café €"},
		{"text/csv;charset=windows-1252", "5 \x80 \x96", "5 € –"},
		{"text/csv;charset=cp1252", "\x93a\x94\x9f\xa0\xff", "“a”Ÿ\u00a0ÿ"},
		{"text/plain;charset=utf-16", "a\x00\xe9\x00", "aé"},
		{"text/plain;charset=utf-16be", "\x00a", "a"},
		{"text/plain", "\xfe\xff\x00a", "a"},
		{"text/plain;charset=utf-8", "\xff\xfea\x00", "a"},
	} {
		text, ok := DecodeText([]byte(base64.StdEncoding.EncodeToString([]byte(c.data))), []byte(c.stated))
		assert.True(t, ok, c.stated)
		assert.Equal(t, c.want, string(text), c.stated)
	}
	for stated, data := range map[string]string{
		"text/plain":                   "caf\xe9",
		"text/plain;charset=x-unheard": "a",
		"text/plain;charset=utf-16le":  "a\x00b",
		"text/plain;charset=shift_jis": "a",
	} {
		_, ok := DecodeText([]byte(base64.StdEncoding.EncodeToString([]byte(data))), []byte(stated))
		assert.False(t, ok, stated)
	}
	_, ok := DecodeText([]byte("%"), nil)
	assert.False(t, ok, "no base64")
}
