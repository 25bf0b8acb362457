package translation_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// translatedStatuses are the provider's statuses and what clients of another
// format are told.
var translatedStatuses = map[int]site.ErrorAnswer{
	400: {Status: 400, Kind: "invalid_request_error", MessagesKind: "invalid_request_error"},
	401: {Status: 502, Kind: "server_error", Code: "upstream_auth", MessagesKind: "api_error"},
	402: {Status: 502, Kind: "server_error", Code: "upstream_billing", MessagesKind: "api_error"},
	403: {Status: 403, Kind: "invalid_request_error", Code: "permission_denied", MessagesKind: "permission_error"},
	404: {Status: 404, Kind: "invalid_request_error", Code: "model_not_found", MessagesKind: "not_found_error"},
	405: {Status: 502, Kind: "server_error", MessagesKind: "api_error"},
	408: {Status: 504, Kind: "server_error", Code: "upstream_timeout", MessagesKind: "timeout_error"},
	409: {Status: 409, Kind: "invalid_request_error", MessagesKind: "conflict_error"},
	413: {Status: 413, Kind: "invalid_request_error", Code: "request_too_large", MessagesKind: "request_too_large"},
	418: {Status: 400, Kind: "invalid_request_error", MessagesKind: "invalid_request_error"},
	422: {Status: 400, Kind: "invalid_request_error", MessagesKind: "invalid_request_error"},
	429: {Status: 429, Kind: "rate_limit_error", Code: "rate_limit_exceeded", MessagesKind: "rate_limit_error"},
	500: {Status: 500, Kind: "server_error", MessagesKind: "api_error"},
	502: {Status: 502, Kind: "server_error", MessagesKind: "api_error"},
	503: {Status: 503, MessagesStatus: 529, Kind: "server_error", Code: "overloaded", MessagesKind: "overloaded_error"},
	504: {Status: 504, Kind: "server_error", Code: "upstream_timeout", MessagesKind: "timeout_error"},
	511: {Status: 502, Kind: "server_error", MessagesKind: "api_error"},
	529: {Status: 503, MessagesStatus: 529, Kind: "server_error", Code: "overloaded", MessagesKind: "overloaded_error"},
}

func TestTheProvidersStatusIsToldInTheClientsFormat(t *testing.T) {
	eachRoute(t, func(t *testing.T, w site.Way, r site.Lane) {
		s := startTranslated(t, w, r)
		for status, want := range translatedStatuses {
			for _, streaming := range []bool{false, true} {
				s.First.Script(gatewaytest.Status(status, "Retry-After", "7", "X-Ratelimit-Remaining-Requests", "0", "Request-Id", "req_vendor"))
				answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", streaming))
				wanted, kind := want.Status, want.Kind
				if r.Path == site.MessagesPath {
					kind = want.MessagesKind
					if want.MessagesStatus != 0 {
						wanted = want.MessagesStatus
					}
				}
				failure := answer.Failure(t)
				assert.Equal(t, wanted, answer.Status, "%d %s", status, answer.Body)
				assert.Equal(t, kind, failure.Type, "%d %s", status, answer.Body)
				if r.Path != site.MessagesPath && want.Code != "" {
					assert.Contains(t, answer.Body, `"code":"`+want.Code+`"`, status)
				}
				assert.Equal(t, "7", answer.Header.Get("Retry-After"))
				assert.Equal(t, "req_vendor", answer.Header.Get("X-Upstream-Request-Id"))
				assert.Empty(t, answer.Header.Get("X-Ratelimit-Remaining-Requests"))
				assert.Equal(t, "failed", s.Record(answer.ID())["outcome"])
			}
		}
	})
}

func TestG125TranslatedTargetsFailingAfterTheCommitAreOneErrorEvent(t *testing.T) {
	eachRoute(t, func(t *testing.T, w site.Way, r site.Lane) {
		s := startTranslated(t, w, r, "commit_after 1ms", "keep_alive 5ms")
		s.First.Always(gatewaytest.Stall(s.Gate, gatewaytest.Status(http.StatusServiceUnavailable)))
		s.Second.Always(gatewaytest.Status(http.StatusServiceUnavailable))
		answer := s.Open(r.Path, site.BodyFor(r.Path, "m", "hello", true))
		assert.Equal(t, http.StatusOK, answer.StatusCode)
		assert.True(t, site.IsKeepAlive(r.Path, answer.Next()))
		s.Gate.Open()
		whole := answer.Rest()
		require.NoError(t, whole.Err)
		want := `data: {"error":{"message":"scripted error","type":"server_error","param":null,"code":"overloaded"}}` + "\n\n"
		if r.Path == site.MessagesPath {
			want = "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"scripted error"},"request_id":"` + whole.ID() + `"}` + "\n\n"
		}
		assert.Equal(t, want, site.WithoutKeepAlives(r.Path, whole.Body))
		assert.True(t, strings.HasSuffix(whole.Body, want), "nothing after it")
	})
}

func TestG124PingsThenTheSecondTranslatedTargetInOneResponse(t *testing.T) {
	eachRoute(t, func(t *testing.T, w site.Way, r site.Lane) {
		s := startTranslated(t, w, r, "commit_after 1ms", "keep_alive 5ms")
		s.First.Always(gatewaytest.Stall(s.Gate, gatewaytest.Status(http.StatusServiceUnavailable)))
		answer := s.Open(r.Path, site.BodyFor(r.Path, "m", "hello", true))
		for range 3 {
			assert.True(t, site.IsKeepAlive(r.Path, answer.Next()))
		}
		s.Gate.Open()
		whole := answer.Rest()
		seen := whole.Read(t, r.Path) // a second message_start would fail here
		assert.True(t, seen.Complete)
		assert.Contains(t, seen.Text, "hello")
		assert.Equal(t, "second", s.Record(whole.ID())["provider"])
	})
}
