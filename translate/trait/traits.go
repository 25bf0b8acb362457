package trait

import (
	"cmp"
	"slices"
)

// Traits say what a provider, or one of its models, can take beside what its
// format states (wire format 0.3). The zero value holds the defaults.
type Traits struct {
	// MaxCompletionTokens sends max_completion_tokens to chat providers instead
	// of max_tokens.
	MaxCompletionTokens bool
	// WithoutUsage leaves out stream_options.include_usage.
	WithoutUsage bool
	// DeveloperRole gives system texts the role developer.
	DeveloperRole bool
	// MidSystem is what becomes of system turns that are not the first.
	MidSystem MidSystem
	// Alternation joins messages of one role that follow each other.
	Alternation bool
	// ToolContentParts sends several texts as parts instead of one text.
	ToolContentParts bool
	// ToolImagesInline leaves images in the messages of tool results.
	ToolImagesInline bool
	// ImagesBase64Only says that images must be sent, not pointed to.
	ImagesBase64Only bool
	// Files is what becomes of PDF documents in chat messages.
	Files Files
	// Prefill is what becomes of a conversation that ends with the assistant.
	Prefill Prefill
	// ReasoningEffort holds the values that reasoning_effort may have.
	ReasoningEffort Efforts
	// NoReasoningSummary asks responses providers for no summaries of the reasoning.
	NoReasoningSummary bool
	// ResponsesReasoning is how earlier reasoning goes back to a responses provider,
	// and ResponsesItemIDs says that its id goes with it.
	ResponsesReasoning ResponsesReasoning
	ResponsesItemIDs   bool
	// PassState sends requests in the provider's own format that refer to what the
	// provider keeps, such as an earlier response.
	PassState bool
	// ReasoningReplay is where earlier reasoning goes.
	ReasoningReplay ReasoningReplay
	// Sampling says which sampling fields may be sent.
	Sampling Sampling
	// Extensions names the request fields that the provider takes beyond the
	// public fields of a format. Options of chat requests among them, such as
	// service_tier, count towards chat alone.
	Extensions []string
	// Thinking says how a messages provider is asked to think. A budget
	// leaves at least 1024 tokens of the answer to the text; one that would then
	// be below 1024 itself is not sent, so the model is not asked to think.
	Thinking ThinkingStyle
	// AnthropicVersion is the version header of requests translated to the
	// messages format, "" for DefaultAnthropicVersion.
	AnthropicVersion string
	// DefaultMaxTokens bounds an answer where the provider needs a bound and the
	// client gave none; 0 stands for DefaultMaxTokens.
	DefaultMaxTokens int64
	// AgentMaxTokens is DefaultMaxTokens for responses clients, which are agents as
	// a rule; 0 stands for DefaultAgentMaxTokens.
	AgentMaxTokens int64
	// MaxOutputTokens is the longest answer that the model gives; providers refuse
	// requests for a longer one. 0 where it is not known.
	MaxOutputTokens int64
	// UserField is where the id of an end user goes.
	UserField UserField
	// CacheBreakpoints translates cache_control to prompt_cache_breakpoint and back.
	CacheBreakpoints bool
	// PromptTemplate is how a conversation becomes one prompt.
	PromptTemplate PromptTemplate
	// TemplateGuard refuses texts that look like a turn of the template.
	TemplateGuard bool
	// CompletionSystem is the system text of completions requests that become
	// conversations.
	CompletionSystem string
	// DropUnsupportedTools leaves out tools that the provider's format has no
	// words for, instead of refusing the request.
	DropUnsupportedTools bool
	// CustomTools sends tools that take a free text to chat providers as they are.
	CustomTools bool
	// RefuseJSONObject refuses requests for a JSON object where the provider's
	// format cannot ask for one; else it is asked for in words.
	RefuseJSONObject bool
	// InstructSuffix asks in words for the text between a prompt and a suffix.
	InstructSuffix bool
	// FIMTemplate writes a prompt and a suffix as one prompt; it holds {prefix}
	// and {suffix} once each.
	FIMTemplate string
	// FanOutN asks once for each of n answers, for providers that ignore n.
	FanOutN bool
	// MaxFanOut bounds the calls that one request may become; 0 stands for
	// DefaultMaxFanOut.
	MaxFanOut int64
	// NoTokenCount refuses to count tokens where it could only be estimated.
	NoTokenCount bool
	// EstimateInputTokens puts an estimate where a stream begins with the count.
	EstimateInputTokens bool
	// RejectLosses refuses requests of which something would be lost that shapes
	// the answer.
	RejectLosses bool
	// FillUsageDetails adds to answers of the client's own format the counts of usage
	// that the specification names and the provider leaves out.
	FillUsageDetails bool
	// ForwardRateLimitHeaders hands on the provider's rate limit headers.
	ForwardRateLimitHeaders bool
}

// The defaults of traits that are no flags.
const (
	DefaultAnthropicVersion = "2023-06-01"
	DefaultMaxTokens        = 4096
	DefaultAgentMaxTokens   = 32000
	DefaultMaxFanOut        = 8
)

