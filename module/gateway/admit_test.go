package gateway

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/userbase"
)

// BenchmarkAdmitWithoutALimit shows that keys without a limit pay nothing.
func BenchmarkAdmitWithoutALimit(b *testing.B) {
	s := sink.New(httptest.NewRecorder(), &exchange.Exchange{Key: new(aigateway.Key)})
	h, r := &Handler{users: new(userbase.Userbase), resolved: new(resolved)}, httptest.NewRequest("POST", "/", nil)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = h.admit(s, r, nil)
	}
}

func TestKeysWithoutALimitPayNothing(t *testing.T) {
	s := sink.New(httptest.NewRecorder(), &exchange.Exchange{Key: new(aigateway.Key)})
	h, r := &Handler{users: new(userbase.Userbase), resolved: new(resolved)}, httptest.NewRequest("POST", "/", nil)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if _, refused := h.admit(s, r, nil); refused != nil {
			t.Fail()
		}
	}))
}
