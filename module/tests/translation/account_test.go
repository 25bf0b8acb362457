package translation_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// failure is an error of a provider.
type failure struct{ code, message string }

// body answers with an error body.
func (f failure) body(status int, headers ...string) gatewaytest.Step {
	return gatewaytest.Body(status, "application/json", []byte(f.text()), headers...)
}

func (f failure) text() string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"code":%q,"message":%q}}`, f.code, f.code, f.message)
}

// event is the event of a stream at a path.
func (f failure) event(path string) string {
	if path == site.ResponsesPath {
		return fmt.Sprintf("data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":%q,\"message\":%q}}}\n\n", f.code, f.message)
	}
	return "event: error\ndata: " + f.text() + "\n\n"
}

// stream answers with a stream of this event alone.
func (f failure) stream(path string) gatewaytest.Step {
	return gatewaytest.Chunks(gatewaytest.EventStream, f.event(path))
}

// An exhausted account was 502 without "x-should-retry: false", which Claude Code repeated for
// minutes and Codex 30 times. With the status 429, the code insufficient_quota and no time to
// wait, both give up at once.
func TestAnExhaustedAccountIsNotWorthAnotherTry(t *testing.T) {
	exhausted := failure{"insufficient_quota", "You exceeded your current quota, org-aB3dE6gH9"}
	body := exhausted.body(429, "Retry-After", "3", "X-Should-Retry", "true")
	eachLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for _, step := range []gatewaytest.Step{body, exhausted.stream(r.Upstream)} {
			s.First.Script(step)
			answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", true))
			site.Exhausted.Assert(t, r.Path, answer)
			assert.Empty(t, answer.Header.Get("Retry-After"), "Codex would come again")
			assert.NotContains(t, answer.Body, "org-")
		}
		begin := strings.Join(site.Streams[r.Upstream][:len(site.Streams[r.Upstream])-2], "")
		site.Exhausted.AssertEnds(t, r.Path, s.AfterContent(s.First, r.Path, begin, gatewaytest.More(exhausted.event(r.Upstream))))
	})
}

// Another target was not asked if the first had no credit, or did not accept the key, and stated it
// with 400: the client got the error of an account that is not its own.
func TestAnotherTargetAnswersForAnAccountInTrouble(t *testing.T) {
	troubles := []failure{
		{"invalid_request_error", "Your credit balance is too low to access the API"},
		{"invalid_request_error", "Insufficient Balance"},
		{"invalid_request_error", "This organization has been disabled."},
		{"invalid_request_error", "余额不足或无可用资源包,请充值。"},
		{"invalid_request_error", "API key expired. Please renew the API key."},
		{"Arrearage", "m"}, {"invalid_api_key", "m"}, {"account_overdue", "m"}, {"billing_error", "m"},
	}
	eitherLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for i, trouble := range troubles {
			for _, step := range []gatewaytest.Step{trouble.body(400), trouble.body(412), trouble.body(422), trouble.stream(r.Upstream)} {
				s.First.Script(step)
				answer := s.Ask(r.Path, site.BodyFor(r.Path, "m", "hello", i%2 == 0))
				assert.Equal(t, http.StatusOK, answer.Status, "%v: %s", trouble, answer.Body)
				assert.Contains(t, answer.Body, "hello")
			}
		}
		s.First.Script(failure{"invalid_request_error", "messages.0.content: Insufficient Balance"}.body(400))
		answer := s.Ask(r.Path, site.BodyFor(r.Path, "m", "hello", false))
		assert.Equal(t, http.StatusBadRequest, answer.Status, "the request is at fault")
		assert.Equal(t, len(troubles)*4, s.Second.Count())
	})
}

// A rate limit in a stream, or in an error without a header, had no retry-after: Codex gave
// up, and the gateway did not rest the target.
func TestTheTimeToWaitInAMessageBecomesAHeader(t *testing.T) {
	limited := failure{"rate_limit_exceeded", "Rate limit reached for m. Please try again in 1m7.2s."}
	eachLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for _, step := range []gatewaytest.Step{limited.body(429), limited.stream(r.Upstream)} {
			s.First.Script(step)
			answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", true))
			assert.Equal(t, http.StatusTooManyRequests, answer.Status, answer.Body)
			assert.Equal(t, "68", answer.Header.Get("Retry-After"))
			assert.Contains(t, answer.Body, limited.message)
		}
		s.First.Script(limited.body(429, "Retry-After-Ms", "9500"))
		answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", true))
		assert.Equal(t, "9500", answer.Header.Get("Retry-After-Ms"))
		assert.Empty(t, answer.Header.Get("Retry-After"), "the header of the provider takes precedence")
	})
}
