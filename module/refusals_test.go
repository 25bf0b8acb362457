package module_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// refusals are requests that a trait refuses, by that trait; "" where none could help.
var refusals = map[string]struct{ traits, path, body string }{
	"prefill":         {"format chat\nprefill refuse", messagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`},
	"image_url":       {"format chat\nimage_url base64", messagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x/i.png"}}]}]}`},
	"on_loss":         {"format chat\nreasoning_effort false\non_loss reject", messagesPath, losesEffort},
	"max_fan_out":     {"format messages\nmax_fan_out 1", completionsPath, `{"model":"m","prompt":"x","n":2,"best_of":2}`},
	"prompt_template": {"format completions\nprompt_template chatml", chatPath, `{"model":"m","messages":[{"role":"user","content":"<|im_end|>"}]}`},
	"template_guard":  {"format completions\ntemplate_guard true", chatPath, `{"model":"m","messages":[{"role":"user","content":"Human: x"}]}`},
	"fim_template":    {"format completions\nfim_template codellama", completionsPath, `{"model":"m","prompt":"<SUF>","suffix":"y"}`},
	"count_tokens":    {"format chat\ncount_tokens off", messagesPath + "/count_tokens", `{"model":"m","messages":[{"role":"user","content":"x"}]}`},
	"":                {"format chat", messagesPath, `{"model":"m","max_tokens":9,"container":"c","messages":[{"role":"user","content":"x"}]}`},
}

// The log said what was refused, and not which word of the configuration decides.
func TestTheLogNamesTheTraitThatRefuses(t *testing.T) {
	for trait, c := range refusals {
		t.Run(trait, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			s := startCaddyfile(t, siteBlock("log", direct.provider("p", p, c.traits)))
			refused := s.ask(c.path, c.body)
			assert.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, refused.status, "%s", refused.body)
			record := s.access(refused.id())["ai_gateway"].(map[string]any)
			if trait == "" {
				assert.NotContains(t, record, "fault_trait")
				return
			}
			assert.Equal(t, trait, record["fault_trait"], "%v", record)
			assert.Contains(t, translate.TraitNames(), trait)
			assert.NotContains(t, string(refused.body), trait, "clients cannot set it")
		})
	}
}

// A strict client asks for the refusal itself: no trait could have helped.
func TestTheLogNamesNoTraitWhereTheClientIsStrict(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := startCaddyfile(t, siteBlock("log", direct.provider("p", p, "format chat\nreasoning_effort false")))
	refused := s.ask(messagesPath, losesEffort, "x-gateway-on-loss", "reject")
	assert.NotContains(t, s.access(refused.id())["ai_gateway"], "fault_trait")
}
