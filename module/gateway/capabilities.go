package gateway

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// serveCapabilities lists the models that the key may use. For each model and each format
// of clients, it shows which fields of a request are kept, changed or lost.
func (h *Handler) serveCapabilities(to *reply.Reply, r *http.Request) *fault.Fault {
	body := []byte(`{"object":"list","data":[`)
	for i, name := range h.visible(to.Exchange.Key, r) {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, `{"model":`...)
		body = jsonscan.AppendString(body, name)
		body = append(body, `,"formats":`...)
		body = append(append(body, h.resolved.catalog.Model(name).Capabilities...), '}')
	}
	to.WriteJSON(append(body, "]}"...))
	return nil
}
