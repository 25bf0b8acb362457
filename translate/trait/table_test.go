package trait

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// others maps every trait and each of its values but the default to the Traits that the value sets.
var others = map[string]map[string]Traits{
	"max_tokens_field": {"max_completion_tokens": {MaxCompletionTokens: true}},
	"include_usage":    {"false": {WithoutUsage: true}, "off": {WithoutUsage: true}},
	"system_role":      {"developer": {SystemRole: SystemRoleDeveloper}, "user": {SystemRole: SystemRoleUser}},
	"mid_system":       {"hoist": {MidSystem: MidSystemHoist}, "user": {MidSystem: MidSystemUser}},
	"alternation":      {"true": {Alternation: true}, "on": {Alternation: true}},
	"after_results":    {"assistant": {AssistantAfterResults: true}},
	"tool_content":     {"parts": {ToolContentParts: true}},
	"tool_call_ids":    {"short": {CallIDs: CallIDsShort}, "nine": {CallIDs: CallIDsNine}},
	"tool_images":      {"inline": {ToolImagesInline: true}},
	"image_url":        {"base64": {ImagesBase64Only: true}},
	"files":            {"true": {Files: FilesSend}, "drop": {Files: FilesDrop}},
	"prefill":          {"native": {Prefill: PrefillNative}, "vllm": {Prefill: PrefillVLLM}},
	"reasoning_effort": {
		"true":                {ReasoningEffort: EffortAll},
		"on":                  {ReasoningEffort: EffortAll},
		"high":                {ReasoningEffort: EffortHigh},
		"none low medium max": {ReasoningEffort: EffortNone | EffortLow | EffortMedium | EffortMax},
		"minimal, xhigh":      {ReasoningEffort: EffortMinimal | EffortXHigh},
	},
	"reasoning_summary": {"off": {NoReasoningSummary: true}},
	"responses_reasoning": {
		"encrypted": {ResponsesReasoning: ResponsesReasoningEncrypted},
		"text":      {ResponsesReasoning: ResponsesReasoningText},
		"summary":   {ResponsesReasoning: ResponsesReasoningSummary},
	},
	"responses_item_ids": {"true": {ResponsesItemIDs: true}},
	"batches":            {"sealed": {Batches: BatchesSealed}},
	"files_state":        {"sealed": {FilesState: FilesSealed}},
	"responses_state":    {"sealed": {ResponsesState: StateSealed}, "passthrough": {ResponsesState: StatePassthrough}},
	"retry_encrypted":    {"true": {RetryEncrypted: true}},
	"reasoning_replay": {
		"reasoning_content": {ReasoningReplay: ReplayReasoningContent},
		"reasoning":         {ReasoningReplay: ReplayReasoning},
		"drop":              {ReasoningReplay: ReplayDrop},
		"thinking":          {ReasoningReplay: ReplayThinking},
	},
	"sampling": {
		"one":            {Sampling: SamplingOne},
		"without_effort": {Sampling: SamplingWithoutEffort},
		"effort_none":    {Sampling: SamplingEffortNone},
		"none":           {Sampling: SamplingNone},
	},
	"extensions": {"top_k": {Extensions: []string{"top_k"}}, "top_k min_p": {Extensions: []string{"top_k", "min_p"}}},
	"thinking_style": {
		"budget":   {Thinking: ThinkingBudget},
		"adaptive": {Thinking: ThinkingAdaptive},
		"always":   {Thinking: ThinkingAlways},
		"both":     {Thinking: ThinkingBoth},
	},
	"thinking_budget":     {"128-32768": {ThinkingBudget: Budgets{128, 32768}}, "0-1": {ThinkingBudget: Budgets{0, 1}}},
	"anthropic_version":   {"2026-10-21": {AnthropicVersion: "2026-10-21"}},
	"default_max_tokens":  {"1": {DefaultMaxTokens: 1}, "2147483647": {DefaultMaxTokens: 2147483647}},
	"agent_max_tokens":    {"1": {AgentMaxTokens: 1}},
	"max_stops":           {"4": {MaxStops: 4}, "0": {MaxStops: NoStops}},
	"same_as":             {"anthropic.claude-opus-5-5": {SameAs: "anthropic.claude-opus-5-5"}},
	"penalties":           {"false": {NoPenalties: true}},
	"parallel_tool_calls": {"false": {NoParallelToolCalls: true}},
	"tool_choice":         {"auto": {ToolChoice: ToolChoiceAuto}, "effort_none": {ToolChoice: ToolChoiceEffortNone}},
	"thinking_switch": {
		"thinking.type": {ThinkingSwitch: SwitchThinkingType}, "enable_thinking": {ThinkingSwitch: SwitchEnableThinking},
		"disable_reasoning": {ThinkingSwitch: SwitchDisableReasoning},
	},
	"max_output_tokens": {"8192": {MaxOutputTokens: 8192}},
	"user_field": {
		"safety_identifier": {UserField: UserFieldSafetyIdentifier},
		"none":              {UserField: UserFieldNone},
	},
	"request_cache":     {"false": {NoRequestCache: true}},
	"cache_breakpoints": {"true": {CacheBreakpoints: true}},
	"images":            {"drop": {Images: ImagesDrop}, "false": {Images: ImagesRefuse}},
	"video":             {"true": {Video: true}},
	"prompt_template":   {"chatml": {PromptTemplate: TemplateChatML}, "none": {PromptTemplate: TemplateNone}},
	"template_guard":    {"true": {TemplateGuard: true}},
	"completion_system": {"Go on.": {CompletionSystem: "Go on."}},
	"unsupported_tools": {"drop": {DropUnsupportedTools: true}},
	"custom_tools":      {"native": {CustomTools: true}},
	"messages_schema":   {"false": {IgnoresMessagesSchema: true}},
	"tool_names":        {"letter": {LetterFirst: true}},
	"schema_references": {"alone": {ReferencesAlone: true}},
	"json_schema": {
		"object":   {JSONSchema: JSONSchemaObject},
		"instruct": {JSONSchema: JSONSchemaInstruct},
		"alone":    {JSONSchema: JSONSchemaAlone},
	},
	"json_object": {"refuse": {RefuseJSONObject: true}},
	"suffix":      {"instruct": {InstructSuffix: true}},
	"fim_template": {
		"<{prefix}|{suffix}>": {FIMTemplate: "<{prefix}|{suffix}>"},
		"starcoder2":          {FIMTemplate: "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>"},
	},
	"native_n":                  {"false": {FanOutN: true}},
	"max_fan_out":               {"2": {MaxFanOut: 2}},
	"count_tokens":              {"off": {NoTokenCount: true}},
	"estimate_input_tokens":     {"true": {EstimateInputTokens: true}},
	"on_loss":                   {"reject": {RejectLosses: true}},
	"encoding_format":           {"false": {NoEncodingFormat: true}},
	"usage_details":             {"fill": {FillUsageDetails: true}},
	"attribution":               {"drop": {DropAttribution: true}},
	"forward_ratelimit_headers": {"true": {ForwardRateLimitHeaders: true}},
	"trace_upstream":            {"true": {TraceUpstream: true}},
	"stated_cost":               {"usd": {StatedCost: true}},
	"regional":                  {"true": {Regional: true}},
}

