package answer

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// IDs is where the ids of responses and of conversations are. Ids of items stay: they are many, and
// requests that name one alone are refused.
var IDs = openai.ObjectIDs{
	Kinds: map[string]string{
		"response": seal.ResponseID, "response.deleted": seal.ResponseID, "response.compaction": seal.ResponseID,
		"conversation": seal.ConversationID, "conversation.deleted": seal.ConversationID,
	},
	References: map[string]string{"previous_response_id": seal.ResponseID, "conversation": seal.ConversationID},
	Nested:     "response", // of an event
}

// finalStatuses are the statuses of responses that change no more.
var finalStatuses = []string{"completed", "incomplete", "failed", "cancelled"}

// Ended returns the end of a response whose generation has ended.
func Ended(data []byte) translate.ObjectEnd {
	object, status := "", ""
	c := jsonscan.New(data)
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "object":
			object = jsonscan.TextOf(c.StringOrSkip())
		case "status":
			status = jsonscan.TextOf(c.StringOrSkip())
		default:
			c.Skip()
		}
	}
	return translate.ObjectEnd{Ended: object == "response" && slices.Contains(finalStatuses, status), Failed: status == "failed"}
}
