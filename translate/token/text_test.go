package token_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func TestTokensOfATextAreEstimatedByItsCharacters(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		want int64
	}{
		"nothing":              {`""`, 0},
		"no string":            {`null`, 0},
		"a character":          {`"a"`, 1},
		"ASCII":                {`"` + strings.Repeat("word", 100) + `"`, 100},
		"Chinese":              {`"` + strings.Repeat("敏捷的棕色", 20) + `"`, 100},
		"Chinese as escapes":   {`"` + strings.Repeat(`\u654f\u6377\u7684\u68d5\u8272`, 20) + `"`, 100},
		"both":                 {`"` + strings.Repeat(`敏\u6377word`, 50) + `"`, 150},
		"escapes of ASCII":     {`"` + strings.Repeat(`\n\"\u0061\\`, 100) + `"`, 100},
		"halves of characters": {`"` + strings.Repeat(`\ud83d`, 100) + `"`, 100}, // each becomes U+FFFD
		"emoji":                {`"` + strings.Repeat(`\ud83d\ude00`, 60) + `"`, 80},
	} {
		var text token.Text
		text.AddString([]byte(c.raw))
		assert.Equal(t, c.want, text.Tokens(), name)

		var value token.Text
		value.AddValue(jsonscan.Value{Raw: []byte(c.raw), Plain: name == "a character" || name == "ASCII"})
		assert.Equal(t, text, value, name)
	}
}

// Each piece was rounded by itself once, so a stream of short pieces counted many times its
// text.
func TestPiecesOfATextCountAsTheWhole(t *testing.T) {
	const text = "the quick brown fox 敏捷的棕色狐狸 jumps over the lazy dog, naïvely"
	var whole, pieces, sum token.Text
	whole.Add([]byte(text))
	for _, character := range text {
		var piece token.Text
		piece.Add([]byte(string(character)))
		pieces.AddString([]byte(`"` + string(character) + `"`))
		sum = sum.Plus(piece)
	}
	assert.Equal(t, whole, pieces)
	assert.Equal(t, whole, sum)
}