// MidSystem is what becomes of system turns that are not the first.
type MidSystem uint8

// The values of MidSystem.
const (
	MidSystemDefault MidSystem = iota // keep towards chat, hoist towards messages
	MidSystemKeep                     // it stays where it is
	MidSystemHoist                    // it joins the first
	MidSystemUser                     // it becomes a turn of the user
	MidSystemRefuse                   // the request is refused
)

// Files is what becomes of PDF documents in chat messages.
type Files uint8

// The values of Files.
const (
	FilesRefuse Files = iota
	FilesSend         // as file parts
	FilesDrop         // left out; a text says so
)

// Prefill is what becomes of a conversation that ends with the assistant.
type Prefill uint8

// The values of Prefill.
const (
	PrefillRefuse Prefill = iota
	PrefillNative         // sent as it is
	PrefillVLLM           // sent with the two fields that vLLM asks for
)

// ReasoningReplay is the field of assistant messages that takes earlier
// reasoning back.
type ReasoningReplay uint8

// The values of ReasoningReplay.
const (
	ReplayNone ReasoningReplay = iota
	ReplayReasoningContent
	ReplayReasoning
)

// ResponsesReasoning is how earlier reasoning goes back to a responses provider.
type ResponsesReasoning uint8

// The values of ResponsesReasoning.
const (
	ResponsesReasoningNone      ResponsesReasoning = iota
	ResponsesReasoningEncrypted                    // as the provider encrypted it
	ResponsesReasoningText                         // in clear, whoever thought it
)

// Sampling says which of temperature, top_p and top_k may be sent.
type Sampling uint8

// The values of Sampling.
const (
	SamplingDefault Sampling = iota // all, or none with anthropic_version 2026-10-21
	SamplingAll
	SamplingOne // never top_p together with temperature
	SamplingNone
)

// ThinkingStyle is which type of thinking a messages provider takes.
type ThinkingStyle uint8

// The values of ThinkingStyle.
const (
	ThinkingNone ThinkingStyle = iota
	ThinkingBudget
	ThinkingAdaptive
)

// UserField is where the id of an end user goes.
type UserField uint8

// The values of UserField.
const (
	UserFieldUser UserField = iota
	UserFieldSafetyIdentifier
	UserFieldNone
)

// PromptTemplate is how a conversation becomes one prompt.
type PromptTemplate uint8

// The values of PromptTemplate.
const (
	TemplateTurns PromptTemplate = iota
	TemplateChatML
	TemplateNone
)

// version20261021 is the API version that refuses the sampling fields.
const version20261021 = "2026-10-21"

// Version is the version header of requests translated to the messages format.
func (t *Traits) Version() string {
	if t.AnthropicVersion == "" {
		return DefaultAnthropicVersion
	}
	return t.AnthropicVersion
}

// MaxTokens is the bound of an answer when the client gave none.
func (t *Traits) MaxTokens() int64 {
	n, _ := t.BoundTokens(cmp.Or(t.DefaultMaxTokens, DefaultMaxTokens))
	return n
}

// EffortsOr returns the words of effort that may be sent; standard if the traits
// leave that open.
func (t *Traits) EffortsOr(standard Efforts) Efforts {
	if t.ReasoningEffort == 0 {
		return standard
	}
	return t.ReasoningEffort &^ EffortOff
}

// AgentTokens is MaxTokens for responses clients.
func (t *Traits) AgentTokens() int64 {
	n, _ := t.BoundTokens(cmp.Or(t.AgentMaxTokens, DefaultAgentMaxTokens))
	return n
}

// BoundTokens returns the bound of an answer that the model takes where n is asked
// for, and reports whether that is less.
func (t *Traits) BoundTokens(n int64) (most int64, less bool) {
	if t.MaxOutputTokens == 0 || n <= t.MaxOutputTokens {
		return n, false
	}
	return t.MaxOutputTokens, true
}

// FanOut is how many calls one request may become.
func (t *Traits) FanOut() int64 {
	if t.MaxFanOut == 0 {
		return DefaultMaxFanOut
	}
	return t.MaxFanOut
}

// Extension reports whether the provider takes a request field beyond the public
// fields of its format.
func (t *Traits) Extension(name string) bool { return slices.Contains(t.Extensions, name) }

// ChatOptions are options of the public chat format, for which other formats have
// no field of the same name. A provider has one set of traits for all of its formats:
// as extensions, these count towards chat alone.
var ChatOptions = []string{
	"service_tier", "store", "verbosity", "prediction", "modalities", "audio", "moderation",
	"web_search_options", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
}

// TakesLateSystem reports whether the provider takes system turns that are not the
// first as they are. The byte lane, which changes nothing, has to refuse them else.
func (t *Traits) TakesLateSystem() bool {
	return t.MidSystem == MidSystemDefault || t.MidSystem == MidSystemKeep
}

// SamplingByVersion returns which sampling fields may be sent to a provider that has
// AnthropicVersion: a version may refuse them.
func (t *Traits) SamplingByVersion() Sampling {
	if t.Sampling == SamplingDefault && t.Version() == version20261021 {
		return SamplingNone
	}
	return t.Sampling
}