// meaning returns the traits with unset values replaced by their defaults.
func meaning(t Traits) Traits {
	t.AnthropicVersion, t.DefaultMaxTokens, t.MaxFanOut = t.Version(), t.MaxTokens(), t.FanOut()
	t.MidSystem, t.Sampling = cmp.Or(t.MidSystem, MidSystemKeep), cmp.Or(t.Sampling, SamplingAll)
	t.Prefill, t.Thinking = cmp.Or(t.Prefill, PrefillRefuse), cmp.Or(t.Thinking, ThinkingNone)
	t.AgentMaxTokens, t.ReasoningEffort = t.AgentTokens(), t.EffortsOr(0)
	if len(t.Extensions) == 0 {
		t.Extensions = nil
	}
	return t
}

func TestEveryValueSetsItsField(t *testing.T) {
	assert.Len(t, others, len(traits))
	for _, row := range traits {
		require.NotEmpty(t, others[row.name], row.name)
		for value, want := range others[row.name] {
			var got Traits
			assert.True(t, row.set(&got, value), "%s %s", row.name, value)
			assert.Equal(t, want, got, "%s %s", row.name, value)
		}
	}
}

func TestTheDefaultOfATraitChangesNothing(t *testing.T) {
	for _, row := range traits {
		var got Traits
		assert.True(t, row.set(&got, row.standard), row.name)
		assert.Equal(t, meaning(Traits{}), meaning(got), row.name)
	}
}

func TestTheDefaultOfATraitOverrulesAnEarlierValue(t *testing.T) {
	for _, row := range traits {
		for value := range others[row.name] {
			var got Traits
			require.True(t, row.set(&got, value))
			require.True(t, row.set(&got, row.standard))
			assert.Equal(t, meaning(Traits{}), meaning(got), "%s %s", row.name, value)
		}
	}
}

