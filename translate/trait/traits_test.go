package trait_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

func TestEveryTraitTakesItsValues(t *testing.T) {
	type T = trait.Traits
	for _, c := range []struct {
		name, value string
		want        T
	}{
		{"max_tokens_field", "max_tokens", T{}},
		{"max_tokens_field", "max_completion_tokens", T{MaxCompletionTokens: true}},
		{"include_usage", "on", T{}},
		{"include_usage", "false", T{WithoutUsage: true}},
		{"system_role", "system", T{}},
		{"system_role", "developer", T{SystemRole: trait.SystemRoleDeveloper}},
		{"mid_system", "keep", T{MidSystem: trait.MidSystemKeep}},
		{"mid_system", "hoist", T{MidSystem: trait.MidSystemHoist}},
		{"mid_system", "user", T{MidSystem: trait.MidSystemUser}},
		{"alternation", "true", T{Alternation: true}},
		{"alternation", "off", T{}},
		{"tool_names", "letter", T{LetterFirst: true}},
		{"schema_references", "alone", T{ReferencesAlone: true}},
		{"after_results", "any", T{}},
		{"after_results", "assistant", T{AssistantAfterResults: true}},
		{"tool_content", "parts", T{ToolContentParts: true}},
		{"tool_images", "inline", T{ToolImagesInline: true}},
		{"image_url", "base64", T{ImagesBase64Only: true}},
		{"files", "on", T{Files: trait.FilesSend}},
		{"files", "drop", T{Files: trait.FilesDrop}},
		{"prefill", "refuse", T{Prefill: trait.PrefillRefuse}},
		{"prefill", "native", T{Prefill: trait.PrefillNative}},
		{"prefill", "vllm", T{Prefill: trait.PrefillVLLM}},
		{"reasoning_effort", "true", T{ReasoningEffort: trait.EffortAll}},
		{"reasoning_effort", "off", T{ReasoningEffort: trait.EffortOff}},
		{"reasoning_effort", "low, high", T{ReasoningEffort: trait.EffortLow | trait.EffortHigh}},
		{"reasoning_summary", "off", T{NoReasoningSummary: true}},
		{"responses_reasoning", "encrypted", T{ResponsesReasoning: trait.ResponsesReasoningEncrypted}},
		{"responses_reasoning", "text", T{ResponsesReasoning: trait.ResponsesReasoningText}},
		{"responses_reasoning", "summary", T{ResponsesReasoning: trait.ResponsesReasoningSummary}},
		{"responses_item_ids", "on", T{ResponsesItemIDs: true}},
		{"responses_state", "passthrough", T{ResponsesState: trait.StatePassthrough}},
		{"retry_encrypted", "on", T{RetryEncrypted: true}},
		{"reasoning_replay", "reasoning_content", T{ReasoningReplay: trait.ReplayReasoningContent}},
		{"reasoning_replay", "reasoning", T{ReasoningReplay: trait.ReplayReasoning}},
		{"reasoning_replay", "drop", T{ReasoningReplay: trait.ReplayDrop}},
		{"reasoning_replay", "thinking", T{ReasoningReplay: trait.ReplayThinking}},
		{"sampling", "all", T{Sampling: trait.SamplingAll}},
		{"sampling", "one", T{Sampling: trait.SamplingOne}},
		{"sampling", "none", T{Sampling: trait.SamplingNone}},
		{"extensions", "top_k min_p,a-b", T{Extensions: []string{"top_k", "min_p", "a-b"}}},
		{"thinking_style", "budget", T{Thinking: trait.ThinkingBudget}},
		{"thinking_style", "adaptive", T{Thinking: trait.ThinkingAdaptive}},
		{"anthropic_version", "2026-10-21", T{AnthropicVersion: "2026-10-21"}},
		{"default_max_tokens", "100", T{DefaultMaxTokens: 100}},
		{"agent_max_tokens", "100", T{AgentMaxTokens: 100}},
		{"max_output_tokens", "8192", T{MaxOutputTokens: 8192}},
		{"max_output_tokens", "none", T{}},
		{"user_field", "safety_identifier", T{UserField: trait.UserFieldSafetyIdentifier}},
		{"user_field", "none", T{UserField: trait.UserFieldNone}},
		{"request_cache", "off", T{NoRequestCache: true}},
		{"cache_breakpoints", "on", T{CacheBreakpoints: true}},
		{"prompt_template", "chatml", T{PromptTemplate: trait.TemplateChatML}},
		{"prompt_template", "none", T{PromptTemplate: trait.TemplateNone}},
		{"template_guard", "on", T{TemplateGuard: true}},
		{"completion_system", "Go on.", T{CompletionSystem: "Go on."}},
		{"unsupported_tools", "drop", T{DropUnsupportedTools: true}},
		{"custom_tools", "native", T{CustomTools: true}},
		{"json_object", "refuse", T{RefuseJSONObject: true}},
		{"suffix", "instruct", T{InstructSuffix: true}},
		{"fim_template", "<P>{prefix}<S>{suffix}", T{FIMTemplate: "<P>{prefix}<S>{suffix}"}},
		{"native_n", "off", T{FanOutN: true}},
		{"max_fan_out", "3", T{MaxFanOut: 3}},
		{"count_tokens", "estimate", T{}},
		{"count_tokens", "off", T{NoTokenCount: true}},
		{"estimate_input_tokens", "on", T{EstimateInputTokens: true}},
		{"on_loss", "reject", T{RejectLosses: true}},
		{"attribution", "drop", T{DropAttribution: true}},
		{"forward_ratelimit_headers", "on", T{ForwardRateLimitHeaders: true}},
		{"trace_upstream", "on", T{TraceUpstream: true}},
	} {
		var traits trait.Traits
		if !slices.Contains(trait.Names(), c.name) { // no conversion reads it yet
			assert.ErrorContains(t, traits.Set(c.name, c.value), "is not known")
			continue
		}
		require.NoError(t, traits.Set(c.name, c.value), c.name)
		assert.Equal(t, c.want, traits, "%s %s", c.name, c.value)
	}
}

