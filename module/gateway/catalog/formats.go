package catalog

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// SpeakFor returns the format to speak to p for a client of a format: the client's own
// if p speaks it, so that its bytes go through unchanged, else the first that the
// request can be translated to; nil if there is none.
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

// Speaks reports whether p can be asked in a format for a client.
func (p *Provider) Speaks(f, client *format.Descriptor) bool {
	return slices.Contains(p.Formats, f) && (f == client || pairs.CanTranslate(client.Name, f.Name))
}
