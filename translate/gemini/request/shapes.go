package request

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/schema"

// The members of the objects in a request. Clients write them in camel case or in snake case.
var (
	contentMembers = schema.New("role parts").InSnakeCase()
	partMembers    = schema.New(
		"text thought thoughtSignature inlineData fileData functionCall functionResponse executableCode " +
			"codeExecutionResult toolCall toolResponse videoMetadata mediaResolution partMetadata",
	).InSnakeCase()
	blobMembers     = schema.New("mimeType data displayName").InSnakeCase()
	fileMembers     = schema.New("mimeType fileUri displayName").InSnakeCase()
	callMembers     = schema.New("id name args").InSnakeCase()
	resultMembers   = schema.New("id name response parts willContinue scheduling").InSnakeCase()
	thinkingMembers = rows.Members(thinking)
	choiceMembers   = rows.Members("toolConfig")
	callingMembers  = rows.Members("toolConfig.functionCallingConfig")
	toolMembers     = rows.Members("tools[*]")
	functionMembers = rows.Members("tools[*].functionDeclarations[*]")
	requestMembers  = schema.New("model contents systemInstruction tools toolConfig generationConfig safetySettings generateContentRequest").InSnakeCase()
	configMembers   = rows.Members(config)
)

// hostedTools are the tools that the service itself has.
const hostedTools = "googleSearch googleSearchRetrieval urlContext codeExecution computerUse fileSearch googleMaps enterpriseWebSearch mcpServers retrieval"

// dataMembers are the members of a part of which it has one at most.
var dataMembers = [...]string{
	"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse",
}
