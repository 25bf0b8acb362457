package answer

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// kindsOfObjects are the kinds of the ids of objects, by the member object.
var kindsOfObjects = map[string]string{
	"response": seal.ResponseID, "response.deleted": seal.ResponseID, "response.compaction": seal.ResponseID,
	"conversation": seal.ConversationID, "conversation.deleted": seal.ConversationID,
}

// EditIDs appends the edits that replace the ids of responses and of conversations in a JSON
// answer, or in the data of an event. Ids of items stay: they are many, and requests that name one
// alone are refused.
func EditIDs(edits []edit.Edit, data []byte, names translate.ObjectNames) []edit.Edit {
	c := jsonscan.New(data)
	x := objectEdits{names: names}
	x.object(&c)
	slices.SortFunc(x.edits, func(a, b edit.Edit) int { return a.Start - b.Start })
	return append(edits, x.edits...)
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

type objectEdits struct {
	edits []edit.Edit
	names translate.ObjectNames
}

// object edits the ids of the object at the cursor, and of the response in it, if it is an event.
func (x *objectEdits) object(c *jsonscan.Cursor) {
	var id translate.Span
	kind := ""
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "id":
			id = stringAt(c)
		case "object":
			kind = kindsOfObjects[jsonscan.TextOf(c.StringOrSkip())]
		case "previous_response_id":
			x.edit(c, stringAt(c), seal.ResponseID)
		case "conversation":
			x.conversation(c)
		case "response":
			x.object(c)
		default:
			c.Skip()
		}
	}
	if kind != "" {
		x.edit(c, id, kind)
	}
}

// conversation edits the id of a conversation, which is the value or its member.
func (x *objectEdits) conversation(c *jsonscan.Cursor) {
	if c.Kind() != jsonscan.Object {
		x.edit(c, stringAt(c), seal.ConversationID)
		return
	}
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == "id" {
			x.edit(c, stringAt(c), seal.ConversationID)
		} else {
			c.Skip()
		}
	}
}

// edit replaces the id at a place, which is empty if there is none.
func (x *objectEdits) edit(c *jsonscan.Cursor, place translate.Span, kind string) {
	if id := jsonscan.DecodedOf(c.Document()[place.Start:place.End]); len(id) > 0 {
		x.edits = append(x.edits, edit.Edit{Span: place, With: jsonscan.AppendString(nil, x.names.ID(nil, kind, id))})
	}
}

// stringAt returns the place of the string at the cursor, an empty one for another value.
func stringAt(c *jsonscan.Cursor) translate.Span {
	start := c.Offset()
	return translate.Span{Start: start, End: start + len(c.StringOrSkip())}
}
