package pairs_test

import (
	"maps"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// sealedItem is what a client got as the signature of a reasoning item, or of a part of Gemini.
var sealedItem = string(sealer.Append(nil, seal.Item, []byte("part:rs_1.1.gAAAA=")))

// bounded is a messages request with a bound of the answer.
func bounded(tokens string) sample {
	return sample{body: `{"model":"m1","max_tokens":` + tokens + `,"messages":[` + hi + `]}`}
}

// provided is a chat request with a tool that takes a free text.
func provided(members string, more ...string) sample {
	return wanting(append([]string{`"tools":[{"type":"custom","custom":{"name":"f"` + members + `}}]`}, more...)...)
}

const oneFreeCall = `,"tool_calls":[{"id":"c1","type":"custom","custom":{"name":"f","input":"x"}}]`

func init() {
	maps.Copy(messagesSamples, samples{
		"max_tokens":                             bounded("20"),
		"max_tokens=...":                         bounded("20"),
		"max_tokens=1":                           bounded("1"),
		"output_config.effort+temperature":       option(`"output_config":{"effort":"high"}`, `"temperature":0.5`).withTraits("reasoning_effort on; thinking_style adaptive"),
		"output_config.effort+top_p":             option(`"output_config":{"effort":"high"}`, `"top_p":0.5`).withTraits("reasoning_effort on; thinking_style adaptive"),
		"thinking.display=summarized":            option(`"thinking":{"type":"adaptive","display":"summarized"}`),
		"thinking.display=omitted":               option(`"thinking":{"type":"adaptive","display":"omitted"}`).quiet(),
		"thinking.display=*":                     option(`"thinking":{"type":"adaptive","display":"sung"}`),
		"messages.*.content.*.signature=gwrs1:*": replied(`{"type":"thinking","thinking":"t","signature":"` + sealedItem + `"},` + textBlock("a")),
		"messages.*.content.-1.type=thinking":    replied(`{"type":"thinking","thinking":"t","signature":"s"}`).withTraits("responses_reasoning text"),
		"messages.*.content.*.type=thinking":     replied(`{"type":"thinking","thinking":"t","signature":"s"},` + textBlock("a")),
		"messages.*.content.*.thinking":          replied(`{"type":"thinking","thinking":"t","signature":"s"},` + textBlock("a")),
		"messages.*.content.*.signature":         replied(`{"type":"thinking","thinking":"t","signature":"s"},` + textBlock("a")).withTraits("reasoning_replay reasoning"),
	})
	delete(messagesSamples, "thinking.display")
	maps.Copy(samplesOfChat, samples{
		"max_tokens":                                       wanting(`"max_tokens":20`),
		"max_tokens=...":                                   wanting(`"max_tokens":20`),
		"max_completion_tokens":                            wanting(`"max_completion_tokens":20`),
		"max_completion_tokens=...":                        wanting(`"max_completion_tokens":20`),
		"max_tokens=1":                                     wanting(`"max_tokens":1`),
		"max_completion_tokens=1":                          wanting(`"max_completion_tokens":1`),
		"reasoning_effort+top_p":                           effortBeside(`"top_p":0.5`),
		"service_tier=flex":                                wanting(`"service_tier":"flex"`),
		"service_tier=priority":                            wanting(`"service_tier":"priority"`),
		"service_tier=*":                                   wanting(`"service_tier":"gold"`),
		"tool_choice.type=custom":                          provided("", `"tool_choice":{"type":"custom","custom":{"name":"f"}}`),
		"tool_choice.custom.name":                          provided("", `"tool_choice":{"type":"custom","custom":{"name":"f"}}`),
		"tools[*].custom":                                  provided(""),
		"tools[*].custom.name":                             provided(""),
		"tools[*].custom.description":                      provided(`,"description":"d"`),
		"tools[*].custom.format.type=text":                 provided(`,"format":{"type":"text"}`),
		"tools[*].custom.format.type=grammar":              provided(`,"format":{"type":"grammar","grammar":{"syntax":"lark","definition":"d"}}`),
		"tools[*].custom.format.type=*":                    provided(`,"format":{"type":"novelty"}`),
		"tools[*].custom.format.grammar.syntax":            provided(`,"format":{"type":"grammar","grammar":{"syntax":"lark","definition":"d"}}`),
		"tools[*].custom.format.grammar.definition":        provided(`,"format":{"type":"grammar","grammar":{"syntax":"lark","definition":"d"}}`),
		"tools[*].custom.*":                                provided(`,"unheard_of":1`),
		"tool_choice.allowed_tools.tools[*].type=custom":   provided("", `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"custom","custom":{"name":"f"}}]}}`),
		"messages[*].tool_calls[*].type=custom":            uttered("assistant", oneFreeCall),
		"messages[*].tool_calls[*].custom.name":            uttered("assistant", oneFreeCall),
		"messages[*].tool_calls[*].custom.input":           uttered("assistant", oneFreeCall),
		"messages[*].tool_calls[*].custom.*":               uttered("assistant", `,"tool_calls":[{"id":"c1","type":"custom","custom":{"name":"f","input":"x","unheard_of":1}}]`),
		"messages[*].content=[]+thinking_blocks":           discussing(hi + `,{"role":"assistant","content":[],"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"}]},` + hi).withTraits("responses_reasoning text"),
		"messages[*].thinking_blocks[*].signature=gwrs1:*": minding(`{"type":"thinking","thinking":"t","signature":"` + sealedItem + `"}`),
	})
}
