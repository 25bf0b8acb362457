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

// switches are the models whose services have a member that switches thinking off, with the path of the
// member and its value, and whether the models take a forced call then.
var switches = []struct {
	services, models string
	path, off        string
	forces           bool
}{
	{"deepseek", "*", "thinking.type", "disabled", true},
	{"moonshot", "kimi-k2.6", "thinking.type", "disabled", true},
	{"dashscope", "qwen3.8*", "enable_thinking", "false", true},
	{"zai", "glm-4.7", "thinking.type", "disabled", false},
	{"siliconflow", "zai-org-*", "enable_thinking", "false", true},
	{"cerebras", "zai-*", "disable_reasoning", "true", true},
}

// switchedOff reports whether a request has the member of its service.
func switchedOff(q *service.Request) bool {
	for _, w := range switches {
		if w.services == q.Service && has(w.path, w.off)(q) {
			return true
		}
	}
	return false
}

// off are the ways in which clients ask for no thinking.
var off = map[string]service.Set{
	"messages": {"thinking": service.Set{"type": "disabled"}}, "chat": {"reasoning_effort": "none"},
	"responses": {"reasoning.effort": "none"}, "gemini": {"generationConfig.thinkingConfig.thinkingBudget": 0},
}

// Models that no effort asks not to think went on thinking, which was paid for: the demand was left out.
// A forced call became a free one although these models take it without thinking, also where the client
// had written the member of the service itself: what they refuse while they think was taken for what
// they always refuse.
func TestThinkingIsSwitchedOff(t *testing.T) {
	fakes := service.Start(t)
	lines, all := configuration(t, fakes)
	s := site.Start(t, lines...)
	seen := make(map[string]bool)
	for _, n := range all {
		for _, w := range switches {
			if n.service != w.services || !like(w.models, n.model) {
				continue
			}
			seen[w.services] = true
			for _, c := range clients {
				ways := []service.Set{off[c.format]}
				if off[c.format] == nil {
					continue
				}
				if c.format == "chat" {
					var value any = w.off
					_ = json.Unmarshal([]byte(w.off), &value) // a word is none
					ways = append(ways, service.Set{w.path: value})
				}
				for _, way := range ways {
					members := c.thinking(t, n, way)
					for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
						if members[name] != nil {
							members[name] = 1000
						}
					}
					if w.forces {
						c.force(t, members)
					}
					raw, err := json.Marshal(members)
					require.NoError(t, err)
					cell := strings.Join([]string{n.name, n.model, c.format, encoded(way)}, "|")
					reply := s.Ask(c.path, string(raw))
					arrived, rule := fakes.Last()
					require.Nil(t, rule, cell)
					assert.Equal(t, http.StatusOK, reply.Status, cell+reply.Body)
					assert.True(t, has(w.path, w.off)(arrived), cell+encoded(arrived.Body))
					assert.NotContains(t, arrived.Body, "reasoning_effort", cell)
					assert.Equal(t, w.forces, forcesCall(arrived), cell+encoded(arrived.Body))
					assert.Empty(t, reply.Header.Get("X-Gateway-Dropped"), cell)
				}
			}
		}
	}
	assert.Len(t, seen, len(switches))
}

// A member that does not switch thinking off leaves the call free, and so does an effort beside it that
// the provider does not get.
func TestCallsAreFreeWhileAModelThinks(t *testing.T) {
	fakes := service.Start(t)
	lines, all := configuration(t, fakes)
	s := site.Start(t, lines...)
	for _, n := range all {
		for _, on := range []service.Set{
			{"thinking": service.Set{"type": "enabled"}, "enable_thinking": true}, {"thinking": service.Set{"type": "enabled"}, "enable_thinking": true, "reasoning_effort": "none"},
		} {
			if n.service != service.Moonshot && n.service != service.DashScope || !like("*[k-q]*[23].[68]*", n.model) {
				continue
			}
			members := clients[1].thinking(t, n, on)
			clients[1].force(t, members)
			raw, err := json.Marshal(members)
			require.NoError(t, err)
			reply := s.Ask(site.ChatPath, string(raw))
			arrived, rule := fakes.Last()
			require.Nil(t, rule, n.model)
			assert.Equal(t, http.StatusOK, reply.Status, n.model+reply.Body)
			assert.False(t, forcesCall(arrived), n.model)
			assert.Contains(t, reply.Header.Get("X-Gateway-Dropped"), "tool_choice", n.model)
		}
	}
}

// force adds the tools of the client to a request, and the demand that one is called.
func (c client) force(t *testing.T, members map[string]any) {
	var whole map[string]any
	require.NoError(t, json.Unmarshal([]byte(c.body), &whole))
	for _, name := range []string{"tools", "tool_choice", "toolConfig"} {
		if whole[name] != nil {
			members[name] = whole[name]
		}
	}
	change(members, c.forced)
	if choice, is := members["tool_choice"].(map[string]any); is {
		delete(choice, "disable_parallel_tool_use")
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
	if strings.HasPrefix(encoded(way), `{"thinking.`) {
		members["thinking"] = map[string]any{}
	}
	if strings.HasPrefix(encoded(way), `{"reasoning.`) {
		members["reasoning"] = map[string]any{}
	}
	change(members, way)
	return members
}
