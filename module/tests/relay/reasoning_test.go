package relay_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const (
	wholeResponse = `{"id":"resp_1","object":"response","status":"completed","model":"x","output":[]}`
	undecryptable = `{"error":{"message":"The encrypted content for item rs_1 could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`

	askedAgain = `{"model":"m","store":false,"input":[{"role":"user","content":"x"},` +
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAAB"},{"role":"assistant","content":"y"},{"role":"user","content":"z"}]}`
	withoutReasoning = `{"model":"m","store":false,"input":[{"role":"user","content":"x"},{"role":"assistant","content":"y"},{"role":"user","content":"z"}]}`
)

func jsonBody(status int, body string) gatewaytest.Step {
	return gatewaytest.Body(status, "application/json", []byte(body))
}

// A conversation whose reasoning was encrypted by another provider, as after a failover, got
// the same 400 at every later turn.
func TestReasoningOfAnotherProviderIsLeftOutWithRetryEncrypted(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format responses", "retry_encrypted on"))
		p.Script(jsonBody(http.StatusBadRequest, undecryptable), jsonBody(http.StatusOK, wholeResponse))
		answer := s.Ask(site.ResponsesPath, askedAgain)
		assert.Equal(t, http.StatusOK, answer.Status)
		assert.Equal(t, wholeResponse, answer.Body)
		assert.Equal(t, "input[*].encrypted_content", answer.Header.Get("X-Gateway-Dropped"))
		calls := p.Requests()
		require.Len(t, calls, 2)
		assert.Equal(t, askedAgain, string(calls[0].Body))
		assert.Equal(t, withoutReasoning, string(calls[1].Body))
		assert.Equal(t, 1.0, s.Record(answer.ID())["attempts"], "it is one target")

		p.Script(jsonBody(http.StatusBadRequest, undecryptable), jsonBody(http.StatusBadRequest, undecryptable))
		assert.Equal(t, http.StatusBadRequest, s.Ask(site.ResponsesPath, askedAgain).Status)
		assert.Equal(t, 4, p.Count(), "it is repeated once")
		p.Script(jsonBody(http.StatusBadRequest, undecryptable))
		assert.Equal(t, undecryptable, s.Ask(site.ResponsesPath, withoutReasoning).Body, "nothing can be left out")
		p.Script(jsonBody(http.StatusBadRequest, undecryptable))
		assert.Equal(t, undecryptable, s.Ask(site.ResponsesPath, askedAgain, "X-Gateway-On-Loss", "reject").Body, "the client refuses the loss")
	})
}

// The report had the notation of messages clients in every format, and chat providers got the
// blocks.
func TestReasoningThatTheGatewaySealedIsRemovedAndReportedInTheClientsNotation(t *testing.T) {
	for path, c := range map[string]struct{ format, body, sent, loss string }{
		site.ResponsesPath: {
			"responses", `{"model":"m","input":[{"type":"reasoning","summary":[],"encrypted_content":"gwth1:k.t.e30"},{"role":"user","content":"x"}]}`,
			`{"model":"m","input":[{"role":"user","content":"x"}]}`, "input[*].encrypted_content",
		},
		site.ChatPath: {
			"chat", `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y","thinking_blocks":[{"type":"thinking","thinking":"t","signature":"gwrs1:k.rs_1.1.x"}]},{"role":"user","content":"z"}]}`,
			`{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"},{"role":"user","content":"z"}]}`, "messages[*].thinking_blocks",
		},
		site.MessagesPath: {
			"messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"gwrs1:k.rs_1.1.x"},{"type":"text","text":"y"}]},{"role":"user","content":"z"}]}`,
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"y"}]},{"role":"user","content":"z"}]}`, "messages.*.content.*.thinking",
		},
	} {
		t.Run(path, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			s := site.Start(t, site.Direct.Provider("p", p, "format "+c.format))
			answer := s.Ask(path, c.body)
			assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Equal(t, c.loss, answer.Header.Get("X-Gateway-Dropped"))
			assert.Equal(t, c.sent, string(p.Requests()[0].Body))
		})
	}
}

// A response that states its own failure was replaced by an error of the gateway: its id and
// its code were gone.
func TestAFailedResponseIsRelayedUnlessAnotherTargetAnswers(t *testing.T) {
	const failed = `{"id":"resp_9","object":"response","status":"failed","error":{"code":"server_error","message":"no"},"model":"x","output":[]}`
	const exhausted = `{"id":"resp_9","object":"response","status":"failed","error":{"code":"insufficient_quota","message":"no"},"model":"x","output":[]}`
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, site.Steady, w.Provider("first", first, "format responses", "models one"), w.Provider("second", second, "format responses", "models two"),
			"model m {\nto first/x\nto second/x\n}")
		first.Always(jsonBody(http.StatusOK, failed))
		second.Script(jsonBody(http.StatusOK, wholeResponse))
		assert.Equal(t, wholeResponse, s.Ask(site.ResponsesPath, withoutReasoning).Body)
		second.Always(jsonBody(http.StatusOK, failed))
		answer := s.Ask(site.ResponsesPath, withoutReasoning)
		assert.Equal(t, http.StatusOK, answer.Status)
		assert.Equal(t, failed, answer.Body)
		assert.Equal(t, "failed", s.Record(answer.ID())["outcome"])

		second.Script(jsonBody(http.StatusOK, exhausted))
		assert.NotContains(t, s.Ask(site.ResponsesPath, withoutReasoning).Body, "resp_9", "the account of the gateway is not the client's")
	})
}
