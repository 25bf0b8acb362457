package request

import (
	"math"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// rows are the fields of gemini requests. Clients write members in camel case or in snake case.
var rows = core.NewRows(strict.Brackets, slices.Concat(
	fieldRows(), optionRows, samplingRows, formatRows, thinkingRows, toolRows, choiceRows, partRows, callRows, mediaRows,
)...).InSnakeCase()

// fields are those that the strict pass checks.
var fields = rows.Fields()

// ofConfig, ofThinking and ofPart are the beginnings of the names of rows about the options, about
// thinking, and about parts.
const (
	config     = "generationConfig"
	ofConfig   = config + "."
	thinking   = ofConfig + "thinkingConfig"
	ofThinking = thinking + "."
	part       = "contents[*].parts[*]"
	ofPart     = part + "."
)

// wrapped is the member with the whole request in a request to count tokens.
const wrapped = "generateContentRequest"

// fieldRows are the fields in the order in which faults are reported, also of a request in a request.
func fieldRows() []core.Row {
	prefix := wrapped + "."
	return slices.Concat([]core.Row{
		core.Member("model").Is(strict.Model),
	}, requestRows(""), []core.Row{
		core.Member("cachedContent").Is(checkCached),
		core.Member("serviceTier").Is(strict.Tier),
		core.Member("labels").Is(strict.Map),
		core.Member(wrapped).Is(strict.Object),
		core.Member(prefix + "model").Is(checkModelOf),
		core.Member(prefix + wrapped).Is(strict.Object).Like(wrapped),
	}, requestRows(prefix))
}

// requestRows are the fields of a request whose names begin with prefix.
func requestRows(prefix string) []core.Row {
	return []core.Row{
		core.Member(prefix + "contents").Is(checkContents).Like("contents[*]"),
		core.Member(prefix + "systemInstruction").Is(strict.Object).Like("systemInstruction"),
		core.Member(prefix + config).Is(strict.Object).Like(config),
		core.Member(prefix + "tools").Is(strict.Objects).Like("tools[*]"),
		core.Member(prefix + "toolConfig").Is(strict.Object).Like("toolConfig"),
		core.Member(prefix + "safetySettings").Is(strict.Objects).Like("safetySettings[*]"),
	}
}

var optionRows = []core.Row{
	core.Structural("contents", core.Conversation),
	core.Structural("model", core.Model),
	core.Structural(ofConfig+"maxOutputTokens", core.MaxTokens).Is(strict.MaxTokens(math.MaxInt32)),
	core.Structural(ofConfig+"maxOutputTokens=...", core.LongMaxTokens),
	core.Structural(ofConfig+"maxOutputTokens=1", core.ShortMaxTokens),
	core.Hint(ofConfig+"maxOutputTokens=null", core.NoMaxTokens).As(ofConfig + "maxOutputTokens"),
	core.Structural(ofConfig+"candidateCount", core.Samples).Is(strict.Answers(math.MaxInt32)),
	core.Structural(ofConfig+"stopSequences", core.Stops).Is(strict.Texts),
	core.Structural(ofConfig+`stopSequences=[""]`, core.EmptyStop).As(ofConfig + "stopSequences[*]"),
	core.Structural(ofConfig+"responseLogprobs", core.Logprobs).Is(strict.Flag).OrNothing(),
	core.Structural(ofConfig+"logprobs", core.TopLogprobs).Is(strict.Integer).As(ofConfig + "responseLogprobs"),
	core.Structural(ofConfig+"responseLogprobs=false+"+ofConfig+"logprobs", core.TopLogprobsAlone).OrNothing(),
	core.Hint(ofConfig+"mediaResolution", core.Nothing),
	core.Hint(ofConfig+"enableEnhancedCivicAnswers", core.Nothing).OrNothing(),
	core.Structural(ofConfig+"speechConfig", core.Nothing).OrNothing(),
	core.Structural(ofConfig+"imageConfig", core.Nothing).OrNothing(),
	core.Hint(ofConfig+"*", core.Nothing),
	core.Member("safetySettings[*].category").Is(strict.Text),
	core.Member("safetySettings[*].threshold").Is(strict.Text),
	core.Member("safetySettings[*].method").Is(strict.Text),
	core.Hint("safetySettings[*].threshold=BLOCK_NONE", core.Nothing).As("safetySettings"),
	core.Hint("safetySettings[*].threshold=OFF", core.Nothing).As("safetySettings"),
	core.Shaping("safetySettings[*].threshold=*", core.Nothing).As("safetySettings"),
	core.Structural("cachedContent", core.Nothing).OrNothing(),
	core.Structural("continuationToken", core.Nothing).OrNothing(),
	core.Structural("modelArmorConfig", core.Nothing).OrNothing(),
	core.Hint("serviceTier=standard", core.TierStandard),
	core.Hint("serviceTier=flex", core.TierFlex),
	core.Hint("serviceTier=priority", core.TierPriority),
	core.Hint("serviceTier=*", core.TierOther),
	core.Hint("labels", core.Nothing),
	core.Hint("store", core.Nothing).OrNothing(),
	core.Hint("*", core.Nothing),
}

// samplingRows are the rows about sampling. Agents send the defaults of the service with every
// request, which means no more than none.
var samplingRows = []core.Row{
	core.Shaping(ofConfig+"temperature", core.Temperature).Is(strict.Between(0, 2)),
	core.Hint(ofConfig+"temperature=1", core.Temperature),
	core.Shaping(ofConfig+"temperature=2", core.HighTemperature),
	core.Shaping(ofThinking+"thinkingLevel+"+ofConfig+"temperature", core.TemperatureBesideReasoning),
	core.Shaping(ofConfig+"topP", core.TopP).Is(strict.Number),
	core.Hint(ofConfig+"topP=0.95", core.TopP),
	core.Shaping(ofConfig+"temperature+"+ofConfig+"topP", core.TopPBesideTemperature),
	core.Shaping(ofThinking+"thinkingLevel+"+ofConfig+"topP", core.TopPBesideReasoning),
	core.Shaping(ofConfig+"topK", core.TopK).Is(strict.Integer),
	core.Hint(ofConfig+"topK=64", core.TopK),
	core.Shaping(ofThinking+"thinkingLevel+"+ofConfig+"topK", core.TopKBesideReasoning),
	core.Shaping(ofConfig+"seed", core.Seed).Is(strict.Integer),
	core.Shaping(ofConfig+"presencePenalty", core.PresencePenalty).Is(strict.Number).OrNothing(),
	core.Shaping(ofConfig+"frequencyPenalty", core.FrequencyPenalty).Is(strict.Number).OrNothing(),
}

var formatRows = slices.Concat([]core.Row{
	core.Member(ofConfig + "responseMimeType").Is(strict.Text),
	core.Structural(ofConfig+"responseMimeType=text/plain", core.FormatText),
	core.Structural(ofConfig+"responseMimeType="+asJSON, core.FormatObject),
	core.Structural(ofConfig+"responseMimeType=*", core.Nothing),
	core.Structural(ofConfig+"responseMimeType="+asJSON+"+"+ofConfig+"responseSchema", core.FormatSchema).As(ofConfig + "responseSchema"),
	core.Structural(ofConfig+"responseMimeType="+asJSON+"+"+ofConfig+"responseJsonSchema", core.FormatSchema).As(ofConfig + "responseJsonSchema"),
	core.Structural(ofConfig+"responseSchema", core.Schema).Is(strict.WantOptions),
	core.Structural(ofConfig+"responseJsonSchema", core.Schema).Is(strict.WantOptions).Without("responseSchema"),
	core.Structural(ofConfig+"responseFormat", core.Nothing).OrNothing(),
	core.Member(ofConfig + "responseModalities").Is(strict.Texts),
	core.Structural(ofConfig+`responseModalities=["TEXT"]`, core.Content),
	core.Structural(ofConfig+`responseModalities=["TEXT","IMAGE"]`, core.Images),
	core.Structural(ofConfig+`responseModalities=["IMAGE"]`, core.ImagesAlone),
	core.Structural(ofConfig+"responseModalities=*", core.Nothing),
}, core.Within(core.Schema,
	core.Hint(ofConfig+"responseSchema.propertyOrdering", core.Nothing),
))

// thinkingRows are the rows about thinking. A budget becomes the effort of its size.
var thinkingRows = []core.Row{
	core.Member(thinking).Is(strict.Object),
	core.Hint(ofThinking+"includeThoughts", core.ReasoningShown).Is(strict.Flag),
	core.Hint(ofThinking+"includeThoughts=false", core.ReasoningHidden),
	core.Member(ofThinking + "thinkingLevel").Is(strict.Text).Without("thinkingBudget"),
	core.Shaping(ofThinking+"thinkingLevel=minimal", core.EffortMinimal),
	core.Shaping(ofThinking+"thinkingLevel=low", core.EffortLow),
	core.Shaping(ofThinking+"thinkingLevel=medium", core.EffortMedium),
	core.Shaping(ofThinking+"thinkingLevel=high", core.EffortHigh),
	core.Shaping(ofThinking+"thinkingLevel=xhigh", core.EffortXHigh),
	core.Shaping(ofThinking+"thinkingLevel=*", core.EffortOther),
	core.Member(ofThinking + "thinkingBudget").Is(checkBudget),
	core.Hint(ofThinking+"thinkingBudget=-1", core.ReasoningAdaptive),
	core.Shaping(ofThinking+"thinkingBudget=0", core.EffortNone),
	core.Shaping(ofThinking+"thinkingBudget=1024", core.EffortLow),
	core.Shaping(ofThinking+"thinkingBudget=4096", core.EffortMedium),
	core.Shaping(ofThinking+"thinkingBudget=16384", core.EffortHigh),
	core.Shaping(ofThinking+"thinkingBudget=32768", core.EffortXHigh),
	core.Hint(ofThinking+"*", core.Nothing),
}

var toolRows = slices.Concat([]core.Row{
	core.Structural("tools", core.FunctionTool),
	core.Hint("toolConfig.functionCallingConfig.mode=NONE+tools", core.UnusedTools),
}, core.Within(core.FunctionTool,
	core.Structural("tools[*].functionDeclarations", core.FunctionTool).Is(strict.Objects).As("tools"),
	core.Structural(ofFunction+"name", core.FunctionTool).Is(strict.Text).Must(jsonscan.String),
	core.Structural(ofFunction+"description", core.FunctionTool).Is(strict.Text),
	core.Structural(ofFunction+"parameters", core.ToolSchema),
	core.Structural(ofFunction+"parametersJsonSchema", core.ToolSchema).Without("parameters"),
	core.Member(ofFunction+"response"),
	core.Hint(ofFunction+"response", core.Nothing),
	core.Member(ofFunction+"responseJsonSchema"),
	core.Hint(ofFunction+"responseJsonSchema", core.Nothing),
	core.Structural(ofFunction+"behavior=NON_BLOCKING", core.Nothing).As(ofFunction+"behavior"),
	core.Hint(ofFunction+"*", core.Nothing),
	core.Structural("tools[*].googleSearch", core.VendorTool).Is(countSearches),
	core.Structural("tools[*].googleSearchRetrieval", core.VendorTool).Is(countSearches),
	core.Structural("tools[*].urlContext", core.VendorTool),
	core.Structural("tools[*].codeExecution", core.VendorTool),
	core.Structural("tools[*].computerUse", core.VendorTool),
	core.Structural("tools[*].fileSearch", core.VendorTool).Is(checkStores),
	core.Structural("tools[*].googleMaps", core.VendorTool).Is(countSearches),
	core.Structural("tools[*].enterpriseWebSearch", core.VendorTool).Is(countSearches),
	core.Structural("tools[*].mcpServers", core.VendorTool),
	core.Structural("tools[*].retrieval", core.VendorTool).Is(checkStores),
	core.Hint("tools[*].*", core.Nothing),
))

const (
	function   = "tools[*].functionDeclarations[*]"
	ofFunction = function + "."
	calling    = "toolConfig.functionCallingConfig"
	ofChoice   = calling + "."
)

var choiceRows = slices.Concat([]core.Row{
	core.Shaping("tools=[]+"+ofChoice+"mode=ANY", core.ToolChoiceWithoutTools).As(ofChoice + "mode"),
	core.Structural(ofChoice+"mode=*", core.Nothing),
	core.Member(calling).Is(strict.Object),
	core.Member("toolConfig.retrievalConfig"),
	core.Hint("toolConfig.retrievalConfig", core.Nothing),
	core.Member("toolConfig.includeServerSideToolInvocations"),
	core.Hint("toolConfig.*", core.Nothing),
}, core.Within(core.FunctionTool,
	core.Member(ofChoice+"mode").Is(strict.Text),
	core.Structural(ofChoice+"mode=AUTO", core.ToolChoiceAuto),
	core.Structural(ofChoice+"mode=VALIDATED", core.ToolChoiceAuto),
	core.Shaping("tools+"+ofChoice+"mode=VALIDATED", core.ToolStrict).As(ofChoice+"mode"),
	core.Structural(ofChoice+"mode=ANY", core.ToolChoiceRequired),
	core.Structural(ofChoice+`mode=ANY+`+ofChoice+`allowedFunctionNames=["f"]`, core.ToolChoiceNamed).As(ofChoice+"allowedFunctionNames"),
	core.Structural(ofChoice+`allowedFunctionNames=["f"]`, core.ToolChoiceName).As(ofChoice+"allowedFunctionNames"),
	core.Structural(ofChoice+"allowedFunctionNames", core.ToolChoiceAllowed).Is(strict.Texts),
	core.Structural(ofChoice+"allowedFunctionNames[*]=*", core.Nothing).As(ofChoice+"allowedFunctionNames[*]"),
	core.Hint(ofChoice+"*", core.Nothing),
), core.Within(core.UnusedTools,
	core.Structural(ofChoice+"mode=NONE", core.ToolChoiceNone),
))

var partRows = slices.Concat([]core.Row{
	core.Member("systemInstruction.role").Is(checkAnyRole),
	core.Member("systemInstruction.parts").Is(checkParts).Like(part),
	core.Member("contents[*].role").Is(checkRole),
	core.Member("contents[*].parts").Is(checkParts),
	core.Structural("systemInstruction.parts[*].text", core.SystemText),
	core.Structural("systemInstruction.parts[*]=*", core.Nothing).As("systemInstruction.parts[*]"),
	core.Structural("contents[*].role=user", core.Content),
	core.Structural("contents[*].role=model", core.Content),
	core.Structural("contents[-1].role=model", core.Prefill).As("contents[*]").RefusedBy((*core.RequestInfo).RefusePrefill),
	core.Hint("contents[*].parts=[]", core.EmptyTurn).As("contents[*]"),
	core.Hint("contents[*].*", core.Nothing),
	core.Structural(ofPart+"text", core.TurnText).Is(strict.Text),
	core.Structural(ofPart+"executableCode", core.Nothing),
	core.Structural(ofPart+"codeExecutionResult", core.Nothing),
	core.Structural(ofPart+"toolCall", core.Nothing),
	core.Structural(ofPart+"toolResponse", core.Nothing),
	core.Structural(ofPart+"videoMetadata", core.Nothing),
	core.Structural("contents[*].parts[*]=*", core.Nothing).As("contents[*].parts[*]"),
	core.Member(ofPart + "mediaResolution"),
	core.Hint(ofPart+"mediaResolution", core.Nothing),
	core.Member(ofPart + "partMetadata"),
	core.Hint(ofPart+"partMetadata", core.Nothing),
	core.Hint(ofPart+"*", core.Nothing),
	core.Hint(ofPart+"thought", core.UnsignedReasoning).Is(strict.Flag).As(ofPart + "text"),
	core.Hint(ofPart+"thoughtSignature", core.Nothing).Is(checkSignature),
}, core.Within(core.Prefill,
	core.Shaping(`contents[-1].role=model+parts[*].text=" "`, core.PrefillSpace).As(ofPart+"text"),
))

var callRows = slices.Concat([]core.Row{
	core.Structural(ofPart+"functionCall", core.ToolCall).Is(strict.Object),
	core.Structural(ofPart+"functionResponse", core.ToolResult).Is(strict.Object),
}, core.Within(core.ToolCall,
	core.Structural(ofPart+"functionCall.name", core.ToolCall).Must(jsonscan.String).As(ofPart+"functionCall"),
	core.Structural(ofPart+"functionCall.id", core.ToolCall).May(jsonscan.String).As(ofPart+"functionCall"),
	core.Structural(ofPart+"functionCall.args", core.ToolCall).May(jsonscan.Object).As(ofPart+"functionCall"),
	core.Hint(ofPart+"functionCall.*", core.Nothing),
	core.Hint(ofPart+"functionCall+thoughtSignature", core.Signature).As(ofPart+"thoughtSignature"),
	core.Hint(ofPart+"functionCall+thoughtSignature=redacted", core.RedactedReasoning).As(ofPart+"thoughtSignature"),
	core.Hint(ofPart+"functionCall+thoughtSignature=encrypted", core.EncryptedReasoning).As(ofPart+"thoughtSignature"),
	core.Shaping("contents[*].parts=[functionCall,text]", core.TextBehindCall).As(ofPart+"text"),
), core.Within(core.ToolResult,
	core.Structural(ofPart+"functionResponse.name", core.ToolResult).Must(jsonscan.String).As(ofPart+"functionResponse"),
	core.Structural(ofPart+"functionResponse.id", core.ToolResult).May(jsonscan.String).As(ofPart+"functionResponse"),
	core.Structural(ofPart+"functionResponse.response", core.ToolResult).May(jsonscan.Object).As(ofPart+"functionResponse"),
	core.Structural(ofPart+"functionResponse.response.error", core.ErrorResult),
	core.Structural(ofPart+"functionResponse.parts", core.ToolResult).Is(checkParts).Like(part).As(ofPart+"functionResponse"),
	core.Structural(ofPart+"functionResponse.willContinue", core.Nothing).Is(strict.Flag).OrNothing(),
	core.Hint(ofPart+"functionResponse=...", core.Nothing).As(ofPart+"functionResponse"),
	core.Member(ofPart+"functionResponse.scheduling"),
	core.Hint(ofPart+"functionResponse.scheduling", core.Nothing),
	core.Hint(ofPart+"functionResponse.*", core.Nothing),
	core.Shaping("contents[*].parts=[text,functionResponse]", core.TextBeforeResult).As(ofPart+"text"),
))

// mediaRows are the rows about images and documents.
var mediaRows = append(core.MediaRows(inline, ofPart+"inlineData"),
	core.Member(ofPart+"inlineData").Is(checkBlob),
	core.Member(ofPart+"inlineData.mimeType").Is(strict.MediaType).Must(jsonscan.String),
	core.Member(ofPart+"inlineData.data").Is(strict.Data).Must(jsonscan.String),
	core.Member(ofPart+"inlineData.displayName"),
	core.Member(ofPart+"fileData").Is(checkFile),
	core.Member(ofPart+"fileData.mimeType").Is(strict.MediaType),
	core.Member(ofPart+"fileData.fileUri").Is(checkAddress).Must(jsonscan.String),
	core.Member(ofPart+"fileData.displayName"),
	core.Structural(ofPart+"fileData.mimeType=image/png", core.ImageAddress).As(ofPart+"fileData"),
	core.Structural(ofPart+"fileData.mimeType=application/pdf", core.FileAddress).As(ofPart+"fileData"),
	core.Structural(ofPart+"fileData.mimeType=video/mp4", core.RecordingAddress).As(ofPart+"fileData"),
	core.Structural(ofPart+"fileData.mimeType=*", core.Nothing).As(ofPart+"fileData"),
	core.Structural(ofPart+"fileData.fileUri=*", core.Nothing),
)

// inline is the field with contents in bytes, with "%" for the media type.
const inline = ofPart + "inlineData.mimeType=%"

// asJSON is the media type of answers that are JSON.
const asJSON = "application/json"

// The rows of decisions that the reader takes itself.
var (
	systemPartRow      = rows.Named("systemInstruction.parts[*]=*")
	unknownPartRow     = rows.Named("contents[*].parts[*]=*")
	thoughtRow         = rows.Named(ofPart + "thought")
	signatureRow       = rows.Named(ofPart + "thoughtSignature")
	sealedRow          = rows.Named(ofPart + "functionCall+thoughtSignature")
	continuedRow       = rows.Named(ofPart + "functionResponse.willContinue")
	repeatedRow        = rows.Named(ofPart + "functionResponse=...")
	inlineData         = rows.MediaField(inline)
	unknownFileRow     = rows.Named(ofPart + "fileData.mimeType=*")
	unknownAddressRow  = rows.Named(ofPart + "fileData.fileUri=*")
	imagesRow          = rows.Named(ofConfig + `responseModalities=["TEXT","IMAGE"]`)
	imagesAloneRow     = rows.Named(ofConfig + `responseModalities=["IMAGE"]`)
	otherModalityRow   = rows.Named(ofConfig + "responseModalities=*")
	orderingRow        = rows.Named(ofConfig + "responseSchema.propertyOrdering")
	usualTemperature   = rows.Named(ofConfig + "temperature=1")
	usualTopP          = rows.Named(ofConfig + "topP=0.95")
	usualTopK          = rows.Named(ofConfig + "topK=64")
	loneTopLogprobsRow = rows.Named(ofConfig + "responseLogprobs=false+" + ofConfig + "logprobs")
	jsonSchemaRow      = rows.Named(ofFunction + "parametersJsonSchema")
	validatedRow       = rows.Named(ofChoice + "mode=VALIDATED")
	namedChoiceRow     = rows.Named(ofChoice + `mode=ANY+` + ofChoice + `allowedFunctionNames=["f"]`)
	choiceNameRow      = rows.Named(ofChoice + `allowedFunctionNames=["f"]`)
	missingAllowedRow  = rows.Named(ofChoice + "allowedFunctionNames[*]=*")
	blockingTool       = rows.Named(ofFunction + "behavior=NON_BLOCKING")
)

// The members of the objects that the reader reads.
var (
	requestMembers  = rows.Members(wrapped)
	contentMembers  = rows.Members("contents[*]")
	partMembers     = rows.Members(part)
	blobMembers     = rows.Members(ofPart + "inlineData")
	fileMembers     = rows.Members(ofPart + "fileData")
	callMembers     = rows.Members(ofPart + "functionCall")
	resultMembers   = rows.Members(ofPart + "functionResponse")
	configMembers   = rows.Members(config)
	thinkingMembers = rows.Members(thinking)
	toolMembers     = rows.Members("tools[*]")
	functionMembers = rows.Members(function)
	choiceMembers   = rows.Members("toolConfig")
	callingMembers  = rows.Members(calling)
)
