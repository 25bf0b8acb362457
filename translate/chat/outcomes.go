package chat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// templateArguments is the field by which some servers take switches of the
// model's template.
const templateArguments = "chat_template_kwargs"

// outcomes are what becomes of each concept in chat requests.
var outcomes = core.Outcomes{
	core.Model:                 core.Keeps(),
	core.MaxTokens:             core.Keeps(),
	core.LongMaxTokens:         core.Keeps(core.BoundedAnswer),
	core.NoMaxTokens:           core.Keeps(),
	core.Temperature:           core.Keeps(noSampling),
	core.HighTemperature:       core.Keeps(noSampling),
	core.TopP:                  core.Keeps(noSampling),
	core.TopPBesideTemperature: core.Keeps(noSampling, oneSampling),
	core.TopK:                  core.Loses(noSampling, core.Extension(translate.Chat, "top_k")),
	core.PresencePenalty:       core.Keeps(),
	core.FrequencyPenalty:      core.Keeps(),
	core.LogitBias:             core.Keeps(),
	core.Seed:                  core.Keeps(),
	core.Samples:               core.Keeps(),
	core.Prompts:               core.Keeps(core.OneCall),
	core.Stops:                 core.Keeps(),
	core.EmptyStop:             core.Keeps(),
	core.Stream:                core.Keeps(),
	core.StreamUsage:           core.Keeps(),
	core.Logprobs:              core.Keeps(),
	core.TopLogprobs:           core.Keeps(),
	core.Echo:                  core.Keeps(),
	core.Suffix:                core.Loses(core.FillInWords),

	core.ToolChoiceAuto:     core.Keeps(),
	core.ToolChoiceRequired: core.Keeps(),
	core.ToolChoiceNone:     core.Keeps(),
	core.ToolChoiceNamed:    core.Keeps(),
	core.ToolChoiceName:     core.Keeps(),
	core.OneCallAtATime:     core.Keeps(),

	core.FormatSchema: core.Keeps(),
	core.Schema:       core.Keeps(),

	core.ReasoningOn:       core.Loses(effort("low"), core.Extension(translate.Chat, templateArguments)).ByWriter(),
	core.ReasoningAdaptive: core.Keeps(),
	core.ReasoningOff:      core.Loses(effort("none"), core.Extension(translate.Chat, templateArguments)).ByWriter(),
	core.ReasoningBudget:   core.Loses(effort("low")).ByWriter(),
	core.EffortNone:        core.Loses(noEffort, effort("none")).ByWriter(),
	core.EffortMinimal:     core.Loses(noEffort, effort("minimal")).ByWriter(),
	core.EffortLow:         core.Loses(noEffort, effort("low")).ByWriter(),
	core.EffortMedium:      core.Loses(noEffort, effort("medium")).ByWriter(),
	core.EffortHigh:        core.Loses(noEffort, effort("high")).ByWriter(),
	core.EffortXHigh:       core.Loses(noEffort, effort("xhigh")).ByWriter(),
	core.EffortMax:         core.Loses(noEffort, effort("max")).ByWriter(),
	core.EffortOther:       core.Loses().ByWriter(),

	core.EndUser:        core.Keeps(noUser),
	core.LongEndUser:    core.Changes(noUser),
	core.TellingEndUser: core.Keeps(noUser),
	core.TierAuto:       core.Loses(core.Extension(translate.Chat, "service_tier")),
	core.TierStandard:   core.Loses(core.Extension(translate.Chat, "service_tier")),
	core.CacheRequest:   core.Loses(breakpoints),

	core.Content:          core.Keeps(),
	core.Conversation:     core.Keeps(),
	core.SystemText:       core.Keeps(),
	core.TurnText:         core.Keeps(),
	core.LateSystem:       core.Keeps(core.LateSystemMoves(translate.Chat)...),
	core.Prefill:          core.Loses(prefills...),
	core.TextBehindCall:   core.Changes(),
	core.TextBeforeResult: core.Changes(),
	core.Image:            core.Keeps(),
	core.ImageAddress:     core.Keeps(core.NoAddresses),
	core.Document:         core.Keeps(),
	core.TextDocument:     core.Keeps(),
	core.PartsDocument:    core.Keeps(),
	core.File:             core.Loses(fileParts, filesDropped),
	core.FileAddress:      core.Loses(filesDropped),
	core.FileReference:    core.Loses(filesDropped),
	core.SearchResult:     core.Keeps(),
	core.ToolCall:         core.Keeps(),
	core.ToolResult:       core.Keeps(),
	core.ErrorResult:      core.Keeps(),
	core.ToolReference:    core.Keeps(),
	core.Reasoning:        core.Loses(replays...),
	core.CachePart:        core.Loses(breakpoints),

	core.FunctionTool: core.Keeps(),
	core.UnusedTools:  core.Keeps(),
	core.VendorTool:   core.Loses(core.WithoutTools),
}

// The rules of chat providers.
var (
	noSampling   = core.NoSampling(translate.Chat)
	oneSampling  = core.OneSampling(translate.Chat)
	noUser       = core.NoUser(translate.Chat)
	breakpoints  = core.KeepIf("cache_breakpoints true", func(traits *translate.Traits) bool { return traits.CacheBreakpoints })
	fileParts    = core.KeepIf("files true", func(traits *translate.Traits) bool { return traits.Files == translate.FilesSend })
	filesDropped = core.ChangeIf("files drop", func(traits *translate.Traits) bool { return traits.Files == translate.FilesDrop })
	noEffort     = core.LoseIf("extensions "+templateArguments, func(traits *translate.Traits) bool { return traits.Extension(translate.Chat, templateArguments) })
)

// prefills are the rules of providers that continue what the assistant said.
var prefills = []core.Rule{
	core.KeepIf("prefill native", func(traits *translate.Traits) bool { return traits.Prefill == translate.PrefillNative }),
	core.KeepIf("prefill vllm", func(traits *translate.Traits) bool { return traits.Prefill == translate.PrefillVLLM }),
}

// replays are the rules of providers that take earlier reasoning back.
var replays = []core.Rule{
	core.KeepIf("reasoning_replay reasoning_content", func(traits *translate.Traits) bool { return traits.ReasoningReplay == translate.ReplayReasoningContent }),
	core.KeepIf("reasoning_replay reasoning", func(traits *translate.Traits) bool { return traits.ReasoningReplay == translate.ReplayReasoning }),
}

// effort is the rule of providers that take a word for how much to reason.
func effort(word string) core.Rule {
	e := translate.EffortOf(word)
	return core.KeepIf("reasoning_effort "+word, func(traits *translate.Traits) bool { return traits.ReasoningEffort.Has(e) })
}
