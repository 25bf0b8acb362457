package transport

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestParseBaseURLAcceptsAddressesAlone(t *testing.T) {
	for _, test := range []struct{ base, want string }{
		{"https://api.example/v1", "https://api.example/v1"},
		{"https://api.example/v1/", "https://api.example/v1"},
		{"https://api.example//", "https://api.example"},
		{"http://127.0.0.1:8000", "http://127.0.0.1:8000"},
		{"http://[::1]:8000/v1", "http://[::1]:8000/v1"},
		{"HTTPS://api.example", "https://api.example"},
		{"", ""},
	} {
		u, err := parseBaseURL(test.base)
		require.NoError(t, err, test.base)
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
		u, err := parseBaseURL(configured)
		assert.Nil(t, u, configured)
		if assert.Error(t, err, configured) {
			assert.Equal(t, "base_url: "+aigateway.ErrBaseURL.Error(), err.Error())
		}
	}
}
