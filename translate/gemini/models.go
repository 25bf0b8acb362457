package gemini

import (
	"cmp"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// Models is the shape of lists of models. The token of a page is the last id of the page before.
var Models = format.Models{
	Append:     appendModel,
	AppendList: appendModels,
	Paging:     &format.Paging{Limit: "pageSize", After: "pageToken", Standard: 50, Largest: 1000},
}

// appendModel appends one model, with members for the sizes.
func appendModel(dst []byte, m modelcard.Card) []byte {
	dst = jsonscan.AppendString(append(dst, `{"name":`...), "models/"+m.ID)
	dst = jsonscan.AppendString(append(dst, `,"displayName":`...), cmp.Or(m.DisplayName, m.ID))
	dst = modelcard.AppendSize(dst, `,"inputTokenLimit":`, m.ContextTokens)
	dst = modelcard.AppendSize(dst, `,"outputTokenLimit":`, m.OutputTokens)
	if m.Thinking != nil {
		dst = strconv.AppendBool(append(dst, `,"thinking":`...), len(m.Thinking) > 0)
	}
	return append(dst, `,"supportedGenerationMethods":["generateContent","streamGenerateContent","countTokens"]}`...)
}

// appendModels appends a page of models, with the token of the next one if there is one.
func appendModels(dst []byte, models []modelcard.Card, more bool) []byte {
	dst = append(dst, `{"models":[`...)
	for i := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendModel(dst, models[i])
	}
	dst = append(dst, ']')
	if more && len(models) > 0 {
		dst = jsonscan.AppendString(append(dst, `,"nextPageToken":`...), models[len(models)-1].ID)
	}
	return append(dst, '}')
}
