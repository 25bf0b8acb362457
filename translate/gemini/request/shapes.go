package request

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"

// The members of the objects in a request. Clients write them in camel case or in snake case.
var (
	contentMembers = shape.New("role parts").InSnakeCase()
	partMembers    = shape.New(
		"text thought thoughtSignature inlineData fileData functionCall functionResponse executableCode " +
			"codeExecutionResult toolCall toolResponse videoMetadata mediaResolution partMetadata",
	).InSnakeCase()
	blobMembers     = shape.New("mimeType data displayName").InSnakeCase()
	fileMembers     = shape.New("mimeType fileUri displayName").InSnakeCase()
	callMembers     = shape.New("id name args").InSnakeCase()
	resultMembers   = shape.New("id name response parts willContinue scheduling").InSnakeCase()
	thinkingMembers = shape.New("includeThoughts thinkingBudget thinkingLevel").InSnakeCase()
	choiceMembers   = shape.New("functionCallingConfig retrievalConfig includeServerSideToolInvocations").InSnakeCase()
	callingMembers  = shape.New("mode allowedFunctionNames").InSnakeCase()
	safetyMembers   = shape.New("category threshold method").InSnakeCase()
	toolMembers     = shape.New("functionDeclarations " + hostedTools).InSnakeCase()
	functionMembers = shape.New("name description parameters parametersJsonSchema response responseJsonSchema behavior").InSnakeCase()
	requestMembers  = shape.New("model contents systemInstruction tools toolConfig generationConfig safetySettings generateContentRequest").InSnakeCase()
	configMembers   = shape.New(
		"stopSequences responseMimeType responseSchema responseJsonSchema responseFormat responseModalities candidateCount " +
			"maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs thinkingConfig",
	).InSnakeCase()
)

// hostedTools are the tools that the service itself has.
const hostedTools = "googleSearch googleSearchRetrieval urlContext codeExecution computerUse fileSearch googleMaps enterpriseWebSearch mcpServers retrieval"

// dataMembers are the members of a part of which it has one at most.
var dataMembers = [...]string{
	"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse",
}
