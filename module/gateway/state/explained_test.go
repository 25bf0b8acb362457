package state

import (
	"context"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/conditions"
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
		x := explanation{ex: exchange.Exchange{Key: key, Request: exchange.Request{Format: chat}}}
		require.NoError(t, x.take([]byte(body)))
		assert.Equal(t, want, condition.Holds(x.example), body)
		assert.ErrorContains(t, x.take([]byte(`{"model":"m"}`)), "reading the request: messages")
	}
}

// An operator saw that a key may not use a model, and had to look for the reason at the key, its team and its limit.
func TestTheReasonWhyAKeyMayNotUseAModel(t *testing.T) {
	team := &aigateway.Team{Models: []aigateway.Pattern{"r*", "s"}}
	chain := new(limits.Chain)
	for want, c := range map[string]struct {
		key   aigateway.Key
		chain *limits.Chain
	}{
		"it or its user is disabled":      {aigateway.Key{Disabled: true}, chain},
		"":                                {aigateway.Key{}, chain},
		"its models are m* x":             {aigateway.Key{Models: []aigateway.Pattern{"m*", "x"}, Team: team}, chain},
		"the models of its team are r* s": {aigateway.Key{Models: []aigateway.Pattern{"other"}, Team: team}, chain},
		"its limit 'removed' is not defined or cannot be applied": {aigateway.Key{Limit: "removed"}, nil},
		"it has expired at 2026-11-30T00:00:00Z":                  {aigateway.Key{Expires: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}, chain},
	} {
		assert.Equal(t, want, refusal(&c.key, c.chain, "other"))
	}
}
