package endpoints_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Unsupported requests once got the error of a mistyped path, or 405, after which Codex
// repeated its WebSocket request for seconds.
func TestR040RequestsForKeptResponsesAreRefused(t *testing.T) {
	s, p := site.StartLocked(t)
	const notKept = "path: this gateway keeps no responses"
	for _, test := range []struct {
		line, upgrade string
		status        int
		message, code string
	}{
		{"GET /v1/responses/resp_1", "", 404, notKept, `"not_found"`},
		{"GET /v1/responses/resp_1?stream=true", "", 404, notKept, `"not_found"`},
		{"GET /v1/responses/r", "websocket", 404, notKept, `"not_found"`},
		{"DELETE /v1/responses/resp_1", "", 404, notKept, `"not_found"`},
		{"POST /v1/responses/resp_1/cancel", "", 404, notKept, `"not_found"`},
		{"GET /v1/responses/resp_1/input_items", "", 404, notKept, `"not_found"`},
		{"GET /v1/responses/resp_1/other", "", 404, notKnown, `"not_found"`},
		{"GET /v1/responses", "websocket", 426, "upgrade: this endpoint has no WebSocket; use HTTP POST", "null"},
		{"GET /v1/responses", "WebSocket", 426, "upgrade: this endpoint has no WebSocket; use HTTP POST", "null"},
		{"GET /v1/responses", "", 405, "method: must be POST", "null"},
		{"GET /v1/responses", "h2c", 405, "method: must be POST", "null"},
		{"DELETE /v1/responses", "", 405, "method: must be POST", "null"},
	} {
		lines := []string{test.line + " HTTP/1.1", "Authorization: Bearer " + site.ClientKey}
		if test.upgrade != "" {
			lines = append(lines, "Connection: Upgrade", "Upgrade: "+test.upgrade)
		}
		got := s.Raw("", lines...)
		got.AssertOurs(t, test.status, site.InChoices("invalid_request_error", test.message, "null", test.code), test.line)
		assert.Equal(t, "refused", s.Record(got.ID())["outcome"], test.line)
	}
	assert.Zero(t, p.Count())
}

func TestR040TheConnectionOfARefusedWebSocketIsClosed(t *testing.T) {
	s, _ := site.StartLocked(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/v1/responses", s.Port("site")), nil)
	require.NoError(t, err)
	r.Header = http.Header{"Authorization": {"Bearer " + site.ClientKey}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"}}
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	got := site.ReadReply(response)
	assert.Equal(t, http.StatusUpgradeRequired, got.Status)
	assert.True(t, response.Close, "connection: close")
	assert.Equal(t, "false", got.Header.Get("X-Should-Retry"))
}

// Without a key, clients must not learn which endpoints exist.
func TestRefusedRequestsNeedAKey(t *testing.T) {
	s, _ := site.StartLocked(t)
	for _, line := range []string{"GET /v1/responses/resp_1", "DELETE /v1/responses/resp_1"} {
		assert.Equal(t, http.StatusUnauthorized, s.Raw("", line+" HTTP/1.1", "Authorization: Bearer wrong").Status, line)
	}
	assert.Equal(t, http.StatusUnauthorized, s.Raw("", "GET /v1/responses HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket").Status)
}
