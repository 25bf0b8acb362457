package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// outcomes is the table of the outcomes of concepts in converse requests.
var outcomes = core.NewOutcomes(
	core.Keep(
		core.Model, core.MaxTokens, core.OlderMaxTokens, core.ShortMaxTokens, core.NoMaxTokens,
		core.Stops, core.Stream, core.StreamUsage, core.Echo,
	),
	core.Keep(core.LongMaxTokens).Unless(core.BoundedAnswer),
	core.Keep(core.Temperature, core.TopP).Unless(core.NoSampling),
	core.Change(core.HighTemperature),
	core.Keep(core.TopK).Unless(core.NoSampling),
	core.Keep(core.TopPBesideReasoning).Unless(core.WithoutEffort),
	core.Keep(core.TopPBesideTemperature).Unless(core.NoSampling, core.OneSampling),
	core.Keep(core.Samples).Unless(core.OneCall).ByWriter(),
	core.Keep(core.Prompts).Unless(core.OneCall),
	core.Refuse(core.LogitBias),
	core.Lose(core.Suffix).Unless(core.FillInWords),

	core.Keep(core.ToolChoiceAuto, core.ToolChoiceNone, core.ToolChoiceName, core.ToolChoiceAllowed, core.ParallelCalls),
	core.Keep(core.ToolChoiceRequired, core.ToolChoiceNamed).Unless(core.AutoChoice),
	core.Drop(core.OneCallAtATime, core.UnusedTools),

	core.Keep(core.FormatText),
	core.Keep(core.FormatSchema, core.Schema).Unless(core.SchemaInWords...),
	core.Keep(core.SchemaName, core.SchemaDescription, core.SchemaStrict).Unless(core.NamelessSchema...),
	core.Change(core.FormatObject).Unless(core.RefusedObject),

	// Those of Claude. Models of other vendors have fewer, or none.
	core.Keep(core.EffortNone, core.ReasoningOff).Unless(core.AlwaysThinks).ByWriter(),
	core.Change(core.EffortMinimal).Unless(core.TakesEffort(core.EffortMinimal)).ByWriter(),
	effort(core.EffortLow), effort(core.EffortMedium), effort(core.EffortHigh), effort(core.EffortXHigh), effort(core.EffortMax),
	core.Lose(core.EffortOther).ByWriter(),
	core.Keep(core.ReasoningOn, core.ReasoningBudget).ByWriter(),
	core.Drop(core.ReasoningAdaptive, core.ReasoningShown), // what a model does unasked

	core.Keep(core.TierStandard, core.TierFlex, core.TierPriority),
	core.Drop(core.TierAuto), // the service has no tier that it chooses itself

	core.Keep(
		core.Content, core.Conversation, core.TurnText, core.TextBehindCall,
		core.Document, core.File, core.OfficeFile, core.TextDocument, core.PartsDocument, core.SearchResult,
		core.ToolCall, core.ToolResult, core.ErrorResult, core.ToolReference,
		core.Reasoning, core.Signature, core.RedactedReasoning, core.IdleReasoning,
	),
	core.Keep(core.Image).Unless(core.UnseenImages...),
	core.Lose(core.RareImage, core.ImageAddress, core.ImageReference).Unless(core.UnseenImages...),
	core.Lose(core.Video).Unless(core.Videos),
	core.Change(core.TextBeforeResult, core.PrefillSpace, core.BrokenArguments), // results come first; no text ends the conversation with white space
	core.Keep(core.SystemText).Unless(core.SystemAsUser),
	core.Change(core.LateSystem, core.SystemBehindAssistant).Unless(core.LateSystemMoves(lateSystem)...),
	core.Lose(core.Prefill).Unless(core.KeepIf("prefill native", func(traits *trait.Traits) bool { return traits.Prefill == trait.PrefillNative })),
	core.Lose(
		core.CachePart, core.OtherCachePart, core.CacheAssistantPart, core.CacheNestedPart, core.CacheCall, core.CacheResult, core.CachePartTTL, core.CacheRequest,
	).Unless(core.Breakpoints),

	core.Keep(core.FunctionTool, core.ToolSchema),
	core.Keep(core.ToolStrict).Unless(core.NoStrictTools),
	core.Lose(core.VendorTool, core.FreeTool).Unless(core.WithoutTools),
)

// effort returns the entry of an effort. Those of a model matter only where the effort has a word:
// others are asked by a budget.
func effort(c core.Concept) core.Entry {
	return core.Keep(c).Unless(core.ChangeIf(core.OtherEffort(c), func(traits *trait.Traits) bool {
		return traits.Thinking != trait.ThinkingBudget && !traits.EffortsOr(core.EffortOf(c)).Has(core.EffortOf(c))
	})).ByWriter()
}

// lateSystem is the default of the trait mid_system.
const lateSystem = trait.MidSystemUser
