package usage_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// compactedUsage is the usage of an answer whose conversation was summarized before it. The counts
// at its top are of the answer alone.
const compactedUsage = `{"input_tokens":10,"output_tokens":5,"iterations":[{"type":"compaction","input_tokens":50000,"output_tokens":3000},{"type":"message","input_tokens":10,"output_tokens":5}]}`

// compacting is a request that lets the provider summarize the conversation.
func compacting(stream bool) string {
	return strings.Replace(site.BodyFor(site.MessagesPath, "m", "hello", stream), "{", `{"context_management":{"edits":[{"type":"compact_20260112"}]},`, 1)
}

// A compaction cost 0.195 USD, and nothing of it was recorded.
func TestACompactionIsRecorded(t *testing.T) {
	whole, stream := messageOf(compactedUsage)
	for name, c := range map[string]struct {
		path, body  string
		contentType string
		answer      string
	}{
		"JSON":               {site.MessagesPath, compacting(false), "application/json", whole},
		"a stream":           {site.MessagesPath, compacting(true), "text/event-stream", stream},
		"translated":         {site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "application/json", whole},
		"a stream of events": {site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true), "text/event-stream", stream},
	} {
		t.Run(name, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			p.Always(gatewaytest.Body(200, c.contentType, []byte(c.answer)))
			s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced, "format messages"))...)
			answer := s.Ask(c.path, c.body)
			require.Equal(t, http.StatusOK, answer.Status)
			if c.path == site.MessagesPath {
				assert.Equal(t, c.answer, answer.Body)
			} else {
				assert.NotContains(t, answer.Body, "50000", "clients see the usage of the answer")
			}
			got := settled(t, s, "model", 1)[0]
			assert.Equal(t, sum{Model: "m", Requests: 1, Calls: 2, Input: 50_010, Output: 3005, Cost: 195_105, Currency: "USD"}, got)
		})
	}
}

// A budget admitted any number of compactions.
func TestABudgetCountsCompactions(t *testing.T) {
	whole, _ := messageOf(compactedUsage)
	p := gatewaytest.NewProvider(t)
	p.Always(gatewaytest.Body(200, "application/json", []byte(whole)))
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced, "format messages"), "limit all {\nper gateway\nbudget 0.5/30d\n}")...)
	var statuses []int
	for range 4 {
		statuses = append(statuses, s.Ask(site.MessagesPath, compacting(false)).Status)
	}
	assert.Equal(t, []int{200, 200, 429, 429}, statuses, "a summary of 8192 tokens is reserved: 0.12 USD")
	assert.EqualValues(t, 2*195_105, settled(t, s, "model", 4)[0].Cost)
}
