package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// outcomes is the table of the outcomes of concepts in gemini requests.
var outcomes = core.NewOutcomes(
	core.Keep(
		core.Model, core.MaxTokens, core.OlderMaxTokens, core.ShortMaxTokens, core.NoMaxTokens, core.TopK,
		core.Seed, core.Stops, core.Stream, core.StreamUsage, core.Echo,
	),
	core.Keep(core.LongMaxTokens).Unless(core.BoundedAnswer),
	core.Keep(core.Temperature, core.HighTemperature, core.TopP).Unless(core.NoSampling),
	core.Keep(core.TemperatureBesideReasoning, core.TopPBesideReasoning, core.TopKBesideReasoning).Unless(core.WithoutEffort),
	core.Keep(core.PresencePenalty, core.FrequencyPenalty).Unless(core.NoPenalties),
	core.Keep(core.TopPBesideTemperature).Unless(core.NoSampling, core.OneSampling),
	core.Keep(core.Prompts).Unless(core.OneCall),
	core.Lose(core.Samples).ByWriter(),
	core.Refuse(core.LogitBias),
	core.Lose(core.Suffix).Unless(core.FillInWords),

	core.Keep(
		core.ToolChoiceAuto, core.ToolChoiceNone, core.ToolChoiceName, core.ToolChoiceAllowed, core.UnusedTools,
		core.ParallelCalls,
	),
	core.Keep(core.ToolChoiceRequired, core.ToolChoiceNamed).Unless(core.AutoChoice),
	core.Drop(core.OneCallAtATime),

	core.Keep(core.FormatText),
	core.Keep(core.FormatObject).Unless(core.ObjectInWords),
	core.Keep(core.FormatSchema, core.Schema).Unless(core.SchemaInWords...),
	core.Keep(core.SchemaStrict).Unless(core.NamelessSchema...),

	// Most models think at least a little, and not more than their highest level or budget.
	effort(core.EffortMinimal), effort(core.EffortLow), effort(core.EffortMedium), effort(core.EffortHigh),
	core.Change(core.EffortNone, core.ReasoningOff).Unless(noBudget, core.LoseIf("reasoning_effort off", unthinking)).ByWriter(),
	highest(core.EffortXHigh), highest(core.EffortMax),
	core.Lose(core.EffortOther).ByWriter(),
	core.Keep(core.ReasoningOn, core.ReasoningBudget).Unless(effortRules(core.EffortLow)...).ByWriter(),
	core.Keep(core.ReasoningAdaptive).ByWriter(),
	core.Keep(core.ReasoningShown, core.ReasoningHidden),

	core.Keep(core.Images, core.ImagesAlone), // not every model makes images without a text
	core.Keep(core.TierStandard, core.TierFlex, core.TierPriority),
	core.Drop(core.TierAuto), // the service has no tier that it chooses itself

	core.Keep(
		core.Content, core.Conversation, core.TurnText, core.TextBehindCall,
		core.Sound, core.RareSound, core.Video, core.RareVideo, core.RecordingAddress, core.Document, core.File, core.FileAddress, core.TextDocument, core.PartsDocument, core.SearchResult,
		core.ToolCall, core.ToolResult, core.ErrorResult, core.ToolReference, core.Signature, core.CallSignature,
		core.EncryptedReasoning,
	),
	core.Keep(core.Image, core.RareImage).Unless(core.UnseenImages...),
	core.Lose(core.ImageReference).Unless(core.UnseenImages...),
	core.Keep(core.ImageAddress).Unless(append(core.UnseenImages, core.NoAddresses)...),
	core.Change(core.TextBeforeResult, core.BrokenArguments), // results come first
	core.Keep(core.SystemText).Unless(core.SystemAsUser),
	core.Change(core.LateSystem, core.SystemBehindAssistant).Unless(core.LateSystemMoves(lateSystem)...),
	// The model takes back its own signatures, which this gateway has sealed, and nothing else.
	core.Drop(core.Reasoning, core.UnsignedReasoning, core.SelfSignedReasoning, core.RedactedReasoning),

	core.Keep(core.FunctionTool, core.ToolSchema, core.ToolStrict),
	core.Lose(core.VendorTool, core.FreeTool).Unless(core.WithoutTools),
)

// noBudget is the rule of models that a budget of 0 keeps from thinking.
var noBudget = core.KeepIf("thinking_budget 0-24576", func(traits *trait.Traits) bool {
	return traits.ThinkingBudget.Most > 0 && traits.Thinking != trait.ThinkingAlways
})

// unthinking reports whether the traits state that the model cannot be asked to think.
func unthinking(traits *trait.Traits) bool {
	return traits.ThinkingBudget.Most == 0 && traits.ReasoningEffort != 0 && traits.ReasoningEffort&trait.EffortAll&^trait.EffortNone == 0
}

// effort returns the entry of an effort that most models have as a level.
func effort(c core.Concept) core.Entry { return core.Keep(c).Unless(effortRules(c)...).ByWriter() }

// highest returns the entry of an effort that few models have as a level.
func highest(c core.Concept) core.Entry {
	return core.Change(c).Unless(core.TakesEffort(c), core.LoseIf("reasoning_effort off", unthinking)).ByWriter()
}

// effortRules are the rules of models that do not have every level.
func effortRules(c core.Concept) []core.Rule {
	return []core.Rule{core.NearestEffort(c), core.LoseIf("reasoning_effort off", unthinking)}
}

// lateSystem is the default of the trait mid_system.
const lateSystem = trait.MidSystemUser
