package sink

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHeaderSafeLeavesNothingThatAHeaderMustNotHold(t *testing.T) {
	for name, want := range map[string]string{
		"":                   "",
		"gpt-5.1 mini":       "gpt-5.1 mini",
		"a\r\nSet-Cookie: x": "a??Set-Cookie: x",
		"a\x00\x1f\x7f~":     "a???~",
		"modèle":             "mod?le",
		"bad\xffbytes":       "bad?bytes",
		"\u2028":             "?",
	} {
		assert.Equal(t, want, headerSafe(name))
	}
}
