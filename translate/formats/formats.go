// Package formats lists the wire formats.
//
// It promises that a format is registered only here. All other code gets the properties
// of a format from its descriptor.
package formats

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/converse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses"
)

// all is in the order in which documentation shows the formats of clients and providers.
var all = []*format.Descriptor{
	&messages.Descriptor,
	&chat.Descriptor,
	&completions.Descriptor,
	&responses.Descriptor,
	&gemini.Descriptor,
}

// providersOnly are the formats that no client may use. Of their descriptors, the fields
// about clients are zero.
var providersOnly = []*format.Descriptor{&converse.Descriptor}

var ofProviders = append(slices.Clone(all), providersOnly...)

// All returns the formats that clients and providers may use, in the order in which
// documentation shows them. It must not be changed.
func All() []*format.Descriptor { return all }

// OfProviders returns the formats that providers may use: All, and those that no client may
// use. It must not be changed.
func OfProviders() []*format.Descriptor { return ofProviders }

// Of returns the format of OfProviders with a name, nil if there is none.
func Of(name translate.Format) *format.Descriptor {
	i := slices.IndexFunc(ofProviders, func(d *format.Descriptor) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return ofProviders[i]
}

// OfEndpoint returns the format of All with an endpoint for POST requests at a path, and the operation of that; nil if
// there is none.
func OfEndpoint(path string) (*format.Descriptor, translate.Operation) {
	for _, d := range all {
		i := slices.IndexFunc(d.Client.Endpoints, func(e format.Endpoint) bool { return e.Takes("POST", path) })
		if i >= 0 {
			return d, d.Client.Endpoints[i].Operation
		}
	}
	return nil, 0
}

// Unspecified returns the format in which requests are answered that reveal none:
// the one that most clients read.
func Unspecified() *format.Descriptor { return &chat.Descriptor }

// Names returns the names of All.
func Names() []translate.Format {
	names := make([]translate.Format, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	return names
}
