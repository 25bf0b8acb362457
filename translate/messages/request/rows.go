package request

import (
	"math"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// rows are the fields of messages requests, in the order in which faults are reported.
var rows = core.NewRows(strict.Dots, slices.Concat(
	samplingRows, toolRows, choiceRows, optionRows, turnRows, blockRows, mediaRows, sourceRows(), callRows, resultRows, systemRows,
)...)

// fields are those that the strict pass checks.
var fields = rows.Fields()

var samplingRows = []core.Row{
	core.Structural("model", core.Model).Is(strict.Model).Required(),
	core.Structural("messages", core.Conversation).Is(checkMessages).Required(),
	core.Structural("system", core.SystemText).Is(checkSystem),
	core.Structural("max_tokens", core.MaxTokens).Is(strict.MaxTokens(math.MaxInt32)),
	core.Structural("max_tokens=...", core.LongMaxTokens),
	core.Structural("max_tokens=1", core.ShortMaxTokens),
	core.Shaping("temperature", core.Temperature).Is(strict.Between(0, 1)),
	core.Shaping("top_p", core.TopP).Is(strict.Number),
	core.Shaping("temperature+top_p", core.TopPBesideTemperature),
	core.Shaping("output_config.effort+temperature", core.TemperatureBesideReasoning),
	core.Shaping("output_config.effort+top_p", core.TopPBesideReasoning),
	core.Shaping("top_k", core.TopK).Is(strict.Integer),
	core.Structural("stream", core.Stream).Is(strict.Stream),
	core.Structural("stop_sequences", core.Stops).Is(strict.Texts),
	core.Structural(`stop_sequences=[""]`, core.EmptyStop).As("stop_sequences.*"),
}

var optionRows = slices.Concat([]core.Row{
	core.Member("thinking").Is(strict.Object),
	core.Member("thinking.type").Must(jsonscan.String),
	core.Shaping("thinking.type=enabled", core.ReasoningOn).As("thinking"),
	core.Shaping("thinking.type=adaptive", core.ReasoningAdaptive).As("thinking"),
	core.Shaping("thinking.type=disabled", core.ReasoningOff).As("thinking"),
	core.Shaping("thinking.type=between_tools", core.ReasoningOff).As("thinking"),
	core.Shaping("thinking.type=*", core.Nothing).As("thinking"),
	core.Shaping("thinking.budget_tokens", core.ReasoningBudget).As("thinking"),
	core.Hint("thinking.type=adaptive+budget_tokens", core.Nothing).As("thinking.budget_tokens"),
	core.Hint("thinking.display=summarized", core.ReasoningShown),
	core.Hint("thinking.display=omitted", core.ReasoningHidden),
	core.Hint("thinking.display=*", core.Nothing),
	core.Hint("thinking.*", core.Nothing),
	core.Member("metadata").Is(strict.Map),
	core.Hint("metadata.user_id", core.EndUser),
	core.Hint("metadata.user_id=...", core.LongEndUser),
	core.Hint("metadata.*", core.Nothing),
	core.Member("output_config").Is(strict.Inside),
}, core.EffortRows("output_config.effort", core.EffortLow), []core.Row{
	core.Member("output_config.format").Is(checkFormat("output_config.format")),
	core.Structural("output_config.format.type=json_schema", core.FormatSchema).As("output_config.format"),
	core.Structural("output_config.format.type=*", core.Nothing),
	core.Structural("output_config.format.schema", core.Schema).As("output_config.format"),
	core.Hint("output_config.format.*", core.Nothing),
	core.Hint("output_config.task_budget", core.Nothing),
	core.Hint("output_config.*", core.Nothing),
	core.Member("output_format").Is(checkFormat("output_format")),
	core.Structural("output_format.type=json_schema", core.FormatSchema).As("output_format"),
	core.Structural("output_format.type=*", core.Nothing),
	core.Structural("output_format.schema", core.Schema).As("output_format"),
	core.Hint("output_format.*", core.Nothing),
	core.Hint("cache_control", core.CacheRequest).Is(strict.Options),
	core.Structural("thread", core.Nothing).Is(strict.Options).OrNothing().RefusedBy(refuseThread),
	core.Member("service_tier").Is(strict.Tier),
	core.Hint("service_tier=auto", core.TierAuto),
	core.Hint("service_tier=standard_only", core.TierStandard),
	core.Hint("service_tier=*", core.TierOther),
	core.Hint("speed", core.Nothing).Is(checkSpeed),
	core.Structural("inference_geo", core.Nothing).Is(checkRegion).OrNothing(),
	core.Structural("container", core.Nothing).OrNothing(),
	core.Structural("mcp_servers", core.Nothing).OrNothing(),
	core.Hint("context_management", core.Nothing).Is(checkEdits),
	core.Hint("compaction", core.Nothing).Is(checkCompaction),
	core.Hint("diagnostics", core.Nothing),
	core.Hint("fallbacks", core.Nothing),
	core.Hint("fallback_credit_token", core.Nothing),
	core.Hint("billing_policy", core.Nothing),
	core.Hint("*", core.Nothing),
})

var turnRows = slices.Concat([]core.Row{
	core.Member("messages.*.role").Is(strict.OneOf("user", "assistant", "system")).Must(jsonscan.Invalid),
	core.Structural("messages.*.role=user", core.Content),
	core.Structural("messages.*.role=assistant", core.Content),
	core.Structural("messages.-1.role=assistant", core.Prefill).As("messages.*").RefusedBy((*core.RequestInfo).RefusePrefill),
	core.Structural("messages.*.role=system", core.LateSystem).RefusedBy(core.RefuseLateSystem),
	core.Structural("messages.*.content", core.TurnText).Is(checkBlocks),
	core.Hint("messages.*.content=[]", core.EmptyTurn).As("messages.*"),
	core.Member("messages.*.output_config").Is(strict.Options),
}, core.EffortRows("messages.*.output_config.effort", core.EffortLow), []core.Row{
	core.Hint("messages.0.output_config.effort", core.Nothing),
	core.Hint("messages.*.output_config.*", core.Nothing),
	core.Hint("messages.*.role=user+output_config", core.Nothing),
	core.Structural("messages.*.clear_at", core.Content),
	core.Hint("messages.*.clear_at=*", core.Nothing),
	core.Hint("messages.*.role=user+clear_at", core.Nothing),
	core.Hint("messages.*.*", core.Nothing),
}, core.Within(core.Prefill,
	core.Shaping(`messages.-1.role=assistant+content=" "`, core.PrefillSpace).As("messages.*.content"),
))

// blockPath is the beginning of the names of rows about blocks.
const blockPath = "messages.*.content.*."

// The types of blocks that the vendor puts into an answer and clients send back: results of the
// vendor's tools, and what the vendor does not show to the model.
const (
	serverResults = "web_search_tool_result web_fetch_tool_result code_execution_tool_result " +
		"bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result"
	newerResults = "advisor_tool_result mcp_tool_result mcp_tool_listing"
	unrendered   = "fallback"
)

// blockRows are the rows about the content blocks. Some providers omit what is empty: the
// signature of thinking that they do not sign, and the input of a call without arguments. Clients
// send such blocks back unchanged.
var blockRows = slices.Concat([]core.Row{
	core.Member(blockPath + "type").Must(jsonscan.String),
	core.Structural(blockPath+"type=text", core.Content),
	core.Structural(blockPath+"type=image", core.Image),
	core.Structural(blockPath+"type=document", core.Document),
	core.Structural(blockPath+"type=search_result", core.SearchResult),
	core.Structural(blockPath+"type=tool_use", core.ToolCall),
	core.Structural(blockPath+"type=tool_result", core.ToolResult),
	core.Hint(blockPath+"type=thinking", core.Reasoning).As(blockPath + "thinking"),
	core.Hint(blockPath+"type=redacted_thinking", core.RedactedReasoning).As(blockPath + "data"),
	core.Shaping(blockPath+"type=server_tool_use", core.Nothing).As("messages.*.content.*"),
	core.Structural("messages.-1.content.*.type=server_tool_use", core.Nothing),
	core.Shaping(blockPath+"type=web_search_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(blockPath+"type=web_fetch_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(blockPath+"type=code_execution_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(blockPath+"type=bash_code_execution_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(blockPath+"type=text_editor_code_execution_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(blockPath+"type=tool_search_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(blockPath+"type=mcp_tool_use", core.Nothing).As("messages.*.content.*"),
	core.Shaping(blockPath+"type=advisor_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(blockPath+"type=mcp_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(blockPath+"type=mcp_tool_listing", core.Nothing).As("messages.*.content.*"),
	core.Hint(blockPath+"type=fallback", core.Nothing).As("messages.*.content.*"),
	core.Shaping(blockPath+"type=compaction", core.Nothing).As(blockPath + "content"),
	core.Hint(blockPath+"type=compaction+content=null", core.Nothing).As("messages.*.content.*"),
	core.Structural(blockPath+"type=container_upload", core.Nothing),
	core.Member(blockPath + "type=tool_reference"),
	core.Structural(blockPath+"type=*", core.Nothing),
	core.Structural(blockPath+"text", core.Content).Must(jsonscan.String),
}, core.Of("text document search_result",
	core.Member(blockPath+"citations").Is(strict.Options),
), core.Of("text image document search_result tool_use tool_result mcp_tool_use "+newerResults+" "+unrendered+" compaction tool_reference",
	core.Hint(blockPath+"cache_control", core.CachePart).Is(strict.Options),
), []core.Row{
	core.Hint(blockPath+"thinking", core.Reasoning).Must(jsonscan.String),
	core.Hint(blockPath+"signature="+seal.Item+"*", core.EncryptedReasoning).As(blockPath + "thinking"),
	core.Hint(blockPath+"type=text+citations", core.Nothing),
	core.Hint(blockPath+"cache_control=...", core.CachePartsBeyond),
	core.Hint("messages.*.role=assistant+content.*.cache_control", core.CacheAssistantPart),
	core.Hint(blockPath+"*", core.Nothing),
}, core.Within(core.Reasoning,
	core.Hint(blockPath+"signature", core.Signature).Is(checkSignature).May(jsonscan.String).Of("thinking"),
), core.Of("redacted_thinking",
	core.Hint(blockPath+"data", core.RedactedReasoning).Must(jsonscan.String),
), core.Within(core.Reasoning,
	core.Hint(blockPath+"signature="+seal.SelfSigned+"*", core.SelfSignedReasoning).As(blockPath+"thinking"),
	core.Hint("messages.*.content.-1.type=thinking", core.IdleReasoning).As("messages.*.content"),
), core.Within(core.CachePart,
	core.Hint(blockPath+"cache_control.ttl", core.CachePartTTL),
	core.Hint(blockPath+"cache_control.*", core.Nothing),
))

// mediaRows are the rows about images and documents.
var mediaRows = slices.Concat(core.Of("image document",
	core.Member(blockPath+"source").Is(checkSource).Must(jsonscan.Object),
), []core.Row{
	core.Member(blockPath + "source.type").Must(jsonscan.String),
	core.Member(blockPath + "source.type=base64"),
	core.Member(blockPath + "source.type=text"),
	core.Member(blockPath + "source.type=content"),
}, core.Within(core.Image, slices.Concat([]core.Row{
	core.Structural(blockPath+"type=image+source.type=base64", core.Image).As(blockPath + "type"),
	core.Structural(blockPath+"type=image+source.type=url", core.ImageAddress),
	core.Structural(blockPath+"type=image+source.type=file", core.ImageReference),
	core.Structural(blockPath+"type=image+source.type=*", core.Nothing),
}, core.Of("base64 text",
	core.Structural(blockPath+"source.media_type", core.Image).Is(strict.MediaType).Must(jsonscan.String).As(blockPath+"type"),
	core.Structural(blockPath+"source.data", core.Image).Is(strict.Data).Must(jsonscan.String).As(blockPath+"type"),
), []core.Row{
	core.Member(blockPath + "source.type=url"),
	core.Structural(blockPath+"source.url", core.ImageAddress).Must(jsonscan.String).As(blockPath + "source.type"),
	core.Member(blockPath + "source.type=file"),
}, core.Of("file",
	core.Structural(blockPath+"source.file_id", core.ImageReference).Must(jsonscan.String).As(blockPath+"source.type"),
), []core.Row{
	core.Hint(blockPath+"source.*", core.Nothing),
	core.Hint(blockPath+"transformations", core.Nothing),
})...), core.Within(core.Document,
	core.Structural(blockPath+"type=document+source.type=base64", core.File).As(blockPath+"type").RefusedBy((*core.RequestInfo).RefusePDF),
	core.Structural(blockPath+"type=document+source.type=text", core.TextDocument),
	core.Structural(blockPath+"type=document+source.type=content", core.PartsDocument),
	core.Structural(blockPath+"type=document+source.type=url", core.FileAddress),
	core.Structural(blockPath+"type=document+source.type=file", core.FileReference),
	core.Structural(blockPath+"type=document+source.type=*", core.Nothing),
	core.Structural(blockPath+"source.content", core.PartsDocument).Is(checkBlocks).Like("messages.*.content.*").MustText(wantContent).As(blockPath+"source.type"),
	core.Structural(blockPath+"title", core.Document).As(blockPath+"type").Of("document search_result"),
	core.Structural(blockPath+"context", core.Document).As(blockPath+"type").Of("document"),
	core.Shaping(blockPath+"type=document+citations", core.Citations),
), core.Of("search_result",
	core.Member(blockPath+"source").Must(jsonscan.String),
	core.Member(blockPath+"title").Must(jsonscan.String),
))

// inSource is the field with contents in bytes, with "%" for the media type.
const inSource = blockPath + "source.media_type=%"

// sourceRows are the rows about contents in bytes.
func sourceRows() []core.Row {
	rows := core.MediaRows(inSource)
	for i := range rows {
		if rows[i].Concept == core.File {
			rows[i] = rows[i].As(blockPath + "type").RefusedBy((*core.RequestInfo).RefusePDF)
		}
	}
	return rows
}

// callRows are the rows about the calls of tools.
var callRows = core.Within(core.ToolCall, slices.Concat(core.Of("tool_use server_tool_use",
	core.Structural(blockPath+"id", core.ToolCall).Must(jsonscan.String).As(blockPath+"type"),
	core.Structural(blockPath+"name", core.ToolCall).Must(jsonscan.String).As(blockPath+"type"),
	core.Structural(blockPath+"input", core.ToolCall).May(jsonscan.Object).As(blockPath+"type"),
), []core.Row{
	core.Hint(blockPath+"type=tool_use+cache_control", core.CacheCall),
	core.Hint(blockPath+"caller", core.Nothing),
	core.Hint(blockPath+"toolset_name", core.Nothing),
	core.Shaping("messages.*.content=[tool_use,text]", core.TextBehindCall),
})...)

// resultRows are the rows about the results of tools. The blocks in them are of the types of
// all blocks.
var resultRows = slices.Concat(core.Of("tool_result",
	core.Member(blockPath+"tool_use_id").Must(jsonscan.String),
	core.Member(blockPath+"content").MayText(wantContent),
), core.Of(serverResults,
	core.Member(blockPath+"tool_use_id").Must(jsonscan.String),
	core.Member(blockPath+"content").Must(jsonscan.Invalid),
), core.Of("search_result",
	core.Member(blockPath+"content").Must(jsonscan.Array),
), core.Of("search_result tool_result",
	core.Member(blockPath+"content").Is(checkBlocks).Like("messages.*.content.*"),
), core.Of("compaction",
	core.Member(blockPath+"content"),
), core.Of("tool_reference",
	core.Member(blockPath+"tool_name"),
), core.Of("container_upload",
	core.Member(blockPath+"file_id").Must(jsonscan.String),
), core.Within(core.ToolResult,
	core.Structural(blockPath+"tool_use_id", core.ToolResult).As(blockPath+"type"),
	core.Structural(blockPath+"content", core.ToolResult).As(blockPath+"type"),
	core.Structural(blockPath+"is_error", core.ErrorResult).As(blockPath+"type").Of("tool_result"),
	core.Structural(blockPath+"content.*.type=text", core.Content),
	core.Structural(blockPath+"content.*.type=image", core.Image),
	core.Structural(blockPath+"content.*.type=document", core.Document),
	core.Structural(blockPath+"content.*.type=search_result", core.SearchResult),
	core.Structural(blockPath+"content.*.type=tool_reference", core.ToolReference),
	core.Structural(blockPath+"content.*.type=*", core.Nothing),
	core.Structural(blockPath+"content.*.tool_name", core.ToolReference).As(blockPath+"content.*.type"),
	core.Hint(blockPath+"content.*.cache_control", core.CacheNestedPart),
	core.Hint(blockPath+"content.*.*", core.Nothing),
	core.Hint(blockPath+"type=tool_result+cache_control", core.CacheResult),
	core.Shaping("messages.*.content=[text,tool_result]", core.TextBeforeResult),
))

var systemRows = []core.Row{
	core.Member("system.*.type").Must(jsonscan.String),
	core.Structural("system.*.type=text", core.Content),
	core.Structural("system.*.text", core.Content).Must(jsonscan.String),
	core.Hint("system.*.citations", core.Nothing).Is(strict.Options),
	core.Hint("system.*.cache_control", core.CachePart).Is(strict.Options),
	core.Hint("system.*.*", core.Nothing),
}

// choiceRows are the rows about the choice among the tools.
var choiceRows = slices.Concat([]core.Row{
	core.Member("tool_choice").Is(strict.Object),
	core.Member("tool_choice.type").Must(jsonscan.String),
	core.Structural("tool_choice.type=*", core.Nothing),
	core.Shaping("tools=[]+tool_choice.type=any", core.ToolChoiceWithoutTools).As("tool_choice"),
}, core.Within(core.FunctionTool,
	core.Structural("tool_choice.type=auto", core.ToolChoiceAuto),
	core.Structural("tool_choice.type=any", core.ToolChoiceRequired),
	core.Structural("tool_choice.type=tool", core.ToolChoiceNamed),
	core.Structural("tool_choice.name", core.ToolChoiceName),
	core.Structural("tool_choice.disable_parallel_tool_use", core.OneCallAtATime),
	core.Hint("tool_choice.*", core.Nothing),
), core.Within(core.UnusedTools,
	core.Structural("tool_choice.type=none", core.ToolChoiceNone),
))

var toolRows = slices.Concat([]core.Row{
	core.Structural("tools", core.FunctionTool).Is(checkTools),
	core.Member("tools.*.type").Is(checkToolType),
	core.Hint("tool_choice.type=none+tools", core.UnusedTools),
}, core.Within(core.FunctionTool,
	core.Structural("tools.*.type=custom", core.FunctionTool),
	core.Structural("tools.*.type=bash_20250124", core.VendorTool),
	core.Structural("tools.*.type=text_editor_20250728", core.VendorTool),
	core.Structural("tools.*.type=memory_20250818", core.VendorTool),
	core.Structural("tools.*.type=web_search_20250305", core.VendorTool),
	core.Structural("tools.*.type=web_fetch_20250910", core.VendorTool),
	core.Structural("tools.*.type=code_execution_20250825", core.VendorTool),
	core.Structural("tools.*.type=mcp_toolset", core.VendorTool),
	core.Structural("tools.*.type=*", core.VendorTool),
	core.Structural("tools.*.name", core.FunctionTool).Is(strict.Text),
	core.Structural("tools.*.description", core.FunctionTool),
	core.Structural("tools.*.input_schema", core.ToolSchema),
	core.Shaping("tools.*.strict", core.ToolStrict).OrNothing(),
	core.Structural("tools.*.allowed_callers=direct", core.FunctionTool),
	core.Structural("tools.*.allowed_callers=*", core.Nothing),
	core.Hint("tools.*.defer_loading", core.Nothing),
	core.Hint("tools.*.input_examples", core.Nothing),
	core.Hint("tools.*.eager_input_streaming", core.Nothing),
	core.Hint("tools.*.cache_control", core.CacheTool).Is(strict.Options),
	core.Hint("tools.*.*", core.Nothing),
))

// The rows of decisions that the reader takes itself.
var (
	unknownBlockRow    = rows.Named(blockPath + "type=*")
	unknownToolRow     = rows.Named("tools.*.type=*")
	unknownImageRow    = rows.Named(blockPath + "type=image+source.type=*")
	unknownDocumentRow = rows.Named(blockPath + "type=document+source.type=*")
	sourceData         = rows.MediaField(inSource)
	unknownClearingRow = rows.Named("messages.*.clear_at=*")
	foreignSealRow     = rows.Named(blockPath + "signature=" + seal.Item + "*")
	unrenderedRow      = rows.Named(blockPath + "type=" + unrendered)
	compactionRow      = rows.Named(blockPath + "type=compaction")
	emptyCompactionRow = rows.Named(blockPath + "type=compaction+content=null")
	serverCallRow      = rows.Named(blockPath + "type=server_tool_use")
	openServerCallRow  = rows.Named("messages.-1.content.*.type=server_tool_use")
	otherCallersRow    = rows.Named("tools.*.allowed_callers=*")
	citedTextRow       = rows.Named(blockPath + "type=text+citations")
	overtakenEffortRow = rows.Named("messages.0.output_config.effort")
	foreignConfigRow   = rows.Named("messages.*.role=user+output_config")
	emptyTurnRow       = rows.Named("messages.*.content=[]")
	foreignClearingRow = rows.Named("messages.*.role=user+clear_at")
	idleBudgetRow      = rows.Named("thinking.type=adaptive+budget_tokens")
	unknownChoiceRow   = rows.Named("tool_choice.type=*")
)

// The members of the objects that the reader reads.
var (
	blockMembers  = rows.Members("messages.*.content.*")
	sourceMembers = rows.Members(blockPath + "source")
	toolMembers   = rows.Members("tools.*")
)

// The blocks that content may consist of, by the place of the content.
var (
	systemBlocks    = blockMembers.Types("text")
	userBlocks      = blockMembers.Types("text image document search_result tool_result")
	assistantBlocks = blockMembers.Types("text thinking redacted_thinking tool_use compaction "+unrendered) | serverBlocks
	serverBlocks    = blockMembers.Types("server_tool_use mcp_tool_use " + serverResults + " " + newerResults)
	resultBlocks    = blockMembers.Types("text image document search_result tool_reference")
	documentBlocks  = blockMembers.Types("text image")
	searchBlocks    = blockMembers.Types("text")

	blocksOf = [...]strict.TypeSet{core.System: systemBlocks, core.User: userBlocks, core.Assistant: assistantBlocks}
)

func refuseThread(info *core.RequestInfo, format translate.Format, _ string) *fault.Fault {
	return info.RefuseThread(format)
}
