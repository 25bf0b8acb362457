package answer

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// completions are what the member object is in an answer with the id of a completion.
var completions = []string{"chat.completion", "chat.completion.chunk", "chat.completion.deleted"}

// EditIDs appends the edit that replaces the id of a completion in a JSON answer, or in the data of
// an event. replace appends the text that takes its place.
func EditIDs(edits []edit.Edit, data []byte, names translate.ObjectNames) []edit.Edit {
	var place translate.Span
	var id []byte
	isCompletion := false
	c := jsonscan.New(data)
	for c.OpenObject(); c.Member(); {
		start := c.Offset()
		switch string(c.Name()) {
		case "id":
			id = jsonscan.DecodedOf(c.StringOrSkip())
			place = translate.Span{Start: start, End: c.Offset()}
		case "object":
			isCompletion = slices.Contains(completions, jsonscan.TextOf(c.StringOrSkip()))
		default:
			c.Skip()
		}
	}
	if !isCompletion || len(id) == 0 {
		return edits
	}
	return append(edits, edit.Edit{Span: place, With: jsonscan.AppendString(nil, names.ID(nil, seal.CompletionID, id))})
}
