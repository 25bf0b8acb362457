package translation_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// encryptedAnswer is an answer of the responses format with encrypted reasoning.
const encryptedAnswer = `{"id":"resp_1","object":"response","status":"completed","model":"x","output":[` +
	`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"let me see"}],"encrypted_content":"gAAAAAB"},` +
	`{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[]}]}],` +
	`"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`

// How providers refuse encrypted reasoning.
const (
	refusesReasoning = `{"error":{"message":"The encrypted content gAAA...AAAB could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`
	refusesInWords   = `{"error":"Could not decrypt the provided encrypted_content."}`
	refusesAnother   = `{"error":{"message":"Invalid 'input[0].encrypted_content'.","type":"invalid_request_error","param":null,"code":"invalid_value"}}`
)

// continued is a client whose conversation has a turn with sealed reasoning, of a
// provider that speaks only the responses format.
type continued struct {
	*site.Site
	provider *gatewaytest.Provider
	path     string
	turn     string // the second request
}

// startContinued makes the first turn of a conversation.
func startContinued(t *testing.T, w site.Way, path string) continued {
	t.Helper()
	p := gatewaytest.NewProvider(t)
	p.Always(gatewaytest.Body(http.StatusOK, "application/json", []byte(encryptedAnswer)))
	c := continued{Site: site.Start(t, w.Provider("p", p, "format responses", "responses_reasoning encrypted")), provider: p, path: path}
	first := c.Ask(path, c.request())
	requireAnswered(t, first)
	c.turn = c.request(sealedTurn(t, path, first.Body), `{"role":"user","content":"go on"}`)
	return c
}

// request returns a request that asks for reasoning.
func (c continued) request(more ...string) string {
	members := `"reasoning_effort":"high"`
	if c.path == site.MessagesPath {
		members = `"max_tokens":2000,"output_config":{"effort":"high"}`
	}
	var turns strings.Builder
	turns.WriteString(`{"role":"user","content":"hello"}`)
	for _, turn := range more {
		turns.WriteString("," + turn)
	}
	return `{"model":"m",` + members + `,"messages":[` + turns.String() + `]}`
}

// sealedTurn returns the turn of the assistant that a client makes of an answer.
func sealedTurn(t *testing.T, path, answer string) string {
	t.Helper()
	require.Contains(t, answer, `"gwrs1:`)
	var whole struct {
		Content json.RawMessage
		Choices []struct {
			Message struct {
				Thinking json.RawMessage `json:"thinking_blocks"`
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &whole))
	if path == site.MessagesPath {
		return `{"role":"assistant","content":` + string(whole.Content) + `}`
	}
	return `{"role":"assistant","content":"Hi","thinking_blocks":` + string(whole.Choices[0].Message.Thinking) + `}`
}

// Clients send encrypted reasoning with every later request. If it was encrypted for another
// account, or with an old key of the provider, every later request would fail.
func TestR014ReasoningThatTheProviderCannotReadIsLeftOutInASecondCall(t *testing.T) {
	reported := map[string]string{site.MessagesPath: "messages.*.content.*.thinking", site.ChatPath: "messages[*].thinking_blocks"}
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for path, loss := range reported {
			t.Run(path, func(t *testing.T) { requireLeftOut(t, startContinued(t, w, path), loss) })
		}
	})
}

// requireLeftOut repeats a turn whose reasoning the provider refuses, and requires that
// the client gets an answer and reads what was left out.
func requireLeftOut(t *testing.T, c continued, loss string) {
	t.Helper()
	for _, refusal := range []string{refusesReasoning, refusesInWords} {
		before := c.provider.Count()
		c.provider.Script(refuse(http.StatusBadRequest, refusal))
		answer := c.Ask(c.path, c.turn)
		requireAnswered(t, answer)
		calls := c.provider.Requests()[before:]
		require.Len(t, calls, 2)
		assert.Contains(t, string(calls[0].Body), `"encrypted_content":"gAAAAAB"`)
		assert.NotContains(t, string(calls[1].Body), `"type":"reasoning"`)
		assert.Contains(t, string(calls[1].Body), `"text":"Hi"`)
		assert.Equal(t, loss, answer.Header.Get("X-Gateway-Dropped"))
		assert.Contains(t, answer.Body, `"gwrs1:`, "the reasoning of the new answer is sealed")
		assert.Equal(t, 1.0, c.Record(answer.ID())["attempts"], "it is one target")
	}
	before := c.provider.Count()
	requireAnswered(t, c.Ask(c.path, c.turn))
	assert.Equal(t, before+1, c.provider.Count(), "nothing is learned of one conversation for others")
}

func TestReasoningIsLeftOutOnceAndForItsOwnRefusalAlone(t *testing.T) {
	c := startContinued(t, site.Direct, site.ChatPath)
	for name, test := range map[string]struct {
		refusals []string
		headers  []string
		want     string
		calls    int
	}{
		"a second refusal":       {refusals: []string{refusesReasoning, refusesReasoning}, want: "could not be verified", calls: 2},
		"another refusal":        {refusals: []string{refusesAnother}, want: "Invalid 'input[0].encrypted_content'", calls: 1},
		"losses are not allowed": {refusals: []string{refusesReasoning}, headers: []string{"X-Gateway-On-Loss", "reject"}, want: "could not be verified", calls: 1},
	} {
		before := c.provider.Count()
		for _, refusal := range test.refusals {
			c.provider.Script(refuse(http.StatusBadRequest, refusal))
		}
		answer := c.Ask(c.path, c.turn, test.headers...)
		assert.Equal(t, http.StatusBadRequest, answer.Status, name)
		assert.Contains(t, answer.Body, test.want, name)
		assert.Equal(t, before+test.calls, c.provider.Count(), name)
	}
}

// Requests of a responses client are forwarded unchanged. Such a client removes the
// reasoning itself.
func TestARefusalOfEncryptedReasoningIsRelayedOnTheByteLane(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p, "format responses"))
	p.Script(refuse(http.StatusBadRequest, refusesReasoning))
	answer := s.Ask(site.ResponsesPath, `{"model":"m","input":[{"type":"reasoning","summary":[],"encrypted_content":"foreign"},{"role":"user","content":"x"}]}`)
	assert.Equal(t, http.StatusBadRequest, answer.Status)
	assert.Equal(t, refusesReasoning, answer.Body)
	assert.Equal(t, 1, p.Count())
}
