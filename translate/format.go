package translate

// Format is the name of a wire format: of requests, answers and event streams.
type Format string

// The formats. Package formats describes them.
const (
	Messages    Format = "messages"    // POST /v1/messages
	Chat        Format = "chat"        // POST /v1/chat/completions
	Completions Format = "completions" // POST /v1/completions
	Responses   Format = "responses"   // POST /v1/responses
	Gemini      Format = "gemini"      // POST /v1beta/models/{model}:generateContent
	Converse    Format = "converse"    // of providers only: model/{model}/converse
)
