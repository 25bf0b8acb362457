package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// outcomes are what becomes of each concept in responses requests.
var outcomes = core.NewOutcomes(
	core.Keep(
		core.Model, core.MaxTokens, core.OlderMaxTokens, core.NoMaxTokens, core.Stops, core.Stream, core.StreamUsage,
		core.Echo,
	),
	core.Keep(core.Logprobs, core.TopLogprobs).Unless(core.NoSampling),
	core.Keep(core.LogprobsBesideReasoning).Unless(core.NoSampling, core.WithoutEffort),
	core.Keep(core.LongMaxTokens).Unless(core.BoundedAnswer),
	core.Change(core.ShortMaxTokens),
	core.Keep(core.Temperature, core.HighTemperature, core.TopP).Unless(core.NoSampling),
	core.Lose(core.TemperatureBesideReasoning, core.TopPBesideReasoning).Unless(anySampling...),
	core.Keep(core.TopPBesideTemperature).Unless(core.NoSampling, core.OneSampling),
	core.Keep(core.Samples).Unless(core.OneCall).ByWriter(),
	core.Keep(core.Prompts).Unless(core.OneCall),
	core.Drop(core.TopLogprobsAlone),

	core.Keep(core.ToolChoiceAuto, core.ToolChoiceNone, core.ToolChoiceName, core.ToolChoiceAllowed, core.ParallelCalls),
	core.Keep(core.ToolChoiceRequired, core.ToolChoiceNamed).Unless(core.AutoChoice),
	core.Keep(core.OneCallAtATime).Unless(core.NoParallelCalls),

	core.Keep(core.FormatText, core.Verbosity, core.Images, core.ImagesAlone),
	core.Keep(core.FormatObject).Unless(core.ObjectInWords),
	core.Keep(core.FormatSchema, core.Schema).Unless(core.SchemaInWords...),
	core.Keep(core.SchemaName, core.SchemaDescription, core.SchemaStrict).Unless(core.NamelessSchema...),

	core.Keep(core.ReasoningOn, core.ReasoningBudget).Unless(effortRules(core.EffortLow)...).ByWriter(),
	core.Keep(core.ReasoningAdaptive, core.ReasoningHidden),
	core.Keep(core.ReasoningOff, core.EffortNone).Unless(core.NoEffort(core.EffortNone)).ByWriter(),
	core.Keep(core.ReasoningShown).Unless(noSummary),
	effort(core.EffortMinimal), effort(core.EffortLow), effort(core.EffortMedium), effort(core.EffortHigh), effort(core.EffortXHigh), effort(core.EffortMax),
	core.Lose(core.EffortOther).ByWriter(),

	core.Keep(core.EndUser, core.SafetyIdentifier, core.TellingEndUser).Unless(core.NoUser),
	core.Change(core.LongEndUser).Unless(core.NoUser),
	core.Keep(
		core.TierAuto, core.TierStandard, core.TierFlex, core.TierPriority, core.TierScale, core.TierUltrafast, core.Metadata,
		core.Moderation, core.BlockingModeration, core.CacheKey, core.CacheOptions, core.CacheRetention,
	),
	core.Lose(core.CacheRequest).Unless(breakpoints),

	core.Keep(
		core.Content, core.Conversation, core.TurnText, core.TextBehindCall, core.TextBeforeResult,
		core.ImageDetail, core.Document, core.TextDocument, core.PartsDocument,
		core.SearchResult, core.ToolCall, core.BrokenArguments, core.FreeCall, core.ToolResult, core.ErrorResult,
		core.ToolReference,
	),
	core.Keep(core.SystemText).Unless(core.SystemAsUser),
	core.Keep(core.LateSystem, core.SystemBehindAssistant).Unless(append(core.LateSystemMoves(lateSystem), core.SystemAsUser)...),
	core.Keep(core.Image, core.RareImage).Unless(core.UnseenImages...),
	core.Lose(core.ImageReference).Unless(core.UnseenImages...),
	core.Keep(core.ImageAddress).Unless(append(core.UnseenImages, core.NoAddresses)...),
	core.Keep(core.File, core.OfficeFile, core.RareFile, core.FileAddress).Unless(core.FilesDropped),
	core.Lose(core.FileReference).Unless(core.FilesDropped),
	core.Lose(core.Reasoning, core.UnsignedReasoning, core.SelfSignedReasoning, core.Signature).Unless(inClear),
	core.Lose(core.EncryptedReasoning).Unless(encrypted),
	core.Lose(core.CachePart).Unless(breakpoints),

	core.Keep(core.FunctionTool, core.ToolSchema, core.ToolStrict, core.UnusedTools, core.FreeTool, core.FreeChoice, core.Grammar),
	core.Lose(core.VendorTool).Unless(core.WithoutTools),
)

// The rules of responses providers.
var (
	breakpoints = core.Breakpoints
	noSummary   = core.LoseIf("reasoning_summary off", func(traits *trait.Traits) bool { return traits.NoReasoningSummary })
	encrypted   = core.KeepIf("responses_reasoning encrypted", func(traits *trait.Traits) bool {
		return traits.ResponsesReasoning == trait.ResponsesReasoningEncrypted
	})
	inClear = core.KeepIf("responses_reasoning text", func(traits *trait.Traits) bool {
		return traits.ResponsesReasoning == trait.ResponsesReasoningText || traits.ResponsesReasoning == trait.ResponsesReasoningSummary
	})
)

// anySampling are the rules of providers that take sampling fields beside reasoning.
var anySampling = []core.Rule{
	core.KeepIf("sampling all", func(traits *trait.Traits) bool { return traits.Sampling == trait.SamplingAll }),
	core.KeepIf("sampling one", func(traits *trait.Traits) bool { return traits.Sampling == trait.SamplingOne }),
}

// effort returns the entry of an effort of reasoning.
func effort(c core.Concept) core.Entry { return core.Keep(c).Unless(effortRules(c)...).ByWriter() }

// effortRules are the rules of models that do not have every effort.
func effortRules(c core.Concept) []core.Rule {
	return []core.Rule{core.NearestEffort(c), core.NoEffort(c)}
}

// lateSystem is the default treatment of late system texts.
const lateSystem = trait.MidSystemKeep

// ownFields are fields of responses requests that the gateway writes itself, or that
// need what the provider keeps, and that chat requests of some provider may have.
var ownFields = []string{
	"input", "instructions", "include", "reasoning", "text", "max_output_tokens", "max_tool_calls", "truncation",
	"previous_response_id", "conversation", "background", "context_management",
}
