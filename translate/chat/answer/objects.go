package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// IDs is where the ids of completions, files, uploads and batches are. The id of a part of an upload names
// nothing without the upload.
var IDs = openai.ObjectIDs{
	Kinds: map[string]string{
		"chat.completion": seal.CompletionID, "chat.completion.chunk": seal.CompletionID, "chat.completion.deleted": seal.CompletionID,
		"file": seal.FileID, "file.deleted": seal.FileID, "upload": seal.UploadID, "batch": seal.BatchID,
	},
	References: map[string]string{
		"upload_id": seal.UploadID, "input_file_id": seal.FileID, "output_file_id": seal.FileID, "error_file_id": seal.FileID,
	},
	Nested: "file", // of an upload
}
