package catalog

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// capability describes how a model serves clients of one format. It is that of the first
// target that can serve them.
type capability struct {
	Lane     string           `json:"lane"`     // "bytes" or "translated"
	Upstream translate.Format `json:"upstream"` // of requests to the provider
	pairs.Capabilities
	LeftOut  []string `json:"left_out"`               // of the request to the provider, by its preset
	Counting string   `json:"count_tokens,omitempty"` // see Target.Counting
}

// described is a Description before it is encoded.
type described struct {
	Formats   any      `json:"formats"`   // by the formats of clients
	Endpoints []string `json:"endpoints"` // beside text
}

// The values of capability's Lane.
const (
	laneBytes      = "bytes"
	laneTranslated = "translated"
)

// everything is the capabilities of the byte lane, which relays all fields.
var everything = pairs.Capabilities{Kept: []string{"*"}, Reported: []string{}, Refused: []string{}}

// Description is what GET /v1/capabilities shows of a model: objects.
type Description struct {
	Fields json.RawMessage // lists of fields
	Counts json.RawMessage // numbers in place of the lists
}

// descriptions are those of all models. They are made at the first call, since few gateways are
// asked, and again when the file with the facts of models has changed.
type descriptions struct {
	mu      sync.Mutex
	content *tables.Content
	all     map[*Model]Description
}

// DescriptionOf returns the description of a model of the catalog.
func (c *Catalog) DescriptionOf(m *Model) Description {
	d := &c.descriptions
	d.mu.Lock()
	defer d.mu.Unlock()
	if content := c.tables.File(); d.all == nil || d.content != content {
		d.content, d.all = content, c.describe()
	}
	return d.all[m]
}

// describe returns the descriptions of all models. Models with the same capabilities share
// one.
func (c *Catalog) describe() map[*Model]Description {
	all, shared := make(map[*Model]Description), make(map[string]Description)
	for _, claim := range c.claims {
		known, key := claim.model.capabilities()
		endpoints := claim.model.endpoints()
		key += strings.Join(endpoints, " ")
		if _, ok := shared[key]; !ok {
			fields, _ := json.Marshal(described{known, endpoints}) // strings always encode
			counts, _ := json.Marshal(described{countsOf(known), endpoints})
			shared[key] = Description{fields, counts}
		}
		all[claim.model] = shared[key]
	}
	return all
}

// counted is a capability with the numbers of its fields.
type counted struct {
	Lane     string           `json:"lane"`
	Upstream translate.Format `json:"upstream"`
	Kept     int              `json:"kept"`
	Reported int              `json:"reported"`
	Refused  int              `json:"refused"`
	LeftOut  int              `json:"left_out"`
	Counting string           `json:"count_tokens,omitempty"`
}

func countsOf(known map[translate.Format]capability) map[translate.Format]counted {
	all := make(map[translate.Format]counted, len(known))
	for client, c := range known {
		all[client] = counted{c.Lane, c.Upstream, len(c.Kept), len(c.Reported), len(c.Refused), len(c.LeftOut), c.Counting}
	}
	return all
}

// capabilities returns the capabilities of the model by the formats of clients, without
// the formats that no target can serve, and a key: models with the same key have the
// same capabilities.
func (m *Model) capabilities() (known map[translate.Format]capability, key string) {
	known = make(map[translate.Format]capability)
	for _, client := range formats.All() {
		for _, t := range m.Targets {
			name, traits := t.UpstreamModel(string(m.Pattern)), t.TraitsOf(string(m.Pattern))
			model := traits.ModelOf(name)
			upstream := t.Provider.SpeakFor(model, client)
			if upstream == nil || !pairs.Possible(client.Name, upstream.Name, traits) {
				continue
			}
			capability := capabilityOf(t.Provider, model, client, upstream, traits)
			capability.LeftOut, capability.Counting = t.Provider.LeftOut(upstream, name), t.Counting(name, client, upstream)
			known[client.Name] = capability
			key += fmt.Sprintf("%s %s %+v %q %s\n", client, upstream, *traits, capability.LeftOut, capability.Counting)
			break
		}
	}
	return known, key
}

func capabilityOf(p *Provider, model string, client, upstream *format.Descriptor, traits *trait.Traits) capability {
	if client == upstream {
		relayed := everything
		if !p.SpeakSchemaFor(model, client, upstream, traits).Requests.HasSchemas(traits) {
			relayed.Reported = append(relayed.Reported, client.Requests.Source.Rows.PathsOf(core.FormatSchema)...)
		}
		return capability{Lane: laneBytes, Upstream: upstream.Name, Capabilities: relayed}
	}
	return capability{Lane: laneTranslated, Upstream: upstream.Name, Capabilities: pairs.CapabilitiesOf(client.Name, upstream.Name, traits)}
}
