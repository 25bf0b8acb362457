package objects

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// nouns are the kinds of objects by the words of the tables below. A kind has several beginnings if
// vendors differ.
var nouns = map[string][]string{
	"response":      {seal.ResponseID},
	"conversation":  {seal.ConversationID},
	"completion":    {seal.CompletionID},
	"file":          {seal.FileID, seal.ClaudeFileID},
	"upload":        {seal.UploadID},
	"batch":         {seal.BatchID},
	"messagebatch":  {seal.MessageBatchID},
	"store":         {seal.VectorStoreID},
	"filebatch":     {seal.FileBatchID},
	"container":     {seal.ContainerID, seal.ClaudeContainerID},
	"containerfile": {seal.ContainerFileID},
	"tuning":        {seal.FineTuningID},
	"video":         {seal.VideoID},
	"skill":         {seal.SkillID},
}

// KindOf returns the kind that an id begins with, "" for none.
func KindOf(id string) string {
	for _, kinds := range nouns {
		for _, kind := range kinds {
			if strings.HasPrefix(id, kind) {
				return kind
			}
		}
	}
	return ""
}

// references are the members that contain ids of other objects, or lists of them, with the noun of an
// id that does not begin as any kind; "" for members that contain other words as well, which name nothing of
// an account. Names are in lower case.
var references = map[string]string{
	"id": "", "first_id": "", "last_id": "", "skill_id": "", "container": "", "conversation": "",

	"previous_response_id": "response", "response_id": "response", "conversation_id": "conversation", "completion_id": "completion",
	"file": "", "file_id": "file", "file_ids": "file", "input_file_id": "file", "output_file_id": "file", "error_file_id": "file",
	"training_file": "file", "validation_file": "file", "result_files": "file", "image_file_id": "file", "file_batch_id": "filebatch",
	"upload_id": "upload", "batch_id": "", "vector_store_id": "store", "vector_store_ids": "store", "container_id": "container",
	"fine_tuning_job_id": "tuning", "video": "", "video_id": "video", "remixed_from_video_id": "video",
}

// IsReference reports whether the name of a part of a form, in lower case, is that of a member that
// contains ids, or such a member is in it: input_reference[file_id].
func IsReference(name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(name, func(c rune) bool { return c == '[' || c == ']' }), func(piece string) bool {
		_, known := references[piece]
		return known
	})
}

// data are the members whose value is what users and models write, or schemas, so that no name in it
// means an id. Lists of them are read.
var data = map[string]bool{
	"metadata": true, "attributes": true, "parameters": true, "schema": true, "input_schema": true, "json_schema": true, "input": true,
	"arguments": true, "args": true,
}