func TestSetRefusesOtherValuesAndListsTheAcceptedOnes(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"max_tokens_field", "tokens", "max_tokens_field: must be 'max_tokens' or 'max_completion_tokens', got 'tokens'"},
		{"tool_content", "on", "tool_content: must be 'string' or 'parts', got 'on'"},
		{"files", "", "files: must be 'false', 'true' or 'drop', got ''"},
		{"prefill", "Native", "prefill: must be 'refuse', 'native' or 'vllm', got 'Native'"},
		{"reasoning_effort", "low much", "reasoning_effort: must be 'false', 'true' or a list of none, minimal, low, medium, high, xhigh, max, got 'low much'"},
		{"reasoning_effort", "", "reasoning_effort: must be 'false', 'true' or a list of none, minimal, low, medium, high, xhigh, max, got ''"},
		{"images", "maybe", "images: must be 'true', 'drop' or 'false', got 'maybe'"},
		{"thinking_budget", "1024", "thinking_budget: must be 'none' or <least>-<most>, two numbers of tokens, got '1024'"},
		{"thinking_budget", "1024-512", "thinking_budget: must be 'none' or <least>-<most>, two numbers of tokens, got '1024-512'"},
		{"thinking_budget", "0-0", "thinking_budget: must be 'none' or <least>-<most>, two numbers of tokens, got '0-0'"},
		{"extensions", "top_k temperature", "extensions: must be a list of field names that the gateway does not write itself, got 'top_k temperature'"},
		{"extensions", `top_k","x`, `extensions: must be a list of field names that the gateway does not write itself, got 'top_k","x'`},
		{"anthropic_version", "2024-01-01", "anthropic_version: must be '2023-06-01' or '2026-10-21', got '2024-01-01'"},
		{"default_max_tokens", "0", "default_max_tokens: must be an integer of at least 1, got '0'"},
		{"default_max_tokens", "2147483648", "default_max_tokens: must be an integer of at least 1, got '2147483648'"},
		{"temperature", "1", "temperature: is not known; the traits are " + strings.Join(Names(), ", ")},
	} {
		before := Traits{Files: FilesSend, Prefill: PrefillVLLM, DefaultMaxTokens: 7, Extensions: []string{"min_p"}}
		got := before
		assert.EqualError(t, got.Set(c.name, c.value), c.want)
		assert.Equal(t, before, got, "%s %s", c.name, c.value)
	}
}

func TestSetAllSetsEveryTrait(t *testing.T) {
	var got Traits
	require.NoError(t, got.SetAll(map[string]string{"files": "on", "sampling": "one"}))
	assert.Equal(t, Traits{Files: FilesSend, Sampling: SamplingOne}, got)
	assert.NoError(t, got.SetAll(nil))
	assert.EqualError(t, got.SetAll(map[string]string{"suffix": "drop", "files": "yes", "prefill": "x"}),
		"files: must be 'false', 'true' or 'drop', got 'yes'", "the same at every start")
}

// fields maps methods of Traits to the fields that they read for their callers.
var fields = map[string]string{
	"Version": "AnthropicVersion", "MaxTokens": "DefaultMaxTokens", "AgentTokens": "AgentMaxTokens", "FanOut": "MaxFanOut",
	"Extension": "Extensions", "SamplingByVersion": "Sampling", "BoundStops": "MaxStops", "SealsFiles": "FilesState",
}

// fieldsRead returns the fields of Traits that code of this repository reads.
func fieldsRead(t *testing.T) map[string]bool {
	t.Helper()
	use := regexp.MustCompile(`[tT]raits(?:\(\)|\))?\.([A-Z]\w*)`)
	read := make(map[string]bool)
	require.NoError(t, fs.WalkDir(os.DirFS("../.."), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path == "testdata" || path == ".git"): // .git may be a file
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "translate/trait/"):
			return nil
		}
		source, err := os.ReadFile(filepath.Join("../..", path))
		for _, match := range use.FindAllSubmatch(source, -1) {
			name := string(match[1])
			read[name] = true
			read[fields[name]] = true
		}
		return err
	}))
	return read
}

// changed returns the field that a value other than the default changes.
func changed(t *testing.T, row trait) string {
	t.Helper()
	for _, value := range others[row.name] {
		set := reflect.ValueOf(value)
		for i := range set.NumField() {
			if !set.Field(i).IsZero() {
				return set.Type().Field(i).Name
			}
		}
	}
	require.Fail(t, "no field", row.name)
	return ""
}

// A trait that no code reads would be accepted without any effect.
func TestCodeReadsEveryTrait(t *testing.T) {
	read := fieldsRead(t)
	for _, row := range traits {
		assert.True(t, read[changed(t, row)], row.name)
		assert.NoError(t, new(Traits).Set(row.name, row.standard))
		assert.Contains(t, Names(), row.name)
	}
}

// The reference lists every trait with its values and its default.
func TestReferenceListsEveryTrait(t *testing.T) {
	text, err := os.ReadFile("../../caddyfile/docs/reference.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n### Traits\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n#")
	assert.Equal(t, len(Names()), strings.Count(table, "\n| `"))
	for _, row := range traits {
		standard := "`" + row.standard + "`"
		if row.standard == "" {
			standard = "empty"
		}
		line := "\n| `" + row.name + "` | " + strings.ReplaceAll(row.values, "'", "`") + " | " + standard + " | "
		assert.Contains(t, table, line)
	}
}
