package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// outcomes is the table of the outcomes of concepts in messages requests.
var outcomes = core.NewOutcomes(
	core.Keep(core.Model, core.MaxTokens, core.OlderMaxTokens, core.ShortMaxTokens, core.Stops, core.Stream, core.StreamUsage, core.Echo),
	core.Keep(core.LongMaxTokens).Unless(core.BoundedAnswer),
	core.Keep(core.Temperature, core.TopP, core.TopK).Unless(noSampling),
	core.Keep(core.TopPBesideReasoning).Unless(noSampling, core.WithoutEffort),
	core.Change(core.HighTemperature),
	core.Keep(core.TopPBesideTemperature).Unless(noSampling, core.OneSampling),
	core.Keep(core.Samples).Unless(core.OneCall).ByWriter(),
	core.Keep(core.Prompts).Unless(core.OneCall),
	core.Lose(core.Suffix).Unless(core.FillInWords),

	core.Keep(
		core.ToolChoiceAuto, core.ToolChoiceNone, core.ToolChoiceName, core.ToolChoiceAllowed, core.ParallelCalls,
		core.UnusedTools,
	),
	core.Keep(core.ToolChoiceRequired, core.ToolChoiceNamed).Unless(core.AutoChoice),
	core.Keep(core.OneCallAtATime).Unless(core.NoParallelCalls),

	core.Keep(core.FormatText),
	core.Keep(core.FormatSchema, core.Schema).Unless(append(core.SchemaInWords, ignoredSchema)...),
	core.Change(core.FormatObject).Unless(core.RefusedObject),

	core.Lose(core.EffortNone).Unless(adaptive, byBudget).ByWriter(),
	effort(core.EffortMinimal), effort(core.EffortLow), effort(core.EffortMedium), effort(core.EffortHigh), effort(core.EffortXHigh), effort(core.EffortMax),

	core.Lose(core.ReasoningShown).Unless(thinking...),
	core.Keep(core.ReasoningHidden),

	core.Keep(core.EndUser, core.SafetyIdentifier).Unless(core.NoUser),
	core.Change(core.LongEndUser, core.TellingEndUser).Unless(core.NoUser),
	core.Keep(core.TierAuto, core.TierStandard),

	core.Keep(
		core.Content, core.Conversation, core.SystemText, core.TurnText, core.Document, core.File,
		core.TextDocument, core.ToolCall, core.ToolResult, core.ErrorResult, core.Reasoning, core.Signature,
		core.RedactedReasoning, core.CachePart, core.OtherCachePart, core.CachePartTTL, core.CacheCall, core.CacheResult, core.CacheRequest,
		core.CacheTool, core.IdleReasoning, core.TextBehindCall,
	),
	core.Keep(core.LateSystem).Unless(core.LateSystemMoves(lateSystem)...),
	core.Keep(core.Prefill).Unless(core.NoPrefill),
	core.Change(core.SystemBehindAssistant, core.PrefillSpace, core.TextBeforeResult, core.BrokenArguments),
	core.Keep(core.Image).Unless(core.UnseenImages...),
	core.Lose(core.RareImage, core.ImageReference).Unless(core.UnseenImages...),
	core.Keep(core.ImageAddress).Unless(append(core.UnseenImages, core.NoAddresses)...),
	core.Keep(core.FileAddress).Unless(core.NoAddresses),

	core.Keep(core.FunctionTool, core.ToolSchema),
	core.Keep(core.ToolStrict).Unless(core.NoStrictTools),
	core.Lose(core.VendorTool, core.FreeTool).Unless(core.WithoutTools),
)

// The rules of providers that can be asked to think, or not to.
var (
	adaptive = core.KeepIf("thinking_style adaptive", func(traits *trait.Traits) bool {
		return traits.Thinking.Adapts() && traits.Thinking != trait.ThinkingAlways
	})
	byBudget = core.KeepIf("thinking_style budget", func(traits *trait.Traits) bool { return traits.Thinking == trait.ThinkingBudget })
)

// thinking are the rules of providers that can be asked to think.
var thinking = []core.Rule{
	adaptive,
	core.KeepIf("thinking_style always", func(traits *trait.Traits) bool { return traits.Thinking == trait.ThinkingAlways }),
	byBudget,
}

// effort returns the entry of an effort. Those of a model matter only where the effort has a word:
// others are asked by a budget.
func effort(c core.Concept) core.Entry {
	other := core.ChangeIf(core.OtherEffort(c), func(traits *trait.Traits) bool {
		return traits.Thinking.Adapts() && !traits.EffortsOr(core.EffortOf(c)).Has(core.EffortOf(c))
	})
	return core.Lose(c).Unless(append([]core.Rule{other}, thinking...)...).ByWriter()
}

// ignoredSchema is the rule of providers that answer as if they had got no schema.
var ignoredSchema = core.ChangeIf("messages_schema false", func(traits *trait.Traits) bool { return traits.IgnoresMessagesSchema })

// lateSystem is the default of the trait mid_system.
const lateSystem = trait.MidSystemHoist

// noSampling is the rule of providers that accept no sampling fields, or that use a
// version of the format without these fields.
var noSampling = core.LoseIf("sampling none", func(traits *trait.Traits) bool { return traits.SamplingByVersion() == trait.SamplingNone })
