package messages

import (
	"cmp"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// appendModel appends one model, with members for the sizes.
func appendModel(dst []byte, m modelcard.Card) []byte {
	dst = append(dst, `{"type":"model","id":`...)
	dst = jsonscan.AppendString(dst, m.ID)
	dst = append(dst, `,"display_name":`...)
	dst = jsonscan.AppendString(dst, cmp.Or(m.DisplayName, m.ID))
	dst = append(dst, `,"created_at":"`...)
	dst = time.Unix(m.Created, 0).UTC().AppendFormat(dst, time.RFC3339)
	dst = append(dst, '"')
	dst = modelcard.AppendSize(dst, `,"max_input_tokens":`, m.ContextTokens)
	dst = modelcard.AppendSize(dst, `,"max_tokens":`, m.OutputTokens)
	return append(dst, '}')
}

// appendModels appends a page of models, with the ids by which the next one is asked
// for.
func appendModels(dst []byte, models []modelcard.Card, more bool) []byte {
	first, last := "", ""
	if len(models) > 0 {
		first, last = models[0].ID, models[len(models)-1].ID
	}
	dst = append(dst, `{"data":[`...)
	for i := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendModel(dst, models[i])
	}
	dst = append(dst, `],"has_more":`...)
	dst = strconv.AppendBool(dst, more)
	dst = append(dst, `,"first_id":`...)
	dst = jsonscan.AppendStringOrNull(dst, first)
	dst = append(dst, `,"last_id":`...)
	dst = jsonscan.AppendStringOrNull(dst, last)
	return append(dst, '}')
}
