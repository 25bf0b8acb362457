package request

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
	functionMembers = rows.Members("tools[*].functionDeclarations[*]")
	choiceMembers   = rows.Members("toolConfig")
	callingMembers  = rows.Members("toolConfig.functionCallingConfig")
)

// hostedTools are the tools that the service itself has.
const hostedTools = "googleSearch googleSearchRetrieval urlContext codeExecution computerUse fileSearch googleMaps enterpriseWebSearch mcpServers retrieval"

// dataMembers are the members of a part of which it has one at most.
var dataMembers = [...]string{
	"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse",
}
