package catalog

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// SpeakFor returns the format of requests to p for clients of a format. If p speaks the
// client's format, it is that one, so that bytes are relayed unchanged; else it is the first
// format of p into which requests can be translated, nil if there is none.
func (p *Provider) SpeakFor(client *format.Descriptor) *format.Descriptor {
	if slices.Contains(p.Formats, client) {
		return client
	}
	for _, f := range p.Formats {
		if p.Speaks(f, client) {
			return f
		}
	}
	return nil
}

// SpeakSchemaFor returns the format of requests to p, with traits, for clients that demand an
// answer by a schema. It is the usual format, unless p ignores schemas in it and another
// format of p has them.
func (p *Provider) SpeakSchemaFor(client, usual *format.Descriptor, traits *trait.Traits) *format.Descriptor {
	if usual.Requests.HasSchemas(traits) {
		return usual
	}
	for _, f := range p.Formats {
		if p.Speaks(f, client) && f.Requests.HasSchemas(traits) {
			return f
		}
	}
	return usual
}

// Speaks reports whether p speaks f, and requests of a client can be sent in f.
func (p *Provider) Speaks(f, client *format.Descriptor) bool {
	return slices.Contains(p.Formats, f) && (f == client || pairs.CanTranslate(client.Name, f.Name))
}
