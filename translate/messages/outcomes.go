package messages

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// outcomes are what becomes of each concept in messages requests.
var outcomes = core.Outcomes{
	core.Model:                 core.Keeps(),
	core.MaxTokens:             core.Keeps(),
	core.OlderMaxTokens:        core.Keeps(),
	core.LongMaxTokens:         core.Keeps(core.BoundedAnswer),
	core.Temperature:           core.Keeps(noSampling),
	core.HighTemperature:       core.Changes(),
	core.TopP:                  core.Keeps(noSampling),
	core.TopPBesideTemperature: core.Keeps(noSampling, core.OneSampling(translate.Messages)),
	core.TopK:                  core.Keeps(noSampling),
	core.Samples:               core.Keeps(core.OneCall).ByWriter(),
	core.Prompts:               core.Keeps(core.OneCall),
	core.Stops:                 core.Keeps(),
	core.Stream:                core.Keeps(),
	core.StreamUsage:           core.Keeps(),
	core.Echo:                  core.Keeps(),
	core.Suffix:                core.Loses(core.FillInWords),

	core.ToolChoiceAuto:     core.Keeps(),
	core.ToolChoiceRequired: core.Keeps(),
	core.ToolChoiceNone:     core.Keeps(),
	core.ToolChoiceNamed:    core.Keeps(),
	core.ToolChoiceName:     core.Keeps(),
	core.ToolChoiceAllowed:  core.Keeps(),
	core.OneCallAtATime:     core.Keeps(),
	core.ParallelCalls:      core.Keeps(),
	core.UnusedTools:        core.Keeps(),

	core.FormatText:   core.Keeps(),
	core.FormatObject: core.Changes(core.RefusedObject),
	core.FormatSchema: core.Keeps(),
	core.Schema:       core.Keeps(),

	core.EffortNone:    core.Loses(thinking...).ByWriter(),
	core.EffortMinimal: core.Loses(thinking...).ByWriter(),
	core.EffortLow:     core.Loses(thinking...).ByWriter(),
	core.EffortMedium:  core.Loses(thinking...).ByWriter(),
	core.EffortHigh:    core.Loses(thinking...).ByWriter(),
	core.EffortXHigh:   core.Loses(thinking...).ByWriter(),
	core.EffortMax:     core.Loses(thinking...).ByWriter(),

	core.EndUser:          core.Keeps(noUser),
	core.SafetyIdentifier: core.Keeps(noUser),
	core.LongEndUser:      core.Changes(noUser),
	core.TellingEndUser:   core.Changes(noUser),
	core.TierAuto:         core.Keeps(),
	core.TierStandard:     core.Keeps(),

	core.Content:               core.Keeps(),
	core.Conversation:          core.Keeps(),
	core.SystemText:            core.Keeps(),
	core.TurnText:              core.Keeps(),
	core.LateSystem:            core.Keeps(core.LateSystemMoves(translate.Messages)...),
	core.SystemBehindAssistant: core.Changes(),
	core.Prefill:               core.Changes(),
	core.TextBeforeResult:      core.Changes(),
	core.Image:                 core.Keeps(),
	core.ImageAddress:          core.Keeps(core.NoAddresses),
	core.Document:              core.Keeps(),
	core.File:                  core.Keeps(),
	core.TextDocument:          core.Keeps(),
	core.ToolCall:              core.Keeps(),
	core.ToolResult:            core.Keeps(),
	core.ErrorResult:           core.Keeps(),
	core.Reasoning:             core.Keeps(),
	core.Signature:             core.Keeps(),
	core.RedactedReasoning:     core.Keeps(),
	core.CachePart:             core.Keeps(),
	core.OtherCachePart:        core.Keeps(),
	core.CachePartTTL:          core.Keeps(),
	core.CacheCall:             core.Keeps(),
	core.CacheTool:             core.Keeps(),

	core.FunctionTool: core.Keeps(),
	core.VendorTool:   core.Loses(core.WithoutTools),
}

// The rules of messages providers.
var (
	noSampling = core.NoSampling(translate.Messages)
	noUser     = core.NoUser(translate.Messages)
)

// thinking are the rules of providers that can be asked to think.
var thinking = []core.Rule{
	core.KeepIf("thinking_style adaptive", func(traits *translate.Traits) bool { return traits.Thinking == translate.ThinkingAdaptive }),
	core.KeepIf("thinking_style budget", func(traits *translate.Traits) bool { return traits.Thinking == translate.ThinkingBudget }),
}
