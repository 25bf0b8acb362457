package seal

import "strings"

// The kinds of sealed ids, by what the ids of the vendors begin with. A sealed id begins with its
// kind, since clients check it. Ids of one vendor that begin otherwise are sealed whole.
const (
	ResponseID        = "resp_"
	ConversationID    = "conv_"
	CompletionID      = "chatcmpl-"
	FileID            = "file-" // of OpenAI
	ClaudeFileID      = "file_" // of Anthropic
	UploadID          = "upload_"
	BatchID           = "batch_"
	MessageBatchID    = "msgbatch_"
	VectorStoreID     = "vs_"
	FileBatchID       = "vsfb_" // of files that are added to a vector store
	ContainerID       = "cntr_"
	ClaudeContainerID = "container_"
	ContainerFileID   = "cfile_"
	FineTuningID      = "ftjob-"
	VideoID           = "video_"
	SkillID           = "skill_"
	SessionHandle     = "session_" // that resumes a session of the Live API of Gemini, which has no prefix

	// Those of Google are the names of collections: an id is "files/abc".
	GeminiFileID   = "files/"
	GeminiUploadID = "uploads/"
	GeminiBatchID  = "batches/"
)

// Nouns are the words for the objects of each kind, in lower case. Kinds of one noun are those of several
// vendors.
var Nouns = [...]struct{ Kind, Noun string }{
	{ResponseID, "response"}, {ConversationID, "conversation"}, {CompletionID, "chat completion"},
	{FileID, "file"}, {ClaudeFileID, "file"}, {UploadID, "upload"}, {BatchID, "batch"}, {MessageBatchID, "message batch"},
	{VectorStoreID, "vector store"}, {FileBatchID, "file batch"}, {ContainerID, "container"}, {ClaudeContainerID, "container"},
	{ContainerFileID, "container file"}, {FineTuningID, "fine-tuning job"}, {VideoID, "video"}, {SkillID, "skill"}, {SessionHandle, "session"},
	{GeminiFileID, "file"}, {GeminiUploadID, "upload"}, {GeminiBatchID, "batch"},
}

// IsCollection reports whether a kind is the name of a collection, which ends in a slash.
func IsCollection(kind string) bool { return strings.HasSuffix(kind, "/") }

// NameIn returns the id of a kind that an address or a name ends with. An id of a collection is its last
// segment, with the name of the collection; other ids are all of the text.
func NameIn(kind, text string) string {
	if i := strings.LastIndex(text, kind); i >= 0 && IsCollection(kind) {
		return text[i:]
	}
	return text
}

// NounOf returns the noun of a kind.
func NounOf(kind string) string {
	for _, n := range Nouns {
		if n.Kind == kind {
			return n.Noun
		}
	}
	return "object"
}
