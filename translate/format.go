package translate

// Format names a wire format: the shape of a request, of its answer and of
// the answer's stream.
type Format string

// The names of the formats. Package formats has what is known of each.
const (
	Messages    Format = "messages"    // POST /v1/messages
	Chat        Format = "chat"        // POST /v1/chat/completions
	Completions Format = "completions" // POST /v1/completions
	Responses   Format = "responses"   // POST /v1/responses; not served yet
)
