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
)

// renderedUnder translates a request to a provider with these traits.
func renderedUnder(t *testing.T, w way, body, traits string) (string, core.Rendered, *fault.Fault) {
	t.Helper()
	info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(w.target), Traits: traitsOf(t, traits), Seals: sealer}
	out, r, refused := pairs.Render(nil, w.source, w.target, []byte(body), info)
	return string(out), r, refused
}

// armedWith are requests of each client format with a tool and other members.
var armedWith = map[translate.Format]func(members string) string{
	translate.Messages: func(members string) string {
		return conversation(hi, `"tools":[{"name":"f","input_schema":{"type":"object"}}]`, members)
	},
	translate.Chat:      func(members string) string { return wanting(oneFunction, members).body },
	translate.Responses: func(members string) string { return posing(`"tools":[{"type":"function","name":"f"}]`, members).body },
	translate.Gemini: func(members string) string {
		return generating(`"tools":[{"functionDeclarations":[{"name":"f"}]}]`, members).body
	},
}

// freeChoices are what providers get of a choice that is left to the model, if anything.
var freeChoices = map[translate.Format]string{
	translate.Messages:  `"tool_choice":{"type":"auto"}`,
	translate.Chat:      `"tool_choice":"auto"`,
	translate.Responses: `"tool_choice":"auto"`,
	translate.Gemini:    `"mode":"AUTO"`,
	translate.Converse:  `"toolConfig":{"tools":[`,
}

// Models that think refuse the demand for a call.
func TestDemandsForACallThatAModelRefuses(t *testing.T) {
	for _, c := range []struct {
		name, path string
		from       translate.Format
		member     string
	}{
		{"any tool", "tool_choice.type", translate.Messages, `"tool_choice":{"type":"any"}`},
		{"one tool", "tool_choice.type", translate.Messages, `"tool_choice":{"type":"tool","name":"f"}`},
		{"any tool", "tool_choice", translate.Chat, `"tool_choice":"required"`},
		{"one tool", "tool_choice", translate.Chat, `"tool_choice":{"type":"function","function":{"name":"f"}}`},
		{"any tool", "tool_choice", translate.Responses, `"tool_choice":"required"`},
		{"one tool", "tool_choice", translate.Responses, `"tool_choice":{"type":"function","name":"f"}`},
		{"any tool", "toolConfig.functionCallingConfig", translate.Gemini, `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`},
	} {
		for to, free := range freeChoices {
			if !pairs.CanTranslate(c.from, to) {
				continue
			}
			t.Run(c.name+" from "+string(c.from)+" to "+string(to), func(t *testing.T) {
				body := armedWith[c.from](c.member)
				forced, r, refused := renderedUnder(t, way{c.from, to}, body, "")
				require.Nil(t, refused)
				assert.NotContains(t, lossesOf(r.Losses), c.path)
				out, r, refused := renderedUnder(t, way{c.from, to}, body, "tool_choice auto")
				require.Nil(t, refused)
				assert.NotEqual(t, forced, out)
				assert.Contains(t, out, free)
				assert.NotContains(t, out, `"toolChoice":{`)
				assert.Contains(t, lossesOf(r.Losses), c.path)
				assert.Contains(t, lossesOf(r.Losses), " shaping")
				requireRight(t, to, []byte(out))
			})
		}
	}
}

// unthinking are the demands not to think, and one for a call.
var unthinking = map[translate.Format][2]string{
	translate.Messages:  {`"thinking":{"type":"disabled"}`, `"tool_choice":{"type":"any"}`},
	translate.Chat:      {`"reasoning_effort":"none"`, `"tool_choice":{"type":"function","function":{"name":"f"}}`},
	translate.Responses: {`"reasoning":{"effort":"none"}`, `"tool_choice":"required"`},
	translate.Gemini:    {`"generationConfig":{"thinkingConfig":{"thinkingBudget":0}}`, `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`},
}

// What models refuse while they think was refused always: a demand for a call was lost also beside the
// demand not to think. It is lost where the model does not get the latter.
func TestDemandsForACallOfAModelThatIsNotToThink(t *testing.T) {
	for from, members := range unthinking {
		for to, free := range freeChoices {
			if !pairs.CanTranslate(from, to) {
				continue
			}
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				const able = "thinking_style adaptive; thinking_switch enable_thinking"
				both := armedWith[from](members[0] + "," + members[1])
				want, _, refused := renderedUnder(t, way{from, to}, both, able)
				require.Nil(t, refused)
				out, r, refused := renderedUnder(t, way{from, to}, both, able+"; tool_choice effort_none")
				require.Nil(t, refused)
				assert.Equal(t, want, out)
				assert.NotContains(t, lossesOf(r.Losses), "tool")
				if to == translate.Chat {
					assert.Contains(t, out, `,"enable_thinking":false`)
					assert.NotContains(t, lossesOf(r.Losses), "shaping")
				}
				for traits, body := range map[string]string{
					able + "; tool_choice effort_none":                                     armedWith[from](members[1]),
					"thinking_style always; reasoning_effort low; tool_choice effort_none": both,
				} {
					if to == translate.Gemini && body == both { // which gets its least budget
						continue
					}
					out, r, refused := renderedUnder(t, way{from, to}, body, traits)
					require.Nil(t, refused)
					assert.Contains(t, out, free, traits)
					assert.Contains(t, lossesOf(r.Losses), "tool", traits)
				}
			})
		}
	}
}

