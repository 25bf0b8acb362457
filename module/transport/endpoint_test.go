package transport

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestEndpointUnderstandsBaseURLsWithAndWithoutTheVersion(t *testing.T) {
	for _, test := range []struct{ base, messages, count, chat, completions string }{
		{"", "/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/completions"},
		{"/v1", "/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/completions"},
		{"/api/v1", "/api/v1/messages", "/api/v1/messages/count_tokens", "/api/v1/chat/completions", "/api/v1/completions"},
		{"/api", "/api/v1/messages", "/api/v1/messages/count_tokens", "/api/chat/completions", "/api/completions"},
		{"/openai/v2", "/openai/v2/v1/messages", "/openai/v2/v1/messages/count_tokens", "/openai/v2/chat/completions", "/openai/v2/completions"},
	} {
		t.Run("base "+test.base, func(t *testing.T) {
			assert.Equal(t, test.messages, endpoint(test.base, translate.Messages, translate.Generate))
			assert.Equal(t, test.count, endpoint(test.base, translate.Messages, translate.CountTokens))
			assert.Equal(t, test.chat, endpoint(test.base, translate.Chat, translate.Generate))
			assert.Equal(t, test.completions, endpoint(test.base, translate.Completions, translate.Generate))
		})
	}
}

func TestParseBaseURLAcceptsAddressesAlone(t *testing.T) {
	for _, test := range []struct{ configured, standard, want string }{
		{"https://api.example/v1", "", "https://api.example/v1"},
		{"https://api.example/v1/", "", "https://api.example/v1"},
		{"https://api.example//", "", "https://api.example"},
		{"http://127.0.0.1:8000", "", "http://127.0.0.1:8000"},
		{"http://[::1]:8000/v1", "", "http://[::1]:8000/v1"},
		{"HTTPS://api.example", "", "https://api.example"},
		{"", "https://preset.example/v1", "https://preset.example/v1"},
		{"http://own.example", "https://preset.example/v1", "http://own.example"},
		{"", "", ""},
	} {
		u, err := ParseBaseURL(test.configured, test.standard)
		require.NoError(t, err, test.configured)
		assert.Equal(t, test.want, u.String())
	}
}

func TestParseBaseURLRefusesAllElseWithoutRepeatingIt(t *testing.T) {
	for _, configured := range []string{
		"api.example/v1", "//api.example", "/v1", "ftp://api.example", "unix:///run/x", "https://", "https:///v1", "https:api.example",
		"https://user:sk-secret@api.example", "https://sk-secret@api.example", "https://api.example?key=sk-secret",
		"https://api.example#sk-secret", "https://api.example/?", "https://:443/v1", "https://sk-secret:%zz", "https://api.example:port", " https://api.example",
		"https://api.example/\n", "https://[::1", "https://api.example/%zz",
	} {
		u, err := ParseBaseURL(configured, "https://preset.example")
		assert.Nil(t, u, configured)
		if assert.Error(t, err, configured) {
			assert.Equal(t, "base_url: "+errBaseURL.Error(), err.Error())
		}
	}
}
