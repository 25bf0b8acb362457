package responses

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// outcomes are what becomes of each concept in responses requests.
var outcomes = core.Outcomes{
	core.Model:                      core.Keeps(),
	core.MaxTokens:                  core.Keeps(),
	core.OlderMaxTokens:             core.Keeps(),
	core.NoMaxTokens:                core.Keeps(),
	core.LongMaxTokens:              core.Keeps(core.BoundedAnswer),
	core.ShortMaxTokens:             core.Changes(),
	core.Temperature:                core.Keeps(noSampling),
	core.HighTemperature:            core.Keeps(noSampling),
	core.TemperatureBesideReasoning: core.Loses(anySampling...),
	core.TopP:                       core.Keeps(noSampling),
	core.TopPBesideTemperature:      core.Keeps(noSampling, core.OneSampling(translate.Responses)),
	core.TopPBesideReasoning:        core.Loses(anySampling...),
	core.Samples:                    core.Keeps(core.OneCall).ByWriter(),
	core.Prompts:                    core.Keeps(core.OneCall),
	core.Stops:                      core.Keeps(),
	core.Stream:                     core.Keeps(),
	core.StreamUsage:                core.Keeps(),
	core.Logprobs:                   core.Keeps(),
	core.TopLogprobs:                core.Keeps(),
	core.TopLogprobsAlone:           core.Drops(),
	core.Echo:                       core.Keeps(),

	core.ToolChoiceAuto:     core.Keeps(),
	core.ToolChoiceRequired: core.Keeps(),
	core.ToolChoiceNone:     core.Keeps(),
	core.ToolChoiceNamed:    core.Keeps(),
	core.ToolChoiceName:     core.Keeps(),
	core.ToolChoiceAllowed:  core.Keeps(),
	core.OneCallAtATime:     core.Keeps(),
	core.ParallelCalls:      core.Keeps(),

	core.FormatText:        core.Keeps(),
	core.FormatObject:      core.Keeps(),
	core.FormatSchema:      core.Keeps(),
	core.Schema:            core.Keeps(),
	core.SchemaName:        core.Keeps(),
	core.SchemaDescription: core.Keeps(),
	core.SchemaStrict:      core.Keeps(),
	core.Verbosity:         core.Keeps(),

	core.ReasoningOn:       core.Keeps(effort("low")).ByWriter(),
	core.ReasoningAdaptive: core.Keeps(),
	core.ReasoningOff:      core.Keeps(effort("none")).ByWriter(),
	core.ReasoningBudget:   core.Keeps(effort("low")).ByWriter(),
	core.ReasoningShown:    core.Keeps(noSummary),
	core.ReasoningHidden:   core.Keeps(),
	core.EffortNone:        core.Keeps(effort("none")).ByWriter(),
	core.EffortMinimal:     core.Keeps(effort("minimal")).ByWriter(),
	core.EffortLow:         core.Keeps(effort("low")).ByWriter(),
	core.EffortMedium:      core.Keeps(effort("medium")).ByWriter(),
	core.EffortHigh:        core.Keeps(effort("high")).ByWriter(),
	core.EffortXHigh:       core.Keeps(effort("xhigh")).ByWriter(),
	core.EffortMax:         core.Keeps(effort("max")).ByWriter(),
	core.EffortOther:       core.Loses().ByWriter(),

	core.EndUser:          core.Keeps(noUser),
	core.SafetyIdentifier: core.Keeps(noUser),
	core.LongEndUser:      core.Changes(noUser),
	core.TellingEndUser:   core.Keeps(noUser),
	core.TierAuto:         core.Keeps(),
	core.TierStandard:     core.Keeps(),
	core.TierFlex:         core.Keeps(),
	core.TierPriority:     core.Keeps(),
	core.Metadata:         core.Keeps(),
	core.CacheKey:         core.Keeps(),
	core.CacheOptions:     core.Keeps(),
	core.CacheRetention:   core.Keeps(),
	core.CacheRequest:     core.Loses(breakpoints),

	core.Content:               core.Keeps(),
	core.Conversation:          core.Keeps(),
	core.SystemText:            core.Keeps(),
	core.TurnText:              core.Keeps(),
	core.LateSystem:            core.Keeps(core.LateSystemMoves(translate.Responses)...),
	core.SystemBehindAssistant: core.Keeps(core.LateSystemMoves(translate.Responses)...),
	core.TextBehindCall:        core.Keeps(),
	core.TextBeforeResult:      core.Keeps(),
	core.Image:                 core.Keeps(),
	core.ImageAddress:          core.Keeps(core.NoAddresses),
	core.ImageDetail:           core.Keeps(),
	core.RareImage:             core.Keeps(),
	core.Document:              core.Keeps(),
	core.TextDocument:          core.Keeps(),
	core.PartsDocument:         core.Keeps(),
	core.File:                  core.Keeps(core.FilesDropped),
	core.FileAddress:           core.Keeps(core.FilesDropped),
	core.FileReference:         core.Loses(core.FilesDropped),
	core.SearchResult:          core.Keeps(),
	core.ToolCall:              core.Keeps(),
	core.BrokenArguments:       core.Keeps(),
	core.FreeCall:              core.Keeps(),
	core.ToolResult:            core.Keeps(),
	core.ErrorResult:           core.Keeps(),
	core.ToolReference:         core.Keeps(),
	core.Reasoning:             core.Loses(inClear),
	core.UnsignedReasoning:     core.Loses(inClear),
	core.SelfSignedReasoning:   core.Loses(inClear),
	core.Signature:             core.Loses(inClear),
	core.EncryptedReasoning:    core.Loses(encrypted),
	core.CachePart:             core.Loses(breakpoints),

	core.FunctionTool: core.Keeps(),
	core.UnusedTools:  core.Keeps(),
	core.FreeTool:     core.Keeps(),
	core.FreeChoice:   core.Keeps(),
	core.Grammar:      core.Keeps(),
	core.VendorTool:   core.Loses(core.WithoutTools),
}

// The rules of responses providers.
var (
	noSampling  = core.NoSampling(translate.Responses)
	noUser      = core.NoUser(translate.Responses)
	breakpoints = core.Breakpoints
	noSummary   = core.LoseIf("reasoning_summary off", func(traits *translate.Traits) bool { return traits.NoReasoningSummary })
	encrypted   = core.KeepIf("responses_reasoning encrypted", func(traits *translate.Traits) bool {
		return traits.ResponsesReasoning == translate.ResponsesReasoningEncrypted
	})
	inClear = core.KeepIf("responses_reasoning text", func(traits *translate.Traits) bool {
		return traits.ResponsesReasoning == translate.ResponsesReasoningText
	})
)

// anySampling are the rules of providers that take sampling fields beside reasoning.
var anySampling = []core.Rule{
	core.KeepIf("sampling all", func(traits *translate.Traits) bool { return traits.Sampling == translate.SamplingAll }),
	core.KeepIf("sampling one", func(traits *translate.Traits) bool { return traits.Sampling == translate.SamplingOne }),
}

// effort is the rule of providers that do not take a word for how much to reason.
func effort(word string) core.Rule {
	e := translate.EffortOf(word)
	return core.LoseIf("reasoning_effort off", func(traits *translate.Traits) bool { return !traits.EffortsFor(translate.Responses).Has(e) })
}
