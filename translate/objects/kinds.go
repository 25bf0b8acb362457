package objects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// kindsOf are the kinds of objects by the nouns of the tables below, those of seal.Nouns in one word:
// "chat-completion". A noun has several kinds if the ids of vendors differ.
var kindsOf = func() map[string][]string {
	kinds := make(map[string][]string)
	for _, n := range seal.Nouns {
		word := strings.ReplaceAll(n.Noun, " ", "-")
		kinds[word] = append(kinds[word], n.Kind)
	}
	return kinds
}()

// KindOf returns the kind that an id begins with, in any letter case, "" for none.
func KindOf(id string) string {
	for _, n := range seal.Nouns {
		if len(id) >= len(n.Kind) && strings.EqualFold(id[:len(n.Kind)], n.Kind) {
			return n.Kind
		}
	}
	return ""
}

// references are the members that contain ids of other objects, or lists of them, with the noun of an
// id that does not begin as any kind; "" for members that contain other words as well, which name nothing of
// an account. Names are in lower case; that of a member of another one is behind it.
var references = map[string]string{
	"id": "", "first_id": "", "last_id": "", "skill_id": "skill", "container": "container", "container.id": "container", "conversation": "conversation", "conversation.id": "conversation",

	"previous_response_id": "response", "response_id": "response", "comparison_response_id": "response", "conversation_id": "conversation", "completion_id": "chat-completion",
	"file": "", "file_id": "file", "file_ids": "file", "input_file_id": "file", "output_file_id": "file", "error_file_id": "file",
	"training_file": "file", "validation_file": "file", "result_files": "file", "image_file_id": "file", "file_batch_id": "file-batch",
	"upload_id": "upload", "batch_id": "", "vector_store_id": "vector-store", "vector_store_ids": "vector-store", "container_id": "container",
	"fine_tuning_job_id": "fine-tuning-job", "video": "", "video.id": "video", "video_id": "video", "remixed_from_video_id": "video",
}

// isWord reports whether a text in a member of references is one of the vendor's words, such as "auto" for a
// container and "pptx" for a skill.
func isWord(member, text string) bool {
	switch member {
	case "skill_id", "container", "conversation":
		return !strings.ContainsFunc(text, func(c rune) bool { return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') })
	}
	return false
}

// kindOfMember returns the first kind of the objects whose ids a member of references contains: that of files
// for a member that contains other words as well.
func kindOfMember(name string) string { return kindsOf[cmp.Or(references[name], "file")][0] }

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
	"output_schema": true, "arguments": true, "args": true, "client_metadata": true,
}

// IsData reports whether a member with a name in lower case contains what users and models write, or schemas, unless
// it is a list: names of members in it have no meaning.
func IsData(member string) bool { return data[member] }
