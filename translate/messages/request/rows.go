package request

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// rows are the fields of messages requests.
var rows = core.NewRows(strict.Dots, slices.Concat(
	optionRows, turnRows, blockRows, mediaRows, sourceRows(), callRows, systemRows, choiceRows, toolRows,
)...)

var optionRows = slices.Concat([]core.Row{
	core.Structural("model", core.Model),
	core.Structural("max_tokens", core.MaxTokens),
	core.Structural("max_tokens=...", core.LongMaxTokens),
	core.Structural("max_tokens=1", core.ShortMaxTokens),
	core.Structural("messages", core.Conversation),
	core.Structural("system", core.SystemText),
	core.Shaping("temperature", core.Temperature),
	core.Shaping("top_p", core.TopP),
	core.Shaping("temperature+top_p", core.TopPBesideTemperature),
	core.Shaping("output_config.effort+temperature", core.TemperatureBesideReasoning),
	core.Shaping("output_config.effort+top_p", core.TopPBesideReasoning),
	core.Shaping("top_k", core.TopK),
	core.Structural("stop_sequences", core.Stops),
	core.Structural(`stop_sequences=[""]`, core.EmptyStop).As("stop_sequences.*"),
	core.Structural("stream", core.Stream),
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
}, core.EffortRows("output_config.effort", core.EffortLow), []core.Row{
	core.Structural("output_config.format.type=json_schema", core.FormatSchema).As("output_config.format"),
	core.Structural("output_config.format.type=*", core.Nothing),
	core.Structural("output_config.format.schema", core.Schema).As("output_config.format"),
	core.Hint("output_config.format.*", core.Nothing),
	core.Hint("output_config.task_budget", core.Nothing),
	core.Hint("output_config.*", core.Nothing),
	core.Structural("output_format.type=json_schema", core.FormatSchema).As("output_format"),
	core.Structural("output_format.type=*", core.Nothing),
	core.Structural("output_format.schema", core.Schema).As("output_format"),
	core.Hint("output_format.*", core.Nothing),
	core.Hint("metadata.user_id", core.EndUser),
	core.Hint("metadata.user_id=...", core.LongEndUser),
	core.Hint("metadata.*", core.Nothing),
	core.Hint("service_tier=auto", core.TierAuto),
	core.Hint("service_tier=standard_only", core.TierStandard),
	core.Hint("service_tier=*", core.TierOther),
	core.Hint("cache_control", core.CacheRequest),
	core.Structural("inference_geo", core.Nothing).OrNothing(),
	core.Structural("container", core.Nothing).OrNothing(),
	core.Structural("mcp_servers", core.Nothing).OrNothing(),
	core.Structural("thread", core.Nothing).OrNothing().RefusedBy(refuseThread),
	core.Hint("context_management", core.Nothing),
	core.Hint("compaction", core.Nothing),
	core.Hint("diagnostics", core.Nothing),
	core.Hint("speed", core.Nothing),
	core.Hint("fallbacks", core.Nothing),
	core.Hint("fallback_credit_token", core.Nothing),
	core.Hint("billing_policy", core.Nothing),
	core.Hint("*", core.Nothing),
})

