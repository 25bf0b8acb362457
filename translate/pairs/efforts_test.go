package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// efforts are the fields by which clients ask for an effort, with the path of its loss. Clients of
// messages ask for none by another field.
var efforts = []struct {
	from       translate.Format
	body       func(word string) string
	path, none string
}{
	{translate.Messages, func(word string) string {
		if word == "none" {
			return conversation(hi, `"thinking":{"type":"disabled"}`)
		}
		return conversation(hi, `"output_config":{"effort":"`+word+`"}`)
	}, "output_config.effort", "thinking"},
	{translate.Chat, func(word string) string { return effort(word).body }, "reasoning_effort", "reasoning_effort"},
	{translate.Responses, func(word string) string { return posing(`"reasoning":{"effort":"` + word + `"}`).body }, "reasoning.effort", "reasoning.effort"},
	{translate.Gemini, func(word string) string {
		if word == "none" {
			return thinkingBy(`"thinkingBudget":0`).body
		}
		return thinkingBy(`"thinkingLevel":"` + word + `"`).body
	}, "generationConfig.thinkingConfig.thinkingLevel", "generationConfig.thinkingConfig.thinkingBudget"},
}

// effortMembers are the members by which providers are asked for an effort, up to its word.
var effortMembers = map[translate.Format]string{
	translate.Chat:      `"reasoning_effort":"`,
	translate.Messages:  `"output_config":{"effort":"`,
	translate.Responses: `"reasoning":{"effort":"`,
	translate.Gemini:    `"thinkingLevel":"`,
	translate.Converse:  `"outputConfig":{"effort":"`,
}

// A model refuses a request with an effort that it lacks.
func TestEffortsThatAModelLacks(t *testing.T) {
	for _, c := range []struct {
		name, levels, asked, sent string
		lost                      bool
	}{
		{"one that it has", "low high", "high", "high", false},
		{"the next lower one", "low medium max", "high", "medium", true},
		{"the next higher one", "high max", "low", "high", true},
		{"none that it has", "off", "high", "", true},
		{"none but to think not at all", "none", "high", "", true},
		{"not to think at all", "low high", "none", "", true},
	} {
		for _, e := range efforts {
			for to, member := range effortMembers {
				if !pairs.CanTranslate(e.from, to) {
					continue
				}
				t.Run(c.name+" from "+string(e.from)+" to "+string(to), func(t *testing.T) {
					traits := traitsOf(t, "thinking_style always; reasoning_effort "+c.levels)
					info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(to), Traits: traits, Seals: sealer}
					out, r, refused := pairs.Render(nil, e.from, to, []byte(e.body(c.asked)), info)
					require.Nil(t, refused)
					sent, path := c.sent, e.path
					if c.asked == "none" {
						path = e.none
						if to == translate.Gemini { // whose models always think
							sent = "low"
						}
					}
					if sent == "" {
						assert.NotContains(t, string(out), member)
					} else {
						assert.Contains(t, string(out), member+sent+`"`)
					}
					if c.lost {
						assert.Contains(t, lossesOf(r.Losses), path+" shaping")
					} else {
						assert.NotContains(t, lossesOf(r.Losses), path)
					}
				})
			}
		}
	}
}

func TestBudgetsThatAModelAccepts(t *testing.T) {
	for _, c := range []struct{ name, model, traits, asked, sent, losses string }{
		{"within", "gemini-9-test", "thinking_budget 512-24576", "3000", "3000", ""},
		{"beyond", "gemini-9-test", "thinking_budget 512-24576", "30000", "24576", "thinking shaping"},
		{"below", "gemini-9-test", "thinking_budget 2048-4096", "1024", "2048", "thinking shaping"},
		{"none", "gemini-9-test", "thinking_budget 512-24576", "0", "0", ""},
		{"none of a model that always thinks", "gemini-9-test", "thinking_budget 512-24576; thinking_style always", "0", "512", "thinking shaping"},
		{"none of one that does by its name", "gemini-2.5-pro", "thinking_budget 256-1024", "0", "256", "thinking shaping"},
		{"beside efforts that the model lacks", "gemini-9-test", "thinking_budget 512-24576; reasoning_effort off", "3000", "3000", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			thinking := `"thinking":{"type":"enabled","budget_tokens":` + c.asked + `}`
			if c.asked == "0" {
				thinking = `"thinking":{"type":"disabled"}`
			}
			info := &core.RequestInfo{Model: "m1", Upstream: c.model, Traits: traitsOf(t, c.traits)}
			out, r, refused := pairs.Render(nil, translate.Messages, translate.Gemini, []byte(conversation(hi, thinking)), info)
			require.Nil(t, refused)
			assert.Contains(t, string(out), `"thinkingBudget":`+c.sent+`,`)
			assert.NotContains(t, string(out), "thinkingLevel")
			assert.Equal(t, c.losses, lossesOf(r.Losses))
		})
	}
}
