package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// For a key without a limit, admit allocates memory only for the record of the exchange.
func TestKeysWithoutALimitPayNothing(t *testing.T) {
	m := &catalog.Model{Targets: []catalog.Target{{Provider: new(catalog.Provider), Traits: new(trait.Traits)}}}
	s := reply.New(httptest.NewRecorder(), &exchange.Exchange{Key: new(aigateway.Key), Request: exchange.Request{Format: formats.Of(translate.Chat)}})
	h, r := &handler{backends: new(backends.Set), resolved: &resolved{limits: limits.New()}}, httptest.NewRequest(http.MethodPost, "/", nil)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		if _, refused := h.admit(s, r, m); refused != nil {
			t.Fail()
		}
	}), 1.0)
}
