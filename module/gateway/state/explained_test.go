package state

import (
	"context"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/conditions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// An example is read as the request of a client: with its body, its format and a key.
func TestAnExampleMeetsConditions(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	condition, err := conditions.Load(ctx, "{http.ai_gateway.request.tools} == 1 && {http.ai_gateway.request.key} == 'team'")
	require.NoError(t, err)
	chat, key := formats.Of(translate.Format("chat")), &aigateway.Key{ID: "team"}
	for body, want := range map[string]bool{
		`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}`: true,
		`{"model":"m","messages":[{"role":"user","content":"hi"}]}`:                                                       false,
	} {
		x := explanation{Exchange: exchange.Exchange{Key: key, Request: exchange.Request{Format: chat}}}
		require.NoError(t, x.take([]byte(body)))
		assert.Equal(t, want, condition.Holds(x.example), body)
		assert.ErrorContains(t, x.take([]byte(`{"model":"m"}`)), "reading the request: messages")
	}
}
