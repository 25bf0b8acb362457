package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// effects are requests that become others under a trait which changes no fate:
// how something is written, not whether.
var effects = map[string]struct {
	w     way
	trait string
	body  string
}{
	"max_tokens_field":      {way{translate.Messages, translate.Chat}, "max_completion_tokens", conversation(hi)},
	"include_usage":         {way{translate.Messages, translate.Chat}, "false", conversation(hi, `"stream":true`)},
	"system_role":           {way{translate.Messages, translate.Chat}, "developer", conversation(hi, `"system":"s"`)},
	"alternation":           {way{translate.Messages, translate.Chat}, "true", conversation(hi + "," + hi)},
	"tool_names":            {way{translate.Messages, translate.Chat}, "letter", option(`"tools":[{"name":"21st","input_schema":{"type":"object"}}]`).body},
	"schema_references":     {way{translate.Messages, translate.Chat}, "alone", option(`"tools":[{"name":"f","input_schema":{"properties":{"a":{"$ref":"#/$defs/d","title":"t"}}}}]`).body},
	"after_results":         {way{translate.Messages, translate.Chat}, "assistant", conversation(hi + "," + toolUse + "," + result + "," + hi)},
	"tool_content":          {way{translate.Messages, translate.Chat}, "parts", conversation(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`)},
	"max_stops":             {way{translate.Messages, translate.Chat}, "1", conversation(hi, `"stop_sequences":["a","b"]`)},
	"tool_call_ids":         {way{translate.Messages, translate.Chat}, "nine", returned(`,"content":"r"`).body},
	"tool_images":           {way{translate.Messages, translate.Chat}, "inline", returned(`,"content":[` + png + `}]`).body},
	"responses_item_ids":    {way{translate.Messages, translate.Responses}, "true; responses_reasoning encrypted", replied(thought("t", sealedItem) + "," + textBlock("a")).body},
	"same_as":               {way{translate.Messages, translate.Converse}, "anthropic.claude-opus-5-5", conversation(hi, `"top_k":5`)},
	"default_max_tokens":    {way{translate.Completions, translate.Messages}, "7", completing().body},
	"agent_max_tokens":      {way{translate.Responses, translate.Messages}, "7", posing().body},
	"completion_system":     {way{translate.Completions, translate.Messages}, "Go on.", completing().body},
	"template_guard":        {way{translate.Messages, translate.Completions}, "true", conversation(`{"role":"user","content":"Human: x"}`)},
	"estimate_input_tokens": {way{translate.Messages, translate.Chat}, "true", conversation(hi)},
}

// elsewhere are the traits that requests of other formats do not show; tests
// of the transport and of the gateway hold those.
var elsewhere = map[string]bool{
	"anthropic_version": true, "count_tokens": true, "on_loss": true, "forward_ratelimit_headers": true, "trace_upstream": true,
	"attribution": true, "native_n": true, "max_fan_out": true, "fim_template": true, "usage_details": true, "responses_state": true, "batches": true, "files_state": true, "retry_encrypted": true,
	"stated_cost": true, "regional": true, "request_cache": true, "encoding_format": true,
}

// inRules are the traits that a table names; every rule is tried both ways.
func inRules() map[string]bool {
	all := make(map[string]bool)
	for _, w := range requestWays {
		for _, row := range pairs.Fields(w.source, w.target) {
			for _, rule := range row.Rules {
				name, _, _ := strings.Cut(rule.Trait, " ")
				all[name] = true
			}
		}
	}
	return all
}

func TestEveryTraitIsTriedBothWays(t *testing.T) {
	rules := inRules()
	for _, name := range trait.Names() {
		_, shown := effects[name]
		assert.True(t, rules[name] || shown || elsewhere[name], "%s is tried nowhere", name)
	}
	for name, c := range effects {
		render := func(traits string) (string, core.Rendered, *fault.Fault) {
			info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, traits), Seals: sealer}
			out, r, fault := pairs.Render(nil, c.w.source, c.w.target, []byte(c.body), info)
			return string(out), r, fault
		}
		before, rb, fault := render("")
		require.Nil(t, fault, name)
		after, ra, fault := render(name + " " + c.trait)
		assert.True(t, fault != nil || before != after || ra.Answer.Input.Estimate != rb.Answer.Input.Estimate, name)
	}
}
