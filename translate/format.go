package translate

// Format names a wire format: the shape of a request, of its answer and of
// the answer's stream.
type Format string

// The formats. Their full description stands in the package of each.
const (
	Messages    Format = "messages"    // POST /v1/messages
	Chat        Format = "chat"        // POST /v1/chat/completions
	Completions Format = "completions" // POST /v1/completions
)

// Formats lists every format, in the order in which documentation shows them.
var Formats = []Format{Messages, Chat, Completions}

// Valid reports whether f is one of Formats.
func (f Format) Valid() bool {
	return f == Messages || f == Chat || f == Completions
}
