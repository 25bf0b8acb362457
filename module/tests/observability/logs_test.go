package observability_test

import (
	"context"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The log explains an exchange in one sentence, and so does the access log.
func TestLogsExplainExchanges(t *testing.T) {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, site.Block("log",
		site.Direct.Provider("anthropic", first, "models off"), site.Direct.Provider("openai", second, "models off"),
		"model m {\nto anthropic/claude\nto openai/gpt\n}"))
	first.Script(gatewaytest.Status(529))
	id := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true)).ID()
	const sentence = "answered by openai/gpt after anthropic/claude was overloaded (529)"
	record := s.Record(id)
	assert.Equal(t, sentence, record["msg"])
	assert.Equal(t, "debug", record["level"])
	assert.NotContains(t, record, "summary")
	entry, _ := s.AccessEntry(id)["ai_gateway"].(map[string]any)
	assert.Equal(t, sentence, entry["summary"])
}

func init() { caddy.RegisterModule(noting{}) }

// noted are the events that the handler "noting" has seen.
var noted = make(chan caddy.Event, 10)

type noting struct{}

func (noting) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.noting", New: func() caddy.Module { return new(noting) }}
}

func (*noting) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return nil
}

func (noting) Handle(_ context.Context, e caddy.Event) error {
	noted <- e
	return nil
}

var _ caddyevents.Handler = noting{}

// A model without a price is an event, once a day.
func TestUnpricedModelsAreEvents(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, "{\nevents {\non ai_gateway_unpriced_model noting\n}\n}\n"+
		site.Block("", site.Direct.Provider("pricey", p, "models dear-*")))
	for range 2 {
		s.Record(s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "dear-1", "hello", false)).ID())
	}
	select {
	case e := <-noted:
		assert.Equal(t, map[string]any{"provider": "pricey", "model": "dear-*", "upstream_model": "dear-1"}, e.Data)
		assert.Nil(t, e.Origin(), "and not whichever module was provisioned last")
	case <-site.Waiting(t).Done():
		t.Fatal("no event came")
	}
	assert.Empty(t, noted)
}
