package translate

// IDs are the ids, the time and the model that an answer has if the provider states
// none. Translation has no clock and no randomness of its own.
type IDs struct {
	// Message is the id of the answer: the prefix of the client's format
	// ("msg_", "chatcmpl-", "cmpl-") and 24 random base62 characters.
	Message string
	// Created is the time of the answer in Unix seconds.
	Created int64
	// Model is the name of the model that was asked for.
	Model string
	// Begun returns the number of events that the client already has of a stream. It is
	// called before the first event of the answer is written; nil means none.
	Begun func() int64
	// NewToolID returns an id for a tool call: the prefix of the client's format
	// ("toolu_", "call_") and 24 random base62 characters. It is called only for a call
	// without an id.
	NewToolID func() string
}
