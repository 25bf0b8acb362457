package translation_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// refusals are requests that a trait refuses, by that trait; "" where none could help.
var refusals = map[string]struct{ traits, path, body string }{
	"prefill":         {"format chat\nprefill refuse", site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`},
	"image_url":       {"format chat\nimage_url base64", site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x/i.png"}}]}]}`},
	"on_loss":         {"format chat\nreasoning_effort false\non_loss reject", site.MessagesPath, losesEffort},
	"max_fan_out":     {"format messages\nmax_fan_out 1", site.CompletionsPath, `{"model":"m","prompt":"x","n":2,"best_of":2}`},
	"prompt_template": {"format completions\nprompt_template chatml", site.ChatPath, `{"model":"m","messages":[{"role":"user","content":"<|im_end|>"}]}`},
	"template_guard":  {"format completions\ntemplate_guard true", site.ChatPath, `{"model":"m","messages":[{"role":"user","content":"Human: x"}]}`},
	"fim_template":    {"format completions\nfim_template codellama", site.CompletionsPath, `{"model":"m","prompt":"<SUF>","suffix":"y"}`},
	"count_tokens":    {"format chat\ncount_tokens off", site.MessagesPath + "/count_tokens", `{"model":"m","messages":[{"role":"user","content":"x"}]}`},
	"":                {"format chat", site.MessagesPath, `{"model":"m","max_tokens":9,"container":"c","messages":[{"role":"user","content":"x"}]}`},
}

// The log once named the refused field, but not the trait that caused the refusal.
func TestTheLogNamesTheTraitThatRefuses(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			s := site.StartCaddyfile(t, site.Block("log", site.Direct.Provider("p", p, c.traits)))
			refused := s.Ask(c.path, c.body)
			assert.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, refused.Status, "%s", refused.Body)
			record := s.AccessEntry(refused.ID())["ai_gateway"].(map[string]any)
			if name == "" {
				assert.NotContains(t, record, "fault_trait")
				return
			}
			assert.Equal(t, name, record["fault_trait"], "%v", record)
			assert.Contains(t, trait.Names(), name)
			assert.NotContains(t, refused.Body, name, "clients cannot set it")
		})
	}
}

// If the client itself requests strictness, no trait causes the refusal.
func TestTheLogNamesNoTraitWhereTheClientIsStrict(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, site.Block("log", site.Direct.Provider("p", p, "format chat\nreasoning_effort false")))
	refused := s.Ask(site.MessagesPath, losesEffort, "x-gateway-on-loss", "reject")
	assert.NotContains(t, s.AccessEntry(refused.ID())["ai_gateway"], "fault_trait")
}