// A provider's own word for the effort none goes before its switch, and the members of a client that has
// set the switch itself stay as they are.
func TestSwitchesOfThinking(t *testing.T) {
	for _, c := range []struct{ traits, want string }{
		{"thinking_switch thinking.type", `"thinking":{"type":"disabled"}`},
		{"thinking_switch enable_thinking", `"enable_thinking":false`},
		{"thinking_switch disable_reasoning; reasoning_effort off", `"disable_reasoning":true`},
		{"thinking_switch enable_thinking; reasoning_effort low high", `"enable_thinking":false`},
		{"thinking_switch enable_thinking; reasoning_effort none high", `"reasoning_effort":"none"`},
	} {
		body := conversation(hi, unthinking[translate.Messages][0])
		out, r, refused := renderedUnder(t, way{translate.Messages, translate.Chat}, body, c.traits)
		require.Nil(t, refused)
		assert.Contains(t, out, c.want, c.traits)
		assert.Equal(t, 1, strings.Count(out, "thinking")+strings.Count(out, "reasoning"), c.traits)
		assert.Empty(t, r.Losses, c.traits)
	}
	body := conversation(hi, unthinking[translate.Messages][0], `"enable_thinking":true`)
	out, _, refused := renderedUnder(t, way{translate.Messages, translate.Chat}, body, "thinking_switch enable_thinking; extensions enable_thinking")
	require.Nil(t, refused)
	assert.Equal(t, 1, strings.Count(out, "enable_thinking"))
}

// Models without calls in parallel refuse a bound of their number.
func TestTheChoiceOfOneCallAtATimeThatAModelRefuses(t *testing.T) {
	members := map[translate.Format]string{
		translate.Messages: `"disable_parallel_tool_use":true`, translate.Chat: `"parallel_tool_calls":false`,
		translate.Responses: `"parallel_tool_calls":false`,
	}
	for from, member := range members {
		path := "parallel_tool_calls"
		if from == translate.Messages {
			member, path = `"tool_choice":{"type":"auto",`+member+`}`, "tool_choice.disable_parallel_tool_use"
		}
		for to, sent := range members {
			if !pairs.CanTranslate(from, to) {
				continue
			}
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				out, r, refused := renderedUnder(t, way{from, to}, armedWith[from](member), "")
				require.Nil(t, refused)
				assert.Contains(t, out, sent)
				assert.NotContains(t, lossesOf(r.Losses), path)
				out, r, refused = renderedUnder(t, way{from, to}, armedWith[from](member), "parallel_tool_calls false")
				require.Nil(t, refused)
				assert.NotContains(t, out, "parallel_tool")
				assert.Contains(t, lossesOf(r.Losses), path+" hint")
			})
		}
	}
}

// Models that reason take no sampling fields beside an effort.
func TestSamplingBesideAnEffort(t *testing.T) {
	bodies := map[translate.Format]func(word string) string{
		translate.Messages: func(word string) string {
			if word == "none" {
				return conversation(hi, `"thinking":{"type":"disabled"}`, `"temperature":0.5`, `"top_p":0.25`)
			}
			return conversation(hi, `"output_config":{"effort":"`+word+`"}`, `"temperature":0.5`, `"top_p":0.25`)
		},
		translate.Chat: func(word string) string {
			return wanting(`"reasoning_effort":"`+word+`"`, `"temperature":0.5`, `"top_p":0.25`).body
		},
		translate.Responses: func(word string) string {
			return posing(`"reasoning":{"effort":"`+word+`"}`, `"temperature":0.5`, `"top_p":0.25`).body
		},
		translate.Gemini: func(word string) string {
			thinking := `"thinkingLevel":"` + word + `"`
			if word == "none" {
				thinking = `"thinkingBudget":0`
			}
			return configured(`"thinkingConfig":{`+thinking+`}`, `"temperature":0.5`, `"topP":0.25`).body
		},
	}
	for from, body := range bodies {
		for _, to := range []translate.Format{translate.Chat, translate.Messages, translate.Responses, translate.Gemini, translate.Converse} {
			if !pairs.CanTranslate(from, to) {
				continue
			}
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				const traits = "reasoning_effort on; thinking_style adaptive; thinking_budget 0-24576; "
				out, r, refused := renderedUnder(t, way{from, to}, body("high"), traits+"sampling without_effort")
				require.Nil(t, refused)
				assert.NotContains(t, out, "0.5")
				assert.NotContains(t, out, "0.25")
				assert.Regexp(t, `temperature shaping`, lossesOf(r.Losses))
				assert.Regexp(t, `top_?[pP] shaping`, lossesOf(r.Losses))

				out, r, refused = renderedUnder(t, way{from, to}, body("none"), traits+"sampling without_effort")
				require.Nil(t, refused)
				assert.Contains(t, out, "0.5")
				assert.Contains(t, out, "0.25")
				assert.NotContains(t, lossesOf(r.Losses), "temperature")
			})
		}
	}
}

