package completions

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// The fields by which some servers take the schema that an answer follows.
const (
	structuredOutputs = "structured_outputs"
	guidedJSON        = "guided_json"
)

// outcomes are what becomes of each concept in completions requests.
var outcomes = core.Outcomes{
	core.Model:                      core.Keeps(),
	core.MaxTokens:                  core.Keeps(),
	core.OlderMaxTokens:             core.Keeps(),
	core.NoMaxTokens:                core.Keeps(),
	core.LongMaxTokens:              core.Keeps(core.BoundedAnswer),
	core.Temperature:                core.Keeps(noSampling),
	core.HighTemperature:            core.Keeps(noSampling),
	core.TemperatureBesideReasoning: core.Keeps(noSampling),
	core.TopP:                       core.Keeps(noSampling),
	core.TopPBesideTemperature:      core.Keeps(noSampling, core.OneSampling(translate.Completions)),
	core.TopK:                       core.Loses(noSampling, topK),
	core.TopKBesideReasoning:        core.Loses(noSampling, topK),
	core.PresencePenalty:            core.Keeps(),
	core.FrequencyPenalty:           core.Keeps(),
	core.LogitBias:                  core.Keeps(),
	core.Seed:                       core.Keeps(),
	core.Samples:                    core.Keeps(),
	core.Stops:                      core.Keeps(),
	core.EmptyStop:                  core.Keeps(),
	core.Stream:                     core.Keeps(),
	core.StreamUsage:                core.Keeps(),
	core.Logprobs:                   core.Keeps(),
	core.TopLogprobs:                core.Keeps(),
	core.TopLogprobsAlone:           core.Drops(),

	// A choice among tools is lost with the tools.
	core.ToolChoiceAuto:     core.Loses().ByWriter(),
	core.ToolChoiceRequired: core.Loses().ByWriter(),
	core.ToolChoiceNone:     core.Loses().ByWriter(),
	core.ToolChoiceNamed:    core.Loses().ByWriter(),
	core.ToolChoiceAllowed:  core.Loses().ByWriter(),
	core.ToolChoiceName:     core.Loses().ByWriter(),
	core.OneCallAtATime:     core.Loses().ByWriter(),
	core.ParallelCalls:      core.Loses().ByWriter(),

	core.FormatText:   core.Keeps(),
	core.FormatObject: core.Changes(core.RefusedObject),
	core.FormatSchema: core.Loses(schemas...),
	core.Schema:       core.Loses(schemas...),

	core.EndUser:          core.Keeps(noUser),
	core.SafetyIdentifier: core.Keeps(noUser),
	core.LongEndUser:      core.Changes(noUser),
	core.TellingEndUser:   core.Keeps(noUser),

	core.Content:               core.Keeps(),
	core.Conversation:          core.Keeps(noTemplate),
	core.SystemText:            core.Keeps(),
	core.TurnText:              core.Keeps(),
	core.LateSystem:            core.Keeps(core.LateSystemMoves(translate.Completions)...),
	core.SystemBehindAssistant: core.Keeps(core.LateSystemMoves(translate.Completions)...),
	core.Prefill:               core.Keeps(),

	core.FunctionTool: core.Loses(core.WithoutTools),
}

// The rules of completions providers.
var (
	noSampling = core.NoSampling(translate.Completions)
	noUser     = core.NoUser(translate.Completions)
	topK       = core.Extension(translate.Completions, "top_k")
	noTemplate = core.RefuseIf("prompt_template none", func(traits *translate.Traits) bool { return traits.PromptTemplate == translate.TemplateNone })
	schemas    = []core.Rule{core.Extension(translate.Completions, structuredOutputs), core.Extension(translate.Completions, guidedJSON)}
)
