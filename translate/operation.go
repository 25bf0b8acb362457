package translate

// Operation is what a client wants done with a request body.
type Operation uint8

// The operations. Those behind CountTokens are beside text: a request is sent to a provider
// that has the endpoint as it is, and no format translates it. The path of Manage is that of
// the object, and that of Pass any.
const (
	Generate       Operation = iota // write an answer
	CountTokens                     // only count the input, such as POST /v1/messages/count_tokens
	Embed                           // POST /v1/embeddings
	Rerank                          // POST /v1/rerank
	Moderate                        // POST /v1/moderations
	GenerateImages                  // POST /v1/images/generations
	EditImages                      // POST /v1/images/edits
	Transcribe                      // POST /v1/audio/transcriptions
	TranslateAudio                  // POST /v1/audio/translations
	Speak                           // POST /v1/audio/speech
	Decide                          // POST /v1/decisions
	Manage                          // create, read, change or delete an object that the provider stores
	Pass                            // what the gateway does not read: it is passed on as it is
	Batch                           // create a batch of requests, which the provider answers later
)

var operationNames = [...]string{
	"generate", "count_tokens", "embeddings", "rerank", "moderation", "image_generation", "image_edit", "transcription", "audio_translation", "speech", "decision", "object", "pass", "batch",
}

// String is the operation's name in logs, metrics and records.
func (o Operation) String() string { return operationNames[o] }

// Beside reports whether the operation is beside text.
func (o Operation) Beside() bool { return o > CountTokens && o < Manage }
