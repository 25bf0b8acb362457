package usage_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The calls of other prompts are cancelled when the provider refuses one. They cost nothing,
// however long their prompts were, because the refusal counted for all of them.
func TestCancelledCallsOfOtherPromptsCostTheirInput(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	refusal := gatewaytest.Body(http.StatusBadRequest, "application/json", []byte(`{"error":{"message":"refused","type":"invalid_request_error"}}`))
	p.Always(func(c *gatewaytest.Call) {
		body, err := io.ReadAll(c.Request.Body)
		assert.NoError(t, err)
		if !bytes.Contains(body, []byte("refuse me")) {
			<-c.Request.Context().Done()
			return
		}
		assert.NoError(t, p.WaitRequests(site.Waiting(t), 3))
		refusal(c)
	})
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "format chat", "price m input 1 output 1"))...)
	long := strings.Repeat("word ", 2000)
	answer := s.Ask(site.CompletionsPath, `{"model":"m","max_tokens":9,"prompt":["`+long+`","refuse me","`+long+`"]}`)
	assert.Equal(t, http.StatusBadRequest, answer.Status)
	sums := settled(t, s, "model", 1)
	require.Len(t, sums, 1)
	assert.Greater(t, sums[0].Input, int64(4000))
	assert.Less(t, sums[0].Input, int64(5100))
	assert.EqualValues(t, 3, sums[0].Calls)
	assert.EqualValues(t, 2, sums[0].Estimated)
}
