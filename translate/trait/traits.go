package trait

import (
	"cmp"
	"slices"
)

// Traits describe how a provider, or one of its models, deviates from its format
// (wire format 0.3). The zero value contains the defaults.
type Traits struct {
	// MaxCompletionTokens sends max_completion_tokens to chat providers instead
	// of max_tokens.
	MaxCompletionTokens bool
	// WithoutUsage leaves out stream_options.include_usage.
	WithoutUsage bool
	// SystemRole is the role of system texts.
	SystemRole SystemRole
	// MidSystem selects what becomes of system turns that are not the first.
	MidSystem MidSystem
	// Alternation joins messages of one role that follow each other.
	Alternation bool
	// AssistantAfterResults puts a note of the assistant between the results of tools and a message
	// of anyone else, which the models of Mistral refuse there.
	AssistantAfterResults bool
	// ToolContentParts sends several texts as parts instead of one text.
	ToolContentParts bool
	// MaxStops is the number of stop texts that the provider takes, 0 for any, NoStops for
	// none. The gateway itself enforces others.
	MaxStops int64
	// NoParallelToolCalls leaves out the choice of one call at a time, which the provider
	// refuses whatever its value.
	NoParallelToolCalls bool
	// ToolChoice selects when the client's demand for the call of a tool is sent. Otherwise the
	// model chooses, since the provider refuses that demand.
	ToolChoice ToolChoice
	// CallIDs selects which ids of calls the provider accepts.
	CallIDs CallIDs
	// ToolImagesInline leaves images in the messages of tool results.
	ToolImagesInline bool
	// ImagesBase64Only sends images as data, since the provider fetches no URLs.
	ImagesBase64Only bool
	// Images selects what becomes of images.
	Images Images
	// Files selects what becomes of PDF documents in chat messages.
	Files Files
	// Video sends videos in converse and chat requests, for models that see them.
	Video bool
	// Prefill selects what becomes of a conversation that ends with the assistant.
	Prefill Prefill
	// ReasoningEffort is the set of values that reasoning_effort may have.
	ReasoningEffort Efforts
	// NoReasoningSummary asks responses providers for no summaries of the reasoning.
	NoReasoningSummary bool
	// ResponsesReasoning selects how earlier reasoning is sent back to a responses
	// provider, and ResponsesItemIDs whether the id of its item is sent with it.
	ResponsesReasoning ResponsesReasoning
	ResponsesItemIDs   bool
	// LetterFirst puts an underscore in front of the names of tools in chat requests that begin with
	// another character than a letter, since the provider refuses them.
	LetterFirst bool
	// ReferencesAlone sends schemas whose references and choices have nothing beside them, since the
	// provider refuses others.
	ReferencesAlone bool
	// IgnoresMessagesSchema is true for a server that ignores the schema of an answer in
	// requests of the messages format.
	IgnoresMessagesSchema bool
	// ResponsesState selects what becomes of requests in the provider's own format that refer
	// to objects stored by the provider, such as an earlier response.
	ResponsesState ResponsesState
	// Batches selects whether clients can create batches of requests at the provider.
	Batches Batches
	// FilesState selects whether clients can store files at the provider.
	FilesState FilesState
	// RetryEncrypted repeats a request in the provider's own format without the encrypted
	// reasoning of earlier turns, if the provider cannot decrypt it.
	RetryEncrypted bool
	// ReasoningReplay selects the field that earlier reasoning is sent back in.
	ReasoningReplay ReasoningReplay
	// SameAs is the name of the model behind a name that does not show it, "" if the name does.
	SameAs string
	// Sampling selects the sampling fields that may be sent.
	Sampling Sampling
	// NoPenalties leaves out the penalties and biases of tokens, which the provider refuses.
	NoPenalties bool
	// Extensions lists the request fields that the provider accepts beyond the
	// public fields of a format. Options of chat requests among them, such as
	// service_tier, apply only to chat requests.
	Extensions []string
	// Thinking selects how a messages provider is asked to think. A budget of
	// tokens leaves at least 1024 tokens of the answer to the text. If less than
	// 1024 tokens remain for the budget, the model is not asked to think.
	Thinking ThinkingStyle
	// ThinkingSwitch is the member by which a chat provider is asked not to think, for models
	// without the effort none.
	ThinkingSwitch ThinkingSwitch
	// ThinkingBudget bounds the budgets of thinking that the model accepts.
	ThinkingBudget Budgets
	// AnthropicVersion is the version header of requests translated to the
	// messages format, "" for DefaultAnthropicVersion.
	AnthropicVersion string
	// DefaultMaxTokens bounds an answer where the provider needs a bound and the
	// client sets none; 0 means the constant DefaultMaxTokens.
	DefaultMaxTokens int64
	// AgentMaxTokens is DefaultMaxTokens for responses clients, which are agents as
	// a rule; 0 means the constant DefaultAgentMaxTokens.
	AgentMaxTokens int64
	// MaxOutputTokens is the length of the longest answer that the model gives, 0 if
	// it is unknown. Providers refuse requests for longer answers.
	MaxOutputTokens int64
	// UserField selects the field that the id of an end user is sent in.
	UserField UserField
	// NoRequestCache moves the breakpoint of the cache of a whole messages request to its last part,
	// since the service accepts breakpoints of parts alone.
	NoRequestCache bool
	// CacheBreakpoints translates cache_control to prompt_cache_breakpoint and back, and to
	// cachePoint of the converse format.
	CacheBreakpoints bool
	// PromptTemplate selects how a conversation becomes one prompt.
	PromptTemplate PromptTemplate
	// TemplateGuard refuses texts that look like a turn of the template.
	TemplateGuard bool
	// CompletionSystem is the system text of completions requests that become
	// conversations.
	CompletionSystem string
	// DropUnsupportedTools leaves out tools that the provider's format cannot
	// express, instead of refusing the request.
	DropUnsupportedTools bool
	// CustomTools sends tools that take a free text to chat providers as they are.
	CustomTools bool
	// JSONSchema selects how the model is asked for an answer that follows a schema.
	JSONSchema JSONSchema
	// RefuseJSONObject refuses requests for a JSON object if the provider's format
	// cannot express them. Otherwise an instruction in words is added.
	RefuseJSONObject bool
	// InstructSuffix asks in words for the text between a prompt and a suffix.
	InstructSuffix bool
	// FIMTemplate combines a prompt and a suffix into one prompt. It contains
	// {prefix} and {suffix} once each.
	FIMTemplate string
	// FanOutN asks once for each of n answers, for providers that ignore n.
	FanOutN bool
	// MaxFanOut bounds the number of calls that one request may become; 0 means
	// DefaultMaxFanOut.
	MaxFanOut int64
	// NoTokenCount refuses to count tokens if their number could only be estimated.
	NoTokenCount bool
	// EstimateInputTokens writes an estimate into the start of streams that begin with the count.
	EstimateInputTokens bool
	// RejectLosses refuses requests if the loss of a field would change the shape of
	// the answer.
	RejectLosses bool
	// NoEncodingFormat leaves encoding_format out of requests for embeddings, since the service refuses
	// it. Vectors become those that the client asked for in any case.
	NoEncodingFormat bool
	// FillUsageDetails adds to answers of the client's own format the counts of usage
	// that the specification names and the provider leaves out.
	FillUsageDetails bool
	// DropAttribution removes the line with which a coding agent attributes its
	// requests to itself. The line differs in every request, and comes before all else.
	DropAttribution bool
	// ForwardRateLimitHeaders forwards the provider's rate limit headers to the client.
	ForwardRateLimitHeaders bool
	// TraceUpstream sends the provider the position in the trace, in the header
	// traceparent.
	TraceUpstream bool
	// StatedCost believes the cost in US dollars that the provider states in its answers.
	StatedCost bool
	// Regional is true for an endpoint of a region, which may have prices of its own.
	Regional bool
}

