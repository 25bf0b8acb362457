package trait

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// trait is a row of the table: the name, values and default of one trait.
type trait struct {
	name     string
	values   string // the accepted values, for error messages
	standard string // the default
	set      func(t *Traits, value string) bool
}

// traits is the table. The first value of a flag or a choice is the default.
var traits = []trait{
	flag("max_tokens_field", "max_tokens", "max_completion_tokens", func(t *Traits) *bool { return &t.MaxCompletionTokens }),
	flag("include_usage", "true", "false", func(t *Traits) *bool { return &t.WithoutUsage }),
	choice("system_role", func(t *Traits) *SystemRole { return &t.SystemRole }, SystemRoleSystem, "system", "developer", "user"),
	choice("mid_system", func(t *Traits) *MidSystem { return &t.MidSystem }, MidSystemKeep, "keep", "hoist", "user", "refuse"),
	flag("alternation", "false", "true", func(t *Traits) *bool { return &t.Alternation }),
	flag("after_results", "any", "assistant", func(t *Traits) *bool { return &t.AssistantAfterResults }),
	flag("tool_content", "string", "parts", func(t *Traits) *bool { return &t.ToolContentParts }),
	choice("tool_call_ids", func(t *Traits) *CallIDs { return &t.CallIDs }, CallIDsAny, "any", "short", "nine"),
	flag("tool_images", "hoist", "inline", func(t *Traits) *bool { return &t.ToolImagesInline }),
	flag("image_url", "both", "base64", func(t *Traits) *bool { return &t.ImagesBase64Only }),
	text("images", quoted("true", "drop", "false"), "true", setImages),
	text("files", quoted("false", "true", "drop"), "false", setFiles),
	flag("video", "false", "true", func(t *Traits) *bool { return &t.Video }),
	choice("prefill", func(t *Traits) *Prefill { return &t.Prefill }, PrefillRefuse, "refuse", "native", "vllm"),
	text("reasoning_effort", "'false', 'true' or a list of "+strings.Join(effortWords[:], ", "), "false", setEfforts),
	flag("reasoning_summary", "auto", "off", func(t *Traits) *bool { return &t.NoReasoningSummary }),
	choice("responses_reasoning", func(t *Traits) *ResponsesReasoning { return &t.ResponsesReasoning }, ResponsesReasoningNone, "none", "encrypted", "text", "summary"),
	flag("responses_item_ids", "false", "true", func(t *Traits) *bool { return &t.ResponsesItemIDs }),
	choice("responses_state", func(t *Traits) *ResponsesState { return &t.ResponsesState }, StateOff, "off", "sealed", "passthrough"),
	choice("batches", func(t *Traits) *Batches { return &t.Batches }, BatchesOff, "off", "sealed"),
	choice("files_state", func(t *Traits) *FilesState { return &t.FilesState }, FilesOff, "off", "sealed"),
	flag("retry_encrypted", "false", "true", func(t *Traits) *bool { return &t.RetryEncrypted }),
	choice("reasoning_replay", func(t *Traits) *ReasoningReplay { return &t.ReasoningReplay }, ReplayNone, "none", "reasoning_content", "reasoning", "drop", "thinking"),
	choice("sampling", func(t *Traits) *Sampling { return &t.Sampling }, SamplingAll, "all", "one", "without_effort", "effort_none", "none"),
	text("same_as", "a name of a model", "", setSameAs),
	flag("penalties", "true", "false", func(t *Traits) *bool { return &t.NoPenalties }),
	text("extensions", "a list of field names that the gateway does not write itself", "", setExtensions),
	choice("thinking_style", func(t *Traits) *ThinkingStyle { return &t.Thinking }, ThinkingNone, "none", "budget", "adaptive", "always", "both"),
	choice("thinking_switch", func(t *Traits) *ThinkingSwitch { return &t.ThinkingSwitch }, SwitchNone, "none", "thinking.type", "enable_thinking", "disable_reasoning"),
	text("thinking_budget", "'none' or <least>-<most>, two numbers of tokens", "none", setBudgets),
	text("anthropic_version", quoted(DefaultAnthropicVersion, version20261021), DefaultAnthropicVersion, setVersion),
	number("default_max_tokens", DefaultMaxTokens, func(t *Traits) *int64 { return &t.DefaultMaxTokens }),
	number("agent_max_tokens", DefaultAgentMaxTokens, func(t *Traits) *int64 { return &t.AgentMaxTokens }),
	bound("max_output_tokens", func(t *Traits) *int64 { return &t.MaxOutputTokens }),
	text("max_stops", "'none' or an integer of at least 0", "none", setMaxStops),
	flag("parallel_tool_calls", "true", "false", func(t *Traits) *bool { return &t.NoParallelToolCalls }),
	choice("tool_choice", func(t *Traits) *ToolChoice { return &t.ToolChoice }, ToolChoiceAny, "any", "auto", "effort_none"),
	choice("user_field", func(t *Traits) *UserField { return &t.UserField }, UserFieldUser, "user", "safety_identifier", "none"),
	flag("request_cache", "true", "false", func(t *Traits) *bool { return &t.NoRequestCache }),
	flag("cache_breakpoints", "false", "true", func(t *Traits) *bool { return &t.CacheBreakpoints }),
	choice("prompt_template", func(t *Traits) *PromptTemplate { return &t.PromptTemplate }, TemplateTurns, "turns", "chatml", "none"),
	flag("template_guard", "false", "true", func(t *Traits) *bool { return &t.TemplateGuard }),
	text("completion_system", "a text", "", setCompletionSystem),
	flag("unsupported_tools", "refuse", "drop", func(t *Traits) *bool { return &t.DropUnsupportedTools }),
	flag("custom_tools", "function", "native", func(t *Traits) *bool { return &t.CustomTools }),
	flag("messages_schema", "true", "false", func(t *Traits) *bool { return &t.IgnoresMessagesSchema }),
	flag("tool_names", "any", "letter", func(t *Traits) *bool { return &t.LetterFirst }),
	flag("schema_references", "any", "alone", func(t *Traits) *bool { return &t.ReferencesAlone }),
	choice("json_schema", func(t *Traits) *JSONSchema { return &t.JSONSchema }, JSONSchemaNative, "native", "object", "instruct", "alone"),
	flag("json_object", "instruct", "refuse", func(t *Traits) *bool { return &t.RefuseJSONObject }),
	flag("suffix", "refuse", "instruct", func(t *Traits) *bool { return &t.InstructSuffix }),
	text("fim_template", wantFIM, "", setFIM),
	flag("native_n", "true", "false", func(t *Traits) *bool { return &t.FanOutN }),
	number("max_fan_out", DefaultMaxFanOut, func(t *Traits) *int64 { return &t.MaxFanOut }),
	flag("count_tokens", "estimate", "off", func(t *Traits) *bool { return &t.NoTokenCount }),
	flag("estimate_input_tokens", "false", "true", func(t *Traits) *bool { return &t.EstimateInputTokens }),
	flag("on_loss", "warn", "reject", func(t *Traits) *bool { return &t.RejectLosses }),
	flag("encoding_format", "true", "false", func(t *Traits) *bool { return &t.NoEncodingFormat }),
	flag("usage_details", "keep", "fill", func(t *Traits) *bool { return &t.FillUsageDetails }),
	flag("attribution", "keep", "drop", func(t *Traits) *bool { return &t.DropAttribution }),
	flag("forward_ratelimit_headers", "false", "true", func(t *Traits) *bool { return &t.ForwardRateLimitHeaders }),
	flag("trace_upstream", "false", "true", func(t *Traits) *bool { return &t.TraceUpstream }),
	flag("stated_cost", "ignore", "usd", func(t *Traits) *bool { return &t.StatedCost }),
	flag("regional", "false", "true", func(t *Traits) *bool { return &t.Regional }),
}

