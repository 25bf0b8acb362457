package translate

// Operation is what a client wants done with a request body.
type Operation uint8

// The operations.
const (
	Generate    Operation = iota // write an answer
	CountTokens                  // only count the input, such as POST /v1/messages/count_tokens
)

// String is the operation's name in logs and metrics.
func (o Operation) String() string {
	if o == CountTokens {
		return "count_tokens"
	}
	return "generate"
}