func TestEveryTraitRefusesWhatItDoesNotKnow(t *testing.T) {
	free := map[string]bool{"completion_system": true}
	for _, name := range trait.Names() {
		var traits trait.Traits
		if err := traits.Set(name, "\x00"); !free[name] {
			assert.ErrorContains(t, err, name+": must be ", name)
		}
	}
}

func TestErrorsOfTraitsListTheAcceptedValues(t *testing.T) {
	var traits trait.Traits
	assert.EqualError(t, traits.Set("mid_system", "drop"), "mid_system: must be 'keep', 'hoist', 'user' or 'refuse', got 'drop'")
	assert.EqualError(t, traits.Set("files", "yes"), "files: must be 'false', 'true' or 'drop', got 'yes'")
	assert.EqualError(t, traits.Set("default_max_tokens", "0"), "default_max_tokens: must be an integer of at least 1, got '0'")
	assert.ErrorContains(t, traits.Set("reasoning_effort", "low, huge"), "none, minimal, low, medium, high, xhigh, max")
	assert.ErrorContains(t, traits.Set("extensions", "top_k model"), "that the gateway does not write itself")
	assert.ErrorContains(t, traits.Set("anthropic_version", "2026-10-22"), "'2023-06-01' or '2026-10-21'")
	assert.ErrorContains(t, traits.Set("max_tokens", "1"), "max_tokens: is not known; the traits are max_tokens_field, include_usage,")
}

func TestTraitsHaveTheDefaultsOfTheTable(t *testing.T) {
	var traits trait.Traits
	assert.Equal(t, "2023-06-01", traits.Version())
	assert.EqualValues(t, 4096, traits.MaxTokens())
	assert.EqualValues(t, 8, traits.FanOut())
	assert.Equal(t, trait.SamplingDefault, traits.SamplingByVersion())
	assert.Equal(t, trait.EffortAll, traits.EffortsOr(trait.EffortAll))
	assert.False(t, traits.Extension("top_k"))

	traits = trait.Traits{AnthropicVersion: "2026-10-21", DefaultMaxTokens: 5, MaxFanOut: 2, MidSystem: trait.MidSystemUser, Extensions: []string{"top_k"}}
	assert.Equal(t, "2026-10-21", traits.Version())
	assert.EqualValues(t, 5, traits.MaxTokens())
	assert.EqualValues(t, 2, traits.FanOut())
	assert.Equal(t, trait.SamplingNone, traits.SamplingByVersion(), "that version refuses sampling")
	traits.Sampling = trait.SamplingOne
	assert.Equal(t, trait.SamplingOne, traits.SamplingByVersion())
	assert.True(t, traits.Extension("top_k"))
}

func TestNoAnswerIsAskedForThatTheModelDoesNotGive(t *testing.T) {
	for _, c := range []struct{ limit, asked, want int64 }{
		{asked: 32000, want: 32000}, {limit: 8192, asked: 32000, want: 8192}, {limit: 8192, asked: 8192, want: 8192}, {limit: 8192, asked: 1, want: 1},
	} {
		traits := trait.Traits{MaxOutputTokens: c.limit}
		n, less := traits.BoundTokens(c.asked)
		assert.Equal(t, c.want, n)
		assert.Equal(t, c.want < c.asked, less)
	}
	assert.EqualValues(t, 4096, (&trait.Traits{MaxOutputTokens: 8192}).MaxTokens(), "a bound is no default")
	assert.EqualValues(t, 2048, (&trait.Traits{MaxOutputTokens: 2048}).MaxTokens())
	assert.EqualValues(t, 8192, (&trait.Traits{MaxOutputTokens: 8192, DefaultMaxTokens: 32000}).MaxTokens())
}

// A preset has one set of traits for all of its formats: completions requests to
// OpenAI contained service_tier, which only chat requests may contain.
func TestOptionsOfChatCountTowardsChatAlone(t *testing.T) {
	traits := trait.Traits{Extensions: []string{"top_k", "service_tier", "include"}}
	for name, want := range map[translate.Format][]string{
		translate.Messages: {"top_k", "include"}, translate.Chat: {"top_k", "service_tier", "include"},
		translate.Completions: {"top_k", "include"}, translate.Responses: {"top_k"},
	} {
		for _, extension := range traits.Extensions {
			got := formats.Of(name).Requests.Target.Extends(&traits, extension)
			assert.Equal(t, slices.Contains(want, extension), got, "%s in %s", extension, name)
		}
	}
}

func TestEffortsAreSetsOfWords(t *testing.T) {
	for _, word := range []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} {
		assert.Equal(t, word, trait.EffortOf(word).String())
		assert.True(t, trait.EffortAll.Has(trait.EffortOf(word)))
	}
	assert.False(t, trait.EffortAll.Has(trait.EffortOf("huge")))
	assert.False(t, trait.EffortLow.Has(trait.EffortHigh))
	assert.Empty(t, trait.EffortAll.String())
}
