package openai

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// Models writes lists of models.
var Models = format.Models{Append: appendModel, AppendList: appendModels}

// appendModel appends one model. The format has no members for the display name and
// the sizes; the members written here are those of services that extend it.
func appendModel(dst []byte, m modelcard.Card) []byte {
	dst = append(dst, `{"id":`...)
	dst = jsonscan.AppendString(dst, m.ID)
	dst = jsonscan.AppendCount(dst, `,"object":"model","created":`, m.Created)
	dst = append(dst, `,"owned_by":`...)
	dst = jsonscan.AppendString(dst, cmp.Or(m.OwnedBy, "gateway"))
	if m.DisplayName != "" {
		dst = append(dst, `,"name":`...)
		dst = jsonscan.AppendString(dst, m.DisplayName)
	}
	dst = modelcard.AppendSize(dst, `,"context_length":`, m.ContextTokens)
	dst = modelcard.AppendSize(dst, `,"max_completion_tokens":`, m.OutputTokens)
	return append(dst, '}')
}

// appendModels appends the list. The format has no pagination.
func appendModels(dst []byte, models []modelcard.Card, _ bool) []byte {
	dst = append(dst, `{"object":"list","data":[`...)
	for i := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendModel(dst, models[i])
	}
	return append(dst, "]}"...)
}
