package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// capability is what a client of one format can expect of a model: of the first
// target that can serve it.
type capability struct {
	Lane     string           `json:"lane"`     // "bytes" or "translated"
	Upstream translate.Format `json:"upstream"` // what is spoken to the provider
	pairs.Capabilities
}

// The values of capability's Lane.
const (
	laneBytes      = "bytes"
	laneTranslated = "translated"
)

// everything stands for all fields of a request that is relayed as it is.
var everything = pairs.Capabilities{Kept: []string{"*"}, Reported: []string{}, Refused: []string{}}

// serveCapabilities shows, for every model that the key may use and every format of
// clients, what becomes of the fields of a request.
func (h *Handler) serveCapabilities(s *sink.Sink, r *http.Request) *fault.Fault {
	body := []byte(`{"object":"list","data":[`)
	for i, name := range h.visible(s.Exchange().Key, r) {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, `{"model":`...)
		body = jsonscan.AppendString(body, name)
		body = append(body, `,"formats":`...)
		body = append(append(body, h.resolved.model(name).formats...), '}')
	}
	s.WriteJSON(append(body, "]}"...))
	return nil
}

// describe encodes the capabilities of all models, once for models that have the same.
func (r *resolved) describe() {
	shared := make(map[string]json.RawMessage)
	for _, c := range r.claims {
		if c.model.formats != nil { // a model of the global option
			continue
		}
		known, key := c.model.capabilities()
		if shared[key] == nil {
			shared[key], _ = json.Marshal(known) // strings always encode
		}
		c.model.formats = shared[key]
	}
}

// capabilities returns the capabilities of the model by the formats of clients, without
// the formats that no target can serve, and a key: models with the same key have the
// same capabilities.
func (m *model) capabilities() (known map[translate.Format]capability, key string) {
	known = make(map[translate.Format]capability)
	for _, client := range formats.All() {
		for _, t := range m.targets {
			upstream := t.provider.speakFor(client)
			if upstream == nil || !pairs.Possible(client.Name, upstream.Name, t.traits) {
				continue
			}
			known[client.Name] = capabilityOf(client, upstream, t.traits)
			key += fmt.Sprintf("%s %s %+v\n", client, upstream, *t.traits)
			break
		}
	}
	return known, key
}

func capabilityOf(client, upstream *format.Descriptor, traits *trait.Traits) capability {
	if client == upstream {
		return capability{laneBytes, upstream.Name, everything}
	}
	return capability{laneTranslated, upstream.Name, pairs.CapabilitiesOf(client.Name, upstream.Name, traits)}
}
