package transport

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// The body of a refused handshake was not read: an exhausted account was a limit of the rate, after which
// clients tried again for ever, and a request that the provider refuses was one for an unknown path.
func TestARefusedHandshakeIsReadAsAnAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		kind   fault.Kind
		text   string
	}{
		"a limit":              {429, `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`, fault.RateLimited, "slow down"},
		"an account":           {429, `{"error":{"message":"no quota","type":"insufficient_quota","code":"insufficient_quota"}}`, fault.AccountExhausted, "exhausted"},
		"a request":            {400, `{"error":{"message":"no such voice","type":"invalid_request_error"}}`, fault.Invalid, "no such voice"},
		"a request with a key": {400, `{"error":{"message":"no voice for sk-secret-key","type":"invalid_request_error"}}`, fault.Invalid, "an error"},
		"no WebSocket":         {400, `<html>Bad Request</html>`, fault.UpgradeRefused, "POST"},
		"another path":         {404, `{"error":{"message":"no such path"}}`, fault.UpgradeRefused, "POST"},
		"a required upgrade":   {426, `{"error":{"message":"upgrade"}}`, fault.UpgradeRefused, "POST"},
		"a refused key":        {403, `{"error":{"message":"no"}}`, fault.CredentialRefused, "credential"},
		"nothing but a limit":  {429, ``, fault.RateLimited, "429"},
	} {
		res := &http.Response{StatusCode: tt.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(tt.body))}
		f := new(Transport).dialRefused(res, &redactor{credential: "sk-secret-key"})
		assert.Equal(t, tt.kind, f.Kind, name)
		assert.Contains(t, f.Message, tt.text, name)
		assert.NotContains(t, f.Message, "sk-secret-key", name)
	}
}

// A provider that refused a handshake with a time in milliseconds, with a part of a second or with a date had clients
// try again at once.
func TestTheTimeToWaitOfARefusedHandshakeIsReadInItsForms(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		want        int
	}{
		{"Retry-After", "7", 7},
		{"Retry-After", "0.5", 1},
		{"Retry-After-Ms", "9500", 10},
		{"Retry-After", "Wed, 21 Oct 2999 07:28:00 GMT", maxRetryAfter},
		{"Retry-After", "287441", maxRetryAfter},
		{"Retry-After", "-1", 0},
		{"Retry-After", "soon", 0},
	} {
		res := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{tt.name: {tt.value}}, Body: http.NoBody}
		assert.Equal(t, tt.want, new(Transport).dialRefused(res, new(redactor)).RetryAfter, "%s: %s", tt.name, tt.value)
	}
}
