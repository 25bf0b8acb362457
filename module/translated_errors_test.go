package module_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// translatedStatuses are the provider's statuses and what clients of another
// format are told.
var translatedStatuses = map[int]told{
	400: {status: 400, kind: "invalid_request_error", messagesKind: "invalid_request_error"},
	401: {status: 502, kind: "server_error", code: "upstream_auth", messagesKind: "api_error"},
	402: {status: 502, kind: "server_error", code: "upstream_billing", messagesKind: "api_error"},
	403: {status: 403, kind: "invalid_request_error", code: "permission_denied", messagesKind: "permission_error"},
	404: {status: 404, kind: "invalid_request_error", code: "model_not_found", messagesKind: "not_found_error"},
	405: {status: 502, kind: "server_error", messagesKind: "api_error"},
	408: {status: 504, kind: "server_error", code: "upstream_timeout", messagesKind: "timeout_error"},
	409: {status: 409, kind: "invalid_request_error", messagesKind: "conflict_error"},
	413: {status: 413, kind: "invalid_request_error", code: "request_too_large", messagesKind: "request_too_large"},
	418: {status: 400, kind: "invalid_request_error", messagesKind: "invalid_request_error"},
	422: {status: 400, kind: "invalid_request_error", messagesKind: "invalid_request_error"},
	429: {status: 429, kind: "rate_limit_error", code: "rate_limit_exceeded", messagesKind: "rate_limit_error"},
	500: {status: 500, kind: "server_error", messagesKind: "api_error"},
	502: {status: 502, kind: "server_error", messagesKind: "api_error"},
	503: {status: 503, messagesStatus: 529, kind: "server_error", code: "overloaded", messagesKind: "overloaded_error"},
	504: {status: 504, kind: "server_error", code: "upstream_timeout", messagesKind: "timeout_error"},
	511: {status: 502, kind: "server_error", messagesKind: "api_error"},
	529: {status: 503, messagesStatus: 529, kind: "server_error", code: "overloaded", messagesKind: "overloaded_error"},
}

func TestTheProvidersStatusIsToldInTheClientsFormat(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r)
		for status, want := range translatedStatuses {
			for _, streaming := range []bool{false, true} {
				s.first.Script(gatewaytest.Status(status, "Retry-After", "7", "X-Ratelimit-Remaining-Requests", "0", "Request-Id", "req_vendor"))
				answer := s.ask(r.path, bodyFor(r.path, "1", "hello", streaming))
				wanted, kind := want.status, want.kind
				if r.path == messagesPath {
					kind = want.messagesKind
					if want.messagesStatus != 0 {
						wanted = want.messagesStatus
					}
				}
				failure := answer.failure(t)
				assert.Equal(t, wanted, answer.status, "%d %s", status, answer.body)
				assert.Equal(t, kind, failure.Type, "%d %s", status, answer.body)
				if r.path != messagesPath && want.code != "" {
					assert.Contains(t, answer.body, `"code":"`+want.code+`"`, status)
				}
				assert.Equal(t, "7", answer.header.Get("Retry-After"))
				assert.Equal(t, "req_vendor", answer.header.Get("X-Upstream-Request-Id"))
				assert.Empty(t, answer.header.Get("X-Ratelimit-Remaining-Requests"))
				assert.Equal(t, "failed", s.record(answer.id())["outcome"])
			}
		}
	})
}

func TestG125TranslatedTargetsFailingAfterTheCommitAreOneErrorEvent(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r, "commit_after 1ms", "keep_alive 5ms")
		s.first.Always(gatewaytest.Stall(s.gate, gatewaytest.Status(http.StatusServiceUnavailable)))
		s.second.Always(gatewaytest.Status(http.StatusServiceUnavailable))
		answer := s.open(r.path, bodyFor(r.path, "m", "hello", true))
		assert.Equal(t, http.StatusOK, answer.StatusCode)
		assert.True(t, isKeepAlive(r.path, answer.next()))
		s.gate.Open()
		whole := answer.rest()
		require.NoError(t, whole.err)
		want := `data: {"error":{"message":"scripted error","type":"server_error","param":null,"code":"overloaded"}}` + "\n\n"
		if r.path == messagesPath {
			want = "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"scripted error"},"request_id":"` + whole.id() + `"}` + "\n\n"
		}
		assert.Equal(t, want, withoutKeepAlives(r.path, whole.body))
		assert.True(t, strings.HasSuffix(whole.body, want), "nothing after it")
	})
}

func TestG124PingsThenTheSecondTranslatedTargetInOneResponse(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r, "commit_after 1ms", "keep_alive 5ms")
		s.first.Always(gatewaytest.Stall(s.gate, gatewaytest.Status(http.StatusServiceUnavailable)))
		answer := s.open(r.path, bodyFor(r.path, "m", "hello", true))
		for range 3 {
			assert.True(t, isKeepAlive(r.path, answer.next()))
		}
		s.gate.Open()
		whole := answer.rest()
		seen := whole.read(t, r.path) // a second message_start would fail here
		assert.True(t, seen.complete)
		assert.Contains(t, seen.text, "hello")
		assert.Equal(t, "second", s.record(whole.id())["provider"])
	})
}