// Some models think unless they are asked not to. A temperature without an effort was sent to them,
// and refused.
func TestSamplingOfModelsThatThinkUnasked(t *testing.T) {
	for from, asking := range map[translate.Format]func(members ...string) string{
		translate.Messages:  func(members ...string) string { return conversation(hi, members...) },
		translate.Chat:      func(members ...string) string { return wanting(members...).body },
		translate.Responses: func(members ...string) string { return posing(members...).body },
		translate.Gemini:    func(members ...string) string { return configured(members...).body },
	} {
		off := map[translate.Format]string{
			translate.Messages: `"thinking":{"type":"disabled"}`, translate.Chat: `"reasoning_effort":"none"`,
			translate.Responses: `"reasoning":{"effort":"none"}`, translate.Gemini: `"thinkingConfig":{"thinkingBudget":0}`,
		}[from]
		for _, to := range []translate.Format{translate.Chat, translate.Messages, translate.Responses, translate.Gemini, translate.Converse} {
			if !pairs.CanTranslate(from, to) {
				continue
			}
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				const traits = "reasoning_effort on; thinking_style adaptive; thinking_budget 0-24576; sampling "
				for _, word := range []string{"effort_none", "without_effort"} {
					out, r, refused := renderedUnder(t, way{from, to}, asking(`"temperature":0.5`), traits+word)
					require.Nil(t, refused)
					left := word == "effort_none"
					assert.Equal(t, !left, strings.Contains(out, "0.5"), word)
					assert.Equal(t, left, strings.Contains(lossesOf(r.Losses), "temperature shaping"), word)
					assert.NotContains(t, out, "summary", "nobody has asked to see the reasoning")
				}
				out, r, refused := renderedUnder(t, way{from, to}, asking(off, `"temperature":0.5`), traits+"effort_none")
				require.Nil(t, refused)
				assert.Contains(t, out, "0.5")
				assert.NotContains(t, lossesOf(r.Losses), "temperature")
			})
		}
	}
}

// Models refuse probabilities together with the sampling fields, and got them.
func TestProbabilitiesWhereSamplingIsRefused(t *testing.T) {
	for from, body := range map[translate.Format]string{
		translate.Chat:      wanting(`"logprobs":true`, `"top_logprobs":2`).body,
		translate.Responses: posing(`"include":["message.output_text.logprobs"]`, `"top_logprobs":2`).body,
		translate.Gemini:    configured(`"responseLogprobs":true`, `"logprobs":2`).body,
	} {
		for _, to := range []translate.Format{translate.Chat, translate.Responses} {
			if from == to {
				continue
			}
			for word, taken := range map[string]bool{"all": true, "one": true, "without_effort": true, "effort_none": false, "none": false} {
				_, _, refused := renderedUnder(t, way{from, to}, body, "sampling "+word)
				assert.Equal(t, taken, refused == nil, "%s to %s: %s", from, to, word)
			}
		}
	}
}

// Models that continue no turn of the assistant refuse a conversation that ends with one.
func TestPrefillThatAModelRefuses(t *testing.T) {
	for from, body := range map[translate.Format]string{
		translate.Messages:  conversation(hi + `,{"role":"assistant","content":"I"}`),
		translate.Chat:      discussing(hi + `,{"role":"assistant","content":"I"}`).body,
		translate.Responses: responding(itemSaid("user", "hi") + "," + itemSaid("assistant", "I")).body,
		translate.Gemini:    contents(saying + `,{"role":"model","parts":[{"text":"I"}]}`).body,
	} {
		for _, to := range []translate.Format{translate.Messages, translate.Chat, translate.Responses, translate.Gemini, translate.Converse} {
			if !pairs.CanTranslate(from, to) {
				continue
			}
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				_, _, refused := renderedUnder(t, way{from, to}, body, "prefill refuse")
				require.NotNil(t, refused)
				assert.Equal(t, "unsupported_for_upstream", refused.Code)
				_, _, refused = renderedUnder(t, way{from, to}, body, "prefill native")
				takes := to == translate.Messages || to == translate.Chat || to == translate.Converse
				assert.Equal(t, takes, refused == nil)
			})
		}
	}
}
