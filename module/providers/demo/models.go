package demo

import (
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

type chatModel struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

type messagesModel struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
}

func (x *exchange) names() []string {
	if len(x.engine.models) == 0 {
		return []string{"demo"}
	}
	return x.engine.models
}

// model is the card of one model in the shape of the exchange's format.
func (x *exchange) model(name string) any {
	if x.route.format == translate.Messages {
		return messagesModel{"model", name, name, "1970-01-01T00:00:00Z"}
	}
	return chatModel{ID: name, Object: "model", OwnedBy: "demo"}
}

func (x *exchange) listModels() {
	names := x.names()
	data := make([]any, len(names))
	for i, name := range names {
		data[i] = x.model(name)
	}
	if x.route.format != translate.Messages {
		x.writeJSON(http.StatusOK, struct {
			Object string `json:"object"`
			Data   []any  `json:"data"`
		}{"list", data})
		return
	}
	x.writeJSON(http.StatusOK, struct {
		Data    []any  `json:"data"`
		HasMore bool   `json:"has_more"`
		FirstID string `json:"first_id"`
		LastID  string `json:"last_id"`
	}{data, false, names[0], names[len(names)-1]})
}

func (x *exchange) showModel() {
	wanted := strings.TrimPrefix(x.r.URL.Path, "/v1/models/")
	for _, name := range x.names() {
		if name == wanted {
			x.writeJSON(http.StatusOK, x.model(name))
			return
		}
	}
	x.refuse(unknownModel(wanted))
}
