package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// templateArguments is the field in which some servers accept arguments of the model's
// prompt template.
const templateArguments = "chat_template_kwargs"

// outcomes is the table of the outcomes of concepts in chat requests.
var outcomes = core.NewOutcomes(
	core.Keep(
		core.Model, core.MaxTokens, core.ShortMaxTokens, core.NoMaxTokens,
		core.Seed, core.Samples, core.Stops, core.EmptyStop, core.Stream, core.StreamUsage, core.Echo,
	),
	core.Keep(core.Logprobs, core.TopLogprobs).Unless(core.NoSampling),
	core.Keep(core.PresencePenalty, core.FrequencyPenalty, core.LogitBias).Unless(core.NoPenalties),
	core.Keep(core.LogprobsBesideReasoning).Unless(core.NoSampling, core.WithoutEffort),
	core.Keep(core.LongMaxTokens).Unless(core.BoundedAnswer),
	core.Keep(core.Temperature, core.HighTemperature, core.TopP).Unless(core.NoSampling),
	core.Keep(core.TemperatureBesideReasoning, core.TopPBesideReasoning).Unless(core.NoSampling, core.WithoutEffort),
	core.Keep(core.TopPBesideTemperature).Unless(core.NoSampling, core.OneSampling),
	core.Lose(core.TopK).Unless(core.NoSampling, core.Extension("top_k")),
	core.Lose(core.TopKBesideReasoning).Unless(core.NoSampling, core.WithoutEffort, core.Extension("top_k")),
	core.Keep(core.Prompts).Unless(core.OneCall),
	core.Lose(core.Suffix).Unless(core.FillInWords),

	core.Keep(core.ToolChoiceAuto, core.ToolChoiceNone, core.ToolChoiceName, core.ToolChoiceAllowed, core.ParallelCalls),
	core.Keep(core.ToolChoiceRequired, core.ToolChoiceNamed).Unless(core.AutoChoice),
	core.Keep(core.OneCallAtATime).Unless(core.NoParallelCalls),

	core.Keep(core.FormatText),
	core.Keep(core.FormatObject).Unless(core.ObjectInWords),
	core.Keep(core.FormatSchema, core.Schema).Unless(core.SchemaInWords...),
	core.Keep(core.SchemaName, core.SchemaDescription, core.SchemaStrict).Unless(core.NamelessSchema...),

	core.Keep(core.Images, core.ImagesAlone),

	core.Lose(core.ReasoningOn).Unless(core.TakesEffort(core.EffortLow), core.Extension(templateArguments), core.NearestEffort(core.EffortLow)).ByWriter(),
	core.Drop(core.ReasoningAdaptive).Unless(core.Extension(templateArguments)).ByWriter(),
	core.Lose(core.ReasoningOff).Unless(core.TakesEffort(core.EffortNone), core.Switched, core.Extension(templateArguments)).ByWriter(),
	core.Lose(core.ReasoningBudget).Unless(core.TakesEffort(core.EffortLow), core.NearestEffort(core.EffortLow)).ByWriter(),
	core.Lose(core.EffortNone).Unless(noEffort, core.TakesEffort(core.EffortNone), core.Switched).ByWriter(),
	effort(core.EffortMinimal), effort(core.EffortLow), effort(core.EffortMedium), effort(core.EffortHigh), effort(core.EffortXHigh), effort(core.EffortMax),
	core.Lose(core.EffortOther).ByWriter(),

	core.Keep(core.EndUser, core.SafetyIdentifier, core.TellingEndUser).Unless(core.NoUser),
	core.Change(core.LongEndUser).Unless(core.NoUser),
	core.Keep(core.Moderation, core.BlockingModeration),
	core.Lose(core.TierAuto, core.TierStandard, core.TierFlex, core.TierPriority, core.TierScale).Unless(core.Extension("service_tier")),
	core.Lose(core.CacheRequest).Unless(breakpoints),
	core.Lose(core.CacheKey).Unless(core.Extension("prompt_cache_key")),
	core.Lose(core.CacheOptions).Unless(core.Extension("prompt_cache_options")),
	core.Lose(core.CacheRetention).Unless(core.Extension("prompt_cache_retention")),
	core.Lose(core.Verbosity).Unless(core.Extension("verbosity")),

	core.Keep(
		core.Content, core.Conversation, core.TurnText, core.Document,
		core.TextDocument, core.PartsDocument, core.SearchResult, core.ToolCall, core.ToolResult, core.ErrorResult,
		core.ToolReference, core.IdleReasoning, core.ImageDetail, core.BrokenArguments,
	),
	core.Keep(core.SystemText).Unless(core.SystemAsUser),
	core.Keep(core.LateSystem, core.SystemBehindAssistant).Unless(append(core.LateSystemMoves(lateSystem), core.SystemAsUser)...),
	core.Lose(core.Prefill).Unless(prefills...),
	core.Keep(core.PrefillSpace),
	core.Change(core.TextBehindCall, core.TextBeforeResult),
	core.Keep(core.Image, core.RareImage).Unless(core.UnseenImages...),
	core.Lose(core.ImageReference).Unless(core.UnseenImages...),
	core.Keep(core.ImageAddress).Unless(append(core.UnseenImages, core.NoAddresses)...),
	core.Keep(core.Sound),
	core.Lose(core.Video).Unless(core.Videos),
	core.Lose(core.File).Unless(fileParts, core.FilesDropped),
	core.Lose(core.OfficeFile, core.RareFile, core.FileAddress, core.FileReference).Unless(core.FilesDropped),
	core.Lose(core.Reasoning, core.UnsignedReasoning, core.SelfSignedReasoning).Unless(replays...),
	core.Lose(core.CachePart).Unless(breakpoints),

	core.Keep(core.FunctionTool, core.ToolSchema, core.ToolStrict, core.UnusedTools),
	core.Lose(core.VendorTool).Unless(core.WithoutTools),
	core.Lose(core.FreeTool, core.FreeChoice, core.FreeCall, core.Grammar).Unless(customTools),
)

