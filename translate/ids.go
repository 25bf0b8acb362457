package translate

// IDs are what an answer needs and its translation cannot know: translation
// has no clock and no randomness of its own.
type IDs struct {
	// Message is the id of the answer: the prefix of the client's format
	// ("msg_", "chatcmpl-", "cmpl-") and 24 random base62 characters.
	Message string
	// Created is the time of the answer in Unix seconds, told where the
	// provider tells none.
	Created int64
	// Model is the name that the provider was asked for, told where it does not
	// say which model answers.
	Model string
	// NewToolID returns an id for a tool call to which the provider gave none:
	// the prefix of the client's format ("toolu_", "call_") and 24 random base62
	// characters. It is called only when such a call comes.
	NewToolID func() string
}
