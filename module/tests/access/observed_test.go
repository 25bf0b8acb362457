package access_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestAccessLogAndPlaceholdersHaveTheSameValues(t *testing.T) {
	var logs strings.Builder
	for _, name := range placeholderNames {
		logs.WriteString("log_append p_" + name + " {http.ai_gateway." + name + "}\n")
	}
	site.EachWay(t, func(t *testing.T, w site.Way) {
		first, p := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		first.Always(gatewaytest.Status(http.StatusServiceUnavailable))
		s := site.StartCaddyfile(t, site.Block("log\n"+logs.String()+"header >X-Provider {http.ai_gateway.provider}",
			w.Provider("first", first, "models 1"), w.Provider("second", p, "models 2"), "model m {\nto first\nto second/other\n}"))
		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.MessagesPath]...))
		answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", true))
		assert.Equal(t, "second", answer.Header.Get("X-Provider"), "a deferred header sees the provider that answered")
		entry := s.AccessEntry(answer.ID())
		record := maps.Clone(entry["ai_gateway"].(map[string]any))
		assert.Greater(t, record["ttfb_ms"], 0.0)
		delete(record, "ttfb_ms")
		assert.Equal(t, map[string]any{
			"request_id": answer.ID(), "outcome": "answered", "choice": "fallback", "key_id": "client", "model": "m", "attempts": 2.0,
			"provider": "second", "upstream_model": "other", "upstream_status": 200.0, "answered_by": "x",
			"summary":            "answered by second/other after first/m was overloaded (503)",
			"usage.input_tokens": 9.0, "usage.output_tokens": 4.0,
			"usage.cache_read_tokens": 0.0, "usage.cache_write_tokens": 0.0, "usage.reasoning_tokens": 0.0,
		}, record)
		for name, value := range record {
			if name != "upstream_status" && name != "answered_by" && name != "summary" {
				assert.EqualValues(t, value, entry["p_"+name], name)
			}
		}
		assert.Equal(t, "client", entry["user_id"])
		assert.Equal(t, 200.0, entry["status"])
	})
}

// Unknown values are absent instead of zero.
func TestUnknownValuesAreAbsentFromTheRecord(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.StartCaddyfile(t, site.Block("log", w.Provider("p", p), "accounts off"))
		refused := s.Ask(site.MessagesPath, `{"model":"m"}`, "Authorization", "Bearer sk-nobodys-key")
		assert.Equal(t, map[string]any{
			"request_id": refused.ID(), "outcome": "refused", "attempts": 0.0, "fault": "the API key is not valid",
			"summary": "refused: the API key is not valid",
		}, s.AccessEntry(refused.ID())["ai_gateway"])

		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.ChatPath]...))
		uncounted := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
		for name := range s.AccessEntry(uncounted.ID())["ai_gateway"].(map[string]any) {
			assert.NotContains(t, name, "usage", "the provider counted nothing")
		}

		p.Script(gatewaytest.Status(http.StatusTooManyRequests, "X-Request-Id", "vendor-1"))
		failed := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
		record := s.AccessEntry(failed.ID())["ai_gateway"].(map[string]any)
		assert.Equal(t, map[string]any{
			"request_id": failed.ID(), "outcome": "failed", "attempts": 1.0, "key_id": "client", "model": "m", "provider": "p",
			"upstream_model": "m", "upstream_status": 429.0, "upstream_request_id": "vendor-1", "fault": "the upstream's own words, 14 bytes",
			"summary": "failed: p/m refused by its rate limit (429)",
		}, record)
	})
}