// The defaults of traits that are not flags.
const (
	DefaultAnthropicVersion = "2023-06-01"
	DefaultMaxTokens        = 4096
	DefaultAgentMaxTokens   = 32000
	DefaultMaxFanOut        = 8
)

// SystemRole is the role of system texts.
type SystemRole uint8

// The values of SystemRole.
const (
	SystemRoleSystem SystemRole = iota
	SystemRoleDeveloper
	SystemRoleUser // the model has no system texts: they begin the first turn of the user
)

// SystemIsUser reports whether system texts become texts of the user.
func (t *Traits) SystemIsUser() bool { return t.SystemRole == SystemRoleUser }

// MidSystem selects what becomes of system turns that are not the first.
type MidSystem uint8

// The values of MidSystem.
const (
	MidSystemDefault MidSystem = iota // keep towards chat, hoist towards messages
	MidSystemKeep                     // the turn keeps its position
	MidSystemHoist                    // its text is appended to the first system turn
	MidSystemUser                     // it becomes a turn of the user
	MidSystemRefuse                   // the request is refused
)

// Images selects what becomes of images.
type Images uint8

// The values of Images.
const (
	ImagesSend   Images = iota
	ImagesDrop          // left out; a text takes the place of each
	ImagesRefuse        // the request is refused
)

