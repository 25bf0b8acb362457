package models_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/models/service"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// ways are the ways in which clients ask for thinking, by their formats.
var ways = map[string][]service.Set{
	"messages": {
		{"thinking": service.Set{"type": "adaptive"}},
		{"thinking": service.Set{"type": "adaptive", "display": "summarized"}, "output_config": service.Set{"effort": "max"}},
		{"thinking": service.Set{"type": "enabled", "budget_tokens": 2000}},
		{"thinking": service.Set{"type": "enabled", "budget_tokens": 500000, "display": "omitted"}},
		{"thinking": service.Set{"type": "disabled"}},
		{"output_config": service.Set{"effort": "minimal"}},
		{"output_config": service.Set{"effort": "low"}},
		{"output_config": service.Set{"effort": "xhigh"}},
	},
	"chat":        words("reasoning_effort"),
	"completions": words("reasoning_effort"),
	"responses":   words("reasoning.effort"),
	"gemini": append(words("generationConfig.thinkingConfig.thinkingLevel"),
		service.Set{"generationConfig.thinkingConfig.thinkingBudget": -1},
		service.Set{"generationConfig.thinkingConfig.thinkingBudget": 1},
		service.Set{"generationConfig.thinkingConfig.thinkingBudget": 1000000},
	),
}

// unstated are refusals that the table has no column for.
var unstated = []string{`openai|gpt-6-astra|chat|{"reasoning_effort":"max"}`} // the effort is one of responses alone

// words returns the member with each word for an effort.
func words(path string) (all []service.Set) {
	for _, word := range []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} {
		all = append(all, service.Set{path: word})
	}
	return all
}

// A client of a provider's own format got its way of thinking through as it was, also where another
// model answered than the one that it was written for: adaptive thinking and efforts to Claude Haiku 4.5,
// budgets to Claude Opus 5.5, levels to Gemini 2.5.
func TestModelsAcceptEveryWayToThink(t *testing.T) {
	fakes := service.Start(t)
	lines, all := configuration(t, fakes)
	s := site.Start(t, lines...)
	for _, n := range all {
		for _, c := range clients {
			for _, way := range ways[c.format] {
				raw, err := json.Marshal(c.thinking(t, n, way))
				require.NoError(t, err)
				var members map[string]any
				require.NoError(t, json.Unmarshal(raw, &members))
				cell := strings.Join([]string{n.name, n.model, c.format, encoded(way)}, "|")
				reply := s.Ask(c.path, string(raw))
				arrived, rule := fakes.Last()
				if rule != nil {
					assert.Contains(t, unstated, cell, rule.ID+": "+rule.Sentence(arrived))
					continue
				}
				assert.Equal(t, http.StatusOK, reply.Status, cell+reply.Body)
				if n.owns(c.format) {
					assert.Empty(t, misreportedOwn(members, arrived, reply.Header.Get("X-Gateway-Dropped")), cell)
				}
			}
		}
	}
}

// thinking returns the request of a client that asks for nothing but thinking.
func (c client) thinking(t *testing.T, n named, way service.Set) map[string]any {
	var whole map[string]any
	require.NoError(t, json.Unmarshal([]byte(c.body), &whole))
	members := map[string]any{"model": n.alias()}
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens", "prompt"} {
		if whole[name] != nil {
			members[name] = whole[name]
		}
	}
	turn := []any{service.Set{"role": "user", "content": "What is this?"}}
	switch c.format {
	case "messages", "chat":
		members["messages"] = turn
	case "responses":
		members["input"] = turn
	case "gemini":
		members["contents"] = []any{service.Set{"role": "user", "parts": []any{service.Set{"text": "What is this?"}}}}
		members["generationConfig"] = map[string]any{"thinkingConfig": map[string]any{}}
	}
	if strings.HasPrefix(encoded(way), `{"reasoning.`) {
		members["reasoning"] = map[string]any{}
	}
	change(members, way)
	return members
}
