package module_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// The header was checked and then ignored: a client that asked for strictness
// got answers to requests that had lost a field.
func TestAClientMayRefuseLossesThatShapeTheAnswer(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "format chat"))
		body := `{"model":"m","max_tokens":9,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"x"}]}`
		hint := `{"model":"m","max_tokens":9,"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":"x"}]}`
		assert.Equal(t, http.StatusOK, s.ask(messagesPath, body).status)
		assert.Equal(t, http.StatusOK, s.ask(messagesPath, body, "x-gateway-on-loss", "warn").status)
		assert.Equal(t, http.StatusOK, s.ask(messagesPath, hint, "x-gateway-on-loss", "reject").status, "a hint shapes nothing")
		count := p.Count()
		refused := s.ask(messagesPath, body, "x-gateway-on-loss", "reject")
		assert.Equal(t, http.StatusBadRequest, refused.status)
		assert.Equal(t, "thinking: cannot be translated for model 'm' (upstream format chat)", refused.failure(t).Message)
		assert.Equal(t, count, p.Count(), "nobody was asked")
	})
}