// Files selects what becomes of PDF documents in chat messages.
type Files uint8

// The values of Files.
const (
	FilesRefuse Files = iota
	FilesSend         // as file parts
	FilesDrop         // left out; a text takes its place
)

// Prefill selects what becomes of a conversation that ends with the assistant.
type Prefill uint8

// The values of Prefill.
const (
	PrefillDefault Prefill = iota // depending on the format
	PrefillRefuse
	PrefillNative // sent as it is
	PrefillVLLM   // sent with the two fields that vLLM asks for
)

// ResponsesState selects what becomes of the objects that a responses provider stores, and of
// requests that refer to them.
type ResponsesState uint8

// The values of ResponsesState.
const (
	StateOff         ResponsesState = iota // requests that refer to them are refused
	StateSealed                            // their ids are sealed for the tenant
	StatePassthrough                       // their ids are passed on: clients share the objects
)

// SealsObjects reports whether clients get sealed ids of the objects that the provider stores.
func (t *Traits) SealsObjects() bool { return t.ResponsesState == StateSealed }

// SealsFiles reports whether clients get sealed ids of the files that the provider stores, and of what has
// files: containers, vector stores and skills.
func (t *Traits) SealsFiles() bool { return t.FilesState == FilesSealed }

// Batches selects whether clients can create batches of requests at a provider.
type Batches uint8

// The values of Batches.
const (
	BatchesOff    Batches = iota // no
	BatchesSealed                // yes, and clients get their ids encrypted for them
)

// FilesState selects whether clients can store files at a provider.
type FilesState uint8

// The values of FilesState.
const (
	FilesOff    FilesState = iota // no
	FilesSealed                   // yes, and clients get their ids encrypted for them
)

// Sampling selects which of temperature, top_p and top_k may be sent.
type Sampling uint8

// The values of Sampling.
const (
	SamplingDefault Sampling = iota // all, or none with anthropic_version 2026-10-21
	SamplingAll
	SamplingOne           // never top_p together with temperature
	SamplingWithoutEffort // none if the model is asked for an effort
	SamplingEffortNone    // none unless the model is asked for the effort none: it thinks unasked
	SamplingNone
)

// Beside reports whether a model takes sampling fields beside the effort that it is asked for, an
// empty set for none.
func (s Sampling) Beside(effort Efforts) bool {
	switch s {
	case SamplingNone:
		return false
	case SamplingWithoutEffort:
		return effort == 0 || effort == EffortNone
	case SamplingEffortNone:
		return effort == EffortNone
	}
	return true
}

// BesideAny reports whether a model takes sampling fields beside every effort, and without one.
func (s Sampling) BesideAny() bool { return s.Beside(0) && s.Beside(EffortMedium) }

// ToolChoice selects when a provider takes a choice that forces a call.
type ToolChoice uint8

// The values of ToolChoice.
const (
	ToolChoiceAny        ToolChoice = iota // always
	ToolChoiceAuto                         // never
	ToolChoiceEffortNone                   // if the model is asked for the effort none: it thinks unasked
)

// JSONSchema selects how a model is asked for an answer that follows a schema.
type JSONSchema uint8

