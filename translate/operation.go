package translate

// Operation is what a client wants done with a request body.
type Operation uint8

// The operations. Those behind CountTokens have no translation as texts have: a request is sent as it
// is to a provider that has the endpoint, but for embeddings, which two vendors have alike. Those behind
// Compact are beside text. The path of Manage is that of the object, and that of Pass any.
const (
	Generate       Operation = iota // write an answer
	CountTokens                     // only count the input, such as POST /v1/messages/count_tokens
	Compact                         // shorten a conversation: POST /v1/responses/compact
	EmbedMany                       // the same as Embed, where several requests are in one, as in Gemini's
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
	Realtime                        // a response on a WebSocket of GET /v1/realtime
	Batch                           // create a batch of requests, which the provider answers later
	MCP                             // use a server of the Model Context Protocol, which is no model
	Live                            // a stretch of a conversation on a WebSocket of GET /v1/live/sessions, which costs by time
)

var operationNames = [...]string{
	"generate", "count_tokens", "compaction", "embeddings", "embeddings", "rerank", "moderation", "image_generation", "image_edit", "transcription", "audio_translation", "speech", "decision", "object", "pass", "realtime", "batch", "mcp", "live",
}

// String is the operation's name in logs, metrics and records.
func (o Operation) String() string { return operationNames[o] }

// Beside reports whether the operation is beside text.
func (o Operation) Beside() bool { return o > Compact && o < Manage }

// Untranslated reports whether the operation has no translation as texts have.
func (o Operation) Untranslated() bool { return o > CountTokens && o < Manage }

// Embeds reports whether the answer consists of vectors.
func (o Operation) Embeds() bool { return o == Embed || o == EmbedMany }