var turnRows = slices.Concat([]core.Row{
	core.Structural("messages.*.role=user", core.Content),
	core.Structural("messages.*.role=assistant", core.Content),
	core.Structural("messages.-1.role=assistant", core.Prefill).As("messages.*").RefusedBy((*core.RequestInfo).RefusePrefill),
	core.Structural("messages.*.role=system", core.LateSystem).RefusedBy(core.RefuseLateSystem),
	core.Structural("messages.*.content", core.TurnText),
	core.Hint("messages.*.content=[]", core.EmptyTurn).As("messages.*"),
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

// of is the beginning of the names of rows about blocks.
const of = "messages.*.content.*."

var blockRows = slices.Concat([]core.Row{
	core.Structural(of+"type=text", core.Content),
	core.Structural(of+"type=image", core.Image),
	core.Structural(of+"type=document", core.Document),
	core.Structural(of+"type=search_result", core.SearchResult),
	core.Structural(of+"type=tool_use", core.ToolCall),
	core.Structural(of+"type=tool_result", core.ToolResult),
	core.Hint(of+"type=thinking", core.Reasoning).As(of + "thinking"),
	core.Hint(of+"type=redacted_thinking", core.RedactedReasoning).As(of + "data"),
	core.Shaping(of+"type=server_tool_use", core.Nothing).As("messages.*.content.*"),
	core.Structural("messages.-1.content.*.type=server_tool_use", core.Nothing),
	core.Shaping(of+"type=web_search_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(of+"type=web_fetch_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(of+"type=code_execution_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(of+"type=bash_code_execution_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(of+"type=text_editor_code_execution_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(of+"type=tool_search_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(of+"type=mcp_tool_use", core.Nothing).As("messages.*.content.*"),
	core.Shaping(of+"type=advisor_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(of+"type=mcp_tool_result", core.Nothing).As("messages.*.content.*"),
	core.Shaping(of+"type=mcp_tool_listing", core.Nothing).As("messages.*.content.*"),
	core.Hint(of+"type=fallback", core.Nothing).As("messages.*.content.*"),
	core.Shaping(of+"type=compaction", core.Nothing).As(of + "content"),
	core.Hint(of+"type=compaction+content=null", core.Nothing).As("messages.*.content.*"),
	core.Structural(of+"type=container_upload", core.Nothing),
	core.Structural(of+"type=*", core.Nothing),
	core.Structural(of+"text", core.Content),
	core.Hint(of+"thinking", core.Reasoning),
	core.Hint(of+"data", core.RedactedReasoning),
	core.Hint(of+"signature="+seal.Item+"*", core.EncryptedReasoning).As(of + "thinking"),
	core.Hint(of+"type=text+citations", core.Nothing),
	core.Hint(of+"cache_control", core.CachePart),
	core.Hint(of+"cache_control=...", core.CachePartsBeyond),
	core.Hint("messages.*.role=assistant+content.*.cache_control", core.CacheAssistantPart),
	core.Hint(of+"*", core.Nothing),
}, core.Within(core.Reasoning,
	core.Hint(of+"signature", core.Signature),
	core.Hint(of+"signature="+seal.SelfSigned+"*", core.SelfSignedReasoning).As(of+"thinking"),
	core.Hint("messages.*.content.-1.type=thinking", core.IdleReasoning).As("messages.*.content"),
), core.Within(core.CachePart,
	core.Hint(of+"cache_control.ttl", core.CachePartTTL),
	core.Hint(of+"cache_control.*", core.Nothing),
))

// mediaRows are the rows about images and documents.
var mediaRows = slices.Concat(core.Within(core.Image,
	core.Structural(of+"type=image+source.type=base64", core.Image).As(of+"type"),
	core.Structural(of+"type=image+source.type=url", core.ImageAddress),
	core.Structural(of+"type=image+source.type=file", core.ImageReference),
	core.Structural(of+"type=image+source.type=*", core.Nothing),
	core.Structural(of+"source.media_type", core.Image).As(of+"type"),
	core.Structural(of+"source.data", core.Image).As(of+"type"),
	core.Structural(of+"source.url", core.ImageAddress).As(of+"source.type"),
	core.Structural(of+"source.file_id", core.ImageReference).As(of+"source.type"),
	core.Hint(of+"source.*", core.Nothing),
	core.Hint(of+"transformations", core.Nothing),
), core.Within(core.Document,
	core.Structural(of+"type=document+source.type=base64", core.File).As(of+"type").RefusedBy((*core.RequestInfo).RefusePDF),
	core.Structural(of+"type=document+source.type=text", core.TextDocument),
	core.Structural(of+"type=document+source.type=content", core.PartsDocument),
	core.Structural(of+"type=document+source.type=url", core.FileAddress),
	core.Structural(of+"type=document+source.type=file", core.FileReference),
	core.Structural(of+"type=document+source.type=*", core.Nothing),
	core.Structural(of+"source.content", core.PartsDocument).As(of+"source.type"),
	core.Structural(of+"title", core.Document).As(of+"type"),
	core.Structural(of+"context", core.Document).As(of+"type"),
	core.Shaping(of+"type=document+citations", core.Citations),
))

// inSource is the field with contents in bytes, with "%" for the media type.
const inSource = of + "source.media_type=%"

// sourceRows are the rows about contents in bytes.
func sourceRows() []core.Row {
	rows := core.MediaRows(inSource)
	for i := range rows {
		if rows[i].Concept == core.File {
			rows[i] = rows[i].As(of + "type").RefusedBy((*core.RequestInfo).RefusePDF)
		}
	}
	return rows
}

// callRows are the rows about the calls of tools and their results.
var callRows = slices.Concat(core.Within(core.ToolCall,
	core.Structural(of+"id", core.ToolCall).As(of+"type"),
	core.Structural(of+"name", core.ToolCall).As(of+"type"),
	core.Structural(of+"input", core.ToolCall).As(of+"type"),
	core.Hint(of+"type=tool_use+cache_control", core.CacheCall),
	core.Hint(of+"caller", core.Nothing),
	core.Hint(of+"toolset_name", core.Nothing),
	core.Shaping("messages.*.content=[tool_use,text]", core.TextBehindCall),
), core.Within(core.ToolResult,
	core.Structural(of+"tool_use_id", core.ToolResult).As(of+"type"),
	core.Structural(of+"content", core.ToolResult).As(of+"type"),
	core.Structural(of+"is_error", core.ErrorResult).As(of+"type"),
	core.Structural(of+"content.*.type=text", core.Content),
	core.Structural(of+"content.*.type=image", core.Image),
	core.Structural(of+"content.*.type=document", core.Document),
	core.Structural(of+"content.*.type=search_result", core.SearchResult),
	core.Structural(of+"content.*.type=tool_reference", core.ToolReference),
	core.Structural(of+"content.*.type=*", core.Nothing),
	core.Structural(of+"content.*.tool_name", core.ToolReference).As(of+"content.*.type"),
	core.Hint(of+"content.*.cache_control", core.CacheNestedPart),
	core.Hint(of+"content.*.*", core.Nothing),
	core.Hint(of+"type=tool_result+cache_control", core.CacheResult),
	core.Shaping("messages.*.content=[text,tool_result]", core.TextBeforeResult),
))

var systemRows = []core.Row{
	core.Structural("system.*.type=text", core.Content),
	core.Structural("system.*.text", core.Content),
	core.Hint("system.*.citations", core.Nothing),
	core.Hint("system.*.cache_control", core.CachePart),
	core.Hint("system.*.*", core.Nothing),
}

// choiceRows are the rows about the choice among the tools.
var choiceRows = slices.Concat([]core.Row{
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
	core.Structural("tools", core.FunctionTool),
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
	core.Structural("tools.*.name", core.FunctionTool),
	core.Structural("tools.*.description", core.FunctionTool),
	core.Structural("tools.*.input_schema", core.ToolSchema),
	core.Shaping("tools.*.strict", core.ToolStrict).OrNothing(),
	core.Structural("tools.*.allowed_callers=direct", core.FunctionTool),
	core.Structural("tools.*.allowed_callers=*", core.Nothing),
	core.Hint("tools.*.defer_loading", core.Nothing),
	core.Hint("tools.*.input_examples", core.Nothing),
	core.Hint("tools.*.eager_input_streaming", core.Nothing),
	core.Hint("tools.*.cache_control", core.CacheTool),
	core.Hint("tools.*.*", core.Nothing),
))

// The rows of decisions that the reader takes itself.
var (
	unknownBlockRow    = rows.Named(of + "type=*")
	unknownToolRow     = rows.Named("tools.*.type=*")
	unknownImageRow    = rows.Named(of + "type=image+source.type=*")
	unknownDocumentRow = rows.Named(of + "type=document+source.type=*")
	sourceData         = rows.MediaField(inSource)
	unknownClearingRow = rows.Named("messages.*.clear_at=*")
	foreignSealRow     = rows.Named(of + "signature=" + seal.Item + "*")
	unrenderedRow      = rows.Named(of + "type=" + unrendered)
	compactionRow      = rows.Named(of + "type=compaction")
	emptyCompactionRow = rows.Named(of + "type=compaction+content=null")
	serverCallRow      = rows.Named(of + "type=server_tool_use")
	openServerCallRow  = rows.Named("messages.-1.content.*.type=server_tool_use")
	otherCallersRow    = rows.Named("tools.*.allowed_callers=*")
	citedTextRow       = rows.Named(of + "type=text+citations")
	overtakenEffortRow = rows.Named("messages.0.output_config.effort")
	foreignConfigRow   = rows.Named("messages.*.role=user+output_config")
	emptyTurnRow       = rows.Named("messages.*.content=[]")
	foreignClearingRow = rows.Named("messages.*.role=user+clear_at")
	idleBudgetRow      = rows.Named("thinking.type=adaptive+budget_tokens")
	unknownChoiceRow   = rows.Named("tool_choice.type=*")
)

func refuseThread(info *core.RequestInfo, to translate.Format, _ string) *fault.Fault {
	return info.RefuseThread(to)
}
