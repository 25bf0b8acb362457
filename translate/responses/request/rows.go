package request

import (
	"math"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/files"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// rows are the fields of responses requests, in the order in which faults are reported.
var rows = core.NewRows(strict.Brackets, slices.Concat(
	samplingRows, stateRows, toolRows, effortRows, formatRows, optionRows, choiceRows, otherRows,
	itemMembers(), itemRows, messageRows, partRows, imageRows, fileRows, core.SoundRows(inSound), callRows, resultRows, reasoningRows,
)...)

// fields are those that the strict pass checks.
var fields = rows.Fields()

var samplingRows = slices.Concat([]core.Row{
	core.Structural("model", core.Model).Is(strict.Model).Required(),
	core.Structural("input", core.Conversation).Is(checkInput),
	core.Structural("instructions", core.SystemText).Is(strict.Text),
	core.Structural("max_output_tokens", core.MaxTokens).Is(strict.MaxTokens(math.MaxInt64)),
	core.Structural("max_output_tokens=...", core.LongMaxTokens),
	core.Structural("max_output_tokens=1", core.ShortMaxTokens),
	core.Hint("max_output_tokens=null", core.NoMaxTokens).As("max_output_tokens"),
	core.Shaping("temperature", core.Temperature).Is(strict.Number),
	core.Shaping("temperature=2", core.HighTemperature),
	core.Shaping("reasoning.effort+temperature", core.TemperatureBesideReasoning),
	core.Shaping("top_p", core.TopP).Is(strict.Number),
	core.Shaping("temperature+top_p", core.TopPBesideTemperature),
	core.Shaping("reasoning.effort+top_p", core.TopPBesideReasoning),
}, core.Within(core.Logprobs,
	core.Structural("top_logprobs", core.TopLogprobs).Is(strict.Integer),
), []core.Row{
	core.Structural("stream", core.Stream).Is(strict.Stream),
	core.Hint("store", core.Nothing).Is(checkStore).OrNothing(),
	core.Hint("generate", core.Nothing).Is(checkGenerate),
})

var effortRows = slices.Concat([]core.Row{
	core.Member("reasoning").Is(strict.WantOptions),
}, core.EffortRows("reasoning.effort", core.EffortNone), []core.Row{
	core.Hint("reasoning.summary", core.ReasoningShown),
	core.Hint("reasoning.generate_summary", core.ReasoningShown),
	core.Shaping("reasoning.context", core.Nothing),
	core.Shaping("reasoning.mode", core.Nothing),
	core.Hint("reasoning.*", core.Nothing),
})

var optionRows = []core.Row{
	core.Member("include").Is(strict.Texts),
	core.Structural("include[*]="+includeLogprobs, core.Logprobs),
	core.Structural("include[*]="+includeReasoning, core.Content),
	core.Hint("include[*]=*", core.Nothing),
	core.Hint("include=[]+top_logprobs", core.TopLogprobsAlone).OrNothing(),
	core.Hint("metadata", core.Metadata).Is(strict.Map),
	core.Member("stream_options").Is(strict.WantOptions),
	core.Hint("stream_options.include_obfuscation", core.Nothing),
	core.Hint("stream_options.*", core.Nothing),
}

var otherRows = slices.Concat([]core.Row{
	core.Member("service_tier").Is(strict.Tier),
}, parts.TierRows, parts.UserRows("user", core.EndUser), parts.UserRows("safety_identifier", core.SafetyIdentifier), []core.Row{
	core.Hint("user+safety_identifier", core.Nothing),
}, parts.ModerationRows, []core.Row{
	core.Hint("prompt_cache_key", core.CacheKey),
	core.Hint("prompt_cache_options", core.CacheOptions),
	core.Hint("prompt_cache_retention", core.CacheRetention),
	core.Hint("truncation", core.Nothing),
	core.Hint("max_tool_calls", core.Nothing).Is(checkMaxCalls),
	core.Hint("context_management", core.Nothing),
	core.Hint("client_metadata", core.Nothing),
	core.Hint("access_programs", core.Nothing),
	core.Hint("*", core.Nothing),
})

// What include may ask for that the gateway knows.
const (
	includeReasoning = "reasoning.encrypted_content"
	includeLogprobs  = "message.output_text.logprobs"
)

// stateRows are the rows about what a provider keeps.
var stateRows = []core.Row{
	core.Structural("background", core.Nothing).Is(checkBackground).OrNothing().RefusedBy(refuseState),
	core.Member("parallel_tool_calls").Is(strict.Flag),
	core.Structural("previous_response_id", core.Nothing).Is(stored("previous_response_id", seal.ResponseID, strict.Text)).RefusedBy(refuseState),
	core.Structural("conversation", core.Nothing).Is(stored("conversation", seal.ConversationID, checkConversation)).RefusedBy(refuseState),
	core.Structural("prompt", core.Nothing).Is(checkPrompt).RefusedBy(refuseState),
	core.Structural("input[*].type=item_reference", core.Nothing).RefusedBy(refuseState),
}

var formatRows = []core.Row{
	core.Member("text").Is(strict.WantGroups),
	core.Structural("text.format.type=text", core.FormatText),
	core.Structural("text.format.type=json_object", core.FormatObject),
	core.Structural("text.format.type=json_schema", core.FormatSchema).As("text.format"),
	core.Structural("text.format.type=*", core.Nothing),
	core.Structural("text.format.schema", core.Schema).As("text.format"),
	core.Hint("text.format.name", core.SchemaName),
	core.Hint("text.format.description", core.SchemaDescription),
	core.Hint("text.format.strict", core.SchemaStrict),
	core.Hint("text.format.type=text+schema", core.Nothing).As("text.format.schema"),
	core.Hint("text.format.*", core.Nothing),
	core.Shaping("text.verbosity", core.Verbosity),
	core.Hint("text.*", core.Nothing),
}

// choiceRows are the rows about the choice among the tools.
var choiceRows = slices.Concat([]core.Row{
	core.Member("tool_choice").Is(strict.Options),
	core.Shaping("tools=[]+tool_choice=required", core.ToolChoiceWithoutTools).As("tool_choice"),
	core.Structural("tool_choice=*", core.Nothing),
	core.Structural("tool_choice.type=*", core.Nothing),
	core.Structural("tool_choice.type="+imageTool, core.Images),
	core.Structural("tool_choice.mode=*", core.Nothing),
	core.Structural("tool_choice.tools[*].type=*", core.Nothing),
}, core.Within(core.FunctionTool,
	core.Structural("tool_choice=auto", core.ToolChoiceAuto),
	core.Structural("tool_choice=required", core.ToolChoiceRequired),
	core.Structural("tool_choice.type=function", core.ToolChoiceNamed),
	core.Structural("tool_choice.type=custom", core.ToolChoiceNamed),
	core.Structural("tool_choice.name", core.ToolChoiceName).Of("function custom"),
	core.Structural("tool_choice.namespace", core.ToolChoiceName).As("tool_choice.name").Of("function custom"),
	core.Structural("tool_choice.type=allowed_tools", core.ToolChoiceAllowed),
	core.Structural("tool_choice.mode=auto", core.ToolChoiceAuto).Of("allowed_tools"),
	core.Structural("tool_choice.mode=required", core.ToolChoiceRequired),
	core.Structural("tool_choice.tools", core.ToolChoiceAllowed).Of("allowed_tools"),
	core.Structural("tool_choice.tools[*].type=function", core.ToolChoiceAllowed),
	core.Structural("tool_choice.tools[*].type=custom", core.ToolChoiceAllowed),
	core.Structural("tool_choice.tools[*].name", core.ToolChoiceAllowed),
	core.Member("tool_choice.tools[*].namespace"),
	core.Structural("tool_choice.tools[*].name=*", core.Nothing),
	core.Hint("tool_choice.tools[*].*", core.Nothing),
	core.Hint("tool_choice.*", core.Nothing),
	core.Structural("parallel_tool_calls", core.ParallelCalls),
	core.Structural("parallel_tool_calls=false", core.OneCallAtATime),
), core.Within(core.UnusedTools,
	core.Structural("tool_choice=none", core.ToolChoiceNone),
))

// imageTool is the type of the tool that makes images.
const imageTool = "image_generation"

// toolRows are the rows about the tools. Those that vendors run are left out: agents
// name some of them in every request. So they do with the tool that makes images, which asks
// a model for images only if the choice or the name of the model does as well.
var toolRows = slices.Concat([]core.Row{
	core.Structural("tools", core.FunctionTool).Is(strict.Objects),
	core.Member("tools[*].type").Is(checkToolType).Must(jsonscan.String),
	core.Hint("tool_choice=none+tools", core.UnusedTools),
	core.Structural("input[*].type=additional_tools", core.FunctionTool).As("input[*].tools"),
	core.Structural("input[*].tools", core.FunctionTool),
}, core.Within(core.FunctionTool, core.Nested(slices.Concat([]core.Row{
	core.Structural("tools[*].type=function", core.FunctionTool),
	core.Structural("tools[*].type=custom", core.FunctionTool),
	core.Structural("tools[*].type=namespace", core.FunctionTool),
	core.Structural("tools[*].type=tool_search", core.FunctionTool),
	core.Hint("tools[*].type=tool_search+execution=server", core.Nothing),
	core.Shaping("tools[*].type=web_search", core.Nothing),
	core.Shaping("tools[*].type=file_search", core.Nothing),
	core.Shaping("tools[*].type=code_interpreter", core.Nothing),
	core.Shaping("tools[*].type="+imageTool, core.Nothing),
	core.Shaping("model=image+tools[*].type="+imageTool, core.Images).As("tools[*].type"),
	core.Shaping("tools[*].type=mcp", core.Nothing),
	core.Shaping("tools[*].type=local_shell", core.Nothing),
	core.Shaping("tools[*].type=*", core.Nothing),
}, core.Of("function custom namespace",
	core.Structural("tools[*].name", core.FunctionTool),
), core.Of("function custom tool_search",
	core.Structural("tools[*].description", core.FunctionTool),
), core.Of("function tool_search",
	core.Structural("tools[*].parameters", core.ToolSchema),
), core.Of("function",
	core.Shaping("tools[*].strict", core.ToolStrict).OrNothing(),
), core.Of("function custom",
	core.Structural("tools[*].allowed_callers=direct", core.FunctionTool),
	core.Structural("tools[*].allowed_callers=*", core.Nothing),
), core.Of("custom",
	core.Member("tools[*].format").Is(strict.Options),
), core.Of("namespace",
	core.Structural("tools[*].tools", core.FunctionTool).Is(strict.If(jsonscan.Array, checkNamespace)).Like("tools[*]"),
), core.Of("tool_search",
	core.Structural("tools[*].execution", core.FunctionTool),
), []core.Row{
	core.Structural("tools[*].format.type=text", core.FunctionTool),
	core.Shaping("tools[*].format.type=grammar", core.Grammar).As("tools[*].format"),
	core.Shaping("tools[*].format.type=*", core.Nothing).As("tools[*].format"),
}, core.Of("grammar",
	core.Shaping("tools[*].format.syntax", core.Grammar).As("tools[*].format"),
	core.Shaping("tools[*].format.definition", core.Grammar).As("tools[*].format"),
), []core.Row{
	core.Hint("tools[*].format.*", core.Nothing),
	core.Hint("tools[*].defer_loading", core.Nothing),
	core.Hint("tools[*].output_schema", core.Nothing),
	core.Hint("tools[*].async", core.Nothing),
	core.Hint("tools[*].*", core.Nothing),
})...)...))

var isRole = strict.OneOf("user", "assistant", "system", "developer")

// wantParts is the requirement on the content of an item.
const wantParts = "must be a string or an array of content parts"

// itemMembers are the members of the items of the input, in the order in which faults are
// reported, by the types of the items.
func itemMembers() []core.Row {
	const calls, outputs = "function_call custom_tool_call", "function_call_output custom_tool_call_output"
	item := func(name string) core.Row { return core.Member("input[*]." + name) }
	return slices.Concat([]core.Row{
		item("type").Must(jsonscan.String),
		item("type=item_reference"),
		item("id"),
		item("status"),
	}, core.Of("message",
		item("role").Is(strict.If(jsonscan.String, isRole)).Must(jsonscan.String),
		item("content").MustText(wantParts),
	), core.Of("message reasoning",
		item("content").Is(strict.Elements),
	), core.Of(calls,
		item("call_id").Must(jsonscan.String),
		item("name").Must(jsonscan.String),
	), core.Of(outputs,
		// The vendor takes results without the id of a call as well; other formats do not.
		item("call_id").May(jsonscan.String),
	), core.Of("function_call",
		item("arguments").Must(jsonscan.String),
	), core.Of(calls,
		item("namespace"),
	), core.Of("custom_tool_call",
		item("input").Must(jsonscan.String),
	), core.Of(outputs,
		item("output").Is(strict.Elements).Like("input[*].content[*]").MustText(wantParts),
	), core.Of("reasoning",
		item("summary").Is(strict.Elements).Like("input[*].content[*]").Must(jsonscan.Array),
		item("encrypted_content").Is(checkSealed),
	), core.Of("additional_tools tool_search_output",
		item("tools").Is(strict.Elements).Like("tools[*]").Must(jsonscan.Array),
	), core.Of("additional_tools",
		item("role"),
	), core.Of("tool_search_output tool_search_call",
		item("call_id"),
		item("execution"),
	), core.Of("tool_search_call",
		item("arguments"),
	), core.Of("configuration_update",
		item("reasoning"),
		item("text"),
	))
}

// itemRows are the rows about items other than messages, calls and reasoning. The results
// of the vendor's own tools are also in the text that follows; all other items are lost.
var itemRows = []core.Row{
	core.Structural("input[*].type=configuration_update", core.Content),
	core.Structural("input[*].reasoning", core.Content),
	core.Structural("input[*].text", core.Content),
	core.Shaping("input[*].type=web_search_call", core.Nothing).As("input[*]"),
	core.Shaping("input[*].type=file_search_call", core.Nothing).As("input[*]"),
	core.Shaping("input[*].type=code_interpreter_call", core.Nothing).As("input[*]"),
	core.Shaping("input[*].type=image_generation_call", core.Nothing).As("input[*]"),
	core.Shaping("input[*].type=mcp_call", core.Nothing).As("input[*]"),
	core.Shaping("input[*].type=mcp_list_tools", core.Nothing).As("input[*]"),
	core.Shaping("input[*].type=tool_search_call+execution=server", core.Nothing).As("input[*]"),
	core.Structural("input[*].type=compaction", core.Nothing),
	core.Structural("input[*].type=compaction_trigger", core.Nothing),
	core.Structural("input[*].type=local_shell_call", core.Nothing),
	core.Structural("input[*].type=*", core.Nothing),
	core.Hint("input[*].id", core.Content), // only names the item
	core.Hint("input[*].status", core.Content),
	core.Hint("input[*].phase", core.Nothing),
	core.Hint("input[*].*", core.Nothing),
}

var messageRows = slices.Concat([]core.Row{
	core.Structural("input[*].type=message", core.Content).UntypedBeside("role"),
	core.Structural("input[0].role=system", core.Content),
	core.Structural("input[0].role=developer", core.Content),
	core.Structural("input[0].content", core.SystemText),
	core.Structural("input[*].role=system", core.LateSystem).RefusedBy(core.RefuseLateSystem),
	core.Structural("input[*].role=developer", core.LateSystem).RefusedBy(core.RefuseLateSystem),
	core.Structural("input[*].role=[assistant,system]", core.SystemBehindAssistant),
	core.Structural("input[*].role=user", core.Content),
	core.Structural("input[*].role=assistant", core.Content),
	core.Structural("input[-1].role=assistant", core.Prefill).As("input[*]").RefusedBy((*core.RequestInfo).RefusePrefill),
	core.Structural("input[*].content", core.TurnText),
	core.Hint("input[*].content=[]", core.EmptyTurn).As("input[*]"),
}, core.Within(core.Prefill,
	core.Shaping(`input[-1].role=assistant+content=" "`, core.PrefillSpace).As("input[*].content"),
))

// callRows are the rows about the calls of tools.
var callRows = core.Within(core.ToolCall,
	core.Structural("input[*].type=function_call", core.ToolCall),
	core.Structural("input[*].type=custom_tool_call", core.ToolCall),
	core.Structural("input[*].type=tool_search_call", core.ToolCall),
	core.Structural("input[*].execution", core.ToolCall),
	core.Structural("input[*].call_id", core.ToolCall),
	core.Structural("input[*].name", core.ToolCall),
	core.Structural("input[*].namespace", core.ToolCall),
	core.Structural("input[*].arguments", core.ToolCall),
	core.Structural("input[*].arguments=[]", core.BrokenArguments),
	core.Shaping("input[*].type=[function_call,message]", core.Nothing).As("input[*]"),
	core.Hint("input[*].caller", core.Nothing),
	core.Structural("input[*].input", core.ToolCall),
)

// resultRows are the rows about what tools returned.
var resultRows = core.Within(core.ToolResult,
	core.Structural("input[*].type=function_call_output", core.ToolResult),
	core.Structural("input[*].type=custom_tool_call_output", core.ToolResult),
	core.Structural("input[*].type=tool_search_output", core.ToolResult),
	core.Structural("input[*].output", core.ToolResult),
	core.Structural("input[*].output[*].type=input_text", core.Content),
	core.Structural("input[*].output[*].type=input_image", core.Image),
	core.Structural("input[*].output[*].type=input_file", core.Document),
	core.Structural("input[*].output[*].type=*", core.Nothing),
	core.Structural("input[*].type=[message,function_call_output]", core.TextBeforeResult),
)

// reasoningRows are the rows about earlier reasoning.
var reasoningRows = slices.Concat([]core.Row{
	core.Shaping("input[*].type=reasoning", core.Reasoning).As("input[*].summary"),
}, core.Within(core.Reasoning,
	core.Shaping("input[*].summary", core.UnsignedReasoning),
	core.Shaping("input[*].summary[*].type=summary_text", core.UnsignedReasoning).As("input[*].summary"),
	core.Shaping("input[*].summary[*].text", core.UnsignedReasoning).As("input[*].summary"),
	core.Shaping("input[*].content[*].type=reasoning_text", core.UnsignedReasoning).As("input[*].summary"),
	core.Hint("input[*].encrypted_content="+seal.Block+"*", core.Signature).As("input[*].encrypted_content"),
	core.Shaping("input[*].content+encrypted_content="+seal.Block+"*", core.SelfSignedReasoning).As("input[*].encrypted_content"),
	core.Shaping("input[*].summary=[]+encrypted_content="+seal.Block+"*", core.RedactedReasoning).As("input[*].encrypted_content"),
	core.Shaping("input[*].encrypted_content=*", core.Nothing).As("input[*].encrypted_content"),
	core.Shaping("input[-1].type=reasoning", core.Nothing).As("input[*].summary"),
))

// ofPart is the beginning of the names of rows about parts of messages.
const ofPart = "input[*].content[*]."

var partRows = slices.Concat([]core.Row{
	core.Member(ofPart + "type").Must(jsonscan.String),
	core.Structural(ofPart+"type=input_text", core.Content),
	core.Structural(ofPart+"type=output_text", core.Content),
	core.Structural(ofPart+"type=text", core.Content),
	core.Structural(ofPart+"type=refusal", core.Content),
	core.Structural(ofPart+"type=input_image", core.Image),
	core.Structural(ofPart+"type=input_file", core.Document),
	core.Structural(ofPart+"type=input_audio", core.Sound).As(inSound),
	core.Structural(ofPart+"input_audio", core.Sound).Is(strict.File(files.Audio)).As(inSound),
	core.Structural(ofPart+"input_audio.data", core.Sound).As(inSound),
	core.Structural(ofPart+"type=*", core.Nothing),
}, core.Of("input_text output_text text",
	core.Structural(ofPart+"text", core.Content),
), core.Of("input_text output_text text input_image input_file input_audio",
	core.Hint(ofPart+"prompt_cache_breakpoint", core.CachePart).Is(strict.Options),
), []core.Row{
	core.Structural(ofPart+"refusal", core.Content),
	core.Hint(ofPart+"annotations", core.Nothing),
	core.Hint(ofPart+"logprobs", core.Nothing),
	core.Hint(ofPart+"prompt_cache_breakpoint=...", core.CachePartsBeyond),
	core.Hint(ofPart+"*", core.Nothing),
}, core.Within(core.CachePart,
	core.Hint(ofPart+"prompt_cache_breakpoint.ttl=1h", core.CachePartTTL),
	core.Hint(ofPart+"prompt_cache_breakpoint.ttl=*", core.Nothing),
))

// The fields with contents in bytes, with "%" for the media type.
const (
	inImage = ofPart + "image_url=data:%;base64,*"
	inFile  = ofPart + "file_data=data:%;base64,*"
	inSound = ofPart + "input_audio.format" // with a word in place of the type
)

var imageRows = core.Within(core.Image, slices.Concat(core.Of("input_image",
	core.Member(ofPart+"image_url").Is(strict.File(files.Image)),
	core.Hint(ofPart+"detail", core.ImageDetail),
), core.MediaRows(inImage), []core.Row{
	core.Structural(ofPart+"image_url=https://*", core.ImageAddress),
	core.Structural(ofPart+"type=input_image+file_id", core.ImageReference),
})...)

var fileRows = core.Within(core.Document, slices.Concat(core.Of("input_image input_file",
	core.Member(ofPart+"file_id").Is(strict.File(files.PDF)),
), core.Of("input_file",
	core.Member(ofPart+"file_data").Is(strict.File(files.PDF)),
	core.Structural(ofPart+"file_url", core.FileAddress).Is(strict.File(files.PDF)),
	core.Structural(ofPart+"filename", core.Document),
), core.MediaRows(inFile), []core.Row{
	core.Structural(ofPart+"type=input_file+file_id", core.FileReference),
})...)

// The rows of decisions that the reader takes itself.
var (
	logprobsRow         = rows.Named("include[*]=" + includeLogprobs)
	otherIncludeRow     = rows.Named("include[*]=*")
	loneTopLogprobsRow  = rows.Named("include=[]+top_logprobs")
	secondUserRow       = rows.Named("user+safety_identifier")
	strayFormatRow      = rows.Named("text.format.type=text+schema")
	namedChoiceRow      = rows.Named("tool_choice.type=function")
	choiceNameRow       = rows.Named("tool_choice.name")
	unknownChoiceRow    = rows.Named("tool_choice.type=*")
	foreignAllowedRow   = rows.Named("tool_choice.tools[*].type=*")
	missingAllowedRow   = rows.Named("tool_choice.tools[*].name=*")
	imageChoiceRow      = rows.Named("tool_choice.type=" + imageTool)
	imageToolRow        = rows.Named("model=image+tools[*].type=" + imageTool)
	firstTextRow        = rows.Named("input[0].content")
	unknownToolRow      = rows.Named("tools[*].type=*")
	toolsRow            = rows.Named("tools")
	addedToolsRow       = rows.Named("input[*].tools")
	serverSearchRow     = rows.Named("tools[*].type=tool_search+execution=server")
	unknownGrammarRow   = rows.Named("tools[*].format.type=*")
	otherCallersRow     = rows.Named("tools[*].allowed_callers=*")
	serverSearchCallRow = rows.Named("input[*].type=tool_search_call+execution=server")
	foldedRow           = rows.Named("input[*].type=[function_call,message]")
	foreignSealRow      = rows.Named("input[*].encrypted_content=*")
	idleReasoningRow    = rows.Named("input[-1].type=reasoning")
	unknownPartRow      = rows.Named(ofPart + "type=*")
	imageData           = rows.MediaField(inImage)
	fileData            = rows.MediaField(inFile)
	soundData           = rows.SoundField(inSound)
)

// The members of the objects that the reader reads.
var (
	itemTable      = rows.Members("input[*]")
	partMembers    = rows.Members("input[*].content[*]")
	thoughtMembers = rows.Members("input[*].summary[*]")
	soundMembers   = rows.Members(ofPart + "input_audio")
	toolMembers    = rows.Members("tools[*]")
	textFormats    = rows.Members("tools[*].format")
	choiceMembers  = rows.Members("tool_choice")
	allowedMembers = rows.Members(allowedPath + "[*]")

	// The types that the reader reads. Only a provider of this format can read the others.
	readItems = itemTable.Types("message reasoning function_call custom_tool_call tool_search_call function_call_output " +
		"custom_tool_call_output tool_search_output additional_tools configuration_update")
	readTools = toolMembers.Types("function custom namespace tool_search")
)

// refuseState refuses what needs a provider that keeps it; another one has none of it.
func refuseState(_ *core.RequestInfo, _ translate.Format, path string) *fault.Fault {
	f := fault.NeedsState(path)
	f.Log.Trait = ""
	return f
}
