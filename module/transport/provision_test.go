package transport

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() { caddy.RegisterModule(slowPreset{}) }

// slowPreset is the preset of a slow provider.
type slowPreset struct{ http.RoundTripper }

func (slowPreset) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.providers.slow", New: func() caddy.Module { return new(slowPreset) }}
}

func (slowPreset) Defaults() aigateway.Defaults {
	return aigateway.Defaults{
		BaseURL:      "http://localhost",
		AnswerBounds: aigateway.AnswerBounds{ResponseHeaderTimeout: caddy.Duration(time.Hour), FirstEventTimeout: caddy.Duration(2 * time.Hour)},
	}
}

// Local servers were cut off after five minutes, in which a CPU may not have processed the
// prompt.
func TestTimesComeFromTheConfigurationThenFromThePreset(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	transport := &Transport{Upstream: aigateway.Upstream{
		PresetRaw:    []byte(`{"preset":"slow"}`),
		AnswerBounds: aigateway.AnswerBounds{FirstEventTimeout: caddy.Duration(time.Minute)},
	}}
	require.NoError(t, transport.Provision(ctx))
	want := aigateway.DefaultAnswerBounds
	want.ResponseHeaderTimeout = caddy.Duration(time.Hour)
	want.FirstEventTimeout = caddy.Duration(time.Minute)
	assert.Equal(t, want, transport.AnswerBounds)
}

func TestTheBaseURLComesFromTheConfigurationThenFromThePreset(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	for own, want := range map[string]string{"": "http://localhost", "http://own.example": "http://own.example"} {
		transport := &Transport{Upstream: aigateway.Upstream{PresetRaw: []byte(`{"preset":"slow"}`), BaseURL: own}}
		require.NoError(t, transport.Provision(ctx))
		assert.Equal(t, want, transport.service.base.String())
	}
}
