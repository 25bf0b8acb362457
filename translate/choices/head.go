package choices

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// AppendHead appends how an answer, and every chunk of one, begins for a client:
// up to its model, without what follows that. What the provider did not say in
// the event that starts its answer is filled in.
func AppendHead(dst []byte, object string, start *translate.Event, ids *translate.IDs) []byte {
	model, created := start.Model, start.Created
	if len(model) == 0 {
		model = []byte(ids.Model)
	}
	if created == 0 {
		created = ids.Created
	}
	dst = append(dst, `{"id":`...)
	dst = jsonscan.AppendString(dst, ids.Message)
	dst = append(dst, `,"object":"`+object+`","created":`...)
	dst = strconv.AppendInt(dst, created, 10)
	dst = append(dst, `,"model":`...)
	return jsonscan.AppendString(dst, model)
}