// The rules of chat providers.
var (
	breakpoints = core.Breakpoints
	fileParts   = core.KeepIf("files true", func(traits *trait.Traits) bool { return traits.Files == trait.FilesSend })
	noEffort    = core.LoseIf("extensions "+templateArguments, func(traits *trait.Traits) bool { return traits.Extension(templateArguments) })
	customTools = core.KeepIf("custom_tools native", func(traits *trait.Traits) bool { return traits.CustomTools })
)

// prefills are the rules of providers that continue a last message of the assistant.
var prefills = []core.Rule{
	core.KeepIf("prefill native", func(traits *trait.Traits) bool { return traits.Prefill == trait.PrefillNative }),
	core.KeepIf("prefill vllm", func(traits *trait.Traits) bool { return traits.Prefill == trait.PrefillVLLM }),
}

// replays are the rules of providers that accept earlier reasoning.
var replays = []core.Rule{
	core.KeepIf("reasoning_replay reasoning_content", func(traits *trait.Traits) bool { return traits.ReasoningReplay == trait.ReplayReasoningContent }),
	core.KeepIf("reasoning_replay thinking", func(traits *trait.Traits) bool { return traits.ReasoningReplay == trait.ReplayThinking }),
	core.KeepIf("reasoning_replay reasoning", func(traits *trait.Traits) bool { return traits.ReasoningReplay == trait.ReplayReasoning }),
}

// effort returns the entry of an effort of reasoning.
func effort(c core.Concept) core.Entry {
	return core.Lose(c).Unless(noEffort, core.TakesEffort(c), core.NearestEffort(c)).ByWriter()
}

// lateSystem is the default of the trait mid_system.
const lateSystem = trait.MidSystemKeep
