package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// The fields by which some servers take the schema that an answer follows.
const (
	structuredOutputs = "structured_outputs"
	guidedJSON        = "guided_json"
)

// outcomes is the table of the outcomes of concepts in completions requests.
var outcomes = core.NewOutcomes(
	core.Keep(
		core.Model, core.MaxTokens, core.OlderMaxTokens, core.ShortMaxTokens, core.NoMaxTokens, core.Seed, core.Samples, core.Stops, core.EmptyStop, core.Stream,
		core.StreamUsage, core.Logprobs, core.TopLogprobs, core.LogprobsBesideReasoning,
	),
	core.Keep(core.PresencePenalty, core.FrequencyPenalty, core.LogitBias).Unless(core.NoPenalties),
	core.Keep(core.LongMaxTokens).Unless(core.BoundedAnswer),
	core.Keep(
		core.Temperature, core.HighTemperature, core.TemperatureBesideReasoning, core.TopP, core.TopPBesideReasoning,
	).Unless(core.NoSampling),
	core.Keep(core.TopPBesideTemperature).Unless(core.NoSampling, core.OneSampling),
	core.Lose(core.TopK, core.TopKBesideReasoning).Unless(core.NoSampling, topK),
	core.Drop(core.TopLogprobsAlone),

	// A choice among tools is lost with the tools.
	core.Lose(
		core.ToolChoiceAuto, core.ToolChoiceRequired, core.ToolChoiceNone, core.ToolChoiceNamed,
		core.ToolChoiceAllowed, core.ToolChoiceName, core.OneCallAtATime, core.ParallelCalls,
	).ByWriter(),

	core.Keep(core.FormatText),
	core.Change(core.FormatObject).Unless(core.RefusedObject),
	core.Lose(core.FormatSchema, core.Schema).Unless(append(core.SchemaInWords, schemas...)...),

	core.Keep(core.EndUser, core.SafetyIdentifier, core.TellingEndUser).Unless(core.NoUser),
	core.Change(core.LongEndUser).Unless(core.NoUser),

	core.Keep(core.Content, core.SystemText, core.TurnText, core.Prefill, core.PrefillSpace),
	core.Lose(core.Image, core.RareImage, core.ImageAddress, core.ImageReference).Unless(core.UnseenImages...),
	core.Keep(core.Conversation).Unless(noTemplate),
	core.Keep(core.LateSystem, core.SystemBehindAssistant).Unless(core.LateSystemMoves(lateSystem)...),

	core.Lose(core.FunctionTool).Unless(core.WithoutTools),
)

// The rules of completions providers.
var (
	topK       = core.Extension("top_k")
	noTemplate = core.RefuseIf("prompt_template none", func(traits *trait.Traits) bool { return traits.PromptTemplate == trait.TemplateNone })
	schemas    = []core.Rule{core.Extension(structuredOutputs), core.Extension(guidedJSON)}
)

// lateSystem is the default of the trait mid_system.
const lateSystem = trait.MidSystemKeep
