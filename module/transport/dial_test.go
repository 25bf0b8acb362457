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
