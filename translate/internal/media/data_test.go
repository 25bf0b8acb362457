package media

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Only Latin-1 and UTF-16 were known beside UTF-8: a CSV file that Excel had written on Windows was refused,
// though its type named its character set.
func TestTextsOfCharacterSetsAreDecoded(t *testing.T) {
	for _, c := range []struct{ stated, data, want string }{
		{"text/plain", "\uFEFFcafé", "café"},
		{"text/plain;charset=US-ASCII", "café", "café"},
		{"text/csv; charset=ISO-8859-1", "caf\xe9 \x80", "café €"},
		{"text/csv;charset=windows-1252", "5 \x80 \x96", "5 € –"},
		{"text/csv;charset=cp1252", "\x93a\x94", "“a”"},
		{"text/csv;charset='windows-1251'", "\xc4\xe0", "Да"},
		{"text/plain;charset=koi8-r", "\xe4\xc1", "Да"},
		{"text/csv;charset=GB2312", "\xc4\xe3\xba\xc3", "你好"},
		{`text/csv;charset="gb18030"`, "\x81\x30\x81\x30", "\u0080"},
		{"text/csv;charset=big5", "\xa7\x41", "你"},
		{"text/csv;charset=Shift_JIS", "\x93\xfa\x96\x7b", "日本"},
		{"text/csv;charset=euc-kr", "\xc7\xd1", "한"},
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
		"text/plain":                     "caf\xe9",
		"text/plain;charset=x-unheard":   "a",
		"text/plain;charset=shift_jis":   "\x81",
		"text/plain;charset=utf-16le":    "a\x00b",
		"text/plain;charset=iso-2022-kr": "a",
	} {
		_, ok := DecodeText([]byte(base64.StdEncoding.EncodeToString([]byte(data))), []byte(stated))
		assert.False(t, ok, stated)
	}
	_, ok := DecodeText([]byte("%"), nil)
	assert.False(t, ok, "no base64")
}