// The values of JSONSchema.
const (
	JSONSchemaNative   JSONSchema = iota
	JSONSchemaObject              // for an object of any kind, and for the schema in words
	JSONSchemaInstruct            // for either in words
	JSONSchemaAlone               // as JSONSchemaInstruct beside tools, else as JSONSchemaNative
)

// CallIDs selects which ids of calls the provider accepts.
type CallIDs uint8

// The values of CallIDs.
const (
	CallIDsAny   CallIDs = iota
	CallIDsShort         // of at most 64 bytes
	CallIDsNine          // of exactly nine letters and digits, which the models of some vendors demand
)

// UserField selects the field that the id of an end user is sent in.
type UserField uint8

// The values of UserField.
const (
	UserFieldUser UserField = iota
	UserFieldSafetyIdentifier
	UserFieldNone
)

// PromptTemplate selects how a conversation becomes one prompt.
type PromptTemplate uint8

// The values of PromptTemplate.
const (
	TemplateTurns PromptTemplate = iota
	TemplateChatML
	TemplateNone
)

// version20261021 is the API version that refuses the sampling fields.
const version20261021 = "2026-10-21"

// ModelOf returns the name that shows the model behind a name of the provider.
func (t *Traits) ModelOf(name string) string { return cmp.Or(t.SameAs, name) }

// Version returns the version header of requests translated to the messages format.
func (t *Traits) Version() string {
	if t.AnthropicVersion == "" {
		return DefaultAnthropicVersion
	}
	return t.AnthropicVersion
}

// MaxTokens returns the bound of an answer for clients that set none.
func (t *Traits) MaxTokens() int64 {
	n, _ := t.BoundTokens(cmp.Or(t.DefaultMaxTokens, DefaultMaxTokens))
	return n
}

// EffortsOr returns the values of reasoning_effort that may be sent, or standard if
// the traits do not set them.
func (t *Traits) EffortsOr(standard Efforts) Efforts {
	if t.ReasoningEffort == 0 {
		return standard
	}
	return t.ReasoningEffort &^ EffortOff
}

// AgentTokens returns the bound of an answer for responses clients that set none.
func (t *Traits) AgentTokens() int64 {
	n, _ := t.BoundTokens(cmp.Or(t.AgentMaxTokens, DefaultAgentMaxTokens))
	return n
}

// BoundTokens returns the lower of n and the length of the longest answer of the
// model, and reports whether it is lower than n.
func (t *Traits) BoundTokens(n int64) (bounded int64, less bool) {
	if t.MaxOutputTokens == 0 || n <= t.MaxOutputTokens {
		return n, false
	}
	return t.MaxOutputTokens, true
}

// NoStops is the MaxStops of providers that take no stop texts.
const NoStops = -1

// BoundStops returns how many stop texts the provider takes where its format has most.
func (t *Traits) BoundStops(most int) int {
	switch t.MaxStops {
	case 0:
		return most
	case NoStops:
		return 0
	}
	return min(most, int(t.MaxStops))
}

// FanOut returns the number of calls that one request may become.
func (t *Traits) FanOut() int64 {
	if t.MaxFanOut == 0 {
		return DefaultMaxFanOut
	}
	return t.MaxFanOut
}

// Extension reports whether the provider accepts the named request field beyond the
// public fields of its format.
func (t *Traits) Extension(name string) bool { return slices.Contains(t.Extensions, name) }

// ChatOptions lists options of the public chat format that no other format has. A
// provider has one set of traits for all of its formats, so these names apply only
// to chat requests if they are extensions.
var ChatOptions = []string{
	"service_tier", "store", "verbosity", "prediction", "modalities", "audio", "moderation",
	"web_search_options", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
}

// TakesLateSystem reports whether the provider accepts system turns that are not the
// first. If not, the byte lane has to refuse them, since it changes nothing.
func (t *Traits) TakesLateSystem() bool {
	return t.MidSystem == MidSystemDefault || t.MidSystem == MidSystemKeep
}

// SamplingByVersion returns which sampling fields may be sent in a messages request:
// some versions of the API refuse them.
func (t *Traits) SamplingByVersion() Sampling {
	if t.Sampling == SamplingDefault && t.Version() == version20261021 {
		return SamplingNone
	}
	return t.Sampling
}
