package request

import (
	"math"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/files"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// rows are the fields of chat requests, in the order in which faults are reported.
var rows = core.NewRows(strict.Brackets, slices.Concat(
	optionRows, toolRows, stopRows, formatRows, choiceRows, otherRows,
	turnRows, assistantRows, thinkingRows, callRows, freeCallRows, partRows, imageRows, recordingRows, fileRows,
)...)

// fields are those that the strict pass checks.
var fields = rows.Fields()

var optionRows = slices.Concat([]core.Row{
	core.Structural("model", core.Model).Is(strict.Model).Required(),
	core.Structural("messages", core.Conversation).Is(checkMessages).Required(),
	core.Structural("max_tokens", core.OlderMaxTokens).Is(strict.MaxTokens(math.MaxInt64)),
	core.Structural("max_tokens=...", core.LongMaxTokens),
	core.Structural("max_completion_tokens", core.MaxTokens).Is(strict.MaxTokens(math.MaxInt64)),
	core.Structural("max_completion_tokens=...", core.LongMaxTokens),
	core.Structural("max_tokens=1", core.ShortMaxTokens),
	core.Structural("max_completion_tokens=1", core.ShortMaxTokens),
	core.Hint("max_completion_tokens=null", core.NoMaxTokens).As("max_tokens"),
	core.Structural("n", core.Samples).Is(strict.Answers(math.MaxInt64)),
	core.Shaping("temperature", core.Temperature).Is(strict.Number),
	core.Shaping("temperature=2", core.HighTemperature),
	core.Shaping("reasoning_effort+temperature", core.TemperatureBesideReasoning),
	core.Shaping("top_p", core.TopP).Is(strict.Number),
	core.Shaping("temperature+top_p", core.TopPBesideTemperature),
	core.Shaping("reasoning_effort+top_p", core.TopPBesideReasoning),
	core.Shaping("top_k", core.TopK),
	core.Shaping("reasoning_effort+top_k", core.TopKBesideReasoning),
	core.Structural("stream", core.Stream).Is(strict.Stream),
	core.Member("stream_options").Is(strict.StreamOptions).OrNull(),
	core.Structural("stream_options.include_usage", core.StreamUsage),
	core.Hint("stream_options.include_obfuscation", core.Nothing),
	core.Hint("stream_options.*", core.Nothing),
	core.Shaping("presence_penalty", core.PresencePenalty).Is(strict.Number).OrNothing(),
	core.Shaping("frequency_penalty", core.FrequencyPenalty).Is(strict.Number).OrNothing(),
	core.Shaping("logit_bias", core.LogitBias).OrNothing(),
	core.Structural("logprobs", core.Logprobs).Is(strict.Flag).OrNothing(),
	core.Structural("reasoning_effort+logprobs", core.LogprobsBesideReasoning),
	core.Structural("top_logprobs", core.TopLogprobs).Is(strict.Integer).As("logprobs"),
	core.Structural("logprobs=false+top_logprobs", core.TopLogprobsAlone).OrNothing(),
	core.Shaping("seed", core.Seed).Is(strict.Integer).OrNothing(),
	core.Shaping("verbosity", core.Verbosity).OrNothing(),
	core.Shaping("prediction", core.Prediction).OrNothing(),
	core.Structural("functions", core.Nothing).OrNothing(),
	core.Structural(`modalities=["text"]`, core.Content),
	core.Structural(`modalities=["text","image"]`, core.Images),
	core.Structural(`modalities=["image"]`, core.ImagesAlone),
	core.Structural("modalities=*", core.Nothing),
	core.Structural("audio", core.Nothing),
}, core.EffortRows("reasoning_effort", core.EffortNone), parts.UserRows("user", core.EndUser), parts.UserRows("safety_identifier", core.SafetyIdentifier), []core.Row{
	core.Hint("user+safety_identifier", core.Nothing),
}, core.Within(core.FunctionTool,
	core.Structural("parallel_tool_calls", core.ParallelCalls).Is(strict.Flag),
	core.Structural("parallel_tool_calls=false", core.OneCallAtATime),
), []core.Row{
	core.Hint("store", core.Nothing).Is(checkStore),
}, parts.ModerationRows, []core.Row{
	core.Hint("cache_control", core.CacheRequest),
	core.Hint("prompt_cache_key", core.CacheKey),
	core.Hint("prompt_cache_options", core.CacheOptions),
	core.Hint("prompt_cache_retention", core.CacheRetention),
})

var stopRows = []core.Row{
	core.Structural("stop", core.Stops).Is(strict.Stop),
	core.Structural(`stop=[""]`, core.EmptyStop).As("stop[*]"),
}

var otherRows = slices.Concat([]core.Row{
	core.Structural("function_call", core.Nothing).Is(strict.Options),
	core.Hint("metadata", core.Metadata).Is(strict.AnyMap),
	core.Member("service_tier").Is(strict.Tier),
}, parts.TierRows, []core.Row{
	core.Structural("web_search_options", core.Nothing).Is(checkSearch),
	core.Hint("enable_search", core.Nothing).Is(checkSearching),
	core.Hint("*", core.Nothing),
})

var formatRows = []core.Row{
	core.Member("response_format").Is(strict.Groups),
	core.Structural("response_format.type=text", core.FormatText),
	core.Structural("response_format.type=json_object", core.FormatObject),
	core.Structural("response_format.type=json_schema", core.FormatSchema).As("response_format"),
	core.Structural("response_format.type=*", core.Nothing),
	core.Structural("response_format.json_schema.schema", core.Schema).As("response_format"),
	core.Hint("response_format.json_schema.name", core.SchemaName),
	core.Hint("response_format.json_schema.description", core.SchemaDescription),
	core.Hint("response_format.json_schema.strict", core.SchemaStrict),
	core.Hint("response_format.json_schema.*", core.Nothing),
	core.Hint("response_format.*", core.Nothing),
}

// choiceRows are the rows about the choice among the tools.
var choiceRows = slices.Concat([]core.Row{
	core.Member("tool_choice").Is(strict.Groups),
	core.Shaping("tools=[]+tool_choice=required", core.ToolChoiceWithoutTools).As("tool_choice"),
	core.Structural("tool_choice=*", core.Nothing),
	core.Structural("tool_choice.type=*", core.Nothing),
	core.Structural("tool_choice.allowed_tools.mode=*", core.Nothing),
	core.Structural("tool_choice.allowed_tools.tools[*].type=*", core.Nothing),
	core.Structural("tool_choice.type=custom", core.FreeChoice),
	core.Structural("tool_choice.custom.name", core.FreeChoice).As("tool_choice.type"),
	core.Structural("tool_choice.allowed_tools.tools[*].type=custom", core.FreeChoice),
}, core.Within(core.FunctionTool,
	core.Structural("tool_choice=auto", core.ToolChoiceAuto),
	core.Structural("tool_choice=required", core.ToolChoiceRequired),
	core.Structural("tool_choice.type=function", core.ToolChoiceNamed),
	core.Structural("tool_choice.type=allowed_tools", core.ToolChoiceAllowed),
	core.Structural("tool_choice.function.name", core.ToolChoiceName),
	core.Hint("tool_choice.function.*", core.Nothing),
	core.Structural("tool_choice.allowed_tools.mode=auto", core.ToolChoiceAuto),
	core.Structural("tool_choice.allowed_tools.mode=required", core.ToolChoiceRequired),
	core.Structural("tool_choice.allowed_tools.tools", core.ToolChoiceAllowed),
	core.Structural("tool_choice.allowed_tools.tools[*].type=function", core.ToolChoiceAllowed),
	core.Structural("tool_choice.allowed_tools.tools[*].function.name", core.ToolChoiceAllowed),
	core.Structural("tool_choice.allowed_tools.tools[*].function.name=*", core.Nothing),
	core.Hint("tool_choice.allowed_tools.tools[*].function.*", core.Nothing),
	core.Member("tool_choice.allowed_tools.tools[*].custom.name"),
	core.Hint("tool_choice.allowed_tools.tools[*].*", core.Nothing),
	core.Hint("tool_choice.allowed_tools.*", core.Nothing),
	core.Hint("tool_choice.*", core.Nothing),
), core.Within(core.UnusedTools,
	core.Structural("tool_choice=none", core.ToolChoiceNone),
))

var toolRows = slices.Concat([]core.Row{
	core.Structural("tools", core.FunctionTool).Is(strict.Objects),
	core.Member("tools[*].type").Is(checkToolType).Must(jsonscan.String),
	core.Hint("tool_choice=none+tools", core.UnusedTools),
}, core.Within(core.FunctionTool,
	core.Structural("tools[*].type=function", core.FunctionTool),
	core.Structural("tools[*].type=custom", core.FreeTool),
	core.Structural("tools[*].custom", core.FreeTool).Is(strict.Options).As("tools[*].type"),
	core.Structural("tools[*].type=*", core.VendorTool),
	core.Structural("tools[*].function", core.FunctionTool).Is(strict.Options),
	core.Structural("tools[*].function.name", core.FunctionTool),
	core.Structural("tools[*].function.description", core.FunctionTool),
	core.Structural("tools[*].function.parameters", core.ToolSchema),
	core.Shaping("tools[*].function.strict", core.ToolStrict).OrNothing(),
	core.Hint("tools[*].function.arguments", core.Nothing),
	core.Hint("tools[*].function.*", core.Nothing),
	core.Hint("tools[*].cache_control", core.CacheTool),
	core.Hint("tools[*].cache_control=...", core.CacheToolsBeyond),
	core.Hint("tools[*].id", core.Nothing),
	core.Hint("tools[*].*", core.Nothing),
), core.Within(core.FreeTool,
	core.Structural("tools[*].custom.name", core.FreeTool).As("tools[*].type"),
	core.Structural("tools[*].custom.description", core.FreeTool).As("tools[*].type"),
	core.Structural("tools[*].custom.format.type=text", core.FreeTool).As("tools[*].type"),
	core.Structural("tools[*].custom.format.type=grammar", core.Grammar),
	core.Structural("tools[*].custom.format.type=*", core.Nothing),
	core.Structural("tools[*].custom.format.grammar.syntax", core.Grammar).As("tools[*].custom.format.type"),
	core.Structural("tools[*].custom.format.grammar.definition", core.Grammar).As("tools[*].custom.format.type"),
	core.Hint("tools[*].custom.*", core.Nothing),
))

// The beginnings of the names of rows.
const (
	ofMessage  = "messages[*]."
	ofPart     = ofMessage + "content[*]."
	ofThinking = ofMessage + "thinking_blocks[*]."
	ofCall     = ofMessage + "tool_calls[*]."
)

var turnRows = slices.Concat([]core.Row{
	core.Member(ofMessage + "role").Is(strict.OneOf("system", "developer", "user", "assistant", "tool", "function")).Must(jsonscan.Invalid),
	core.Structural("messages[0].role=system", core.Content),
	core.Structural("messages[0].role=developer", core.Content),
	core.Structural("messages[0].content", core.SystemText),
	core.Structural(ofMessage+"role=system", core.LateSystem).RefusedBy(core.RefuseLateSystem),
	core.Structural(ofMessage+"role=developer", core.LateSystem).RefusedBy(core.RefuseLateSystem),
	core.Structural(ofMessage+"role=[assistant,system]", core.SystemBehindAssistant),
	core.Structural(ofMessage+"role=user", core.Content),
	core.Structural(ofMessage+"role=assistant", core.Content),
	core.Structural(ofMessage+"role=tool", core.ToolResult),
	core.Structural(ofMessage+"role=*", core.Nothing),
	core.Structural("messages[-1].role=assistant", core.Prefill).As(ofMessage + "content"),
	core.Structural(ofMessage+"content", core.TurnText).Is(strict.Elements),
	core.Structural(ofMessage+"role=user+content=[]", core.Nothing),
	core.Hint(ofMessage+"content=[]", core.EmptyTurn).As("messages[*]"),
	core.Hint(ofMessage+"name", core.Nothing),
	core.Hint(ofMessage+"*", core.Nothing),
}, core.Within(core.ToolResult,
	core.Structural(ofMessage+"role=[user,tool]", core.TextBeforeResult),
	core.Structural(ofMessage+"tool_call_id", core.ToolResult).Must(jsonscan.String).Of("tool"),
), core.Within(core.Prefill,
	core.Shaping(`messages[-1].role=assistant+content=" "`, core.PrefillSpace).As(ofMessage+"content"),
))

// assistantRows are the rows about members that only an assistant's message has.
var assistantRows = core.Of("assistant",
	core.Structural(ofMessage+"tool_calls", core.ToolCall).Is(strict.Objects),
	core.Structural(ofMessage+"function_call", core.Nothing).Is(strict.Options).OrNothing(),
	core.Structural(ofMessage+"refusal", core.Content),
	core.Structural(ofMessage+"audio", core.Nothing).OrNothing(),
	core.Shaping(ofMessage+"reasoning_content", core.UnsignedReasoning),
	core.Shaping(ofMessage+"reasoning", core.UnsignedReasoning),
	core.Shaping(ofMessage+"thinking_blocks", core.Reasoning).Is(checkThinking),
)

var thinkingRows = slices.Concat([]core.Row{
	core.Shaping(ofThinking+"signature="+seal.Item+"*", core.EncryptedReasoning).As(ofMessage + "thinking_blocks"),
}, core.Of("thinking",
	core.Member(ofThinking+"signature"),
), core.Of("redacted_thinking",
	core.Member(ofThinking+"data"),
), core.Within(core.Reasoning,
	core.Shaping(ofThinking+"type=thinking", core.Reasoning).As(ofMessage+"thinking_blocks"),
	core.Shaping(ofThinking+"type=redacted_thinking", core.RedactedReasoning).As(ofMessage+"thinking_blocks"),
	core.Structural(ofThinking+"type=*", core.Nothing),
	core.Shaping(ofThinking+"thinking", core.Reasoning).As(ofMessage+"thinking_blocks"),
	core.Shaping(ofThinking+"signature", core.Signature).As(ofMessage+"thinking_blocks"),
	core.Shaping(ofThinking+"type=thinking+signature=null", core.UnsignedReasoning).As(ofMessage+"thinking_blocks"),
	core.Hint(ofThinking+"signature="+seal.SelfSigned+"*", core.SelfSignedReasoning).As(ofMessage+"thinking_blocks"),
	core.Shaping(ofThinking+"data", core.RedactedReasoning).As(ofMessage+"thinking_blocks"),
	core.Shaping(ofThinking+"type=redacted_thinking+data=null", core.Nothing).As(ofMessage+"thinking_blocks"),
	core.Hint(ofThinking+"*", core.Nothing),
	core.Shaping("messages[*].content=[]+thinking_blocks", core.IdleReasoning),
))

var callRows = core.Within(core.ToolCall,
	core.Structural(ofCall+"type=function", core.ToolCall).Untyped(),
	core.Structural(ofCall+"type=custom", core.FreeCall),
	core.Structural(ofCall+"type=*", core.Nothing),
	core.Structural(ofCall+"id", core.ToolCall).Must(jsonscan.String),
	core.Member(ofCall+"function").Is(strict.Inside).Must(jsonscan.Object),
	core.Structural(ofCall+"function.name", core.ToolCall).Must(jsonscan.String),
	core.Structural(ofCall+"function.arguments", core.ToolCall).Must(jsonscan.String),
	core.Structural(ofCall+"function.arguments=[]", core.BrokenArguments),
	core.Hint(ofCall+"function.description", core.Nothing),
	core.Hint(ofCall+"function.parameters", core.Nothing),
	core.Hint(ofCall+"function.strict", core.Nothing),
	core.Hint(ofCall+"function.*", core.Nothing),
	core.Hint(ofCall+"cache_control", core.CacheCall),
	core.Hint(ofCall+"extra_content", core.CallSignature),
	core.Hint(ofCall+"extra_content=*", core.Nothing).As(ofCall+"extra_content"),
	core.Hint(ofCall+"*", core.Nothing),
)

var freeCallRows = core.Within(core.FreeCall,
	core.Member(ofCall+"custom").Is(strict.Options),
	core.Structural(ofCall+"custom.name", core.FreeCall).As(ofCall+"type"),
	core.Structural(ofCall+"custom.input", core.FreeCall).As(ofCall+"type"),
	core.Hint(ofCall+"custom.*", core.Nothing),
)

var partRows = slices.Concat([]core.Row{
	core.Member(ofPart + "type").Must(jsonscan.String),
	core.Structural(ofPart+"type=text", core.Content),
	core.Structural(ofPart+"type=refusal", core.Content),
	core.Structural(ofPart+"type=image_url", core.Image),
	core.Structural(ofPart+"type=file", core.Document),
	core.Structural(ofPart+"type=input_audio", core.Sound).As(inSound),
	core.Structural(ofPart+"type=audio_url", core.Sound).As(ofPart + "audio_url.url"),
	core.Structural(ofPart+"type=video_url", core.Video).As(ofPart + "video_url.url"),
	core.Structural(ofPart+"type=*", core.Nothing),
	core.Structural(ofPart+"text", core.Content),
	core.Structural(ofPart+"refusal", core.Content),
	core.Hint(ofPart+"cache_control", core.CachePart).Is(strict.Options),
	core.Hint(ofPart+"cache_control=...", core.CachePartsBeyond),
	core.Hint(ofPart+"prompt_cache_breakpoint", core.OtherCachePart).Is(strict.Options),
	core.Hint(ofPart+"cache_control+prompt_cache_breakpoint", core.Nothing),
	core.Hint(ofPart+"*", core.Nothing),
}, core.Within(core.CachePart,
	core.Hint(ofPart+"cache_control.ttl=1h", core.CachePartTTL),
	core.Hint(ofPart+"cache_control.ttl=*", core.Nothing),
), core.Within(core.OtherCachePart,
	core.Hint(ofPart+"prompt_cache_breakpoint.ttl=*", core.Nothing),
), []core.Row{
	core.Hint(ofMessage+"cache_control", core.CachePart),
})

var imageRows = core.Within(core.Image, append(core.MediaRows(inImage),
	core.Structural(ofPart+"image_url", core.Image).Is(strict.File(files.Image)),
	core.Structural(ofPart+"image_url.url=https://*", core.ImageAddress),
	core.Hint(ofPart+"image_url.detail", core.ImageDetail),
	core.Hint(ofPart+"image_url.*", core.Nothing),
)...)

// The fields with contents in bytes, with "%" for the media type.
const (
	inImage = ofPart + "image_url.url=data:%;base64,*"
	inFile  = ofPart + "file.file_data=data:%;base64,*"
	inAudio = ofPart + "audio_url.url=data:%;base64,*"
	inVideo = ofPart + "video_url.url=data:%;base64,*"
	inSound = ofPart + "input_audio.format" // with a word in place of the type
)

var recordingRows = slices.Concat(core.MediaRows(inAudio), core.MediaRows(inVideo), core.SoundRows(inSound), []core.Row{
	core.Structural(ofPart+"input_audio", core.Sound).Is(strict.File(files.Audio)).As(inSound),
	core.Structural(ofPart+"input_audio.data", core.Sound).As(inSound),
	core.Structural(ofPart+"audio_url", core.Sound).Is(strict.File(files.Audio)).As(ofPart + "audio_url.url"),
	core.Structural(ofPart+"audio_url.url=https://*", core.RecordingAddress),
	core.Structural(ofPart+"video_url", core.Video).Is(strict.File(files.Video)).As(ofPart + "video_url.url"),
	core.Structural(ofPart+"video_url.url=https://*", core.RecordingAddress),
})

var fileRows = core.Within(core.Document, append(core.MediaRows(inFile),
	core.Structural(ofPart+"file", core.Document).Is(strict.File(files.PDF)),
	core.Structural(ofPart+"file.file_id", core.FileReference),
	core.Structural(ofPart+"file.filename", core.Document),
	core.Hint(ofPart+"file.*", core.Nothing),
)...)

// The rows of decisions that the reader takes itself.
var (
	imagesRow          = rows.Named(`modalities=["text","image"]`)
	imagesAloneRow     = rows.Named(`modalities=["image"]`)
	otherModalityRow   = rows.Named("modalities=*")
	secondUserRow      = rows.Named("user+safety_identifier")
	namedChoiceRow     = rows.Named("tool_choice.type=function")
	choiceNameRow      = rows.Named("tool_choice.function.name")
	unknownChoiceRow   = rows.Named("tool_choice.type=*")
	foreignAllowedRow  = rows.Named("tool_choice.allowed_tools.tools[*].type=*")
	freeAllowedRow     = rows.Named("tool_choice.allowed_tools.tools[*].type=custom")
	missingAllowedRow  = rows.Named("tool_choice.allowed_tools.tools[*].function.name=*")
	unknownGrammarRow  = rows.Named("tools[*].custom.format.type=*")
	firstTextRow       = rows.Named("messages[0].content")
	unknownToolRow     = rows.Named("tools[*].type=*")
	unknownRoleRow     = rows.Named(ofMessage + "role=*")
	markedMessageRow   = rows.Named(ofMessage + "cache_control")
	emptyUserRow       = rows.Named(ofMessage + "role=user+content=[]")
	emptyTurnRow       = rows.Named(ofMessage + "content=[]")
	functionCallRow    = rows.Named(ofMessage + "function_call")
	spokenAnswerRow    = rows.Named(ofMessage + "audio")
	reasoningRow       = rows.Named(ofMessage + "reasoning")
	reasoningTextRow   = rows.Named(ofMessage + "reasoning_content")
	foreignSealRow     = rows.Named(ofThinking + "signature=" + seal.Item + "*")
	unknownThoughtRow  = rows.Named(ofThinking + "type=*")
	unsignedThoughtRow = rows.Named(ofThinking + "type=thinking+signature=null")
	emptyThoughtRow    = rows.Named(ofThinking + "type=redacted_thinking+data=null")
	unknownCallRow     = rows.Named(ofCall + "type=*")
	unknownExtraRow    = rows.Named(ofCall + "extra_content=*")
	unknownPartRow     = rows.Named(ofPart + "type=*")
	loneTopLogprobsRow = rows.Named("logprobs=false+top_logprobs")
	addressRows        = map[string]*core.Row{
		"image_url": rows.Named(ofPart + "image_url.url=https://*"),
		"audio_url": rows.Named(ofPart + "audio_url.url=https://*"),
		"video_url": rows.Named(ofPart + "video_url.url=https://*"),
	}
)

// The members of the objects that the reader reads.
var (
	messageMembers = rows.Members("messages[*]")
	thoughtMembers = rows.Members("messages[*].thinking_blocks[*]")
	partMembers    = rows.Members("messages[*].content[*]")
	fileMembers    = map[string]*strict.Table{
		"image_url":   rows.Members(ofPart + "image_url"),
		"file":        rows.Members(ofPart + "file"),
		"input_audio": rows.Members(ofPart + "input_audio"),
		"audio_url":   rows.Members(ofPart + "audio_url"),
		"video_url":   rows.Members(ofPart + "video_url"),
	}
	callMembers     = rows.Members("messages[*].tool_calls[*]")
	functionCall    = rows.Members(ofCall + "function")
	freeCall        = rows.Members(ofCall + "custom")
	toolMembers     = rows.Members("tools[*]")
	functionMembers = rows.Members("tools[*].function")
	freeToolMembers = rows.Members("tools[*].custom")
	textFormats     = rows.Members("tools[*].custom.format")
	grammarMembers  = rows.Members("tools[*].custom.format.grammar")
	choiceMembers   = rows.Members("tool_choice")
	chosenMembers   = rows.Members("tool_choice.function")
	allowedMembers  = rows.Members("tool_choice.allowed_tools")
	allowedTool     = rows.Members(allowedPath + "[*]")
	formatMembers   = rows.Members("response_format")
)

// The fields with contents in bytes.
var (
	imageData = rows.MediaField(inImage)
	fileData  = rows.MediaField(inFile)
	audioData = rows.MediaField(inAudio)
	videoData = rows.MediaField(inVideo)
	soundData = rows.SoundField(inSound)
)
