package jsonscan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

func TestBlankValues(t *testing.T) {
	for _, raw := range []string{"", "null", `""`, "[]", "[ \n]", "{}", "{\t}"} {
		assert.True(t, jsonscan.Blank([]byte(raw)), raw)
	}
	for _, raw := range []string{"0", "7", "-1", "true", "false", `" "`, `"a"`, "[null]", `{"a":null}`} {
		assert.False(t, jsonscan.Blank([]byte(raw)), raw)
	}
}
