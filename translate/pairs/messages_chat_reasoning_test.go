package pairs_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestThinkingTowardsChat(t *testing.T) {
	effort := func(word string) string { return asked(hi, `"reasoning_effort":"`+word+`"`) }
	enabled := func(budget int) string {
		return conversation(hi, `"thinking":{"type":"enabled","budget_tokens":`+strconv.Itoa(budget)+`}`)
	}
	adaptive := `"thinking":{"type":"adaptive"}`
	high := `"output_config":{"effort":"high"}`
	runRenderCases(t, translate.Messages, translate.Chat, []renderCase{
		{name: "budget 1024", traits: "reasoning_effort on", body: enabled(1024), want: effort("low")},
		{name: "budget 2047", traits: "reasoning_effort on", body: enabled(2047), want: effort("low")},
		{name: "budget 2048", traits: "reasoning_effort on", body: enabled(2048), want: effort("medium")},
		{name: "budget 8192", traits: "reasoning_effort on", body: enabled(8192), want: effort("high")},
		{name: "budget 24575", traits: "reasoning_effort on", body: enabled(24575), want: effort("high")},
		{name: "budget 24576", traits: "reasoning_effort on", body: enabled(24576), want: effort("xhigh")},
		{name: "budget 24576 without xhigh", traits: "reasoning_effort low,medium,high", body: enabled(24576), want: effort("high")},
		{name: "budget that is not accepted", traits: "reasoning_effort low", body: enabled(31999), want: effort("low"), losses: "thinking shaping"},
		{name: "budget that is none", traits: "reasoning_effort on", body: conversation(hi, `"thinking":{"type":"enabled","budget_tokens":"all"}`), fault: "thinking.budget_tokens: must be an integer"},
		{name: "adaptive with effort", traits: "reasoning_effort on", body: conversation(hi, adaptive, high), want: effort("high")},
		{name: "adaptive with an effort that is not accepted", traits: "reasoning_effort low, max", body: conversation(hi, adaptive, high), want: effort("low"), losses: "output_config.effort shaping"},
		{name: "adaptive with an effort where only none is accepted", traits: "reasoning_effort none", body: conversation(hi, adaptive, high), want: asked(hi), losses: "output_config.effort shaping, thinking hint"},
		// The provider decides then by its own default, which was not reported.
		{name: "adaptive alone", traits: "reasoning_effort on", body: conversation(hi, `"thinking":{"type":"adaptive","display":"omitted"}`), want: asked(hi), losses: "thinking.display hint, thinking hint"},
		{name: "disabled", traits: "reasoning_effort on", body: conversation(hi, `"thinking":{"type":"disabled"}`), want: effort("none")},
		{name: "between tools", traits: "reasoning_effort none", body: conversation(hi, `"thinking":{"type":"between_tools"}`), want: effort("none")},
		{name: "disabled where it cannot be", traits: "reasoning_effort low", body: conversation(hi, `"thinking":{"type":"disabled"}`), want: asked(hi), losses: "thinking shaping"},
		{name: "disabled with effort", traits: "reasoning_effort on", body: conversation(hi, `"thinking":{"type":"disabled"}`, high), want: effort("none"), losses: "output_config.effort shaping"},
		{name: "enabled with effort", traits: "reasoning_effort on", body: conversation(hi, `"thinking":{"type":"enabled","budget_tokens":1024}`, high), want: effort("high")},
		{name: "an effort that nobody knows", traits: "reasoning_effort on", body: conversation(hi, `"output_config":{"effort":"huge"}`), want: asked(hi), losses: "output_config.effort shaping"},
		{name: "an effort that is no word", body: conversation(hi, `"output_config":{"effort":3}`), fault: "output_config.effort: must be a string"},
		{
			// A bug was here: an unknown type turned the thinking of templates on, and the
			// effort beside it was lost without a report.
			name: "a type that nobody knows, for templates", traits: "extensions chat_template_kwargs", body: conversation(hi, `"thinking":{"type":"telepathic"}`), want: asked(hi), losses: "thinking shaping",
		},
		{name: "a type that nobody knows beside an effort", traits: "reasoning_effort on", body: conversation(hi, `"thinking":{"type":"telepathic"}`, high), want: effort("high"), losses: "thinking shaping"},
		{name: "a type that nobody knows", traits: "reasoning_effort on", body: conversation(hi, `"thinking":{"type":"telepathic"}`), want: asked(hi), losses: "thinking shaping"},
		{
			name: "a switch of the template", traits: "extensions chat_template_kwargs; reasoning_effort on", body: conversation(hi, adaptive, high),
			want: asked(hi, `"chat_template_kwargs":{"enable_thinking":true}`), losses: "output_config.effort shaping",
		},
		{
			name: "a switch of the template, off", traits: "extensions chat_template_kwargs", body: conversation(hi, `"thinking":{"type":"disabled"}`),
			want: asked(hi, `"chat_template_kwargs":{"enable_thinking":false}`),
		},
		{name: "a switch of the template, not asked", traits: "extensions chat_template_kwargs", body: conversation(hi), want: asked(hi)},
		{
			name: "a switch of the template that the client has used", traits: "extensions chat_template_kwargs", body: conversation(hi, adaptive, `"chat_template_kwargs":{"a":1}`),
			want: asked(hi, `"chat_template_kwargs":{"a":1}`),
		},
	})
}

// A session changed to DeepSeek after turns of another model: "The `reasoning_content` in the
// thinking mode must be passed back to the API", for each turn without reasoning, and for ever. The
// service accepts a space there, and no empty text.
func TestTurnsWithoutReasoningHaveASpaceWhereServicesDemandIt(t *testing.T) {
	call := madeCall{"call_1", "f", "{}"}
	turns := []spokenTurn{asks("a"), answers("b"), asks("c"), calls(call), returns(call), answers("d"), asks("e")}
	for from := range histories {
		if from == translate.Chat {
			continue
		}
		for traits, want := range map[string]int{"reasoning_replay reasoning_content": 3, "reasoning_replay reasoning": 0, "": 0} {
			out, r, fault := renderHistory(t, way{from, translate.Chat}, traits, "", []string{"f"}, turns...)
			require.Nil(t, fault)
			assert.Equal(t, want, strings.Count(out, `"reasoning_content":" "`), "%s, %s: %s", from, traits, out)
			assert.Equal(t, want, strings.Count(out, `"reasoning`), "%s, %s", from, traits)
			assert.Empty(t, r.Losses.String())
		}
	}
	out, _, fault := renderOf(t, translate.Messages, translate.Chat, replied(`{"type":"thinking","thinking":"t","signature":"s"},`+textBlock("a")).body)
	require.Nil(t, fault)
	assert.NotContains(t, out, "reasoning_content", "no trait asks for it")
}
