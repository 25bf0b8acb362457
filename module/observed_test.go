package module_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// placeholders are all that a site can put into its logs and headers.
var placeholderNames = []string{
	"request_id", "outcome", "key_id", "key_owner", "limit", "model", "provider", "upstream_model", "attempts", "ttfb_ms",
	"usage.input_tokens", "usage.cache_read_tokens", "usage.cache_write_tokens", "usage.output_tokens", "usage.reasoning_tokens",
}

// access waits for the access log's entry of a request and gives it.
func (s *site) access(id string) map[string]any {
	s.t.Helper()
	entry, err := s.Logs.WaitEntry(waiting(s.t), func(e map[string]any) bool {
		record, _ := e["ai_gateway"].(map[string]any)
		return e["msg"] == "handled request" && record["request_id"] == id
	})
	require.NoError(s.t, err)
	return entry
}

func TestAccessLogAndPlaceholdersTellTheSame(t *testing.T) {
	var logs strings.Builder
	for _, name := range placeholderNames {
		logs.WriteString("log_append p_" + name + " {http.ai_gateway." + name + "}\n")
	}
	eachWay(t, func(t *testing.T, w way) {
		first, p := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		first.Always(gatewaytest.Status(http.StatusServiceUnavailable))
		s := startCaddyfile(t, siteBlock("log\n"+logs.String()+"header >X-Provider {http.ai_gateway.provider}",
			w.provider("first", first, "models 1"), w.provider("second", p, "models 2"), "model m {\nto first\nto second/other\n}"))
		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, streams[messagesPath]...))
		answer := s.ask(messagesPath, bodyFor(messagesPath, "m", "hello", true))
		assert.Equal(t, "second", answer.header.Get("X-Provider"), "a deferred header sees the provider that answered")
		entry := s.access(answer.id())
		record := entry["ai_gateway"].(map[string]any)
		assert.Greater(t, record["ttfb_ms"], 0.0)
		delete(record, "ttfb_ms")
		assert.Equal(t, map[string]any{
			"request_id": answer.id(), "outcome": "answered", "key_id": "client", "model": "m", "attempts": 2.0,
			"provider": "second", "upstream_model": "other", "upstream_status": 200.0, "answered_by": "x",
			"usage.input_tokens": 9.0, "usage.output_tokens": 4.0,
			"usage.cache_read_tokens": 0.0, "usage.cache_write_tokens": 0.0, "usage.reasoning_tokens": 0.0,
		}, record)
		for name, value := range record {
			if name != "upstream_status" && name != "answered_by" {
				assert.EqualValues(t, value, entry["p_"+name], name)
			}
		}
		assert.Equal(t, "client", entry["user_id"])
		assert.Equal(t, 200.0, entry["status"])
	})
}

// What is not known is absent, which is not the same as zero.
func TestUnknownValuesAreAbsentFromTheRecord(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startCaddyfile(t, siteBlock("log", w.provider("p", p)))
		refused := s.ask(messagesPath, `{"model":"m"}`, "Authorization", "Bearer sk-nobodys-key")
		assert.Equal(t, map[string]any{
			"request_id": refused.id(), "outcome": "refused", "attempts": 0.0, "fault": "the API key is not valid",
		}, s.access(refused.id())["ai_gateway"])

		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, streams[chatPath]...))
		uncounted := s.ask(chatPath, bodyFor(chatPath, "m", "hello", true))
		for name := range s.access(uncounted.id())["ai_gateway"].(map[string]any) {
			assert.NotContains(t, name, "usage", "the provider counted nothing")
		}

		p.Script(gatewaytest.Status(http.StatusTooManyRequests, "X-Request-Id", "vendor-1"))
		failed := s.ask(chatPath, bodyFor(chatPath, "m", "hello", true))
		record := s.access(failed.id())["ai_gateway"].(map[string]any)
		assert.Equal(t, map[string]any{
			"request_id": failed.id(), "outcome": "failed", "attempts": 1.0, "key_id": "client", "model": "m", "provider": "p",
			"upstream_model": "m", "upstream_status": 429.0, "upstream_request_id": "vendor-1", "fault": "the upstream's own words, 14 bytes",
		}, record)
	})
}