// Names returns the names of all traits, in the order of the table.
func Names() []string {
	var names []string
	for _, row := range traits {
		names = append(names, row.name)
	}
	return names
}

// Set sets the named trait to a value of a configuration. "on" and "off" are
// synonyms of "true" and "false"; the items of a list are separated by spaces or
// commas. If the name is unknown, or the value is not accepted, Set leaves t
// unchanged and returns an error that lists the accepted ones.
func (t *Traits) Set(name, value string) error {
	for _, row := range traits {
		if row.name != name {
			continue
		}
		changed := *t
		if !row.set(&changed, value) {
			return fmt.Errorf("%s: must be %s, got '%s'", name, row.values, value)
		}
		*t = changed
		return nil
	}
	return fmt.Errorf("%s: is not known; the traits are %s", name, strings.Join(Names(), ", "))
}

// SetAll sets several traits, in alphabetical order of their names. It returns
// the first error of Set.
func (t *Traits) SetAll(values map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := t.Set(name, values[name]); err != nil {
			return err
		}
	}
	return nil
}

// flag returns the row of a trait with two values. The field is true for other.
func flag(name, standard, other string, field func(*Traits) *bool) trait {
	return text(name, quoted(standard, other), standard, func(t *Traits, value string) bool {
		value = switched(value, standard, other)
		*field(t) = value == other
		return value == standard || value == other
	})
}

