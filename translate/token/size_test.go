package token_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func TestTokensAreEstimatedFromTheSize(t *testing.T) {
	const ratio = token.DefaultBytesPerToken
	assert.EqualValues(t, 1, token.Size{}.Tokens(ratio), "no request has no tokens")
	assert.EqualValues(t, 1, token.Size{Bytes: 4}.Tokens(ratio))
	assert.EqualValues(t, 2, token.Size{Bytes: 5}.Tokens(ratio))
	assert.EqualValues(t, 4501, token.Size{Bytes: 4, Images: 1, Documents: 1}.Tokens(ratio))
	assert.EqualValues(t, 2, token.Size{Bytes: 5}.Tokens(3.5))
}