// choice returns the row of a trait with several words. The field is first for the first word.
func choice[T ~uint8](name string, field func(*Traits) *T, first T, words ...string) trait {
	return text(name, quoted(words...), words[0], func(t *Traits, value string) bool {
		i := slices.Index(words, value)
		*field(t) = first + T(max(i, 0))
		return i >= 0
	})
}

// number returns the row of a trait whose value is a positive number.
func number(name string, standard int64, field func(*Traits) *int64) trait {
	return text(name, "an integer of at least 1", strconv.FormatInt(standard, 10), func(t *Traits, value string) bool {
		n, err := strconv.ParseInt(value, 10, 32)
		*field(t) = n
		return err == nil && n >= 1
	})
}

// bound returns the row of a trait whose value is a positive number, or "none": the field is then 0.
func bound(name string, field func(*Traits) *int64) trait {
	positive := number(name, 1, field)
	return text(name, "'none' or "+positive.values, "none", func(t *Traits, value string) bool {
		if value == "none" {
			*field(t) = 0
			return true
		}
		return positive.set(t, value)
	})
}

// text returns the row of a trait whose values are parsed by set.
func text(name, values, standard string, set func(*Traits, string) bool) trait {
	return trait{name: name, values: values, standard: standard, set: set}
}

// switched replaces "on" and "off" where words contains "true" and "false".
func switched(value string, words ...string) string {
	switch {
	case words[0] != "true" && words[0] != "false":
		return value
	case value == "on":
		return "true"
	case value == "off":
		return "false"
	}
	return value
}

// quoted returns the words in quotes, joined for a sentence.
func quoted(words ...string) string {
	var text strings.Builder
	text.WriteString("'" + words[0] + "'")
	for i, word := range words[1:] {
		if i == len(words)-2 {
			text.WriteString(" or '" + word + "'")
		} else {
			text.WriteString(", '" + word + "'")
		}
	}
	return text.String()
}

// list splits a value at commas and spaces.
func list(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

func setImages(t *Traits, value string) bool {
	i := slices.Index([]string{"true", "drop", "false"}, switched(value, "true"))
	t.Images = Images(max(i, 0))
	return i >= 0
}

func setMaxStops(t *Traits, value string) bool {
	n, err := strconv.ParseInt(value, 10, 32)
	switch {
	case value == "none":
		t.MaxStops = 0
		return true
	case n == 0:
		t.MaxStops = NoStops
	default:
		t.MaxStops = n
	}
	return err == nil && n >= 0
}

func setFiles(t *Traits, value string) bool {
	i := slices.Index([]string{"false", "true", "drop"}, switched(value, "true"))
	t.Files = Files(max(i, 0))
	return i >= 0
}

func setEfforts(t *Traits, value string) bool {
	switch switched(value, "true") {
	case "true":
		t.ReasoningEffort = EffortAll
		return true
	case "false":
		t.ReasoningEffort = EffortOff
		return true
	}
	var efforts Efforts
	for _, word := range list(value) {
		effort := EffortOf(word)
		if effort == 0 {
			return false
		}
		efforts |= effort
	}
	t.ReasoningEffort = efforts
	return efforts != 0
}

func setBudgets(t *Traits, value string) bool {
	t.ThinkingBudget = Budgets{}
	if value == "none" {
		return true
	}
	low, high, _ := strings.Cut(value, "-")
	least, err := strconv.ParseInt(low, 10, 32)
	most, wrong := strconv.ParseInt(high, 10, 32)
	t.ThinkingBudget = Budgets{least, most}
	return err == nil && wrong == nil && least >= 0 && most >= max(least, 1)
}

// own lists the fields of chat, completions and messages requests that the
// gateway writes itself. As extensions they would be written twice.
const own = " model messages prompt max_tokens max_completion_tokens stream stream_options temperature top_p" +
	" tools tool_choice parallel_tool_calls stop stop_sequences n logprobs top_logprobs response_format" +
	" reasoning_effort user safety_identifier metadata seed logit_bias presence_penalty frequency_penalty" +
	" system thinking output_config continue_final_message add_generation_prompt "

func setExtensions(t *Traits, value string) bool {
	names := list(value)
	for _, name := range names {
		if !translate.PlainName(name) || strings.Contains(own, " "+name+" ") {
			return false
		}
	}
	t.Extensions = names
	return true
}

func setCompletionSystem(t *Traits, value string) bool {
	t.CompletionSystem = value
	return true
}

func setSameAs(t *Traits, value string) bool {
	t.SameAs = value
	return !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' })
}

func setVersion(t *Traits, value string) bool {
	t.AnthropicVersion = value
	return value == DefaultAnthropicVersion || value == version20261021
}
